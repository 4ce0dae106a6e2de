// RUN: hexad-opt %s --hexad-patchify-to-convolution --canonicalize --cse --split-input-file | FileCheck %s

// A convolution with a stride of the filter's size, patches as rows, room for the
// class token, then the bias; images have no padding, their rectangle is a reshape.

// CHECK-LABEL: func @class_token
// CHECK-SAME:    %[[IMAGE:[^:]+]]: tensor<?x3x32x48xf32>, %[[W:[^:]+]]: tensor<60x3x8x8xf32>, %[[B:[^:]+]]: tensor<60xf32>
// CHECK-DAG:     %[[ZERO:.+]] = arith.constant 0.0
// CHECK-DAG:     %[[BATCH:.+]] = tensor.dim %[[IMAGE]], %c0
// CHECK:         %[[ZEROS:.+]] = linalg.fill ins(%[[ZERO]] : f32)
// CHECK:         %[[CONV:.+]] = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<8> : tensor<2xi64>} ins(%[[IMAGE]], %[[W]] : tensor<?x3x32x48xf32>, tensor<60x3x8x8xf32>) outs(%[[ZEROS]] : tensor<?x60x4x6xf32>)
// CHECK:         %[[FLAT:.+]] = tensor.collapse_shape %[[CONV]] {{\[}}[0], [1], [2, 3]] : tensor<?x60x4x6xf32> into tensor<?x60x24xf32>
// CHECK:         %[[ROWS:.+]] = linalg.transpose ins(%[[FLAT]] : tensor<?x60x24xf32>) {{.*}} permutation = [0, 2, 1]
// CHECK:         %[[PADDED:.+]] = tensor.pad %[[ROWS]] low[0, 1, 0] high[0, 0, 0]
// CHECK:           tensor.yield %[[ZERO]]
// CHECK:         %[[SUMS:.+]] = tensor.collapse_shape %[[PADDED]] {{\[}}[0, 1], [2]] : tensor<?x25x60xf32> into tensor<?x60xf32>
// CHECK:         %[[SPREAD:.+]] = linalg.broadcast ins(%[[B]] : tensor<60xf32>) {{.*}} dimensions = [0]
// CHECK:         %[[Y:.+]] = linalg.add ins(%[[SUMS]], %[[SPREAD]] :
// CHECK:         tensor.expand_shape %[[Y]] {{\[}}[0, 1], [2]] output_shape [%[[BATCH]], 25, 60] : tensor<?x60xf32> into tensor<?x25x60xf32>
// CHECK-NOT:     hexad.
func.func @class_token(%image: tensor<?x3x32x48xf32>, %w: tensor<60x3x8x8xf32>, %b: tensor<60xf32>) -> tensor<?x?x60xf32> {
  %segments = hexad.image_segments %image {length = 25 : i64} : tensor<?x3x32x48xf32>
  %x = hexad.patchify %image, %w bias %b, %segments {prefix = 1 : i64} : tensor<?x3x32x48xf32>, tensor<60x3x8x8xf32>, tensor<60xf32> -> tensor<?x60xf32>
  %y = hexad.unpack_rows %x, %segments : tensor<?x60xf32> -> tensor<?x?x60xf32>
  return %y : tensor<?x?x60xf32>
}

// -----

// One patch of one channel, taller than wide, two images.

// CHECK-LABEL: func @one_patch
// CHECK:         linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<[7, 5]> : tensor<2xi64>}
// CHECK-NOT:     tensor.pad
// CHECK-NOT:     linalg.add
// CHECK:         return %{{.+}} : tensor<2x4xf32>
func.func @one_patch(%image: tensor<2x1x7x5xf32>, %w: tensor<4x1x7x5xf32>) -> tensor<2x4xf32> {
  %segments = hexad.image_segments %image {length = 1 : i64} : tensor<2x1x7x5xf32>
  %x = hexad.patchify %image, %w, %segments : tensor<2x1x7x5xf32>, tensor<4x1x7x5xf32> -> tensor<2x4xf32>
  return %x : tensor<2x4xf32>
}
