// RUN: hexad-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func @maps
// CHECK:         %[[MAPS:.+]] = hexad.empty_maps %{{.+}} : tensor<4x?x5x?x?xf32>
// CHECK:         hexad.attention_map %{{.+}}, %{{.+}}, %{{.+}} into %[[MAPS]][%{{.+}}] {head_dim = 12 : i64, heads = 5 : i64, kv_heads = 5 : i64, scale = 2.500000e-01 : f64} : tensor<?x60xf32>, tensor<?x60xf32>, tensor<4x?x5x?x?xf32>
func.func @maps(%q: tensor<?x60xf32>, %k: tensor<?x60xf32>, %segments: !hexad.segments, %layer: index) -> tensor<4x?x5x?x?xf32> {
  %maps = hexad.empty_maps %segments : tensor<4x?x5x?x?xf32>
  %0 = hexad.attention_map %q, %k, %segments into %maps[%layer] {heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 0.25 : f64}
      : tensor<?x60xf32>, tensor<?x60xf32>, tensor<4x?x5x?x?xf32>
  return %0 : tensor<4x?x5x?x?xf32>
}

// Grouped heads, both parts of one fused projection.

// CHECK-LABEL: func @fused
// CHECK:         hexad.attention_map %[[QKV:.+]], %[[QKV]], %{{.+}} into %{{.+}}[%{{.+}}] {causal, head_dim = 4 : i64, heads = 14 : i64, kv_heads = 2 : i64, offsets = array<i64: 0, 56>, scale = 1.000000e+00 : f64, softcap = 5.000000e+01 : f64, window = 8 : i64}
func.func @fused(%qkv: tensor<?x72xf32>, %segments: !hexad.segments, %maps: tensor<1x?x14x?x?xf32>, %layer: index) {
  %0 = hexad.attention_map %qkv, %qkv, %segments into %maps[%layer]
      {causal, window = 8 : i64, softcap = 50.0 : f64, heads = 14 : i64, kv_heads = 2 : i64, head_dim = 4 : i64, scale = 1.0 : f64, offsets = array<i64: 0, 56>}
      : tensor<?x72xf32>, tensor<?x72xf32>, tensor<1x?x14x?x?xf32>
  return
}
