// RUN: hexad-opt %s -split-input-file --hexad-fuse-projections | FileCheck %s
// RUN: hexad-opt %s -split-input-file --hexad-fuse-projections --remarks-filter='hexad-.*' --remark-format=emitRemark -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK

// The fused parameter interleaves the three layer by layer; the old ones go. A
// wrong order would multiply by another layer's weights.
// CHECK: hexad.parameter @query_key_value.weight : tensor<2x16x8xf32> from "m.safetensors"
// CHECK-SAME: ["q0", "k0", "v0", "q1", "k1", "v1"] {layers = 2 : i64}
// CHECK: hexad.parameter @query_key_value.bias : tensor<2x16xf32> from "m.safetensors"
// CHECK-SAME: ["qb0", "kb0", "vb0", "qb1", "kb1", "vb1"] {layers = 2 : i64}
// CHECK-NOT: hexad.parameter
hexad.parameter @query.weight : tensor<2x8x8xf32> from "m.safetensors" ["q0", "q1"] {layers = 2 : i64}
hexad.parameter @key.weight : tensor<2x4x8xf32> from "m.safetensors" ["k0", "k1"] {layers = 2 : i64}
hexad.parameter @value.weight : tensor<2x4x8xf32> from "m.safetensors" ["v0", "v1"] {layers = 2 : i64}
hexad.parameter @query.bias : tensor<2x8xf32> from "m.safetensors" ["qb0", "qb1"] {layers = 2 : i64}
hexad.parameter @key.bias : tensor<2x4xf32> from "m.safetensors" ["kb0", "kb1"] {layers = 2 : i64}
hexad.parameter @value.bias : tensor<2x4xf32> from "m.safetensors" ["vb0", "vb1"] {layers = 2 : i64}

// CHECK-LABEL: func.func @grouped
// CHECK-SAME: (%[[X:.+]]: tensor<?x8xf32>, %[[S:.+]]: !hexad.segments, %[[LAYER:.+]]: index)
func.func @grouped(%x: tensor<?x8xf32>, %s: !hexad.segments, %layer: index) -> tensor<?x8xf32> {
  // CHECK-DAG: %[[W:.+]] = hexad.load @query_key_value.weight[%[[LAYER]]] : tensor<16x8xf32>
  // CHECK-DAG: %[[B:.+]] = hexad.load @query_key_value.bias[%[[LAYER]]] : tensor<16xf32>
  // CHECK: %[[QKV:.+]] = hexad.linear %[[X]], %[[W]] bias %[[B]]
  // CHECK: hexad.attention %[[QKV]], %[[QKV]], %[[QKV]], %[[S]]
  // CHECK-SAME: offsets = array<i64: 0, 8, 12>
  %qw = hexad.load @query.weight[%layer] : tensor<8x8xf32>
  %kw = hexad.load @key.weight[%layer] : tensor<4x8xf32>
  %vw = hexad.load @value.weight[%layer] : tensor<4x8xf32>
  %qb = hexad.load @query.bias[%layer] : tensor<8xf32>
  %kb = hexad.load @key.bias[%layer] : tensor<4xf32>
  %vb = hexad.load @value.bias[%layer] : tensor<4xf32>
  %q = hexad.linear %x, %qw bias %qb : tensor<?x8xf32>, tensor<8x8xf32>, tensor<8xf32> -> tensor<?x8xf32>
  %k = hexad.linear %x, %kw bias %kb : tensor<?x8xf32>, tensor<4x8xf32>, tensor<4xf32> -> tensor<?x4xf32>
  %v = hexad.linear %x, %vw bias %vb : tensor<?x8xf32>, tensor<4x8xf32>, tensor<4xf32> -> tensor<?x4xf32>
  %o = hexad.attention %q, %k, %v, %s {heads = 2 : i64, kv_heads = 1 : i64, head_dim = 4 : i64, scale = 0.5 : f64} : tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x8xf32>
  return %o : tensor<?x8xf32>
}

// -----

