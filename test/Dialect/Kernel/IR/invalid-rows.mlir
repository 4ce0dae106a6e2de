// RUN: hexad-opt %s --split-input-file --verify-diagnostics

func.func @layer_norm_padding(%x: memref<?x60xf32>, %w: memref<64xf32>) {
  // expected-error @below {{kernel_c3: expected the columns of destination to be a static, positive multiple of 16, found 'memref<?x60xf32>'}}
  hexad_kernel.layer_norm ins(%x, %w : memref<?x60xf32>, memref<64xf32>) outs(%x : memref<?x60xf32>) {eps = 0.0 : f64, width = 60 : i64}
  return
}

// -----

func.func @layer_norm_width(%x: memref<?x64xf32>, %w: memref<64xf32>) {
  // expected-error @below {{kernel_c4: expected at least 65 columns of destination, found 64}}
  hexad_kernel.layer_norm ins(%x, %w : memref<?x64xf32>, memref<64xf32>) outs(%x : memref<?x64xf32>) {eps = 0.0 : f64, width = 65 : i64}
  return
}

// -----

func.func @layer_norm_shape(%x: memref<4x64xf32>, %w: memref<64xf32>, %y: memref<5x64xf32>) {
  // expected-error @below {{kernel_c5: expected 5 rows of x, found 4}}
  hexad_kernel.layer_norm ins(%x, %w : memref<4x64xf32>, memref<64xf32>) outs(%y : memref<5x64xf32>) {eps = 0.0 : f64, width = 60 : i64}
  return
}

// -----

func.func @layer_norm_eps(%x: memref<?x64xf32>, %w: memref<64xf32>) {
  // expected-error @below {{kernel_c6: expected a finite eps of at least 0, found -1}}
  hexad_kernel.layer_norm ins(%x, %w : memref<?x64xf32>, memref<64xf32>) outs(%x : memref<?x64xf32>) {eps = -1.0 : f64, width = 60 : i64}
  return
}

// -----

func.func @layer_norm_weight(%x: memref<?x64xf32>, %w: memref<60xf32>) {
  // expected-error @below {{layer_norm_c1: expected at least 64 elements of weight, found 60}}
  hexad_kernel.layer_norm ins(%x, %w : memref<?x64xf32>, memref<60xf32>) outs(%x : memref<?x64xf32>) {eps = 0.0 : f64, width = 60 : i64}
  return
}

// -----

func.func @layer_norm_bias(%x: memref<?x64xf32>, %w: memref<64xf32>, %b: memref<60xf32>) {
  // expected-error @below {{layer_norm_c2: expected at least 64 elements of bias, found 60}}
  hexad_kernel.layer_norm ins(%x, %w : memref<?x64xf32>, memref<64xf32>) bias(%b : memref<60xf32>) outs(%x : memref<?x64xf32>) {eps = 0.0 : f64, width = 60 : i64}
  return
}

// -----

func.func @l2_normalize_width(%x: memref<?x64xf32>) {
  // expected-error @below {{kernel_c4: expected a positive width, found 0}}
  hexad_kernel.l2_normalize ins(%x : memref<?x64xf32>) outs(%x : memref<?x64xf32>) {eps = 0.0 : f64, width = 0 : i64}
  return
}

// -----

func.func @l2_normalize_eps(%x: memref<?x64xf32>) {
  // expected-error @below {{kernel_c6: expected a finite eps of at least 0, found }}
  hexad_kernel.l2_normalize ins(%x : memref<?x64xf32>) outs(%x : memref<?x64xf32>) {eps = 0x7FF0000000000000 : f64, width = 60 : i64}
  return
}

// -----

func.func @softmax_width(%x: memref<?x16xf32>) {
  // expected-error @below {{kernel_c4: expected at least 17 columns of destination, found 16}}
  hexad_kernel.softmax ins(%x : memref<?x16xf32>) outs(%x : memref<?x16xf32>) {width = 17 : i64}
  return
}

// -----

func.func @activation_shape(%x: memref<?x32xf32>, %y: memref<?x16xf32>) {
  // expected-error @below {{kernel_c5: expected 16 columns of x, found 32}}
  hexad_kernel.activation ins(%x : memref<?x32xf32>) outs(%y : memref<?x16xf32>) {kind = #hexad.activation<relu>}
  return
}

// -----

func.func @add_shape(%x: memref<?x16xf32>, %y: memref<?x32xf32>) {
  // expected-error @below {{kernel_c5: expected 16 columns of rhs, found 32}}
  hexad_kernel.add ins(%x, %y : memref<?x16xf32>, memref<?x32xf32>) outs(%x : memref<?x16xf32>)
  return
}

// -----

func.func @add_dynamic_columns(%x: memref<4x?xf32, strided<[16, 1]>>) {
  // expected-error @below {{kernel_c3: expected the columns of destination to be a static, positive multiple of 16}}
  hexad_kernel.add ins(%x, %x : memref<4x?xf32, strided<[16, 1]>>, memref<4x?xf32, strided<[16, 1]>>) outs(%x : memref<4x?xf32, strided<[16, 1]>>)
  return
}

// -----

func.func @mixed(%x: tensor<?x64xf32>, %y: memref<?x64xf32>) {
  // expected-error @below {{kernel_c2: expected either tensors or buffers, found both}}
  hexad_kernel.add ins(%x, %y : tensor<?x64xf32>, memref<?x64xf32>) outs(%y : memref<?x64xf32>)
  return
}
