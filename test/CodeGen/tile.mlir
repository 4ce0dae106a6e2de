// RUN: hexad-opt %s -split-input-file -verify-diagnostics --hexad-tile="tile-rows=6 tile-columns=16 block-rows=96 query-tile=60 page=128" --canonicalize --cse | FileCheck %s

// Rows: each thread has its fours of rows, the last of which ends where the
// tokens do, in equal blocks of at most 96; the op works on slices.
// CHECK-LABEL: func.func @block
// CHECK-SAME: %[[THREADS:[a-z0-9]+]]: index {hexad.extent = 0 : i64}
// CHECK-SAME: %[[ROWS:[a-z0-9]+]]: index {hexad.extent = 1 : i64}
// CHECK-SAME: %[[TOKENS:[a-z0-9]+]]: index {hexad.extent = 2 : i64}
// CHECK-SAME: %[[IDS:[a-z0-9]+]]: tensor<?xi32> {hexad.pointer = 17 : i64}
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: memref<?x8xf32> {hexad.pointer = 18 : i64}
hexad.parameter @table : tensor<10x8xf32> from "m.safetensors" ["t"]
func.func @block(%ids: tensor<?x?xi32>) -> tensor<?x?x8xf32> {
  // CHECK: scf.forall (%{{.+}}) in (%[[THREADS]])
  // CHECK: hexad_kernel.gather_indices ins(%[[IDS]]
  // CHECK: %[[Y:.+]] = scf.forall (%[[T:.+]]) in (%[[THREADS]]) shared_outs
  // CHECK: %[[UP:.+]] = arith.addi %[[TOKENS]], %c3
  // CHECK: %[[FOURS:.+]] = arith.divui %[[UP]], %c4
  // CHECK: %[[A:.+]] = arith.muli %[[FOURS]], %[[T]]
  // CHECK: %[[FIRSTFOUR:.+]] = arith.divui %[[A]], %[[THREADS]]
  // CHECK: %[[LASTFOUR:.+]] = arith.divui %{{.+}}, %[[THREADS]]
  // CHECK: %[[FIRST:.+]] = arith.muli %[[FIRSTFOUR]], %c4
  // CHECK: %[[WHOLE:.+]] = arith.muli %[[LASTFOUR]], %c4
  // CHECK: %[[LAST:.+]] = arith.minui %[[WHOLE]], %[[TOKENS]]
  // CHECK: %[[MINE:.+]] = arith.subi %[[LAST]], %[[FIRST]]
  // CHECK: %[[ROUNDED:.+]] = arith.addi %[[MINE]], %c5
  // CHECK: %[[MYSTRIPS:.+]] = arith.divui %[[ROUNDED]], %c6
  // CHECK: %[[SOME:.+]] = arith.maxui %[[MYSTRIPS]], %c1
  // CHECK: %[[SUM:.+]] = arith.addi %[[SOME]], %c15
  // CHECK: %[[BLOCKS:.+]] = arith.divui %[[SUM]], %c16
  // CHECK: %[[REST:.+]] = arith.subi %[[BLOCKS]], %c1
  // CHECK: %[[SUM2:.+]] = arith.addi %[[SOME]], %[[REST]]
  // CHECK: %[[BLOCKSTRIPS:.+]] = arith.divui %[[SUM2]], %[[BLOCKS]]
  // CHECK: %[[BLOCKROWS:.+]] = arith.muli %[[BLOCKSTRIPS]], %c6
  // CHECK: scf.for %[[START:.+]] = %{{.+}} to %[[MINE]] step %[[BLOCKROWS]]
  // CHECK: %[[LEFT:.+]] = arith.subi %[[MINE]], %[[START]]
  // CHECK: %[[SIZE:.+]] = arith.minui %[[LEFT]], %[[BLOCKROWS]]
  // CHECK: %[[IN:.+]] = tensor.extract_slice %{{.+}}[%{{.+}}] [%[[SIZE]]] [1]
  // CHECK: hexad.embedding %[[IN]]
  // CHECK: tensor.insert_slice %{{.+}} into %{{.+}}[%[[START]], 0] [%[[SIZE]], 8]
  // CHECK: {hexad.split = "tokens"}
  // CHECK: hexad_kernel.gather_rows ins(%[[Y]],
  // CHECK: bufferization.materialize_in_destination %{{.+}} in restrict writable %[[OUT]]
  %s = hexad.segments %ids : tensor<?x?xi32>
  %i = hexad.pack_rows %ids, %s : tensor<?x?xi32> -> tensor<?xi32>
  %t = hexad.load @table : tensor<10x8xf32>
  %y = hexad.rows (%a = %i : tensor<?xi32>, %b = %t : tensor<10x8xf32>) -> tensor<?x8xf32> {
    %0 = hexad.embedding %a, %b : tensor<?xi32>, tensor<10x8xf32> -> tensor<?x8xf32>
    hexad.yield %0 : tensor<?x8xf32>
  }
  %r = hexad.unpack_rows %y, %s : tensor<?x8xf32> -> tensor<?x?x8xf32>
  return %r : tensor<?x?x8xf32>
}

