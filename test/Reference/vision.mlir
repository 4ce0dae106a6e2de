// RUN: hexad-reference %s | FileCheck %s

// Two images of two channels, patches of 1 x 2 in row order. Within a patch channel,
// row, column; the row of the prefix is the bias.

// CHECK-LABEL: @patchify
// CHECK-NEXT:  segment 0: row 0, length 5
// CHECK-NEXT:  segment 1: row 5, length 5
// CHECK-NEXT:  10
// CHECK-NEXT:  0 1 2 3 4 5 6 7 8 9
// CHECK-NEXT:  10x1
// CHECK-NEXT:  0.5
// CHECK-NEXT:  9821.5
// CHECK-NEXT:  12043.5
// CHECK-NEXT:  14265.5
// CHECK-NEXT:  16487.5
// CHECK-NEXT:  0.5
// CHECK-NEXT:  -9820.5
// CHECK-NEXT:  -12042.5
// CHECK-NEXT:  -14264.5
// CHECK-NEXT:  -16486.5
func.func @patchify() -> (!hexad.segments, tensor<?xi32>, tensor<?x1xf32>) {
  %image = arith.constant dense<[[[[1., 2., 3., 4.], [5., 6., 7., 8.]], [[8., 9., 10., 11.], [12., 13., 14., 15.]]],
                                 [[[-1., -2., -3., -4.], [-5., -6., -7., -8.]], [[-8., -9., -10., -11.], [-12., -13., -14., -15.]]]]> : tensor<2x2x2x4xf32>
  %w = arith.constant dense<[[[[1., 10.]], [[100., 1000.]]]]> : tensor<1x2x1x2xf32>
  %b = arith.constant dense<[0.5]> : tensor<1xf32>
  %segments = hexad.image_segments %image {length = 5 : i64} : tensor<2x2x2x4xf32>
  %elements = hexad.elements %segments : tensor<?xi32>
  %y = hexad.patchify %image, %w bias %b, %segments {prefix = 1 : i64} : tensor<2x2x2x4xf32>, tensor<1x2x1x2xf32>, tensor<1xf32> -> tensor<?x1xf32>
  return %segments, %elements, %y : !hexad.segments, tensor<?xi32>, tensor<?x1xf32>
}

// Any rows of them, in any order.

// CHECK-LABEL: @patches
// CHECK-NEXT:  5x4
// CHECK-NEXT:  0 0 0 0
// CHECK-NEXT:  7 8 14 15
// CHECK-NEXT:  1 2 8 9
// CHECK-NEXT:  0 0 0 0
// CHECK-NEXT:  -5 -6 -12 -13
func.func @patches() -> tensor<5x4xf32> {
  %image = arith.constant dense<[[[[1., 2., 3., 4.], [5., 6., 7., 8.]], [[8., 9., 10., 11.], [12., 13., 14., 15.]]],
                                 [[[-1., -2., -3., -4.], [-5., -6., -7., -8.]], [[-8., -9., -10., -11.], [-12., -13., -14., -15.]]]]> : tensor<2x2x2x4xf32>
  %elements = arith.constant dense<[0, 5, 2, 1, 10]> : tensor<5xi32>
  %y = hexad.patches %elements, %image {patch = array<i64: 1, 2>, prefix = 2 : i64} : tensor<5xi32>, tensor<2x2x2x4xf32> -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}

// No images, no rows; one patch is the whole image.

// CHECK-LABEL: @no_images
// CHECK-NEXT:  0x3
func.func @no_images() -> tensor<?x3xf32> {
  %c0 = arith.constant 0 : index
  %image = tensor.empty(%c0) : tensor<?x1x2x2xf32>
  %w = arith.constant dense<1.> : tensor<3x1x2x2xf32>
  %segments = hexad.image_segments %image {length = 1 : i64} : tensor<?x1x2x2xf32>
  %y = hexad.patchify %image, %w, %segments : tensor<?x1x2x2xf32>, tensor<3x1x2x2xf32> -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}

// CHECK-LABEL: @one_patch
// CHECK-NEXT:  1x2
// CHECK-NEXT:  10 100
func.func @one_patch() -> tensor<?x2xf32> {
  %image = arith.constant dense<[[[[1., 2.], [3., 4.]]]]> : tensor<1x1x2x2xf32>
  %w = arith.constant dense<[[[[1., 1.], [1., 1.]]], [[[10., 10.], [10., 10.]]]]> : tensor<2x1x2x2xf32>
  %segments = hexad.image_segments %image {length = 1 : i64} : tensor<1x1x2x2xf32>
  %y = hexad.patchify %image, %w, %segments : tensor<1x1x2x2xf32>, tensor<2x1x2x2xf32> -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}

// CHECK-LABEL: @prefix_rows
// CHECK-NEXT:  5x2
// CHECK-NEXT:  10 20
// CHECK-NEXT:  30 40
// CHECK-NEXT:  5 6
// CHECK-NEXT:  10 20
// CHECK-NEXT:  9 10
func.func @prefix_rows() -> tensor<5x2xf32> {
  %x = arith.constant dense<[[1., 2.], [3., 4.], [5., 6.], [7., 8.], [9., 10.]]> : tensor<5x2xf32>
  %positions = arith.constant dense<[0, 1, 2, 0, 3]> : tensor<5xi32>
  %table = arith.constant dense<[[10., 20.], [30., 40.]]> : tensor<2x2xf32>
  %y = hexad.prefix_rows %x, %positions, %table : tensor<5x2xf32>, tensor<5xi32>, tensor<2x2xf32>
  return %y : tensor<5x2xf32>
}

// The mean of the rows behind the first ones; zeros where there are none.

// CHECK-LABEL: @pool_skip
// CHECK-NEXT:  3x1
// CHECK-NEXT:  5
// CHECK-NEXT:  0
// CHECK-NEXT:  0
func.func @pool_skip() -> tensor<3x1xf32> {
  %mask = arith.constant dense<[[1, 1, 1], [1, 0, 0], [0, 0, 0]]> : tensor<3x3xi32>
  %segments = hexad.segments %mask : tensor<3x3xi32>
  %x = arith.constant dense<[[1.], [4.], [6.], [9.]]> : tensor<4x1xf32>
  %y = hexad.pool mean %x, %segments {skip = 1 : i64} : tensor<4x1xf32> -> tensor<3x1xf32>
  return %y : tensor<3x1xf32>
}

// CHECK-LABEL: @scale_columns
// CHECK-NEXT:  2x3
// CHECK-NEXT:  2 -2 nan
// CHECK-NEXT:  8 -5 0
func.func @scale_columns() -> tensor<2x3xf32> {
  %x = arith.constant dense<[[1., 2., 0x7F800000], [4., 5., 6.]]> : tensor<2x3xf32>
  %w = arith.constant dense<[2., -1., 0.]> : tensor<3xf32>
  %y = hexad.scale_columns %x, %w : tensor<2x3xf32>, tensor<3xf32>
  return %y : tensor<2x3xf32>
}
