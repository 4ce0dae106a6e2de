// RUN: hexad-opt %s --split-input-file --verify-diagnostics

func.func @heads_no_multiple(%x: tensor<?x60xf32>, %segments: !hexad.segments) {
  // expected-error @below {{attention_c1: expected heads to be a multiple of 2 kv_heads, found 5}}
  %o = hexad.attention %x, %x, %x, %segments {heads = 5 : i64, kv_heads = 2 : i64, head_dim = 12 : i64, scale = 1.0 : f64}
      : tensor<?x60xf32>, tensor<?x60xf32>, tensor<?x60xf32> -> tensor<?x60xf32>
  return
}

// -----

func.func @two_offsets(%x: tensor<?x60xf32>, %segments: !hexad.segments) {
  // expected-error @below {{attention_c2: expected three offsets, found 2}}
  %o = hexad.attention %x, %x, %x, %segments {heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 1.0 : f64, offsets = array<i64: 0, 0>}
      : tensor<?x60xf32>, tensor<?x60xf32>, tensor<?x60xf32> -> tensor<?x60xf32>
  return
}

// -----

func.func @narrow_query(%x: tensor<?x59xf32>, %y: tensor<?x60xf32>, %segments: !hexad.segments) {
  // expected-error @below {{attention_c3: expected a query of at least 60 columns and an offset of at least 0, found 'tensor<?x59xf32>' and 0}}
  %o = hexad.attention %x, %y, %y, %segments {heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 1.0 : f64}
      : tensor<?x59xf32>, tensor<?x60xf32>, tensor<?x60xf32> -> tensor<?x60xf32>
  return
}

// -----

func.func @key_behind_the_end(%x: tensor<?x180xf32>, %segments: !hexad.segments) {
  // expected-error @below {{attention_c3: expected a key of at least 181 columns}}
  %o = hexad.attention %x, %x, %x, %segments {heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 1.0 : f64, offsets = array<i64: 0, 121, 0>}
      : tensor<?x180xf32>, tensor<?x180xf32>, tensor<?x180xf32> -> tensor<?x60xf32>
  return
}

// -----

func.func @negative_offset(%x: tensor<?x180xf32>, %segments: !hexad.segments) {
  // expected-error @below {{attention_c3: expected a value of at least 59 columns and an offset of at least 0, found 'tensor<?x180xf32>' and -1}}
  %o = hexad.attention %x, %x, %x, %segments {heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 1.0 : f64, offsets = array<i64: 0, 0, -1>}
      : tensor<?x180xf32>, tensor<?x180xf32>, tensor<?x180xf32> -> tensor<?x60xf32>
  return
}

// -----

// heads · head_dim is 60 modulo 2^64.

func.func @overflow(%x: tensor<?x60xf32>, %segments: !hexad.segments) {
  // expected-error @below {{attention_c3: expected a query of at least 9223372036854775807 columns}}
  %o = hexad.attention %x, %x, %x, %segments {heads = 4611686018427387919 : i64, kv_heads = 1 : i64, head_dim = 4 : i64, scale = 1.0 : f64}
      : tensor<?x60xf32>, tensor<?x60xf32>, tensor<?x60xf32> -> tensor<?x60xf32>
  return
}

// -----

func.func @wide_result(%x: tensor<?x60xf32>, %segments: !hexad.segments) {
  // expected-error @below {{attention_c4: expected a result of 48 columns, found 'tensor<?x60xf32>'}}
  %o = hexad.attention %x, %x, %x, %segments {heads = 4 : i64, kv_heads = 4 : i64, head_dim = 12 : i64, scale = 1.0 : f64}
      : tensor<?x60xf32>, tensor<?x60xf32>, tensor<?x60xf32> -> tensor<?x60xf32>
  return
}

// -----

func.func @infinite_scale(%x: tensor<?x60xf32>, %segments: !hexad.segments) {
  // expected-error @below {{attention_c5: expected a finite scale, found INF}}
  %o = hexad.attention %x, %x, %x, %segments {heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 0x7FF0000000000000 : f64}
      : tensor<?x60xf32>, tensor<?x60xf32>, tensor<?x60xf32> -> tensor<?x60xf32>
  return
}

// -----

func.func @other_rows(%x: tensor<4x60xf32>, %y: tensor<5x60xf32>, %segments: !hexad.segments) {
  // expected-error @below {{attention_c6: expected operands of as many rows as the result, 'tensor<4x60xf32>', found 'tensor<5x60xf32>'}}
  %o = hexad.attention %x, %y, %x, %segments {heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 1.0 : f64}
      : tensor<4x60xf32>, tensor<5x60xf32>, tensor<4x60xf32> -> tensor<4x60xf32>
  return
}

