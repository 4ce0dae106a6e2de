// RUN: hexad-reference %s | FileCheck %s

// Padding on the right, on the left, nothing real, everything real; what is not 0
// is real.

// CHECK-LABEL: @segments
// CHECK-NEXT:  segment 0: row 0, length 2
// CHECK-NEXT:  segment 1: row 2, length 1
// CHECK-NEXT:  segment 2: row 3, length 0
// CHECK-NEXT:  segment 3: row 3, length 3
// CHECK-NEXT:  6
// CHECK-NEXT:  0 1 0 0 1 2
func.func @segments() -> (!hexad.segments, tensor<?xi32>) {
  %mask = arith.constant dense<[[1, 1, 0], [0, 0, 1], [0, 0, 0], [1, -1, 2]]> : tensor<4x3xi32>
  %segments = hexad.segments %mask : tensor<4x3xi32>
  // Positions count from the first real token.
  %positions = hexad.positions %segments : tensor<?xi32>
  return %segments, %positions : !hexad.segments, tensor<?xi32>
}

// What is padding comes back as zeros, whatever the rectangle held.

// CHECK-LABEL: @pack_unpack
// CHECK-NEXT:  3
// CHECK-NEXT:  11 12 6
// CHECK-NEXT:  3x3x1
// CHECK-NEXT:  0
// CHECK-NEXT:  1.5
// CHECK-NEXT:  2.5
// CHECK-NEXT:  3.5
// CHECK-NEXT:  0
// CHECK-NEXT:  0
// CHECK-NEXT:  0
// CHECK-NEXT:  0
// CHECK-NEXT:  0
func.func @pack_unpack() -> (tensor<?xi32>, tensor<?x?x1xf32>) {
  %mask = arith.constant dense<[[0, 1, 1], [1, 0, 0], [0, 0, 0]]> : tensor<3x3xi32>
  %ids = arith.constant dense<[[10, 11, 12], [6, 7, 8], [1, 2, 3]]> : tensor<3x3xi32>
  %segments = hexad.segments %mask : tensor<3x3xi32>
  %rows = hexad.pack_rows %ids, %segments : tensor<3x3xi32> -> tensor<?xi32>
  %x = arith.constant dense<[[1.5], [2.5], [3.5]]> : tensor<3x1xf32>
  %rectangle = hexad.unpack_rows %x, %segments : tensor<3x1xf32> -> tensor<?x?x1xf32>
  return %rows, %rectangle : tensor<?xi32>, tensor<?x?x1xf32>
}

// A stack of two, each spread out.

// CHECK-LABEL: @unpack_stack
// CHECK-NEXT:  2x1x2x2
// CHECK-NEXT:  0 0
// CHECK-NEXT:  1 2
// CHECK-NEXT:  0 0
// CHECK-NEXT:  3 4
func.func @unpack_stack() -> tensor<2x?x?x2xf32> {
  %mask = arith.constant dense<[[0, 1]]> : tensor<1x2xi32>
  %segments = hexad.segments %mask : tensor<1x2xi32>
  %x = arith.constant dense<[[[1.0, 2.0]], [[3.0, 4.0]]]> : tensor<2x1x2xf32>
  %rectangle = hexad.unpack_rows %x, %segments : tensor<2x1x2xf32> -> tensor<2x?x?x2xf32>
  return %rectangle : tensor<2x?x?x2xf32>
}

// CHECK-LABEL: @pool
// CHECK-NEXT:  3x2
// CHECK-NEXT:  1 -0
// CHECK-NEXT:  0 0
// CHECK-NEXT:  nan 5
// CHECK-NEXT:  3x2
// CHECK-NEXT:  2 3
// CHECK-NEXT:  0 0
// CHECK-NEXT:  nan 5
func.func @pool() -> (tensor<?x2xf32>, tensor<?x2xf32>) {
  %mask = arith.constant dense<[[1, 1], [0, 0], [0, 1]]> : tensor<3x2xi32>
  %segments = hexad.segments %mask : tensor<3x2xi32>
  %x = arith.constant dense<[[1.0, -0.0], [3.0, 6.0], [0x7FC00000, 5.0]]> : tensor<3x2xf32>
  %first = hexad.pool first %x, %segments : tensor<3x2xf32> -> tensor<?x2xf32>
  %mean = hexad.pool mean %x, %segments : tensor<3x2xf32> -> tensor<?x2xf32>
  return %first, %mean : tensor<?x2xf32>, tensor<?x2xf32>
}

// A rectangle without batch rows, and one without columns.

// CHECK-LABEL: @nothing
// CHECK-NEXT:  0
// CHECK-NEXT:  0x3x1
// CHECK-NEXT:  segment 0: row 0, length 0
// CHECK-NEXT:  1x1
// CHECK-NEXT:  0
func.func @nothing() -> (tensor<?xi32>, tensor<?x?x1xf32>, !hexad.segments, tensor<?x1xf32>) {
  %none = arith.constant dense<0> : tensor<0x3xi32>
  %segments = hexad.segments %none : tensor<0x3xi32>
  %positions = hexad.positions %segments : tensor<?xi32>
  %x = arith.constant dense<0.0> : tensor<0x1xf32>
  %rectangle = hexad.unpack_rows %x, %segments : tensor<0x1xf32> -> tensor<?x?x1xf32>
  %narrow = arith.constant dense<0> : tensor<1x0xi32>
  %narrow_segments = hexad.segments %narrow : tensor<1x0xi32>
  %pooled = hexad.pool mean %x, %narrow_segments : tensor<0x1xf32> -> tensor<?x1xf32>
  return %positions, %rectangle, %narrow_segments, %pooled : tensor<?xi32>, tensor<?x?x1xf32>, !hexad.segments, tensor<?x1xf32>
}

// A block computes what its ops compute.

// CHECK-LABEL: @block
// CHECK-NEXT:  2x1
// CHECK-NEXT:  0
// CHECK-NEXT:  3
// CHECK-NEXT:  2x1
// CHECK-NEXT:  -1
// CHECK-NEXT:  3
func.func @block() -> (tensor<?x1xf32>, tensor<?x1xf32>) {
  %c = arith.constant dense<[[1.0, 2.0], [4.0, 1.0]]> : tensor<2x2xf32>
  %x = tensor.cast %c : tensor<2x2xf32> to tensor<?x2xf32>
  %w = arith.constant dense<[[1.0, -1.0]]> : tensor<1x2xf32>
  %y:2 = hexad.rows (%a = %x : tensor<?x2xf32>, %weight = %w : tensor<1x2xf32>) -> (tensor<?x1xf32>, tensor<?x1xf32>) {
    %1 = hexad.linear %a, %weight : tensor<?x2xf32>, tensor<1x2xf32> -> tensor<?x1xf32>
    %2 = hexad.activation relu %1 : tensor<?x1xf32>
    hexad.yield %2, %1 : tensor<?x1xf32>, tensor<?x1xf32>
  }
  return %y#0, %y#1 : tensor<?x1xf32>, tensor<?x1xf32>
}
