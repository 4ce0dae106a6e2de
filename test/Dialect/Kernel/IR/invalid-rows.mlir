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

// -----

func.func @rms_norm_groups(%x: memref<?x64xf32>) {
  // expected-error @below {{rms_norm_c1: expected 4 groups of 17 columns from column 0 on to lie inside 64 columns}}
  hexad_kernel.rms_norm ins(%x : memref<?x64xf32>) outs(%x : memref<?x64xf32>) {eps = 0.0 : f64, groups = 4 : i64, group_size = 17 : i64}
  return
}

// -----

func.func @rms_norm_offset(%x: memref<?x64xf32>) {
  // expected-error @below {{rms_norm_c1: expected 4 groups of 16 columns from column 1 on}}
  hexad_kernel.rms_norm ins(%x : memref<?x64xf32>) outs(%x : memref<?x64xf32>) {eps = 0.0 : f64, groups = 4 : i64, group_size = 16 : i64, offset = 1 : i64}
  return
}

// -----

func.func @rms_norm_negative_offset(%x: memref<?x64xf32>) {
  // expected-error @below {{rms_norm_c1: expected 1 groups of 16 columns from column -1 on}}
  hexad_kernel.rms_norm ins(%x : memref<?x64xf32>) outs(%x : memref<?x64xf32>) {eps = 0.0 : f64, groups = 1 : i64, group_size = 16 : i64, offset = -1 : i64}
  return
}

// -----

func.func @rms_norm_empty(%x: memref<?x64xf32>) {
  // expected-error @below {{rms_norm_c1: expected 1 groups of 0 columns}}
  hexad_kernel.rms_norm ins(%x : memref<?x64xf32>) outs(%x : memref<?x64xf32>) {eps = 0.0 : f64, groups = 1 : i64, group_size = 0 : i64}
  return
}

// -----

func.func @rms_norm_weight(%x: memref<?x64xf32>, %w: memref<17xf32>) {
  // expected-error @below {{rms_norm_c2: expected at least 32 elements of weight, found 17}}
  hexad_kernel.rms_norm ins(%x : memref<?x64xf32>) weight(%w : memref<17xf32>) outs(%x : memref<?x64xf32>) {eps = 0.0 : f64, groups = 1 : i64, group_size = 17 : i64}
  return
}

// -----

func.func @rms_norm_unit_offset(%x: memref<?x64xf32>) {
  // expected-error @below {{rms_norm_c3: expected a weight beside unit_offset}}
  hexad_kernel.rms_norm ins(%x : memref<?x64xf32>) outs(%x : memref<?x64xf32>) {eps = 0.0 : f64, groups = 1 : i64, group_size = 17 : i64, unit_offset}
  return
}

// -----

func.func @rms_norm_eps(%x: memref<?x64xf32>) {
  // expected-error @below {{kernel_c6: expected a finite eps of at least 0, found -1}}
  hexad_kernel.rms_norm ins(%x : memref<?x64xf32>) outs(%x : memref<?x64xf32>) {eps = -1.0 : f64, groups = 1 : i64, group_size = 17 : i64}
  return
}

// -----

func.func @rms_norm_padding(%x: memref<?x60xf32>) {
  // expected-error @below {{kernel_c3: expected the columns of destination to be a static, positive multiple of 16}}
  hexad_kernel.rms_norm ins(%x : memref<?x60xf32>) outs(%x : memref<?x60xf32>) {eps = 0.0 : f64, groups = 1 : i64, group_size = 17 : i64}
  return
}

// -----

func.func @scale_shape(%x: memref<?x32xf32>, %y: memref<?x16xf32>) {
  // expected-error @below {{kernel_c5: expected 16 columns of x, found 32}}
  hexad_kernel.scale ins(%x : memref<?x32xf32>) outs(%y : memref<?x16xf32>) {factor = 2.0 : f64}
  return
}

// -----

func.func @softcap_shape(%x: memref<?x32xf32>, %y: memref<?x16xf32>) {
  // expected-error @below {{kernel_c5: expected 16 columns of x, found 32}}
  hexad_kernel.softcap ins(%x : memref<?x32xf32>) outs(%y : memref<?x16xf32>) {cap = 2.0 : f64}
  return
}

// -----

func.func @multiply_shape(%x: memref<?x16xf32>, %y: memref<?x32xf32>) {
  // expected-error @below {{kernel_c5: expected 16 columns of rhs, found 32}}
  hexad_kernel.multiply ins(%x, %y : memref<?x16xf32>, memref<?x32xf32>) outs(%x : memref<?x16xf32>)
  return
}

// -----

func.func @rotary_positions(%p: memref<4xi32>, %t: memref<5x16xf32>) {
  // expected-error @below {{rotary_c1: expected at least 5 elements of positions, found 4}}
  hexad_kernel.rotary ins(%p : memref<4xi32>) outs(%t : memref<5x16xf32>) {inv_freq = array<f32: 1.0>, attention_factor = 1.0 : f64}
  return
}

