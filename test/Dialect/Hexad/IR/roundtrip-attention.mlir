// RUN: hexad-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func @attention
// CHECK:         hexad.attention %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} {head_dim = 12 : i64, heads = 5 : i64, kv_heads = 5 : i64, scale = 2.500000e-01 : f64} : tensor<?x60xf32>, tensor<?x60xf32>, tensor<?x60xf32> -> tensor<?x60xf32>
func.func @attention(%q: tensor<?x60xf32>, %k: tensor<?x60xf32>, %v: tensor<?x60xf32>,
                     %segments: !hexad.segments) -> tensor<?x60xf32> {
  %o = hexad.attention %q, %k, %v, %segments {heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 0.25 : f64}
      : tensor<?x60xf32>, tensor<?x60xf32>, tensor<?x60xf32> -> tensor<?x60xf32>
  return %o : tensor<?x60xf32>
}

// Grouped heads, all three parts of one fused projection.

// CHECK-LABEL: func @fused
// CHECK-SAME:    %[[QKV:[^:]+]]: tensor<?x72xf32>
// CHECK:         hexad.attention %[[QKV]], %[[QKV]], %[[QKV]], %{{.+}} {head_dim = 4 : i64, heads = 14 : i64, kv_heads = 2 : i64, offsets = array<i64: 0, 56, 64>, scale = 1.000000e+00 : f64}
func.func @fused(%qkv: tensor<?x72xf32>, %segments: !hexad.segments) -> tensor<?x56xf32> {
  %o = hexad.attention %qkv, %qkv, %qkv, %segments
      {heads = 14 : i64, kv_heads = 2 : i64, head_dim = 4 : i64, scale = 1.0 : f64, offsets = array<i64: 0, 56, 64>}
      : tensor<?x72xf32>, tensor<?x72xf32>, tensor<?x72xf32> -> tensor<?x56xf32>
  return %o : tensor<?x56xf32>
}

// Caches, with layers and without.

// CHECK:         hexad.cache @layers {head_dim = 12 : i64, kv_heads = 5 : i64, layers = 3 : i64}
hexad.cache @layers {layers = 3 : i64, kv_heads = 5 : i64, head_dim = 12 : i64}
// CHECK:         hexad.cache @window {head_dim = 12 : i64, kv_heads = 5 : i64, window = 8 : i64}
hexad.cache @window {kv_heads = 5 : i64, head_dim = 12 : i64, window = 8 : i64}

// CHECK-LABEL: func @causal
// CHECK:         hexad.attention %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} cache @layers[%{{.+}}] {causal, head_dim = 12 : i64, heads = 5 : i64, kv_heads = 5 : i64, scale = 2.500000e-01 : f64, softcap = 5.000000e+01 : f64}
// CHECK:         hexad.attention %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} cache @window {causal, head_dim = 12 : i64, heads = 5 : i64, kv_heads = 5 : i64, scale = 2.500000e-01 : f64, window = 8 : i64}
// CHECK:         hexad.select_rows %{{.+}}, %{{.+}} : tensor<?x60xf32> -> tensor<?x60xf32>
func.func @causal(%x: tensor<?x60xf32>, %segments: !hexad.segments, %layer: index) {
  %0 = hexad.attention %x, %x, %x, %segments cache @layers[%layer]
      {causal, softcap = 50.0 : f64, heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 0.25 : f64}
      : tensor<?x60xf32>, tensor<?x60xf32>, tensor<?x60xf32> -> tensor<?x60xf32>
  %1 = hexad.attention %x, %x, %x, %segments cache @window
      {causal, window = 8 : i64, heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 0.25 : f64}
      : tensor<?x60xf32>, tensor<?x60xf32>, tensor<?x60xf32> -> tensor<?x60xf32>
  %2 = hexad.select_rows %x, %segments : tensor<?x60xf32> -> tensor<?x60xf32>
  return
}

// Keys and values that an earlier attention has appended.

// CHECK-LABEL: func @reader
// CHECK:         hexad.attention %{{.+}}, %{{.+}} cache @layers[%{{.+}}] {causal, head_dim = 12 : i64, heads = 5 : i64, kv_heads = 5 : i64, scale = 2.500000e-01 : f64} : tensor<?x60xf32> -> tensor<?x60xf32>
func.func @reader(%x: tensor<?x60xf32>, %segments: !hexad.segments, %layer: index) {
  %0 = hexad.attention %x, %segments cache @layers[%layer]
      {causal, heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 0.25 : f64}
      : tensor<?x60xf32> -> tensor<?x60xf32>
  return
}
