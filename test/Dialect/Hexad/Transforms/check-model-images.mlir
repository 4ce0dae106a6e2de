// RUN: hexad-opt %s -split-input-file -verify-diagnostics --hexad-check-model

hexad.parameter @w : tensor<8x1x2x2xf32> from "m.safetensors" ["w"]
hexad.parameter @t : tensor<1x8xf32> from "m.safetensors" ["t"]
func.func @right(%image: tensor<?x1x4x4xf32>) -> tensor<?x8xf32> {
  %segments = hexad.image_segments %image {length = 5 : i64} : tensor<?x1x4x4xf32>
  %w = hexad.load @w : tensor<8x1x2x2xf32>
  %t = hexad.load @t : tensor<1x8xf32>
  %x = hexad.patchify %image, %w, %segments {prefix = 1 : i64} : tensor<?x1x4x4xf32>, tensor<8x1x2x2xf32> -> tensor<?x8xf32>
  %positions = hexad.positions %segments : tensor<?xi32>
  %y = hexad.prefix_rows %x, %positions, %t : tensor<?x8xf32>, tensor<?xi32>, tensor<1x8xf32>
  %p = hexad.pool first %y, %segments : tensor<?x8xf32> -> tensor<?x8xf32>
  return %p : tensor<?x8xf32>
}

// -----

hexad.parameter @w : tensor<8x1x2x2xf32> from "m.safetensors" ["w"]
func.func @other_length(%image: tensor<?x1x4x4xf32>) {
  // expected-note@+1 {{made here}}
  %segments = hexad.image_segments %image {length = 4 : i64} : tensor<?x1x4x4xf32>
  %w = hexad.load @w : tensor<8x1x2x2xf32>
  // expected-error@+1 {{expected segments of 5 rows, found 4}}
  %x = hexad.patchify %image, %w, %segments {prefix = 1 : i64} : tensor<?x1x4x4xf32>, tensor<8x1x2x2xf32> -> tensor<?x8xf32>
  return
}

// -----

hexad.parameter @w : tensor<8x1x2x2xf32> from "m.safetensors" ["w"]
func.func @other_images(%image: tensor<?x1x4x4xf32>, %other: tensor<?x1x4x4xf32>) {
  %segments = hexad.image_segments %other {length = 4 : i64} : tensor<?x1x4x4xf32>
  %w = hexad.load @w : tensor<8x1x2x2xf32>
  // expected-error@+1 {{expected segments of its images (hexad.image_segments)}}
  %x = hexad.patchify %image, %w, %segments : tensor<?x1x4x4xf32>, tensor<8x1x2x2xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @two_lengths(%image: tensor<?x1x4x4xf32>) {
  // expected-note@+1 {{as is said here}}
  %a = hexad.image_segments %image {length = 4 : i64} : tensor<?x1x4x4xf32>
  // expected-error@+1 {{expected 4 rows for each image, found 5}}
  %b = hexad.image_segments %image {length = 5 : i64} : tensor<?x1x4x4xf32>
  return
}

// -----

func.func @filters(%image: tensor<?x1x4x4xf32>, %w: tensor<8x1x2x2xf32>) {
  %segments = hexad.image_segments %image {length = 4 : i64} : tensor<?x1x4x4xf32>
  // expected-error@+1 {{expected weights from hexad.load, found 'tensor<8x1x2x2xf32>' from elsewhere}}
  %x = hexad.patchify %image, %w, %segments : tensor<?x1x4x4xf32>, tensor<8x1x2x2xf32> -> tensor<?x8xf32>
  return
}

// -----

hexad.parameter @w : tensor<8x1x2x2xf32> from "m.safetensors" ["w"]
hexad.parameter @t : tensor<1x8xf32> from "m.safetensors" ["t"]
func.func @positions(%image: tensor<?x1x4x4xf32>) {
  %segments = hexad.image_segments %image {length = 4 : i64} : tensor<?x1x4x4xf32>
  %w = hexad.load @w : tensor<8x1x2x2xf32>
  %t = hexad.load @t : tensor<1x8xf32>
  %x = hexad.patchify %image, %w, %segments : tensor<?x1x4x4xf32>, tensor<8x1x2x2xf32> -> tensor<?x8xf32>
  %e = hexad.elements %segments : tensor<?xi32>
  // expected-error@+1 {{expected positions (hexad.positions), found tensor<?xi32>, which is no rows from elsewhere}}
  %y = hexad.prefix_rows %x, %e, %t : tensor<?x8xf32>, tensor<?xi32>, tensor<1x8xf32>
  return
}
