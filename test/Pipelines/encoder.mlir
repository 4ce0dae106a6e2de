// RUN: hexad-opt %s --hexad-to-buffers=mcpu=x86-64-v3 | FileCheck %s --check-prefix=BUFFERS
// Barriers for few rows alone (scf.if), test/CodeGen/split-columns.mlir, are left out.
// RUN: hexad-opt %s --hexad-to-team=mcpu=x86-64-v4 | sed '/scf\.if/{N;/hexad_kernel\.barrier/d;}' | FileCheck %s --check-prefix=TEAM
// RUN: hexad-opt %s --hexad-to-llvm=mcpu=x86-64-v4 | FileCheck %s --check-prefix=LLVM

// A whole encoder: equal layers stay one loop, nothing is copied or allocated,
// and every phase leaves what its name says.

// BUFFERS: module @mini attributes {hexad.arena = array<i64: 0,
// BUFFERS-SAME: hexad.weights_bytes = {{[0-9]+}} : i64
// BUFFERS: hexad.parameter @query_key_value.panels : tensor<3x12x60x16xf32> {{.*}}hexad.offset =
// BUFFERS-NOT: memref.alloc
// BUFFERS-NOT: memref.copy
// BUFFERS-NOT: tensor<{{.*}}> ->
// BUFFERS-COUNT-1: scf.for %{{.+}} = %c0{{.*}} to %c3{{.*}} step
// BUFFERS: scf.forall
// BUFFERS: hexad_kernel.thread

// TEAM-NOT: scf.forall
// TEAM-NOT: hexad_kernel.thread
// The embedding's block and the copy into the stack go on without a barrier.
// TEAM: hexad_kernel.gather_rows
// TEAM-NOT: hexad_kernel.barrier
// TEAM: hexad_kernel.copy_rows
// TEAM: hexad_kernel.barrier
// Attention needs the rows of others; out projection, MLP and norms do not.
// TEAM: hexad_kernel.matmul
// TEAM: hexad_kernel.barrier
// TEAM: hexad_kernel.pack_keys
// TEAM: hexad_kernel.barrier
// TEAM: hexad_kernel.softmax_page
// TEAM: hexad_kernel.barrier
// TEAM: hexad_kernel.layer_norm
// TEAM-NOT: hexad_kernel.barrier
// TEAM: hexad_kernel.layer_norm
// TEAM-NOT: hexad_kernel.barrier
// TEAM: hexad_kernel.copy_rows
// TEAM: hexad_kernel.barrier

