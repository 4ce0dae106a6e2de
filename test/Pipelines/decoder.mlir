// RUN: hexad-opt %s --hexad-to-rows=mcpu=x86-64-v4 | FileCheck %s --check-prefix=ROWS
// RUN: hexad-opt %s --hexad-to-tiles=mcpu=x86-64-v4 | FileCheck %s --check-prefix=TILES
// RUN: hexad-opt %s --hexad-to-buffers=mcpu=x86-64-v4 | FileCheck %s --check-prefix=BUFFERS
// Barriers for few rows alone (scf.if), test/CodeGen/split-columns.mlir, are left out.
// RUN: hexad-opt %s --hexad-to-team=mcpu=x86-64-v4 | sed '/scf\.if/{N;/hexad_kernel\.barrier/d;}' | FileCheck %s --check-prefix=TEAM
// RUN: hexad-opt %s --hexad-to-llvm=mcpu=x86-64-v4 | FileCheck %s --check-prefix=LLVM

// A whole decoder with a cache, phase by phase.

// One product for query, key and value, and one rotation of query and key.
// ROWS: scf.for
// ROWS: hexad.rows
// ROWS: hexad.rms_norm
// ROWS: hexad.linear {{.*}} -> tensor<?x48xf32>
// ROWS: hexad.rope half {{.*}} {head_dim = 12 : i64, heads = 3 : i64}
// ROWS-NOT: hexad.rope
// ROWS: hexad.attention {{.*}} cache @attention.cache[%{{.+}}] {causal, {{.*}}offsets = array<i64: 0, 24, 36>
// ROWS: hexad.select_rows
// ROWS: hexad.rows
// ROWS: hexad.linear {{.*}} -> tensor<?x97xf32>

// Keys and values go to pages of sessions, which continue where they ended;
// tiles of queries walk the pages that they see, later tiles see more.
// TILES: hexad.cache @attention.cache {{.*}}hexad.page_bytes = 14336 : i64
// TILES-SAME: layers = 2
// TILES: func.func @forward
// TILES-SAME: %[[PLACES:[a-z0-9]+]]: memref<?xi64> {hexad.pointer = 3 : i64})
// TILES: hexad_kernel.page %[[PLACES]][%{{.+}}, %{{.+}}, %{{.+}}] offset 0 : memref<?xi64> -> memref<1x4x12x32xf32>
// TILES: hexad_kernel.page %[[PLACES]][%{{.+}}, %{{.+}}, %{{.+}}] offset 6144 : memref<?xi64> -> memref<1x1x128x16xf32>
// TILES: hexad_kernel.pack_keys ins({{.*}}) start(%{{.+}}) outs(%{{.+}} : memref<4x12x32xf32
// TILES: hexad_kernel.pack_values ins({{.*}}) start(%{{.+}}) outs(%{{.+}} : memref<1x128x16xf32
// TILES: hexad_kernel.matmul ins(%{{.+}}, %{{.+}} : tensor<?x16xf32>, memref<?x12x32xf32
// TILES: hexad_kernel.softmax_page ins({{.*}}) position(%{{.+}}) {{.*}}{causal}
// TILES: } {hexad.cyclic}
// The head works on selected rows, which go where the caller wants them.
// TILES: hexad_kernel.gather_rows
// TILES: hexad_kernel.scatter_rows

// Nothing is copied or allocated.
// BUFFERS-NOT: memref.alloc
// BUFFERS-NOT: memref.copy
// BUFFERS: return

// Threads meet before they pack the rows of others, before they attend to what
// others packed, and before they take what others attended to.
// TEAM: hexad_kernel.rope
// TEAM: hexad_kernel.barrier
// TEAM: hexad_kernel.pack_values
// TEAM: hexad_kernel.barrier
// TEAM: hexad_kernel.finish_pages
// TEAM: hexad_kernel.barrier
// TEAM: hexad_kernel.matmul {{.*}} residual(
// TEAM-NOT: hexad_kernel.barrier
// TEAM: hexad_kernel.matmul {{.*}} factor(
// TEAM-NOT: hexad_kernel.barrier
// TEAM: hexad_kernel.matmul {{.*}} residual(
// TEAM: hexad_kernel.barrier

// LLVM-NOT: hexad_kernel
// LLVM: llvm.inttoptr

