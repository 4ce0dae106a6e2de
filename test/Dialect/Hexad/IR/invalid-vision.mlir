// RUN: hexad-opt %s --split-input-file --verify-diagnostics

func.func @image_size(%image: tensor<?x3x?x48xf32>) {
  // expected-error @below {{must be f32 images [batch, channels, height, width] of static, positive sizes, each of fewer than 2^31 elements, but got 'tensor<?x3x?x48xf32>'}}
  %0 = hexad.image_segments %image {length = 25 : i64} : tensor<?x3x?x48xf32>
  return
}

// -----

func.func @image_too_large(%image: tensor<?x1x65536x65536xf32>) {
  // expected-error @below {{each of fewer than 2^31 elements, but got 'tensor<?x1x65536x65536xf32>'}}
  %0 = hexad.image_segments %image {length = 25 : i64} : tensor<?x1x65536x65536xf32>
  return
}

// -----

func.func @image_segments_length(%image: tensor<?x3x32x48xf32>) {
  // expected-error @below {{attribute 'length' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %0 = hexad.image_segments %image {length = 0 : i64} : tensor<?x3x32x48xf32>
  return
}

// -----

func.func @patchify_channels(%image: tensor<?x3x32x48xf32>, %w: tensor<60x1x8x8xf32>, %segments: !hexad.segments) {
  // expected-error @below {{patchify_c1: expected a weight of 3 channels, found 'tensor<60x1x8x8xf32>'}}
  %0 = hexad.patchify %image, %w, %segments : tensor<?x3x32x48xf32>, tensor<60x1x8x8xf32> -> tensor<?x60xf32>
  return
}

// -----

func.func @patchify_height(%image: tensor<?x3x33x48xf32>, %w: tensor<60x3x8x8xf32>, %segments: !hexad.segments) {
  // expected-error @below {{patchify_c2: expected a height and width of images that are multiples of the patch's 8 x 8, found 33 x 48}}
  %0 = hexad.patchify %image, %w, %segments : tensor<?x3x33x48xf32>, tensor<60x3x8x8xf32> -> tensor<?x60xf32>
  return
}

// -----

func.func @patchify_width(%image: tensor<?x3x32x47xf32>, %w: tensor<60x3x8x8xf32>, %segments: !hexad.segments) {
  // expected-error @below {{patchify_c2: expected a height and width of images that are multiples of the patch's 8 x 8, found 32 x 47}}
  %0 = hexad.patchify %image, %w, %segments : tensor<?x3x32x47xf32>, tensor<60x3x8x8xf32> -> tensor<?x60xf32>
  return
}

// -----

// A patch that is larger than the image is no whole patch.
func.func @patchify_larger(%image: tensor<?x3x4x4xf32>, %w: tensor<60x3x8x8xf32>, %segments: !hexad.segments) {
  // expected-error @below {{patchify_c2: expected a height and width of images that are multiples of the patch's 8 x 8, found 4 x 4}}
  %0 = hexad.patchify %image, %w, %segments : tensor<?x3x4x4xf32>, tensor<60x3x8x8xf32> -> tensor<?x60xf32>
  return
}

// -----

func.func @patchify_columns(%image: tensor<?x3x32x48xf32>, %w: tensor<60x3x8x8xf32>, %segments: !hexad.segments) {
  // expected-error @below {{patchify_c3: expected 25 rows of 60 columns for each image, found 'tensor<?x61xf32>'}}
  %0 = hexad.patchify %image, %w, %segments {prefix = 1 : i64} : tensor<?x3x32x48xf32>, tensor<60x3x8x8xf32> -> tensor<?x61xf32>
  return
}

// -----

func.func @patchify_rows(%image: tensor<2x3x32x48xf32>, %w: tensor<60x3x8x8xf32>, %segments: !hexad.segments) {
  // expected-error @below {{patchify_c3: expected 25 rows of 60 columns for each image, found 'tensor<48x60xf32>'}}
  %0 = hexad.patchify %image, %w, %segments {prefix = 1 : i64} : tensor<2x3x32x48xf32>, tensor<60x3x8x8xf32> -> tensor<48x60xf32>
  return
}

// -----

