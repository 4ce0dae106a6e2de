// RUN: hexad-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{tile_c1: expected a positive number of rows, found 0}}
func.func private @no_rows() attributes {tile = #hexad_kernel.tile<rows = 0, columns = 16>}

// -----

// expected-error @below {{tile_c2: expected columns to be a positive multiple of 16, found 24}}
func.func private @odd_columns() attributes {tile = #hexad_kernel.tile<rows = 6, columns = 24>}

// -----

func.func @element_type(%a: memref<?x8xf64>, %p: memref<2x8x16xf32>, %c: memref<?x32xf32>) {
  // expected-error @below {{operand #0 must be rows x columns of f32, but got 'memref<?x8xf64>'}}
  hexad_kernel.matmul ins(%a, %p : memref<?x8xf64>, memref<2x8x16xf32>) outs(%c : memref<?x32xf32>) {tile = #hexad_kernel.tile<rows = 6, columns = 16>}
  return
}

// -----

func.func @panel_type(%a: memref<?x8xf32>, %p: memref<2x8x16xf64>, %c: memref<?x32xf32>) {
  // expected-error @below {{operand #1 must be panels x depth x columns of f32, bf16 or f16, but got 'memref<2x8x16xf64>'}}
  hexad_kernel.matmul ins(%a, %p : memref<?x8xf32>, memref<2x8x16xf64>) outs(%c : memref<?x32xf32>) {tile = #hexad_kernel.tile<rows = 6, columns = 16>}
  return
}

// -----

func.func @narrow_rows(%a: memref<?x8xbf16>, %p: memref<2x8x16xbf16>, %c: memref<?x32xf32>) {
  // expected-error @below {{operand #0 must be rows x columns of f32, but got 'memref<?x8xbf16>'}}
  hexad_kernel.matmul ins(%a, %p : memref<?x8xbf16>, memref<2x8x16xbf16>) outs(%c : memref<?x32xf32>) {tile = #hexad_kernel.tile<rows = 6, columns = 16>}
  return
}

// -----

func.func @rank(%a: memref<8xf32>, %p: memref<2x8x16xf32>, %c: memref<?x32xf32>) {
  // expected-error @below {{operand #0 must be rows x columns of f32, but got 'memref<8xf32>'}}
  hexad_kernel.matmul ins(%a, %p : memref<8xf32>, memref<2x8x16xf32>) outs(%c : memref<?x32xf32>) {tile = #hexad_kernel.tile<rows = 6, columns = 16>}
  return
}

// -----

func.func @no_result(%a: tensor<?x8xf32>, %p: tensor<2x8x16xf32>, %c: tensor<?x32xf32>) {
  // expected-error @below {{expected the number of tensor results (0) to be equal to the number of output tensors (1)}}
  hexad_kernel.matmul ins(%a, %p : tensor<?x8xf32>, tensor<2x8x16xf32>) outs(%c : tensor<?x32xf32>) {tile = #hexad_kernel.tile<rows = 6, columns = 16>}
  return
}

// -----

func.func @column_stride(%a: memref<?x8xf32, strided<[16, 2]>>, %p: memref<2x8x16xf32>, %c: memref<?x32xf32>) {
  // expected-error @below {{kernel_c1: expected static strides, the last of them 1, found operand 0 of type 'memref<?x8xf32, strided<[16, 2]>>'}}
  hexad_kernel.matmul ins(%a, %p : memref<?x8xf32, strided<[16, 2]>>, memref<2x8x16xf32>) outs(%c : memref<?x32xf32>) {tile = #hexad_kernel.tile<rows = 6, columns = 16>}
  return
}

// -----

func.func @dynamic_stride(%a: memref<?x8xf32>, %p: memref<2x8x16xf32, strided<[?, 16, 1]>>, %c: memref<?x32xf32>) {
  // expected-error @below {{kernel_c1: expected static strides, the last of them 1, found operand 1}}
  hexad_kernel.matmul ins(%a, %p : memref<?x8xf32>, memref<2x8x16xf32, strided<[?, 16, 1]>>) outs(%c : memref<?x32xf32>) {tile = #hexad_kernel.tile<rows = 6, columns = 16>}
  return
}

// -----

func.func @panel_columns(%a: memref<?x8xf32>, %p: memref<2x8x12xf32>, %c: memref<?x24xf32>) {
  // expected-error @below {{kernel_c3: expected the columns of panels to be a static, positive multiple of 16, found 'memref<2x8x12xf32>'}}
  hexad_kernel.matmul ins(%a, %p : memref<?x8xf32>, memref<2x8x12xf32>) outs(%c : memref<?x24xf32>) {tile = #hexad_kernel.tile<rows = 6, columns = 16>}
  return
}

// -----

func.func @wide_panel(%a: memref<?x8xf32>, %p: memref<1x8x32xf32>, %c: memref<?x32xf32>) {
  // expected-error @below {{matmul_c1: expected at most the tile's 16 columns of panels, found 32}}
  hexad_kernel.matmul ins(%a, %p : memref<?x8xf32>, memref<1x8x32xf32>) outs(%c : memref<?x32xf32>) {tile = #hexad_kernel.tile<rows = 6, columns = 16>}
  return
}

// -----

func.func @depth(%a: memref<?x7xf32>, %p: memref<2x8x16xf32>, %c: memref<?x32xf32>) {
  // expected-error @below {{matmul_c2: expected at least 8 columns of a, found 7}}
  hexad_kernel.matmul ins(%a, %p : memref<?x7xf32>, memref<2x8x16xf32>) outs(%c : memref<?x32xf32>) {tile = #hexad_kernel.tile<rows = 6, columns = 16>}
  return
}

// -----

func.func @contiguous(%a: memref<?x8xf32>, %p: memref<2x8x16xf32, strided<[512, 32, 1]>>, %c: memref<?x32xf32>) {
  // expected-error @below {{matmul_c3: expected the rows of a panel to be contiguous, found a stride of 32}}
  hexad_kernel.matmul ins(%a, %p : memref<?x8xf32>, memref<2x8x16xf32, strided<[512, 32, 1]>>) outs(%c : memref<?x32xf32>) {tile = #hexad_kernel.tile<rows = 6, columns = 16>}
  return
}

// -----

func.func @rows(%a: memref<18x8xf32>, %p: memref<2x8x16xf32>, %c: memref<12x32xf32>) {
  // expected-error @below {{matmul_c4: expected 12 rows of a, found 18}}
  hexad_kernel.matmul ins(%a, %p : memref<18x8xf32>, memref<2x8x16xf32>) outs(%c : memref<12x32xf32>) {tile = #hexad_kernel.tile<rows = 6, columns = 16>}
  return
}

// -----

func.func @destination_columns(%a: memref<?x8xf32>, %p: memref<2x8x16xf32>, %c: memref<?x31xf32>) {
  // expected-error @below {{matmul_c5: expected at least 32 columns of destination, found 31}}
  hexad_kernel.matmul ins(%a, %p : memref<?x8xf32>, memref<2x8x16xf32>) outs(%c : memref<?x31xf32>) {tile = #hexad_kernel.tile<rows = 6, columns = 16>}
  return
}

// -----

func.func @bias(%a: memref<?x8xf32>, %p: memref<2x8x16xf32>, %b: memref<31xf32>, %c: memref<?x32xf32>) {
  // expected-error @below {{matmul_c6: expected at least 32 elements of bias, found 31}}
  hexad_kernel.matmul ins(%a, %p : memref<?x8xf32>, memref<2x8x16xf32>) bias(%b : memref<31xf32>) outs(%c : memref<?x32xf32>) {tile = #hexad_kernel.tile<rows = 6, columns = 16>}
  return
}

// -----

func.func @factor_rows(%a: memref<12x8xf32>, %p: memref<2x8x16xf32>, %r: memref<18x32xf32>, %c: memref<12x32xf32>) {
  // expected-error @below {{matmul_c8: expected 12 rows of factor, found 18}}
  hexad_kernel.matmul ins(%a, %p : memref<12x8xf32>, memref<2x8x16xf32>) factor(%r : memref<18x32xf32>) outs(%c : memref<12x32xf32>) {tile = #hexad_kernel.tile<rows = 6, columns = 16>}
  return
}

// -----

func.func @factor_columns(%a: memref<12x8xf32>, %p: memref<2x8x16xf32>, %r: memref<12x31xf32>, %c: memref<12x32xf32>) {
  // expected-error @below {{matmul_c8: expected at least 32 columns of factor, found 31}}
  hexad_kernel.matmul ins(%a, %p : memref<12x8xf32>, memref<2x8x16xf32>) factor(%r : memref<12x31xf32>) outs(%c : memref<12x32xf32>) {tile = #hexad_kernel.tile<rows = 6, columns = 16>}
  return
}

// -----

func.func @residual_rows(%a: memref<12x8xf32>, %p: memref<2x8x16xf32>, %r: memref<18x32xf32>, %c: memref<12x32xf32>) {
  // expected-error @below {{matmul_c8: expected 12 rows of residual, found 18}}
  hexad_kernel.matmul ins(%a, %p : memref<12x8xf32>, memref<2x8x16xf32>) residual(%r : memref<18x32xf32>) outs(%c : memref<12x32xf32>) {tile = #hexad_kernel.tile<rows = 6, columns = 16>}
  return
}

// -----

func.func @residual_columns(%a: memref<12x8xf32>, %p: memref<2x8x16xf32>, %r: memref<12x31xf32>, %c: memref<12x32xf32>) {
  // expected-error @below {{matmul_c8: expected at least 32 columns of residual, found 31}}
  hexad_kernel.matmul ins(%a, %p : memref<12x8xf32>, memref<2x8x16xf32>) residual(%r : memref<12x31xf32>) outs(%c : memref<12x32xf32>) {tile = #hexad_kernel.tile<rows = 6, columns = 16>}
  return
}

// -----

func.func @fold_rows(%a: memref<?x8xf32>, %p: memref<2x8x16xf32>, %s: memref<4x64xf32>, %c: memref<?x32xf32>) {
  // expected-error @below {{matmul_c7: expected 6 rows of fold, found 4}}
  hexad_kernel.matmul ins(%a, %p : memref<?x8xf32>, memref<2x8x16xf32>) fold(%s : memref<4x64xf32>) outs(%c : memref<?x32xf32>) {tile = #hexad_kernel.tile<rows = 6, columns = 16>}
  return
}

// -----

func.func @fold_columns(%a: memref<66x8xf32>, %p: memref<2x8x16xf32>, %s: memref<6x64xf32>, %c: memref<66x32xf32>) {
  // expected-error @below {{matmul_c7: expected at least 66 columns of fold, found 64}}
  hexad_kernel.matmul ins(%a, %p : memref<66x8xf32>, memref<2x8x16xf32>) fold(%s : memref<6x64xf32>) outs(%c : memref<66x32xf32>) {tile = #hexad_kernel.tile<rows = 6, columns = 16>}
  return
}
