// RUN: hexad-opt %s --split-input-file --verify-diagnostics

func.func @patches_height(%images: memref<?x3x32x48xf32>, %elements: memref<?xi32>, %x: memref<?x224xf32>) {
  // expected-error @below {{gather_patches_c1: expected static images of fewer than 2^31 elements that are whole patches}}
  hexad_kernel.gather_patches ins(%images, %elements : memref<?x3x32x48xf32>, memref<?xi32>) outs(%x : memref<?x224xf32>) {patch = array<i64: 9, 8>, prefix = 1 : i64}
  return
}

// -----

func.func @patches_width(%images: memref<?x3x32x48xf32>, %elements: memref<?xi32>, %x: memref<?x192xf32>) {
  // expected-error @below {{gather_patches_c1: expected static images of fewer than 2^31 elements that are whole patches}}
  hexad_kernel.gather_patches ins(%images, %elements : memref<?x3x32x48xf32>, memref<?xi32>) outs(%x : memref<?x192xf32>) {patch = array<i64: 8, 7>, prefix = 1 : i64}
  return
}

// -----

func.func @patches_sizes(%images: memref<?x3x32x48xf32>, %elements: memref<?xi32>, %x: memref<?x192xf32>) {
  // expected-error @below {{gather_patches_c1: expected static images of fewer than 2^31 elements that are whole patches}}
  hexad_kernel.gather_patches ins(%images, %elements : memref<?x3x32x48xf32>, memref<?xi32>) outs(%x : memref<?x192xf32>) {patch = array<i64: 8>, prefix = 1 : i64}
  return
}

// -----

func.func @patches_zero(%images: memref<?x3x32x48xf32>, %elements: memref<?xi32>, %x: memref<?x192xf32>) {
  // expected-error @below {{gather_patches_c1: expected static images of fewer than 2^31 elements that are whole patches}}
  hexad_kernel.gather_patches ins(%images, %elements : memref<?x3x32x48xf32>, memref<?xi32>) outs(%x : memref<?x192xf32>) {patch = array<i64: 8, 0>, prefix = 1 : i64}
  return
}

// -----

func.func @patches_columns(%images: memref<?x3x32x48xf32>, %elements: memref<?xi32>, %x: memref<?x176xf32>) {
  // expected-error @below {{gather_patches_c2: expected at least 192 columns of destination, found 176}}
  hexad_kernel.gather_patches ins(%images, %elements : memref<?x3x32x48xf32>, memref<?xi32>) outs(%x : memref<?x176xf32>) {patch = array<i64: 8, 8>, prefix = 1 : i64}
  return
}

// -----

func.func @patches_elements(%images: memref<?x3x32x48xf32>, %elements: memref<4xi32>, %x: memref<5x192xf32>) {
  // expected-error @below {{gather_patches_c3: expected at least 5 elements of elements, found 4}}
  hexad_kernel.gather_patches ins(%images, %elements : memref<?x3x32x48xf32>, memref<4xi32>) outs(%x : memref<5x192xf32>) {patch = array<i64: 8, 8>, prefix = 1 : i64}
  return
}

// -----

func.func @patches_prefix(%images: memref<?x3x32x48xf32>, %elements: memref<?xi32>, %x: memref<?x192xf32>) {
  // expected-error @below {{gather_patches_c4: expected a prefix from 0 to 2147483647 rows, found -1}}
  hexad_kernel.gather_patches ins(%images, %elements : memref<?x3x32x48xf32>, memref<?xi32>) outs(%x : memref<?x192xf32>) {patch = array<i64: 8, 8>, prefix = -1 : i64}
  return
}

// -----

func.func @patches_padded(%images: memref<?x3x32x48xf32>, %elements: memref<?xi32>, %x: memref<?x193xf32>) {
  // expected-error @below {{kernel_c3: expected the columns of destination to be a static, positive multiple of 16}}
  hexad_kernel.gather_patches ins(%images, %elements : memref<?x3x32x48xf32>, memref<?xi32>) outs(%x : memref<?x193xf32>) {patch = array<i64: 8, 8>, prefix = 1 : i64}
  return
}

// -----

func.func @prefix_positions(%x: memref<5x64xf32>, %positions: memref<4xi32>, %table: memref<1x64xf32>) {
  // expected-error @below {{prefix_rows_c1: expected at least 5 elements of positions, found 4}}
  hexad_kernel.prefix_rows ins(%x, %positions, %table : memref<5x64xf32>, memref<4xi32>, memref<1x64xf32>) outs(%x : memref<5x64xf32>)
  return
}

// -----

func.func @prefix_columns(%x: memref<?x64xf32>, %positions: memref<?xi32>, %table: memref<1x60xf32>) {
  // expected-error @below {{prefix_rows_c2: expected at least 64 columns of table, found 60}}
  hexad_kernel.prefix_rows ins(%x, %positions, %table : memref<?x64xf32>, memref<?xi32>, memref<1x60xf32>) outs(%x : memref<?x64xf32>)
  return
}

// -----

func.func @prefix_entries(%x: memref<?x64xf32>, %positions: memref<?xi32>, %table: memref<?x64xf32>) {
  // expected-error @below {{prefix_rows_c3: expected a static number of entries}}
  hexad_kernel.prefix_rows ins(%x, %positions, %table : memref<?x64xf32>, memref<?xi32>, memref<?x64xf32>) outs(%x : memref<?x64xf32>)
  return
}