// -----

func.func @no_heads(%x: tensor<?x60xf32>, %segments: !hexad.segments) {
  // expected-error @below {{attribute 'heads' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %o = hexad.attention %x, %x, %x, %segments {heads = 0 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 1.0 : f64}
      : tensor<?x60xf32>, tensor<?x60xf32>, tensor<?x60xf32> -> tensor<?x60xf32>
  return
}

// -----

func.func @dynamic_columns(%x: tensor<?x?xf32>, %segments: !hexad.segments) {
  // expected-error @below {{operand #0 must be rows of f32 with a static, positive number of columns, but got 'tensor<?x?xf32>'}}
  %o = hexad.attention %x, %x, %x, %segments {heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 1.0 : f64}
      : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32> -> tensor<?x60xf32>
  return
}

// -----

func.func @softcap_zero(%x: tensor<?x60xf32>, %segments: !hexad.segments) {
  // expected-error @below {{attention_c7: expected a finite, positive softcap, found 0}}
  %o = hexad.attention %x, %x, %x, %segments {softcap = 0.0 : f64, heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 1.0 : f64}
      : tensor<?x60xf32>, tensor<?x60xf32>, tensor<?x60xf32> -> tensor<?x60xf32>
  return
}

// -----

func.func @softcap_infinite(%x: tensor<?x60xf32>, %segments: !hexad.segments) {
  // expected-error @below {{attention_c7: expected a finite, positive softcap, found INF}}
  %o = hexad.attention %x, %x, %x, %segments {softcap = 0x7FF0000000000000 : f64, heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 1.0 : f64}
      : tensor<?x60xf32>, tensor<?x60xf32>, tensor<?x60xf32> -> tensor<?x60xf32>
  return
}

// -----

func.func @no_window(%x: tensor<?x60xf32>, %segments: !hexad.segments) {
  // expected-error @below {{attribute 'window' failed to satisfy constraint}}
  %o = hexad.attention %x, %x, %x, %segments {window = 0 : i64, heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 1.0 : f64}
      : tensor<?x60xf32>, tensor<?x60xf32>, tensor<?x60xf32> -> tensor<?x60xf32>
  return
}

// -----

hexad.cache @c {kv_heads = 5 : i64, head_dim = 12 : i64}
func.func @cache_of_all(%x: tensor<?x60xf32>, %segments: !hexad.segments) {
  // expected-error @below {{attention_c8: expected causal attention where a cache is extended}}
  %o = hexad.attention %x, %x, %x, %segments cache @c {heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 1.0 : f64}
      : tensor<?x60xf32>, tensor<?x60xf32>, tensor<?x60xf32> -> tensor<?x60xf32>
  return
}

// -----

func.func @no_cache(%x: tensor<?x60xf32>, %segments: !hexad.segments) {
  // expected-error @below {{attention_c9: no cache of the name @c}}
  %o = hexad.attention %x, %x, %x, %segments cache @c {causal, heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 1.0 : f64}
      : tensor<?x60xf32>, tensor<?x60xf32>, tensor<?x60xf32> -> tensor<?x60xf32>
  return
}

// -----

hexad.parameter @c : tensor<60xf32> from "model.safetensors" ["c"]
func.func @cache_is_a_parameter(%x: tensor<?x60xf32>, %segments: !hexad.segments) {
  // expected-error @below {{attention_c9: no cache of the name @c}}
  %o = hexad.attention %x, %x, %x, %segments cache @c {causal, heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 1.0 : f64}
      : tensor<?x60xf32>, tensor<?x60xf32>, tensor<?x60xf32> -> tensor<?x60xf32>
  return
}

// -----

// expected-note @below {{declared here}}
hexad.cache @c {kv_heads = 1 : i64, head_dim = 12 : i64}
func.func @cache_heads(%x: tensor<?x60xf32>, %segments: !hexad.segments) {
  // expected-error @below {{attention_c10: expected a cache of the same kv_heads, head_dim and window}}
  %o = hexad.attention %x, %x, %x, %segments cache @c {causal, heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 1.0 : f64}
      : tensor<?x60xf32>, tensor<?x60xf32>, tensor<?x60xf32> -> tensor<?x60xf32>
  return
}

// -----

// expected-note @below {{declared here}}
hexad.cache @c {kv_heads = 5 : i64, head_dim = 60 : i64}
func.func @cache_head_dim(%x: tensor<?x60xf32>, %segments: !hexad.segments) {
  // expected-error @below {{attention_c10: expected a cache of the same kv_heads, head_dim and window}}
  %o = hexad.attention %x, %x, %x, %segments cache @c {causal, heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 1.0 : f64}
      : tensor<?x60xf32>, tensor<?x60xf32>, tensor<?x60xf32> -> tensor<?x60xf32>
  return
}