// LLVM-DAG: llvm.func @hexad_entry(%{{.+}}: i64, %{{.+}}: !llvm.ptr, %{{.+}}: !llvm.ptr)
// LLVM-DAG: llvm.func hidden @hexad_team_barrier(!llvm.ptr)
// LLVM-NOT: unrealized_conversion_cast
// LLVM-NOT: llvm.intr.fmuladd
// LLVM-NOT: @malloc
module @mini {
  hexad.parameter @word : tensor<113x60xf32> from "model.safetensors" ["w"]
  hexad.parameter @norm.w : tensor<60xf32> from "model.safetensors" ["nw"]
  hexad.parameter @norm.b : tensor<60xf32> from "model.safetensors" ["nb"]
  hexad.parameter @query : tensor<3x60x60xf32> from "model.safetensors" ["q0","q1","q2"] {layers = 3 : i64}
  hexad.parameter @key : tensor<3x60x60xf32> from "model.safetensors" ["k0","k1","k2"] {layers = 3 : i64}
  hexad.parameter @value : tensor<3x60x60xf32> from "model.safetensors" ["v0","v1","v2"] {layers = 3 : i64}
  hexad.parameter @out : tensor<3x60x60xf32> from "model.safetensors" ["o0","o1","o2"] {layers = 3 : i64}
  hexad.parameter @up : tensor<3x171x60xf32> from "model.safetensors" ["o0","o1","o2"] {layers = 3 : i64}
  hexad.parameter @up.b : tensor<3x171xf32> from "model.safetensors" ["o0","o1","o2"] {layers = 3 : i64}
  hexad.parameter @down : tensor<3x60x171xf32> from "model.safetensors" ["o0","o1","o2"] {layers = 3 : i64}
  func.func @forward(%input_ids: tensor<?x?xi32> {hexad.name = "input_ids", hexad.limit = 113 : i64},
                     %attention_mask: tensor<?x?xi32> {hexad.name = "attention_mask", hexad.optional})
      -> (tensor<?x?x60xf32> {hexad.name = "last_hidden_state"}, tensor<?x60xf32> {hexad.name = "pooler_output"}, tensor<4x?x?x60xf32> {hexad.name = "hidden", hexad.stacked}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %segments = hexad.segments %attention_mask : tensor<?x?xi32>
    %ids = hexad.pack_rows %input_ids, %segments : tensor<?x?xi32> -> tensor<?xi32>
    %w = hexad.load @word : tensor<113x60xf32>
    %e = hexad.embedding %ids, %w : tensor<?xi32>, tensor<113x60xf32> -> tensor<?x60xf32>
    %nw = hexad.load @norm.w : tensor<60xf32>
    %nb = hexad.load @norm.b : tensor<60xf32>
    %x0 = hexad.layer_norm %e, %nw bias %nb eps 1.0e-12 : tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>
    %rows = tensor.dim %x0, %c0 : tensor<?x60xf32>
    %st = tensor.empty(%rows) : tensor<4x?x60xf32>
    %st0 = tensor.insert_slice %x0 into %st[0, 0, 0] [1, %rows, 60] [1, 1, 1] : tensor<?x60xf32> into tensor<4x?x60xf32>
    %h:2 = scf.for %layer = %c0 to %c3 step %c1 iter_args(%x = %x0, %s = %st0) -> (tensor<?x60xf32>, tensor<4x?x60xf32>) {
      %qw = hexad.load @query[%layer] : tensor<60x60xf32>
      %kw = hexad.load @key[%layer] : tensor<60x60xf32>
      %vw = hexad.load @value[%layer] : tensor<60x60xf32>
      %q = hexad.linear %x, %qw : tensor<?x60xf32>, tensor<60x60xf32> -> tensor<?x60xf32>
      %k = hexad.linear %x, %kw : tensor<?x60xf32>, tensor<60x60xf32> -> tensor<?x60xf32>
      %v = hexad.linear %x, %vw : tensor<?x60xf32>, tensor<60x60xf32> -> tensor<?x60xf32>
      %a = hexad.attention %q, %k, %v, %segments {heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 0.288675134 : f64} : tensor<?x60xf32>, tensor<?x60xf32>, tensor<?x60xf32> -> tensor<?x60xf32>
      %ow = hexad.load @out[%layer] : tensor<60x60xf32>
      %o = hexad.linear %a, %ow : tensor<?x60xf32>, tensor<60x60xf32> -> tensor<?x60xf32>
      %r = hexad.add %o, %x : tensor<?x60xf32>
      %y = hexad.layer_norm %r, %nw bias %nb eps 1.0e-12 : tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>
      %uw = hexad.load @up[%layer] : tensor<171x60xf32>
      %ub = hexad.load @up.b[%layer] : tensor<171xf32>
      %u = hexad.linear %y, %uw bias %ub : tensor<?x60xf32>, tensor<171x60xf32>, tensor<171xf32> -> tensor<?x171xf32>
      %g = hexad.activation gelu %u : tensor<?x171xf32>
      %dw = hexad.load @down[%layer] : tensor<60x171xf32>
      %d = hexad.linear %g, %dw : tensor<?x171xf32>, tensor<60x171xf32> -> tensor<?x60xf32>
      %r2 = hexad.add %d, %y : tensor<?x60xf32>
      %z = hexad.layer_norm %r2, %nw bias %nb eps 1.0e-12 : tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>
      %i = arith.addi %layer, %c1 : index
      %s2 = tensor.insert_slice %z into %s[%i, 0, 0] [1, %rows, 60] [1, 1, 1] : tensor<?x60xf32> into tensor<4x?x60xf32>
      scf.yield %z, %s2 : tensor<?x60xf32>, tensor<4x?x60xf32>
    }
    %y = hexad.unpack_rows %h#0, %segments : tensor<?x60xf32> -> tensor<?x?x60xf32>
    %hs = hexad.unpack_rows %h#1, %segments : tensor<4x?x60xf32> -> tensor<4x?x?x60xf32>
    %p = hexad.pool first %h#0, %segments : tensor<?x60xf32> -> tensor<?x60xf32>
    %pw = hexad.load @out[%c0] : tensor<60x60xf32>
    %pl = hexad.linear %p, %pw : tensor<?x60xf32>, tensor<60x60xf32> -> tensor<?x60xf32>
    %pt = hexad.activation tanh %pl : tensor<?x60xf32>
    return %y, %pt, %hs : tensor<?x?x60xf32>, tensor<?x60xf32>, tensor<4x?x?x60xf32>
  }
}
