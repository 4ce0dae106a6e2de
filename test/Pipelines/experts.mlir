// RUN: hexad-opt %s --hexad-to-rows=mcpu=x86-64-v4 | FileCheck %s --check-prefix=ROWS
// RUN: hexad-opt %s --hexad-to-tiles=mcpu=x86-64-v4 | FileCheck %s --check-prefix=TILES
// RUN: hexad-opt %s --hexad-to-buffers=mcpu=x86-64-v4 | FileCheck %s --check-prefix=BUFFERS
// Barriers for few rows alone (scf.if), test/CodeGen/split-columns.mlir, are left out.
// RUN: hexad-opt %s --hexad-to-team=mcpu=x86-64-v4 | sed '/scf\.if/{N;/hexad_kernel\.barrier/d;}' | FileCheck %s --check-prefix=TEAM

// A mixture of experts in a loop over layers, phase by phase.

// The router is part of a block of rows; an expert is a block of its own.
// ROWS: hexad.rows
// ROWS: hexad.rms_norm
// ROWS: hexad.linear {{.*}} -> tensor<?x3xf32>
// ROWS: hexad.route softmax
// ROWS: hexad.experts %{{.*}}#0, %{{.*}}#1 count 3
// ROWS-NOT: hexad.rows
// ROWS: hexad.yield
// ROWS: hexad.rows
// ROWS: hexad.add

// One thread groups the rows. Of the work, 8 for each active expert and 1 for each
// of its rows, each thread gets its share: it walks the experts and takes those
// of their rows that are its own. Threads combine the rows that are theirs.
// TILES: hexad_kernel.group_rows
// TILES: %[[COUNT:.+]] = arith.index_cast
// TILES: scf.forall (%[[T:.+]]) in (%[[THREADS:.+]]) shared_outs(
// TILES: %[[READING:.+]] = arith.muli %[[COUNT]], %c8
// TILES: %[[WORK:.+]] = arith.addi %{{.+}}, %[[READING]]
// TILES: arith.muli %[[WORK]], %[[T]]
// TILES: %[[FIRST:.+]] = scf.for %{{.+}} = %c0 to %[[COUNT]] step
// TILES: %[[LAST:.+]] = scf.for %{{.+}} = %c0 to %[[COUNT]] step
// TILES: %[[MINE:.+]] = arith.subi %[[LAST]], %[[FIRST]]
// TILES: tensor.extract_slice %{{.+}}[%[[FIRST]], 0] [%[[MINE]], 24]
// TILES: scf.for %{{.+}} = %c0 to %[[COUNT]] step
// TILES: hexad_kernel.gather_rows
// TILES: hexad.load @gate[%{{.+}}] : tensor<40x24xf32>
// TILES: hexad.linear
// TILES: hexad_kernel.combine_rows

// Nothing is copied.
// BUFFERS-NOT: memref.copy
// BUFFERS: hexad_kernel.combine_rows
// BUFFERS-NOT: memref.copy

// The tables of one thread are there for all behind a barrier.
// TEAM: hexad_kernel.route
// TEAM: hexad_kernel.barrier
// TEAM: scf.for
// TEAM: hexad_kernel.group_rows
// TEAM: }
// TEAM: hexad_kernel.barrier
// TEAM: hexad_kernel.matmul ins({{.*}}memref<1x40x32xf32>
// TEAM: hexad_kernel.barrier
// TEAM: hexad_kernel.combine_rows

module @sparse {
  hexad.parameter @words : tensor<97x24xf32> from "m.safetensors" ["words"]
  hexad.parameter @norm : tensor<2x24xf32> from "m.safetensors" ["n0", "n1"] {layers = 2 : i64}
  hexad.parameter @router : tensor<2x3x24xf32> from "m.safetensors" ["r0", "r1"] {layers = 2 : i64}
  hexad.parameter @gate : tensor<6x40x24xf32> from "m.safetensors" ["g0", "g1", "g2", "g3", "g4", "g5"] {layers = 6 : i64}
  hexad.parameter @up : tensor<6x40x24xf32> from "m.safetensors" ["u0", "u1", "u2", "u3", "u4", "u5"] {layers = 6 : i64}
  hexad.parameter @down : tensor<6x24x40xf32> from "m.safetensors" ["d0", "d1", "d2", "d3", "d4", "d5"] {layers = 6 : i64}
  func.func @forward(%input_ids: tensor<?x?xi32> {hexad.name = "input_ids", hexad.limit = 97 : i64},
                     %attention_mask: tensor<?x?xi32> {hexad.name = "attention_mask", hexad.optional})
      -> (tensor<?x?x24xf32> {hexad.name = "last_hidden_state"}) {
    %segments = hexad.segments %attention_mask : tensor<?x?xi32>
    %ids = hexad.pack_rows %input_ids, %segments : tensor<?x?xi32> -> tensor<?xi32>
    %words = hexad.load @words : tensor<97x24xf32>
    %x0 = hexad.embedding %ids, %words : tensor<?xi32>, tensor<97x24xf32> -> tensor<?x24xf32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %y = scf.for %layer = %c0 to %c2 step %c1 iter_args(%x = %x0) -> (tensor<?x24xf32>) {
      %norm = hexad.load @norm[%layer] : tensor<24xf32>
      %router = hexad.load @router[%layer] : tensor<3x24xf32>
      %first = arith.muli %layer, %c3 : index
      %n = hexad.rms_norm %x weight %norm eps 1.0e-6 : tensor<?x24xf32>, tensor<24xf32>
      %logits = hexad.linear %n, %router : tensor<?x24xf32>, tensor<3x24xf32> -> tensor<?x3xf32>
      %routes = hexad.route softmax %logits {top_k = 2 : i64, renormalize} : tensor<?x3xf32> -> tensor<?x4xf32>
      %e = hexad.experts %n, %routes count 3 : tensor<?x24xf32>, tensor<?x4xf32> -> tensor<?x24xf32> {
      ^bb0(%expert: index, %rows: tensor<?x24xf32>):
        %member = arith.addi %first, %expert : index
        %gate = hexad.load @gate[%member] : tensor<40x24xf32>
        %up = hexad.load @up[%member] : tensor<40x24xf32>
        %down = hexad.load @down[%member] : tensor<24x40xf32>
        %g = hexad.linear %rows, %gate : tensor<?x24xf32>, tensor<40x24xf32> -> tensor<?x40xf32>
        %s = hexad.activation silu %g : tensor<?x40xf32>
        %u = hexad.linear %rows, %up : tensor<?x24xf32>, tensor<40x24xf32> -> tensor<?x40xf32>
        %m = hexad.multiply %s, %u : tensor<?x40xf32>
        %d = hexad.linear %m, %down : tensor<?x40xf32>, tensor<24x40xf32> -> tensor<?x24xf32>
        hexad.yield %d : tensor<?x24xf32>
      }
      %z = hexad.add %e, %x : tensor<?x24xf32>
      scf.yield %z : tensor<?x24xf32>
    }
    %rectangle = hexad.unpack_rows %y, %segments : tensor<?x24xf32> -> tensor<?x?x24xf32>
    return %rectangle : tensor<?x?x24xf32>
  }
}
