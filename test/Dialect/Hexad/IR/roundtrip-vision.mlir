// RUN: hexad-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func @patchify
// CHECK-SAME:    %[[IMAGE:[^:]+]]: tensor<?x3x32x48xf32>
// CHECK:         %segments = hexad.image_segments %[[IMAGE]] {length = 25 : i64} : tensor<?x3x32x48xf32>
// CHECK:         hexad.patchify %[[IMAGE]], %{{.+}} bias %{{.+}}, %segments {prefix = 1 : i64} : tensor<?x3x32x48xf32>, tensor<60x3x8x8xf32>, tensor<60xf32> -> tensor<?x60xf32>
// CHECK:         hexad.patchify %[[IMAGE]], %{{.+}}, %segments {prefix = 1 : i64} : tensor<?x3x32x48xf32>, tensor<60x3x8x8xf32> -> tensor<?x60xf32>
func.func @patchify(%image: tensor<?x3x32x48xf32>, %w: tensor<60x3x8x8xf32>, %b: tensor<60xf32>) -> (tensor<?x60xf32>, tensor<?x60xf32>) {
  %0 = hexad.image_segments %image {length = 25 : i64} : tensor<?x3x32x48xf32>
  %1 = hexad.patchify %image, %w bias %b, %0 {prefix = 1 : i64} : tensor<?x3x32x48xf32>, tensor<60x3x8x8xf32>, tensor<60xf32> -> tensor<?x60xf32>
  %2 = hexad.patchify %image, %w, %0 {prefix = 1 : i64} : tensor<?x3x32x48xf32>, tensor<60x3x8x8xf32> -> tensor<?x60xf32>
  return %1, %2 : tensor<?x60xf32>, tensor<?x60xf32>
}

// One patch that is the whole image, of one channel; the number of images is known.

// CHECK-LABEL: func @one_patch
// CHECK:         hexad.patchify %{{.+}}, %{{.+}}, %{{.+}} : tensor<2x1x5x7xf32>, tensor<4x1x5x7xf32> -> tensor<2x4xf32>
func.func @one_patch(%image: tensor<2x1x5x7xf32>, %w: tensor<4x1x5x7xf32>) -> tensor<2x4xf32> {
  %0 = hexad.image_segments %image {length = 1 : i64} : tensor<2x1x5x7xf32>
  %1 = hexad.patchify %image, %w, %0 : tensor<2x1x5x7xf32>, tensor<4x1x5x7xf32> -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// CHECK-LABEL: func @patches
// CHECK:         %elements = hexad.elements %{{.+}} : tensor<?xi32>
// CHECK:         hexad.patches %elements, %{{.+}} {patch = array<i64: 8, 16>, prefix = 5 : i64} : tensor<?xi32>, tensor<?x3x32x48xf32> -> tensor<?x384xf32>
func.func @patches(%image: tensor<?x3x32x48xf32>, %segments: !hexad.segments) -> tensor<?x384xf32> {
  %0 = hexad.elements %segments : tensor<?xi32>
  %1 = hexad.patches %0, %image {patch = array<i64: 8, 16>, prefix = 5 : i64} : tensor<?xi32>, tensor<?x3x32x48xf32> -> tensor<?x384xf32>
  return %1 : tensor<?x384xf32>
}

// CHECK-LABEL: func @prefix_rows
// CHECK:         hexad.prefix_rows %{{.+}}, %{{.+}}, %{{.+}} : tensor<?x60xf32>, tensor<?xi32>, tensor<5x60xf32>
func.func @prefix_rows(%x: tensor<?x60xf32>, %positions: tensor<?xi32>, %table: tensor<5x60xf32>) -> tensor<?x60xf32> {
  %y = hexad.prefix_rows %x, %positions, %table : tensor<?x60xf32>, tensor<?xi32>, tensor<5x60xf32>
  return %y : tensor<?x60xf32>
}
