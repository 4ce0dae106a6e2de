// RUN: hexad-opt %s --hexad-fuse-projections | FileCheck %s

// The attention's map reads the same columns.
hexad.parameter @query.weight : tensor<8x8xf32> from "m.safetensors" ["q"]
hexad.parameter @key.weight : tensor<4x8xf32> from "m.safetensors" ["k"]
hexad.parameter @value.weight : tensor<4x8xf32> from "m.safetensors" ["v"]
// CHECK-LABEL: func.func @with_map
func.func @with_map(%x: tensor<?x8xf32>, %s: !hexad.segments, %m: tensor<3x?x2x?x?xf32>, %layer: index) -> (tensor<?x8xf32>, tensor<3x?x2x?x?xf32>) {
  // CHECK: %[[QKV:.+]] = hexad.linear
  // CHECK-NOT: hexad.linear
  // CHECK: hexad.attention %[[QKV]], %[[QKV]], %[[QKV]]
  // CHECK-SAME: offsets = array<i64: 0, 8, 12>
  // CHECK: hexad.attention_map %[[QKV]], %[[QKV]]
  // CHECK-SAME: offsets = array<i64: 0, 8>
  %qw = hexad.load @query.weight : tensor<8x8xf32>
  %kw = hexad.load @key.weight : tensor<4x8xf32>
  %vw = hexad.load @value.weight : tensor<4x8xf32>
  %q = hexad.linear %x, %qw : tensor<?x8xf32>, tensor<8x8xf32> -> tensor<?x8xf32>
  %k = hexad.linear %x, %kw : tensor<?x8xf32>, tensor<4x8xf32> -> tensor<?x4xf32>
  %v = hexad.linear %x, %vw : tensor<?x8xf32>, tensor<4x8xf32> -> tensor<?x4xf32>
  %o = hexad.attention %q, %k, %v, %s {heads = 2 : i64, kv_heads = 1 : i64, head_dim = 4 : i64, scale = 0.5 : f64} : tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x8xf32>
  %n = hexad.attention_map %q, %k, %s into %m[%layer] {heads = 2 : i64, kv_heads = 1 : i64, head_dim = 4 : i64, scale = 0.5 : f64} : tensor<?x8xf32>, tensor<?x4xf32>, tensor<3x?x2x?x?xf32>
  return %o, %n : tensor<?x8xf32>, tensor<3x?x2x?x?xf32>
}