// -----

func.func @rotary_columns(%p: memref<?xi32>, %t: memref<?x16xf32>) {
  // expected-error @below {{rotary_c2: expected at least 18 columns of destination, found 16}}
  hexad_kernel.rotary ins(%p : memref<?xi32>) outs(%t : memref<?x16xf32>) {inv_freq = array<f32: 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0>, attention_factor = 1.0 : f64}
  return
}

// -----

func.func @rotary_nothing(%p: memref<?xi32>, %t: memref<?x16xf32>) {
  // expected-error @below {{rotary_c2: expected at least one frequency, found none}}
  hexad_kernel.rotary ins(%p : memref<?xi32>) outs(%t : memref<?x16xf32>) {inv_freq = array<f32>, attention_factor = 1.0 : f64}
  return
}

// -----

func.func @rope_heads(%x: memref<?x64xf32>, %r: memref<?x16xf32>, %y: memref<?x64xf32>) {
  // expected-error @below {{rope_c1: expected 5 heads of 13 columns from column 0 on to lie inside 64 columns}}
  hexad_kernel.rope ins(%x, %r : memref<?x64xf32>, memref<?x16xf32>) outs(%y : memref<?x64xf32>) {pairing = #hexad.pairing<half>, heads = 5 : i64, head_dim = 13 : i64, frequencies = 6 : i64}
  return
}

// -----

func.func @rope_offset(%x: memref<?x64xf32>, %r: memref<?x16xf32>, %y: memref<?x64xf32>) {
  // expected-error @below {{rope_c1: expected 4 heads of 16 columns from column 1 on}}
  hexad_kernel.rope ins(%x, %r : memref<?x64xf32>, memref<?x16xf32>) outs(%y : memref<?x64xf32>) {pairing = #hexad.pairing<half>, heads = 4 : i64, head_dim = 16 : i64, frequencies = 8 : i64, offset = 1 : i64}
  return
}

// -----

func.func @rope_frequencies(%x: memref<?x64xf32>, %r: memref<?x16xf32>, %y: memref<?x64xf32>) {
  // expected-error @below {{rope_c2: expected from 1 to 6 frequencies, found 7}}
  hexad_kernel.rope ins(%x, %r : memref<?x64xf32>, memref<?x16xf32>) outs(%y : memref<?x64xf32>) {pairing = #hexad.pairing<half>, heads = 4 : i64, head_dim = 13 : i64, frequencies = 7 : i64}
  return
}

// -----

func.func @rope_nothing(%x: memref<?x64xf32>, %r: memref<?x16xf32>, %y: memref<?x64xf32>) {
  // expected-error @below {{rope_c2: expected from 1 to 6 frequencies, found 0}}
  hexad_kernel.rope ins(%x, %r : memref<?x64xf32>, memref<?x16xf32>) outs(%y : memref<?x64xf32>) {pairing = #hexad.pairing<half>, heads = 4 : i64, head_dim = 13 : i64, frequencies = 0 : i64}
  return
}

// -----

func.func @rope_rotary(%x: memref<?x64xf32>, %r: memref<?x16xf32>, %y: memref<?x64xf32>) {
  // expected-error @below {{rope_c2: expected at least 20 columns of rotary, found 16}}
  hexad_kernel.rope ins(%x, %r : memref<?x64xf32>, memref<?x16xf32>) outs(%y : memref<?x64xf32>) {pairing = #hexad.pairing<half>, heads = 1 : i64, head_dim = 64 : i64, frequencies = 10 : i64}
  return
}

// -----

func.func @rope_rows(%x: memref<4x64xf32>, %r: memref<5x16xf32>, %y: memref<4x64xf32>) {
  // expected-error @below {{rope_c3: expected 4 rows of rotary, found 5}}
  hexad_kernel.rope ins(%x, %r : memref<4x64xf32>, memref<5x16xf32>) outs(%y : memref<4x64xf32>) {pairing = #hexad.pairing<half>, heads = 1 : i64, head_dim = 64 : i64, frequencies = 8 : i64}
  return
}

// -----

func.func @rope_shape(%x: memref<?x80xf32>, %r: memref<?x16xf32>, %y: memref<?x64xf32>) {
  // expected-error @below {{kernel_c5: expected 64 columns of x, found 80}}
  hexad_kernel.rope ins(%x, %r : memref<?x80xf32>, memref<?x16xf32>) outs(%y : memref<?x64xf32>) {pairing = #hexad.pairing<half>, heads = 1 : i64, head_dim = 64 : i64, frequencies = 8 : i64}
  return
}

// -----

func.func @scale_columns_weight(%x: memref<?x64xf32>, %w: memref<60xf32>) {
  // expected-error @below {{scale_columns_c1: expected at least 64 elements of weight, found 60}}
  hexad_kernel.scale_columns ins(%x, %w : memref<?x64xf32>, memref<60xf32>) outs(%x : memref<?x64xf32>)
  return
}
