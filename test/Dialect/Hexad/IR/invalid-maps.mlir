// RUN: hexad-opt %s --split-input-file --verify-diagnostics

func.func @heads_no_multiple(%x: tensor<?x60xf32>, %segments: !hexad.segments, %maps: tensor<4x?x5x?x?xf32>, %layer: index) {
  // expected-error @below {{attention_map_c1: expected heads to be a multiple of 2 kv_heads, found 5}}
  %0 = hexad.attention_map %x, %x, %segments into %maps[%layer] {heads = 5 : i64, kv_heads = 2 : i64, head_dim = 12 : i64, scale = 1.0 : f64}
      : tensor<?x60xf32>, tensor<?x60xf32>, tensor<4x?x5x?x?xf32>
  return
}

// -----

func.func @three_offsets(%x: tensor<?x60xf32>, %segments: !hexad.segments, %maps: tensor<4x?x5x?x?xf32>, %layer: index) {
  // expected-error @below {{attention_map_c2: expected two offsets, found 3}}
  %0 = hexad.attention_map %x, %x, %segments into %maps[%layer] {heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 1.0 : f64, offsets = array<i64: 0, 0, 0>}
      : tensor<?x60xf32>, tensor<?x60xf32>, tensor<4x?x5x?x?xf32>
  return
}

// -----

func.func @narrow_query(%x: tensor<?x59xf32>, %y: tensor<?x60xf32>, %segments: !hexad.segments, %maps: tensor<4x?x5x?x?xf32>, %layer: index) {
  // expected-error @below {{attention_map_c3: expected a query of at least 60 columns and an offset of at least 0, found 'tensor<?x59xf32>' and 0}}
  %0 = hexad.attention_map %x, %y, %segments into %maps[%layer] {heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 1.0 : f64}
      : tensor<?x59xf32>, tensor<?x60xf32>, tensor<4x?x5x?x?xf32>
  return
}

// -----

func.func @key_behind_the_end(%x: tensor<?x120xf32>, %segments: !hexad.segments, %maps: tensor<4x?x5x?x?xf32>, %layer: index) {
  // expected-error @below {{attention_map_c3: expected a key of at least 121 columns}}
  %0 = hexad.attention_map %x, %x, %segments into %maps[%layer] {heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 1.0 : f64, offsets = array<i64: 0, 61>}
      : tensor<?x120xf32>, tensor<?x120xf32>, tensor<4x?x5x?x?xf32>
  return
}

// -----

func.func @negative_offset(%x: tensor<?x120xf32>, %segments: !hexad.segments, %maps: tensor<4x?x5x?x?xf32>, %layer: index) {
  // expected-error @below {{attention_map_c3: expected a key of at least 59 columns and an offset of at least 0, found 'tensor<?x120xf32>' and -1}}
  %0 = hexad.attention_map %x, %x, %segments into %maps[%layer] {heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 1.0 : f64, offsets = array<i64: 0, -1>}
      : tensor<?x120xf32>, tensor<?x120xf32>, tensor<4x?x5x?x?xf32>
  return
}

// -----

func.func @other_heads(%x: tensor<?x60xf32>, %segments: !hexad.segments, %maps: tensor<4x?x6x?x?xf32>, %layer: index) {
  // expected-error @below {{attention_map_c4: expected maps of 5 heads, found 'tensor<4x?x6x?x?xf32>'}}
  %0 = hexad.attention_map %x, %x, %segments into %maps[%layer] {heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 1.0 : f64}
      : tensor<?x60xf32>, tensor<?x60xf32>, tensor<4x?x6x?x?xf32>
  return
}

// -----

func.func @infinite_scale(%x: tensor<?x60xf32>, %segments: !hexad.segments, %maps: tensor<4x?x5x?x?xf32>, %layer: index) {
  // expected-error @below {{attention_map_c5: expected a finite scale, found INF}}
  %0 = hexad.attention_map %x, %x, %segments into %maps[%layer] {heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 0x7FF0000000000000 : f64}
      : tensor<?x60xf32>, tensor<?x60xf32>, tensor<4x?x5x?x?xf32>
  return
}

// -----

func.func @rows(%x: tensor<4x60xf32>, %y: tensor<5x60xf32>, %segments: !hexad.segments, %maps: tensor<4x?x5x?x?xf32>, %layer: index) {
  // expected-error @below {{attention_map_c6: expected a key of as many rows as the query, 'tensor<4x60xf32>', found 'tensor<5x60xf32>'}}
  %0 = hexad.attention_map %x, %y, %segments into %maps[%layer] {heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 1.0 : f64}
      : tensor<4x60xf32>, tensor<5x60xf32>, tensor<4x?x5x?x?xf32>
  return
}

// -----

func.func @no_softcap(%x: tensor<?x60xf32>, %segments: !hexad.segments, %maps: tensor<4x?x5x?x?xf32>, %layer: index) {
  // expected-error @below {{attention_map_c7: expected a finite, positive softcap, found 0}}
  %0 = hexad.attention_map %x, %x, %segments into %maps[%layer] {heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 1.0 : f64, softcap = 0.0 : f64}
      : tensor<?x60xf32>, tensor<?x60xf32>, tensor<4x?x5x?x?xf32>
  return
}

// -----

func.func @no_maps(%segments: !hexad.segments) {
  // expected-error @below {{must be stack of f32 attention maps with a static, positive number of members and of heads}}
  %0 = hexad.empty_maps %segments : tensor<4x?x?x?x?xf32>
  return
}