func.func @patchify_bias(%image: tensor<?x3x32x48xf32>, %w: tensor<60x3x8x8xf32>, %b: tensor<59xf32>, %segments: !hexad.segments) {
  // expected-error @below {{patchify_c4: expected a bias of 60 elements, found 'tensor<59xf32>'}}
  %0 = hexad.patchify %image, %w bias %b, %segments : tensor<?x3x32x48xf32>, tensor<60x3x8x8xf32>, tensor<59xf32> -> tensor<?x60xf32>
  return
}

// -----

func.func @patchify_prefix(%image: tensor<?x3x32x48xf32>, %w: tensor<60x3x8x8xf32>, %segments: !hexad.segments) {
  // expected-error @below {{patchify_c5: expected a prefix from 0 to 2147483647 rows, found -1}}
  %0 = hexad.patchify %image, %w, %segments {prefix = -1 : i64} : tensor<?x3x32x48xf32>, tensor<60x3x8x8xf32> -> tensor<?x60xf32>
  return
}

// -----

func.func @patches_patch(%elements: tensor<?xi32>, %image: tensor<?x3x32x48xf32>) {
  // expected-error @below {{patches_c1: expected the height and width of a patch, found array<i64: 8>}}
  %0 = hexad.patches %elements, %image {patch = array<i64: 8>} : tensor<?xi32>, tensor<?x3x32x48xf32> -> tensor<?x192xf32>
  return
}

// -----

func.func @patches_patch_zero(%elements: tensor<?xi32>, %image: tensor<?x3x32x48xf32>) {
  // expected-error @below {{patches_c1: expected the height and width of a patch, found array<i64: 8, 0>}}
  %0 = hexad.patches %elements, %image {patch = array<i64: 8, 0>} : tensor<?xi32>, tensor<?x3x32x48xf32> -> tensor<?x192xf32>
  return
}

// -----

func.func @patches_whole(%elements: tensor<?xi32>, %image: tensor<?x3x32x48xf32>) {
  // expected-error @below {{patches_c2: expected a height and width of images that are multiples of the patch's 8 x 9, found 32 x 48}}
  %0 = hexad.patches %elements, %image {patch = array<i64: 8, 9>} : tensor<?xi32>, tensor<?x3x32x48xf32> -> tensor<?x216xf32>
  return
}

// -----

func.func @patches_columns(%elements: tensor<?xi32>, %image: tensor<?x3x32x48xf32>) {
  // expected-error @below {{patches_c3: expected a row of 192 columns for each element of 'tensor<?xi32>', found 'tensor<?x64xf32>'}}
  %0 = hexad.patches %elements, %image {patch = array<i64: 8, 8>} : tensor<?xi32>, tensor<?x3x32x48xf32> -> tensor<?x64xf32>
  return
}

// -----

func.func @patches_rows(%elements: tensor<4xi32>, %image: tensor<?x3x32x48xf32>) {
  // expected-error @below {{patches_c3: expected a row of 192 columns for each element of 'tensor<4xi32>', found 'tensor<5x192xf32>'}}
  %0 = hexad.patches %elements, %image {patch = array<i64: 8, 8>} : tensor<4xi32>, tensor<?x3x32x48xf32> -> tensor<5x192xf32>
  return
}

// -----

func.func @patches_prefix(%elements: tensor<?xi32>, %image: tensor<?x3x32x48xf32>) {
  // expected-error @below {{patches_c4: expected a prefix from 0 to 2147483647 rows, found 2147483648}}
  %0 = hexad.patches %elements, %image {patch = array<i64: 8, 8>, prefix = 2147483648 : i64} : tensor<?xi32>, tensor<?x3x32x48xf32> -> tensor<?x192xf32>
  return
}

// -----

func.func @prefix_rows_columns(%x: tensor<?x60xf32>, %positions: tensor<?xi32>, %table: tensor<1x61xf32>) {
  // expected-error @below {{prefix_rows_c1: expected a table of 60 columns, found 'tensor<1x61xf32>'}}
  %y = hexad.prefix_rows %x, %positions, %table : tensor<?x60xf32>, tensor<?xi32>, tensor<1x61xf32>
  return
}

// -----

func.func @prefix_rows_positions(%x: tensor<4x60xf32>, %positions: tensor<5xi32>, %table: tensor<1x60xf32>) {
  // expected-error @below {{prefix_rows_c2: expected a position for each row of 'tensor<4x60xf32>', found 'tensor<5xi32>'}}
  %y = hexad.prefix_rows %x, %positions, %table : tensor<4x60xf32>, tensor<5xi32>, tensor<1x60xf32>
  return
}