// -----

// Attention: pages are packed for each (page, kv head); each (query tile, head)
// walks the pages of its segment. No tensor has tokens in two dimensions.
// CHECK-LABEL: func.func @attention
// CHECK-SAME: %[[TILES:[a-z0-9]+]]: index {hexad.extent = 10 : i64}
// CHECK-SAME: %[[PAGES:[a-z0-9]+]]: index {hexad.extent = 11 : i64}
// CHECK-NOT: tensor<?x?xf32>
hexad.parameter @table : tensor<10x24xf32> from "m.safetensors" ["t"]
func.func @attention(%ids: tensor<?x?xi32>) -> tensor<?x?x24xf32> {
  // CHECK: scf.forall (%{{.+}}, %{{.+}}) in (%[[PAGES]], 2) {{.*}} -> (tensor<?x8x12x16xf32>, tensor<?x1x128x16xf32>)
  // CHECK: hexad_kernel.pack_keys
  // CHECK: hexad_kernel.pack_values
  // CHECK: scf.forall (%{{.+}}, %{{.+}}) in (2, %[[TILES]])
  // CHECK: hexad_kernel.load_queries {{.*}}scale = 0.72134{{.*}} width = 12
  // CHECK: hexad_kernel.start_pages
  // CHECK: scf.for %{{.+}} = %{{.+}} to %{{.+}} step %c1
  // CHECK: hexad_kernel.matmul ins(%{{.+}}, %{{.+}} : tensor<?x16xf32>, tensor<?x12x16xf32>)
  // CHECK: hexad_kernel.softmax_page
  // CHECK: hexad_kernel.matmul ins(%{{.+}}, %{{.+}} : tensor<?x128xf32>, tensor<1x?x16xf32>) fold(
  // CHECK: hexad_kernel.finish_pages
  %s = hexad.segments %ids : tensor<?x?xi32>
  %i = hexad.pack_rows %ids, %s : tensor<?x?xi32> -> tensor<?xi32>
  %t = hexad.load @table : tensor<10x24xf32>
  %y = hexad.rows (%a = %i : tensor<?xi32>, %b = %t : tensor<10x24xf32>) -> tensor<?x24xf32> {
    %0 = hexad.embedding %a, %b : tensor<?xi32>, tensor<10x24xf32> -> tensor<?x24xf32>
    hexad.yield %0 : tensor<?x24xf32>
  }
  %o = hexad.attention %y, %y, %y, %s {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 12 : i64, scale = 0.5 : f64} : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x24xf32>
  %r = hexad.unpack_rows %o, %s : tensor<?x24xf32> -> tensor<?x?x24xf32>
  return %r : tensor<?x?x24xf32>
}

// -----

