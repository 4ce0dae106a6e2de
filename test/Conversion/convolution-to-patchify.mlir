// RUN: hexad-opt %s --hexad-convolution-to-patchify --canonicalize --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @zeros
// CHECK-SAME:    %[[IMAGE:[^:]+]]: tensor<?x3x32x48xf32>, %[[W:[^:]+]]: tensor<60x3x8x8xf32>
// CHECK:         %[[BATCH:.+]] = tensor.dim %[[IMAGE]], %c0
// CHECK:         %segments = hexad.image_segments %[[IMAGE]] {length = 24 : i64}
// CHECK:         %[[X:.+]] = hexad.patchify %[[IMAGE]], %[[W]], %segments : tensor<?x3x32x48xf32>, tensor<60x3x8x8xf32> -> tensor<?x60xf32>
// CHECK:         %[[R:.+]] = hexad.unpack_rows %[[X]], %segments : tensor<?x60xf32> -> tensor<?x24x60xf32>
// CHECK:         %[[T:.+]] = linalg.transpose ins(%[[R]] : tensor<?x24x60xf32>) {{.*}} permutation = [0, 2, 1]
// CHECK:         tensor.expand_shape %[[T]] {{\[}}[0], [1], [2, 3]] output_shape [%[[BATCH]], 60, 4, 6]
// CHECK-NOT:     linalg.conv
func.func @zeros(%image: tensor<?x3x32x48xf32>, %w: tensor<60x3x8x8xf32>, %init: tensor<?x60x4x6xf32>) -> tensor<?x60x4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %zeros = linalg.fill ins(%zero : f32) outs(%init : tensor<?x60x4x6xf32>) -> tensor<?x60x4x6xf32>
  %y = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<8> : tensor<2xi64>}
      ins(%image, %w : tensor<?x3x32x48xf32>, tensor<60x3x8x8xf32>) outs(%zeros : tensor<?x60x4x6xf32>) -> tensor<?x60x4x6xf32>
  return %y : tensor<?x60x4x6xf32>
}

// -----

// A bias in front of the sums; the number of images is known.

// CHECK-LABEL: func @bias
// CHECK-SAME:    %[[IMAGE:[^:]+]]: tensor<2x1x7x10xf32>, %[[W:[^:]+]]: tensor<4x1x7x5xf32>, %[[B:[^:]+]]: tensor<4xf32>
// CHECK:         hexad.patchify %[[IMAGE]], %[[W]] bias %[[B]], %{{.+}} : tensor<2x1x7x10xf32>, tensor<4x1x7x5xf32>, tensor<4xf32> -> tensor<?x4xf32>
func.func @bias(%image: tensor<2x1x7x10xf32>, %w: tensor<4x1x7x5xf32>, %b: tensor<4xf32>, %init: tensor<2x4x1x2xf32>) -> tensor<2x4x1x2xf32> {
  %spread = linalg.broadcast ins(%b : tensor<4xf32>) outs(%init : tensor<2x4x1x2xf32>) dimensions = [0, 2, 3]
  %y = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<[7, 5]> : tensor<2xi64>}
      ins(%image, %w : tensor<2x1x7x10xf32>, tensor<4x1x7x5xf32>) outs(%spread : tensor<2x4x1x2xf32>) -> tensor<2x4x1x2xf32>
  return %y : tensor<2x4x1x2xf32>
}

// -----

func.func @overlapping(%image: tensor<1x1x4x4xf32>, %w: tensor<4x1x2x2xf32>, %init: tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32> {
  // expected-remark @below {{no patches: the strides are not the filter's sizes}}
  %y = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%image, %w : tensor<1x1x4x4xf32>, tensor<4x1x2x2xf32>) outs(%init : tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
  return %y : tensor<1x4x3x3xf32>
}

// -----

func.func @rest(%image: tensor<1x1x5x4xf32>, %w: tensor<4x1x2x2xf32>, %init: tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> {
  // expected-remark @below {{no patches: the images are not whole patches}}
  %y = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%image, %w : tensor<1x1x5x4xf32>, tensor<4x1x2x2xf32>) outs(%init : tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  return %y : tensor<1x4x2x2xf32>
}

// -----

func.func @dilated(%image: tensor<1x1x4x4xf32>, %w: tensor<4x1x2x2xf32>, %init: tensor<1x4x1x1xf32>) -> tensor<1x4x1x1xf32> {
  // expected-remark @below {{no patches: it has dilations}}
  %y = linalg.conv_2d_nchw_fchw {dilations = dense<2> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%image, %w : tensor<1x1x4x4xf32>, tensor<4x1x2x2xf32>) outs(%init : tensor<1x4x1x1xf32>) -> tensor<1x4x1x1xf32>
  return %y : tensor<1x4x1x1xf32>
}

// -----

func.func @adds(%image: tensor<1x1x4x4xf32>, %w: tensor<4x1x2x2xf32>, %init: tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32> {
  // expected-remark @below {{no patches: it adds to something else than zeros or a bias}}
  %y = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%image, %w : tensor<1x1x4x4xf32>, tensor<4x1x2x2xf32>) outs(%init : tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  return %y : tensor<1x4x2x2xf32>
}

// -----

func.func @double(%image: tensor<1x1x4x4xf64>, %w: tensor<4x1x2x2xf64>, %init: tensor<1x4x2x2xf64>) -> tensor<1x4x2x2xf64> {
  // expected-remark @below {{no patches: it is not of f32}}
  %y = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%image, %w : tensor<1x1x4x4xf64>, tensor<4x1x2x2xf64>) outs(%init : tensor<1x4x2x2xf64>) -> tensor<1x4x2x2xf64>
  return %y : tensor<1x4x2x2xf64>
}