module @decoder {
  hexad.parameter @words : tensor<97x24xf32> from "m.safetensors" ["words"]
  hexad.parameter @norm : tensor<2x24xf32> from "m.safetensors" ["n0", "n1"] {layers = 2 : i64}
  hexad.parameter @query : tensor<2x24x24xf32> from "m.safetensors" ["q0", "q1"] {layers = 2 : i64}
  hexad.parameter @key : tensor<2x12x24xf32> from "m.safetensors" ["k0", "k1"] {layers = 2 : i64}
  hexad.parameter @value : tensor<2x12x24xf32> from "m.safetensors" ["v0", "v1"] {layers = 2 : i64}
  hexad.parameter @out : tensor<2x24x24xf32> from "m.safetensors" ["o0", "o1"] {layers = 2 : i64}
  hexad.parameter @gate : tensor<2x40x24xf32> from "m.safetensors" ["g0", "g1"] {layers = 2 : i64}
  hexad.parameter @up : tensor<2x40x24xf32> from "m.safetensors" ["u0", "u1"] {layers = 2 : i64}
  hexad.parameter @down : tensor<2x24x40xf32> from "m.safetensors" ["d0", "d1"] {layers = 2 : i64}
  hexad.cache @attention.cache {layers = 2 : i64, kv_heads = 1 : i64, head_dim = 12 : i64}
  func.func @forward(%input_ids: tensor<?x?xi32> {hexad.name = "input_ids", hexad.limit = 97 : i64},
                     %attention_mask: tensor<?x?xi32> {hexad.name = "attention_mask", hexad.optional})
      -> (tensor<?x?x97xf32> {hexad.name = "logits"}) {
    %segments = hexad.segments %attention_mask : tensor<?x?xi32>
    %ids = hexad.pack_rows %input_ids, %segments : tensor<?x?xi32> -> tensor<?xi32>
    %positions = hexad.positions %segments : tensor<?xi32>
    %rotary = hexad.rotary %positions {inv_freq = array<f32: 1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125>} : tensor<?xi32> -> tensor<?x12xf32>
    %words = hexad.load @words : tensor<97x24xf32>
    %x0 = hexad.embedding %ids, %words : tensor<?xi32>, tensor<97x24xf32> -> tensor<?x24xf32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %y = scf.for %layer = %c0 to %c2 step %c1 iter_args(%x = %x0) -> (tensor<?x24xf32>) {
      %norm = hexad.load @norm[%layer] : tensor<24xf32>
      %query = hexad.load @query[%layer] : tensor<24x24xf32>
      %key = hexad.load @key[%layer] : tensor<12x24xf32>
      %value = hexad.load @value[%layer] : tensor<12x24xf32>
      %out = hexad.load @out[%layer] : tensor<24x24xf32>
      %gate = hexad.load @gate[%layer] : tensor<40x24xf32>
      %up = hexad.load @up[%layer] : tensor<40x24xf32>
      %down = hexad.load @down[%layer] : tensor<24x40xf32>
      %n = hexad.rms_norm %x weight %norm eps 1.0e-6 : tensor<?x24xf32>, tensor<24xf32>
      %q = hexad.linear %n, %query : tensor<?x24xf32>, tensor<24x24xf32> -> tensor<?x24xf32>
      %k = hexad.linear %n, %key : tensor<?x24xf32>, tensor<12x24xf32> -> tensor<?x12xf32>
      %v = hexad.linear %n, %value : tensor<?x24xf32>, tensor<12x24xf32> -> tensor<?x12xf32>
      %qr = hexad.rope half %q, %rotary {heads = 2 : i64, head_dim = 12 : i64} : tensor<?x24xf32>, tensor<?x12xf32>
      %kr = hexad.rope half %k, %rotary {heads = 1 : i64, head_dim = 12 : i64} : tensor<?x12xf32>, tensor<?x12xf32>
      %a = hexad.attention %qr, %kr, %v, %segments cache @attention.cache[%layer] {causal, heads = 2 : i64, kv_heads = 1 : i64, head_dim = 12 : i64, scale = 0.28867513 : f64}
          : tensor<?x24xf32>, tensor<?x12xf32>, tensor<?x12xf32> -> tensor<?x24xf32>
      %p = hexad.linear %a, %out : tensor<?x24xf32>, tensor<24x24xf32> -> tensor<?x24xf32>
      %r = hexad.add %p, %x : tensor<?x24xf32>
      %n2 = hexad.rms_norm %r weight %norm eps 1.0e-6 : tensor<?x24xf32>, tensor<24xf32>
      %g = hexad.linear %n2, %gate : tensor<?x24xf32>, tensor<40x24xf32> -> tensor<?x40xf32>
      %s = hexad.activation silu %g : tensor<?x40xf32>
      %u = hexad.linear %n2, %up : tensor<?x24xf32>, tensor<40x24xf32> -> tensor<?x40xf32>
      %m = hexad.multiply %s, %u : tensor<?x40xf32>
      %d = hexad.linear %m, %down : tensor<?x40xf32>, tensor<24x40xf32> -> tensor<?x24xf32>
      %z = hexad.add %d, %r : tensor<?x24xf32>
      scf.yield %z : tensor<?x24xf32>
    }
    %wanted = hexad.select_rows %y, %segments : tensor<?x24xf32> -> tensor<?x24xf32>
    %logits = hexad.linear %wanted, %words : tensor<?x24xf32>, tensor<97x24xf32> -> tensor<?x97xf32>
    %rectangle = hexad.unpack_rows %logits, %segments : tensor<?x97xf32> -> tensor<?x?x97xf32>
    return %rectangle : tensor<?x?x97xf32>
  }
}