// -----

// expected-note @below {{declared here}}
hexad.cache @c {kv_heads = 5 : i64, head_dim = 12 : i64}
func.func @cache_window(%x: tensor<?x60xf32>, %segments: !hexad.segments) {
  // expected-error @below {{attention_c10: expected a cache of the same kv_heads, head_dim and window}}
  %o = hexad.attention %x, %x, %x, %segments cache @c {causal, window = 8 : i64, heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 1.0 : f64}
      : tensor<?x60xf32>, tensor<?x60xf32>, tensor<?x60xf32> -> tensor<?x60xf32>
  return
}

// -----

// expected-note @below {{declared here}}
hexad.cache @c {kv_heads = 5 : i64, head_dim = 12 : i64}
func.func @cache_without_layers(%x: tensor<?x60xf32>, %segments: !hexad.segments, %i: index) {
  // expected-error @below {{attention_c11: a layer is chosen of a cache without layers}}
  %o = hexad.attention %x, %x, %x, %segments cache @c[%i] {causal, heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 1.0 : f64}
      : tensor<?x60xf32>, tensor<?x60xf32>, tensor<?x60xf32> -> tensor<?x60xf32>
  return
}

// -----

// expected-note @below {{declared here}}
hexad.cache @c {layers = 2 : i64, kv_heads = 5 : i64, head_dim = 12 : i64}
func.func @cache_with_layers(%x: tensor<?x60xf32>, %segments: !hexad.segments) {
  // expected-error @below {{attention_c11: expected a layer of the cache}}
  %o = hexad.attention %x, %x, %x, %segments cache @c {causal, heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 1.0 : f64}
      : tensor<?x60xf32>, tensor<?x60xf32>, tensor<?x60xf32> -> tensor<?x60xf32>
  return
}

// -----

// expected-error @below {{cache_c1: expected the columns of all heads to fit 31 bits, found 65536 heads of 65536}}
hexad.cache @c {kv_heads = 65536 : i64, head_dim = 65536 : i64}

// -----

// expected-error @below {{attribute 'layers' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
hexad.cache @c {layers = 0 : i64, kv_heads = 1 : i64, head_dim = 1 : i64}

// -----

// expected-error @below {{cache_c2: expected layers to fit 31 bits, found 2147483648}}
hexad.cache @c {layers = 2147483648 : i64, kv_heads = 1 : i64, head_dim = 1 : i64}

// -----

// Compiled code computes in f32.
func.func @scale_infinite_in_f32(%x: tensor<?x60xf32>, %segments: !hexad.segments) {
  // expected-error @below {{attention_c5: expected a finite scale, found 1.0}}
  %o = hexad.attention %x, %x, %x, %segments {heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 1.0e+40 : f64}
      : tensor<?x60xf32>, tensor<?x60xf32>, tensor<?x60xf32> -> tensor<?x60xf32>
  return
}

// -----

func.func @softcap_zero_in_f32(%x: tensor<?x60xf32>, %segments: !hexad.segments) {
  // expected-error @below {{attention_c7: expected a finite, positive softcap, found 1.0}}
  %o = hexad.attention %x, %x, %x, %segments {softcap = 1.0e-300 : f64, heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 1.0 : f64}
      : tensor<?x60xf32>, tensor<?x60xf32>, tensor<?x60xf32> -> tensor<?x60xf32>
  return
}

// -----

func.func @neither_keys_nor_cache(%x: tensor<?x60xf32>, %segments: !hexad.segments) {
  // expected-error @below {{attention_c12: expected a key and a value, or a cache and neither of them}}
  %o = hexad.attention %x, %segments {heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 1.0 : f64}
      : tensor<?x60xf32> -> tensor<?x60xf32>
  return
}

// -----

hexad.cache @c {kv_heads = 5 : i64, head_dim = 12 : i64}
func.func @key_without_value(%x: tensor<?x60xf32>, %segments: !hexad.segments) {
  // expected-error @below {{attention_c12}}
  %o = "hexad.attention"(%x, %x, %segments) <{cache = @c, causal, heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 1.0 : f64, operandSegmentSizes = array<i32: 1, 1, 0, 1, 0>}>
      : (tensor<?x60xf32>, tensor<?x60xf32>, !hexad.segments) -> tensor<?x60xf32>
  return
}

// -----

func.func @three_operands(%x: tensor<?x60xf32>, %segments: !hexad.segments) {
  // expected-error @below {{expected query, key, value and segments, or query and segments, found 3 operands}}
  %o = hexad.attention %x, %x, %segments {heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 1.0 : f64}
      : tensor<?x60xf32> -> tensor<?x60xf32>
  return
}
