// RUN: hexad-opt %s --split-input-file --verify-diagnostics

func.func @rotary_columns(%p: tensor<?xi32>) {
  // expected-error @below {{rotary_c1: expected two columns for each of at least one frequency, found 2 frequencies and 'tensor<?x6xf32>'}}
  %t = hexad.rotary %p {inv_freq = array<f32: 1.0, 0.1>} : tensor<?xi32> -> tensor<?x6xf32>
  return
}

// -----

func.func @rotary_nothing(%p: tensor<?xi32>) {
  // expected-error @below {{rotary_c1: expected two columns for each of at least one frequency, found 0 frequencies}}
  %t = hexad.rotary %p {inv_freq = array<f32>} : tensor<?xi32> -> tensor<?x1xf32>
  return
}

// -----

func.func @rotary_negative(%p: tensor<?xi32>) {
  // expected-error @below {{rotary_c2: expected finite frequencies of at least 0, found -1}}
  %t = hexad.rotary %p {inv_freq = array<f32: 0.0, -1.0>} : tensor<?xi32> -> tensor<?x4xf32>
  return
}

// -----

func.func @rotary_infinite(%p: tensor<?xi32>) {
  // expected-error @below {{rotary_c2: expected finite frequencies of at least 0, found}}
  %t = hexad.rotary %p {inv_freq = array<f32: 0x7F800000>} : tensor<?xi32> -> tensor<?x2xf32>
  return
}

// -----

func.func @rotary_factor(%p: tensor<?xi32>) {
  // expected-error @below {{rotary_c3: expected a finite attention_factor, found}}
  %t = hexad.rotary %p {inv_freq = array<f32: 1.0>, attention_factor = 0x7FF8000000000000 : f64} : tensor<?xi32> -> tensor<?x2xf32>
  return
}

// -----

func.func @rotary_rows(%p: tensor<4xi32>) {
  // expected-error @below {{rotary_c4: expected one row for each position of 'tensor<4xi32>', found 'tensor<5x2xf32>'}}
  %t = hexad.rotary %p {inv_freq = array<f32: 1.0>} : tensor<4xi32> -> tensor<5x2xf32>
  return
}

// -----

func.func @rope_heads(%x: tensor<?x72xf32>, %t: tensor<?x12xf32>) {
  // expected-error @below {{rope_c1: expected 7 heads of 12 columns from column 0 on to lie inside 'tensor<?x72xf32>'}}
  %y = hexad.rope half %x, %t {heads = 7 : i64, head_dim = 12 : i64} : tensor<?x72xf32>, tensor<?x12xf32>
  return
}

// -----

func.func @rope_offset(%x: tensor<?x72xf32>, %t: tensor<?x12xf32>) {
  // expected-error @below {{rope_c1: expected 6 heads of 12 columns from column 1 on}}
  %y = hexad.rope half %x, %t {heads = 6 : i64, head_dim = 12 : i64, offset = 1 : i64} : tensor<?x72xf32>, tensor<?x12xf32>
  return
}

// -----

func.func @rope_large(%x: tensor<?x72xf32>, %t: tensor<?x12xf32>) {
  // expected-error @below {{rope_c1: expected 9223372036854775807 heads}}
  %y = hexad.rope half %x, %t {heads = 9223372036854775807 : i64, head_dim = 12 : i64} : tensor<?x72xf32>, tensor<?x12xf32>
  return
}

// -----

func.func @rope_wide(%x: tensor<?x72xf32>, %t: tensor<?x14xf32>) {
  // expected-error @below {{rope_c2: expected an even number of at most 12 columns of rotary, found 'tensor<?x14xf32>'}}
  %y = hexad.rope half %x, %t {heads = 6 : i64, head_dim = 12 : i64} : tensor<?x72xf32>, tensor<?x14xf32>
  return
}

// -----

func.func @rope_odd(%x: tensor<?x72xf32>, %t: tensor<?x11xf32>) {
  // expected-error @below {{rope_c2: expected an even number of at most 12 columns of rotary, found 'tensor<?x11xf32>'}}
  %y = hexad.rope half %x, %t {heads = 6 : i64, head_dim = 12 : i64} : tensor<?x72xf32>, tensor<?x11xf32>
  return
}

// -----

func.func @rope_rows(%x: tensor<4x72xf32>, %t: tensor<5x12xf32>) {
  // expected-error @below {{rope_c3: expected a row of rotary for each row of 'tensor<4x72xf32>', found 'tensor<5x12xf32>'}}
  %y = hexad.rope half %x, %t {heads = 6 : i64, head_dim = 12 : i64} : tensor<4x72xf32>, tensor<5x12xf32>
  return
}

// -----

func.func @rope_pairing(%x: tensor<?x72xf32>, %t: tensor<?x12xf32>) {
  // expected-error @below {{expected one of [half, interleaved]}}
  %y = hexad.rope whole %x, %t {heads = 6 : i64, head_dim = 12 : i64} : tensor<?x72xf32>, tensor<?x12xf32>
  return
}

// -----

// Compiled code computes in f32.
func.func @rotary_factor_infinite_in_f32(%p: tensor<?xi32>) {
  // expected-error @below {{rotary_c3: expected a finite attention_factor, found}}
  %t = hexad.rotary %p {inv_freq = array<f32: 1.0>, attention_factor = 1.0e+40 : f64} : tensor<?xi32> -> tensor<?x2xf32>
  return
}
