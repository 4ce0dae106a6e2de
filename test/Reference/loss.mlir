// RUN: hexad-reference %s | FileCheck %s

// Padding on both sides is left out; with a shift each row has the label behind
// it, the last of a segment none. A segment of one row then has none at all, and
// one without rows gives nothing.

// CHECK-LABEL: @labels
// CHECK-NEXT:  5
// CHECK-NEXT:  2 3 4 -100 6
// CHECK-NEXT:  5
// CHECK-NEXT:  3 4 -100 -100 -100
func.func @labels() -> (tensor<?xi32>, tensor<?xi32>) {
  %mask = arith.constant dense<[[0, 1, 1, 1], [0, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]]> : tensor<4x4xi32>
  %labels = arith.constant dense<[[1, 2, 3, 4], [5, 5, 5, 5], [-100, 9, 9, 9], [9, 9, 9, 6]]> : tensor<4x4xi32>
  %segments = hexad.segments %mask : tensor<4x4xi32>
  %0 = hexad.labels %labels, %segments : tensor<4x4xi32> -> tensor<?xi32>
  %1 = hexad.labels %labels, %segments {shift} : tensor<4x4xi32> -> tensor<?xi32>
  return %0, %1 : tensor<?xi32>, tensor<?xi32>
}

// CHECK-LABEL: @labels_of_segments
// CHECK-NEXT:  3
// CHECK-NEXT:  7 -100 -100
func.func @labels_of_segments() -> tensor<?xi32> {
  %mask = arith.constant dense<[[0, 1], [0, 0], [1, 1]]> : tensor<3x2xi32>
  %labels = arith.constant dense<[7, 8, -100]> : tensor<3xi32>
  %segments = hexad.segments %mask : tensor<3x2xi32>
  %0 = hexad.labels %labels, %segments : tensor<3xi32> -> tensor<?xi32>
  return %0 : tensor<?xi32>
}

// ln 2, ln 4 with equal logits; ln(1 + e); an ignored row is 0 whatever it holds.
// One class: certain.

// CHECK-LABEL: @cross_entropy
// CHECK-NEXT:  4x1
// CHECK-NEXT:  0.693147181
// CHECK-NEXT:  1.31326169
// CHECK-NEXT:  0.313261688
// CHECK-NEXT:  0
// CHECK-NEXT:  1x1
// CHECK-NEXT:  0
func.func @cross_entropy() -> (tensor<4x1xf32>, tensor<1x1xf32>) {
  %x = arith.constant dense<[[3.0, 3.0], [0.0, 1.0], [0.0, 1.0], [0x7FC00000, 0.0]]> : tensor<4x2xf32>
  %l = arith.constant dense<[1, 0, 1, -100]> : tensor<4xi32>
  %0 = hexad.cross_entropy %x, %l : tensor<4x2xf32>, tensor<4xi32> -> tensor<4x1xf32>
  %y = arith.constant dense<[[88.0]]> : tensor<1x1xf32>
  %k = arith.constant dense<[0]> : tensor<1xi32>
  %1 = hexad.cross_entropy %y, %k : tensor<1x1xf32>, tensor<1xi32> -> tensor<1x1xf32>
  return %0, %1 : tensor<4x1xf32>, tensor<1x1xf32>
}

// Large logits do not overflow; an impossible label is infinite; NaN, +infinity
// and nothing but -infinity are NaN, -infinity beside something finite is not.

// CHECK-LABEL: @cross_entropy_special
// CHECK-NEXT:  6x1
// CHECK-NEXT:  60000
// CHECK-NEXT:  inf
// CHECK-NEXT:  nan
// CHECK-NEXT:  nan
// CHECK-NEXT:  nan
// CHECK-NEXT:  0
func.func @cross_entropy_special() -> tensor<6x1xf32> {
  %x = arith.constant dense<[[30000.0, -30000.0], [0.0, 0xFF800000], [0x7FC00000, 0.0], [0x7F800000, 0.0],
                             [0xFF800000, 0xFF800000], [0xFF800000, 5.0]]> : tensor<6x2xf32>
  %l = arith.constant dense<[1, 1, 1, 1, 1, 1]> : tensor<6xi32>
  %0 = hexad.cross_entropy %x, %l : tensor<6x2xf32>, tensor<6xi32> -> tensor<6x1xf32>
  return %0 : tensor<6x1xf32>
}

// The mean of the rows that count; of none, and of one that is NaN, NaN.

// CHECK-LABEL: @mean_loss
// CHECK-EMPTY:
// CHECK-NEXT:  3
// CHECK-EMPTY:
// CHECK-NEXT:  nan
// CHECK-EMPTY:
// CHECK-NEXT:  nan
func.func @mean_loss() -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %x = arith.constant dense<[[1.0], [0.0], [5.0]]> : tensor<3x1xf32>
  %l = arith.constant dense<[4, -100, 0]> : tensor<3xi32>
  %none = arith.constant dense<-100> : tensor<3xi32>
  %0 = hexad.mean_loss %x, %l : tensor<3x1xf32>, tensor<3xi32> -> tensor<f32>
  %1 = hexad.mean_loss %x, %none : tensor<3x1xf32>, tensor<3xi32> -> tensor<f32>
  %n = arith.constant dense<[[1.0], [0.0], [0x7FC00000]]> : tensor<3x1xf32>
  %2 = hexad.mean_loss %n, %l : tensor<3x1xf32>, tensor<3xi32> -> tensor<f32>
  return %0, %1, %2 : tensor<f32>, tensor<f32>, tensor<f32>
}