// Threads take the tiles of a causal attention in turn; odd heads go backwards:
// tile n of head h is n + h % 2 * (last - 2 * n).
// CHECK-LABEL: func.func @causal
// CHECK-SAME: %[[TILES:[a-z0-9]+]]: index {hexad.extent = 10 : i64}
hexad.parameter @table : tensor<10x24xf32> from "m.safetensors" ["t"]
func.func @causal(%ids: tensor<?x?xi32>) -> tensor<?x?x24xf32> {
  %s = hexad.segments %ids : tensor<?x?xi32>
  %i = hexad.pack_rows %ids, %s : tensor<?x?xi32> -> tensor<?xi32>
  %t = hexad.load @table : tensor<10x24xf32>
  %y = hexad.rows (%a = %i : tensor<?xi32>, %b = %t : tensor<10x24xf32>) -> tensor<?x24xf32> {
    %0 = hexad.embedding %a, %b : tensor<?xi32>, tensor<10x24xf32> -> tensor<?x24xf32>
    hexad.yield %0 : tensor<?x24xf32>
  }
  // CHECK: scf.forall (%[[H:.+]], %[[N:.+]]) in (2, %[[TILES]])
  // CHECK-NEXT: %[[HALF:.+]] = arith.divui %[[H]], %c2
  // CHECK-NEXT: %[[EVEN:.+]] = arith.muli %[[HALF]], %c2
  // CHECK-NEXT: %[[ODD:.+]] = arith.subi %[[H]], %[[EVEN]]
  // CHECK-NEXT: %[[LAST:.+]] = arith.subi %[[TILES]], %c1
  // CHECK-NEXT: %[[TWICE:.+]] = arith.muli %[[N]], %c2
  // CHECK-NEXT: %[[TURN:.+]] = arith.subi %[[LAST]], %[[TWICE]]
  // CHECK-NEXT: %[[BACK:.+]] = arith.muli %[[ODD]], %[[TURN]]
  // CHECK-NEXT: %[[TILE:.+]] = arith.addi %[[N]], %[[BACK]]
  // CHECK-NEXT: arith.muli %[[TILE]], %c2
  // CHECK: {hexad.cyclic}
  %o = hexad.attention %y, %y, %y, %s {causal, heads = 2 : i64, kv_heads = 2 : i64, head_dim = 12 : i64, scale = 0.5 : f64} : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x24xf32>
  %r = hexad.unpack_rows %o, %s : tensor<?x24xf32> -> tensor<?x?x24xf32>
  return %r : tensor<?x?x24xf32>
}

// -----

// The rows that a loop carries are overwritten by the block whose result it
// yields: no buffer for each layer.
// CHECK-LABEL: func.func @in_place
hexad.parameter @table : tensor<10x8xf32> from "m.safetensors" ["t"]
func.func @in_place(%ids: tensor<?x?xi32>) -> tensor<?x?x8xf32> {
  // CHECK: scf.for %{{.+}} = %c0 to %c3 step %c1 iter_args(%[[X:.+]] = %{{.+}}) -> (tensor<?x8xf32>)
  // CHECK: scf.forall (%{{.+}}) in (%{{.+}}) shared_outs(%{{.+}} = %[[X]])
  // CHECK: scf.for {{.*}} iter_args(%[[PART:.+]] = %{{.+}})
  // CHECK: %[[TILE:.+]] = tensor.extract_slice %[[PART]]
  // CHECK: hexad.activation gelu %[[TILE]]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %s = hexad.segments %ids : tensor<?x?xi32>
  %i = hexad.pack_rows %ids, %s : tensor<?x?xi32> -> tensor<?xi32>
  %t = hexad.load @table : tensor<10x8xf32>
  %x = hexad.rows (%a = %i : tensor<?xi32>, %b = %t : tensor<10x8xf32>) -> tensor<?x8xf32> {
    %0 = hexad.embedding %a, %b : tensor<?xi32>, tensor<10x8xf32> -> tensor<?x8xf32>
    hexad.yield %0 : tensor<?x8xf32>
  }
  %h = scf.for %l = %c0 to %c3 step %c1 iter_args(%c = %x) -> tensor<?x8xf32> {
    %y = hexad.rows (%a = %c : tensor<?x8xf32>) -> tensor<?x8xf32> {
      %0 = hexad.activation gelu %a : tensor<?x8xf32>
      hexad.yield %0 : tensor<?x8xf32>
    }
    scf.yield %y : tensor<?x8xf32>
  }
  %r = hexad.unpack_rows %h, %s : tensor<?x8xf32> -> tensor<?x?x8xf32>
  return %r : tensor<?x?x8xf32>
}

// -----

func.func @no_block(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error@+1 {{is not expected here: row-local ops belong into hexad.rows blocks (hexad-form-rows)}}
  %y = hexad.activation gelu %x : tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