// Different files: left alone, parameters and all, and said so.
// REMARK: fuse-projections.mlir:[[#@LINE+18]]:{{.*}}remark: [Missed] ProjectionsNotFused
// REMARK-SAME: query, key and value are not three linear ops on the same rows
// CHECK: hexad.parameter @qw
// CHECK: hexad.parameter @kw
// CHECK: hexad.parameter @vw
hexad.parameter @qw : tensor<4x4xf32> from "a.safetensors" ["q"]
hexad.parameter @kw : tensor<4x4xf32> from "b.safetensors" ["k"]
hexad.parameter @vw : tensor<4x4xf32> from "a.safetensors" ["v"]
// CHECK-LABEL: func.func @two_files
func.func @two_files(%x: tensor<?x4xf32>, %s: !hexad.segments) -> tensor<?x4xf32> {
  // CHECK-COUNT-3: hexad.linear
  // CHECK-NOT: offsets
  %qw = hexad.load @qw : tensor<4x4xf32>
  %kw = hexad.load @kw : tensor<4x4xf32>
  %vw = hexad.load @vw : tensor<4x4xf32>
  %q = hexad.linear %x, %qw : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
  %k = hexad.linear %x, %kw : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
  %v = hexad.linear %x, %vw : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
  %o = hexad.attention %q, %k, %v, %s {heads = 1 : i64, kv_heads = 1 : i64, head_dim = 4 : i64, scale = 0.5 : f64} : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
  return %o : tensor<?x4xf32>
}

// -----

// Norms of heads and rotations move behind the fused projection, to their columns
// of it; the two rotations are one. A wrong offset would normalize or rotate
// another head.
hexad.parameter @query : tensor<8x8xf32> from "m.safetensors" ["q"]
hexad.parameter @key : tensor<4x8xf32> from "m.safetensors" ["k"]
hexad.parameter @value : tensor<4x8xf32> from "m.safetensors" ["v"]
hexad.parameter @query_norm : tensor<4xf32> from "m.safetensors" ["qn"]
hexad.parameter @key_norm : tensor<4xf32> from "m.safetensors" ["kn"]

// CHECK-LABEL: func.func @rotated
// CHECK-SAME: (%[[X:.+]]: tensor<?x8xf32>, %[[S:.+]]: !hexad.segments, %[[T:.+]]: tensor<?x4xf32>)
func.func @rotated(%x: tensor<?x8xf32>, %s: !hexad.segments, %rotary: tensor<?x4xf32>) -> tensor<?x8xf32> {
  // CHECK: %[[QKV:.+]] = hexad.linear %[[X]]
  // CHECK: %[[Q:.+]] = hexad.rms_norm %[[QKV]] weight %query_norm eps {{[0-9.E-]+}} {group_size = 4 : i64, groups = 2 : i64} : tensor<?x16xf32>
  // CHECK: %[[K:.+]] = hexad.rms_norm %[[Q]] weight %key_norm eps {{[0-9.E-]+}} {group_size = 4 : i64, offset = 8 : i64} : tensor<?x16xf32>
  // CHECK: %[[R:.+]] = hexad.rope half %[[K]], %[[T]] {head_dim = 4 : i64, heads = 3 : i64} : tensor<?x16xf32>
  // CHECK-NOT: hexad.rope
  // CHECK: hexad.attention %[[R]], %[[R]], %[[R]], %[[S]]
  // CHECK-SAME: offsets = array<i64: 0, 8, 12>
  %qw = hexad.load @query : tensor<8x8xf32>
  %kw = hexad.load @key : tensor<4x8xf32>
  %vw = hexad.load @value : tensor<4x8xf32>
  %qn = hexad.load @query_norm : tensor<4xf32>
  %kn = hexad.load @key_norm : tensor<4xf32>
  %q = hexad.linear %x, %qw : tensor<?x8xf32>, tensor<8x8xf32> -> tensor<?x8xf32>
  %k = hexad.linear %x, %kw : tensor<?x8xf32>, tensor<4x8xf32> -> tensor<?x4xf32>
  %v = hexad.linear %x, %vw : tensor<?x8xf32>, tensor<4x8xf32> -> tensor<?x4xf32>
  %q1 = hexad.rms_norm %q weight %qn eps 1.0e-6 {groups = 2 : i64} : tensor<?x8xf32>, tensor<4xf32>
  %k1 = hexad.rms_norm %k weight %kn eps 1.0e-6 : tensor<?x4xf32>, tensor<4xf32>
  %q2 = hexad.rope half %q1, %rotary {heads = 2 : i64, head_dim = 4 : i64} : tensor<?x8xf32>, tensor<?x4xf32>
  %k2 = hexad.rope half %k1, %rotary {heads = 1 : i64, head_dim = 4 : i64} : tensor<?x4xf32>, tensor<?x4xf32>
  %o = hexad.attention %q2, %k2, %v, %s {causal, heads = 2 : i64, kv_heads = 1 : i64, head_dim = 4 : i64, scale = 0.5 : f64} : tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x8xf32>
  return %o : tensor<?x8xf32>
}

