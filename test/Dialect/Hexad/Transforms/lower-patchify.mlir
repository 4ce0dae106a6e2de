// RUN: hexad-opt %s --hexad-lower-patchify --split-input-file | FileCheck %s

// The filters are read as a matrix, in the order in which they lie; what else reads
// them keeps them.

// CHECK:       hexad.parameter @w.matrix : tensor<60x192xf32> from "m.safetensors" ["w"]
// CHECK-NOT:   tensor<60x3x8x8xf32>
// CHECK-LABEL: func @alone
// CHECK-SAME:    %[[IMAGE:[^:]+]]: tensor<?x3x32x48xf32>
// CHECK:         %[[B:.+]] = hexad.load @b
// CHECK:         %segments = hexad.image_segments %[[IMAGE]]
// CHECK:         %elements = hexad.elements %segments : tensor<?xi32>
// CHECK:         %[[P:.+]] = hexad.patches %elements, %[[IMAGE]] {patch = array<i64: 8, 8>, prefix = 1 : i64} : tensor<?xi32>, tensor<?x3x32x48xf32> -> tensor<?x192xf32>
// CHECK:         %[[W:.+]] = hexad.load @w.matrix : tensor<60x192xf32>
// CHECK:         %[[Y:.+]] = hexad.linear %[[P]], %[[W]] bias %[[B]] : tensor<?x192xf32>, tensor<60x192xf32>, tensor<60xf32> -> tensor<?x60xf32>
// CHECK:         return %[[Y]]
hexad.parameter @w : tensor<60x3x8x8xf32> from "m.safetensors" ["w"]
hexad.parameter @b : tensor<60xf32> from "m.safetensors" ["b"]
func.func @alone(%image: tensor<?x3x32x48xf32>) -> tensor<?x60xf32> {
  %w = hexad.load @w : tensor<60x3x8x8xf32>
  %b = hexad.load @b : tensor<60xf32>
  %segments = hexad.image_segments %image {length = 25 : i64} : tensor<?x3x32x48xf32>
  %y = hexad.patchify %image, %w bias %b, %segments {prefix = 1 : i64} : tensor<?x3x32x48xf32>, tensor<60x3x8x8xf32>, tensor<60xf32> -> tensor<?x60xf32>
  return %y : tensor<?x60xf32>
}

// -----

// Layers stay layers; two that read the same filters share their matrix.

// CHECK:       hexad.parameter @w.matrix : tensor<2x4x6xf32> from "m.safetensors" ["a", "b"] {layers = 2 : i64}
// CHECK:       hexad.parameter @w : tensor<2x4x1x2x3xf32>
// CHECK-LABEL: func @layers
// CHECK-SAME:    %[[IMAGE:[^:]+]]: tensor<?x1x4x3xf32>, %[[LAYER:[^:]+]]: index
// CHECK:         hexad.load @w[%[[LAYER]]] : tensor<4x1x2x3xf32>
// CHECK:         hexad.load @w.matrix[%[[LAYER]]] : tensor<4x6xf32>
// CHECK:         hexad.load @w.matrix[%[[LAYER]]] : tensor<4x6xf32>
hexad.parameter @w : tensor<2x4x1x2x3xf32> from "m.safetensors" ["a", "b"] {layers = 2 : i64}
func.func @layers(%image: tensor<?x1x4x3xf32>, %layer: index) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<4x1x2x3xf32>) {
  %w = hexad.load @w[%layer] : tensor<4x1x2x3xf32>
  %segments = hexad.image_segments %image {length = 2 : i64} : tensor<?x1x4x3xf32>
  %y = hexad.patchify %image, %w, %segments : tensor<?x1x4x3xf32>, tensor<4x1x2x3xf32> -> tensor<?x4xf32>
  %z = hexad.patchify %image, %w, %segments : tensor<?x1x4x3xf32>, tensor<4x1x2x3xf32> -> tensor<?x4xf32>
  return %y, %z, %w : tensor<?x4xf32>, tensor<?x4xf32>, tensor<4x1x2x3xf32>
}