// -----

// Rows that are picked of one stored tensor stay picked, part by part.
// CHECK: hexad.parameter @query_key_value : tensor<12x4xf32> from "m.safetensors" ["qkv", "qkv", "qkv"]
// CHECK-SAME: {picks = [array<i64: 0, 2, 6, 2>, array<i64: 2, 2, 6, 2>, array<i64: 4, 2, 6, 2>]}
// CHECK-NOT: hexad.parameter
hexad.parameter @query : tensor<4x4xf32> from "m.safetensors" ["qkv"] {picks = [array<i64: 0, 2, 6, 2>]}
hexad.parameter @key : tensor<4x4xf32> from "m.safetensors" ["qkv"] {picks = [array<i64: 2, 2, 6, 2>]}
hexad.parameter @value : tensor<4x4xf32> from "m.safetensors" ["qkv"] {picks = [array<i64: 4, 2, 6, 2>]}

func.func @picked(%x: tensor<?x4xf32>, %s: !hexad.segments) -> tensor<?x4xf32> {
  %qw = hexad.load @query : tensor<4x4xf32>
  %kw = hexad.load @key : tensor<4x4xf32>
  %vw = hexad.load @value : tensor<4x4xf32>
  %q = hexad.linear %x, %qw : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
  %k = hexad.linear %x, %kw : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
  %v = hexad.linear %x, %vw : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
  %o = hexad.attention %q, %k, %v, %s {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 2 : i64, scale = 0.5 : f64} : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
  return %o : tensor<?x4xf32>
}

// -----

// Projections that are stored alike are fused and stay so; a parameter has one storage.
// CHECK: hexad.parameter @query_key_value : tensor<12x4xf32> from "m.safetensors" ["q", "k", "v"] {storage = bf16}
// CHECK: hexad.parameter @value.f16
// CHECK-NOT: hexad.parameter
hexad.parameter @query : tensor<4x4xf32> from "m.safetensors" ["q"] {storage = bf16}
hexad.parameter @key : tensor<4x4xf32> from "m.safetensors" ["k"] {storage = bf16}
hexad.parameter @value : tensor<4x4xf32> from "m.safetensors" ["v"] {storage = bf16}
hexad.parameter @value.f16 : tensor<4x4xf32> from "m.safetensors" ["w"] {storage = f16}
// CHECK-LABEL: func.func @stored
func.func @stored(%x: tensor<?x4xf32>, %s: !hexad.segments) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  // CHECK: hexad.attention {{.*}}offsets = array<i64: 0, 4, 8>
  // CHECK-COUNT-3: hexad.linear
  // CHECK-NOT: offsets
  %qw = hexad.load @query : tensor<4x4xf32>
  %kw = hexad.load @key : tensor<4x4xf32>
  %vw = hexad.load @value : tensor<4x4xf32>
  %ww = hexad.load @value.f16 : tensor<4x4xf32>
  %q = hexad.linear %x, %qw : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
  %k = hexad.linear %x, %kw : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
  %v = hexad.linear %x, %vw : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
  %o = hexad.attention %q, %k, %v, %s {heads = 1 : i64, kv_heads = 1 : i64, head_dim = 4 : i64, scale = 0.5 : f64} : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
  %q2 = hexad.linear %o, %qw : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
  %k2 = hexad.linear %o, %kw : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
  %v2 = hexad.linear %o, %ww : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
  %o2 = hexad.attention %q2, %k2, %v2, %s {heads = 1 : i64, kv_heads = 1 : i64, head_dim = 4 : i64, scale = 0.5 : f64} : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
  return %o, %o2 : tensor<?x4xf32>, tensor<?x4xf32>
}
