// RUN: hexad-opt %s --split-input-file --hexad-form-rows --hexad-tile="tile-rows=6 tile-columns=16" --canonicalize --cse | FileCheck %s --check-prefix=TILE
// RUN: hexad-opt %s --split-input-file --hexad-form-rows --hexad-tile="tile-rows=6 tile-columns=16" --hexad-lower-to-kernels="tile-rows=6 tile-columns=16 block-rows=96" --canonicalize --cse | FileCheck %s

hexad.parameter @table : tensor<1300x20xf32> from "m.safetensors" ["t"]
hexad.parameter @bias : tensor<1300xf32> from "m.safetensors" ["b"]

// Labels are the runtime's table; one thread adds the losses of all rows that
// are real, when all are there, and writes to the caller's buffer.
// TILE-LABEL: func.func @chain
// TILE-SAME: %[[TOKENS:[a-z0-9]+]]: index {hexad.extent = 2 : i64}
// TILE-SAME: %[[LABELS:[a-z0-9]+]]: tensor<?xi32> {hexad.pointer = 16 : i64}
// TILE-SAME: %[[OUT:[a-z0-9]+]]: memref<?x1xf32> {hexad.pointer = 19 : i64}
// TILE: %{{.+}} = scf.forall {{.+}} -> (tensor<?xi32>)
// TILE: %[[LOSSES:.+]] = scf.forall {{.+}} -> (tensor<?x1xf32>)
// TILE: %[[MINE:.+]] = tensor.extract_slice %[[LABELS]]
// TILE: hexad.cross_entropy %{{.+}}, %[[MINE]] : tensor<?x1300xf32>, tensor<?xi32> -> tensor<?x1xf32>
// TILE: {hexad.split = "tokens"}
// TILE: scf.forall (%[[THREAD:.+]]) in
// TILE: %[[FIRST:.+]] = arith.cmpi eq, %[[THREAD]], %c0
// TILE: scf.if %[[FIRST]]
// TILE-DAG: %[[ALL:.+]] = tensor.extract_slice %[[LOSSES]][0, 0] [%[[TOKENS]], 1]
// TILE-DAG: %[[THEIRS:.+]] = tensor.extract_slice %[[LABELS]][0] [%[[TOKENS]]]
// TILE: hexad_kernel.mean_loss ins(%[[ALL]], %[[THEIRS]] : tensor<?x1xf32>, tensor<?xi32>) outs(%[[OUT]] : memref<?x1xf32>)

// Logits of a tile of 512 classes at a time, never those of all 1300; no tile if
// no row of the block has a label.
// CHECK-LABEL: func.func @chain
// CHECK-NOT: x1300xf32
// CHECK-NOT: x1312xf32
// CHECK: %[[START:.+]] = hexad_kernel.start_cross_entropy outs(%{{.+}} : tensor<?x48xf32>)
// CHECK: %[[ANY:.+]] = scf.for %{{.+}} = %c0 to %[[SIZE:.+]] step %c1 iter_args(%[[SO_FAR:.+]] = %false)
// CHECK:   %[[LABEL:.+]] = tensor.extract
// CHECK:   %[[HAS:.+]] = arith.cmpi sge, %[[LABEL]], %c0_i32
// CHECK:   arith.ori %[[SO_FAR]], %[[HAS]]
// CHECK: %[[END:.+]] = arith.select %[[ANY]], %c1300, %c0
// CHECK: %[[S:.+]] = scf.for %[[FIRST:.+]] = %c0 to %[[END]] step %c512 iter_args(%[[OLD:.+]] = %[[START]])
// CHECK:   %[[REST:.+]] = arith.subi %c1312, %[[FIRST]]
// CHECK:   %[[COLUMNS:.+]] = arith.minui %[[REST]], %c512
// CHECK-DAG: %[[PANEL:.+]] = arith.divui %[[FIRST]], %c16
// CHECK-DAG: %[[PANELS:.+]] = arith.divui %[[COLUMNS]], %c16
// CHECK-DAG: %[[SOME:.+]] = tensor.extract_slice %{{.+}}[%[[PANEL]], 0, 0] [%[[PANELS]], 20, 16] [1, 1, 1] : tensor<82x20x16xf32>
// CHECK-DAG: %[[BIAS:.+]] = tensor.extract_slice %{{.+}}[%[[FIRST]]] [%[[COLUMNS]]] [1] : tensor<1312xf32>
// CHECK:   bufferization.alloc_tensor() : tensor<96x512xf32>
// CHECK:   %[[LOGITS:.+]] = hexad_kernel.matmul ins(%{{.+}}, %[[SOME]] : tensor<?x32xf32>, tensor<?x20x16xf32>) bias(%[[BIAS]] : tensor<?xf32>) outs(%{{.+}} : tensor<?x512xf32>)
// CHECK:   %[[SCALED:.+]] = hexad_kernel.scale ins(%[[LOGITS]]{{.*}} outs(%[[LOGITS]]
// CHECK:   %[[CAPPED:.+]] = hexad_kernel.softcap ins(%[[SCALED]]{{.*}} outs(%[[SCALED]]
// CHECK:   %[[LEFT:.+]] = arith.subi %c1300, %[[FIRST]]
// CHECK:   %[[CLASSES:.+]] = arith.minui %[[LEFT]], %c512
// CHECK:   hexad_kernel.cross_entropy_tile ins(%[[CAPPED]], %{{.+}}, %[[FIRST]], %[[CLASSES]] : tensor<?x512xf32>, tensor<?xi32>, index, index) outs(%[[OLD]] : tensor<?x48xf32>)
// CHECK: hexad_kernel.finish_cross_entropy ins(%[[S]], %{{.+}} : tensor<?x48xf32>, tensor<?xi32>) outs(%{{.+}} : tensor<?x16xf32>)
// CHECK: hexad_kernel.mean_loss
func.func @chain(%ids: tensor<?x?xi32>, %labels: tensor<?x?xi32>) -> tensor<f32> {
  %s = hexad.segments %ids : tensor<?x?xi32>
  %i = hexad.pack_rows %ids, %s : tensor<?x?xi32> -> tensor<?xi32>
  %t = hexad.load @table : tensor<1300x20xf32>
  %b = hexad.load @bias : tensor<1300xf32>
  %x = hexad.embedding %i, %t : tensor<?xi32>, tensor<1300x20xf32> -> tensor<?x20xf32>
  %1 = hexad.linear %x, %t bias %b : tensor<?x20xf32>, tensor<1300x20xf32>, tensor<1300xf32> -> tensor<?x1300xf32>
  %2 = hexad.scale %1 by 0.5 : tensor<?x1300xf32>
  %3 = hexad.softcap %2 cap 30.0 : tensor<?x1300xf32>
  %l = hexad.labels %labels, %s {shift} : tensor<?x?xi32> -> tensor<?xi32>
  %4 = hexad.cross_entropy %3, %l : tensor<?x1300xf32>, tensor<?xi32> -> tensor<?x1xf32>
  %5 = hexad.mean_loss %4, %l : tensor<?x1xf32>, tensor<?xi32> -> tensor<f32>
  return %5 : tensor<f32>
}

// -----

// Logits that something else needs as well are walked where they lie.
// CHECK-LABEL: func.func @logits_used_twice
// CHECK: %[[LOGITS:.+]] = hexad_kernel.matmul ins({{.+}}) outs(%{{.+}} : tensor<?x1312xf32>)
// CHECK: scf.for %[[FIRST:.+]] = %c0 to %{{.+}} step %c512
// CHECK:   %[[REST:.+]] = arith.subi %c1312, %[[FIRST]]
// CHECK:   %[[COLUMNS:.+]] = arith.minui %[[REST]], %c512
// CHECK:   %[[PART:.+]] = tensor.extract_slice %[[LOGITS]][0, %[[FIRST]]] [%{{.+}}, %[[COLUMNS]]]
// CHECK:   hexad_kernel.cross_entropy_tile ins(%[[PART]], %{{.+}}, %[[FIRST]], %{{.+}} : tensor<?x?xf32>
hexad.parameter @table : tensor<1300x20xf32> from "m.safetensors" ["t"]
func.func @logits_used_twice(%ids: tensor<?x?xi32>, %labels: tensor<?x?xi32>) -> (tensor<?x?x1300xf32>, tensor<f32>) {
  %s = hexad.segments %ids : tensor<?x?xi32>
  %i = hexad.pack_rows %ids, %s : tensor<?x?xi32> -> tensor<?xi32>
  %t = hexad.load @table : tensor<1300x20xf32>
  %x = hexad.embedding %i, %t : tensor<?xi32>, tensor<1300x20xf32> -> tensor<?x20xf32>
  %1 = hexad.linear %x, %t : tensor<?x20xf32>, tensor<1300x20xf32> -> tensor<?x1300xf32>
  %l = hexad.labels %labels, %s : tensor<?x?xi32> -> tensor<?xi32>
  %2 = hexad.cross_entropy %1, %l : tensor<?x1300xf32>, tensor<?xi32> -> tensor<?x1xf32>
  %3 = hexad.mean_loss %2, %l : tensor<?x1xf32>, tensor<?xi32> -> tensor<f32>
  %r = hexad.unpack_rows %1, %s : tensor<?x1300xf32> -> tensor<?x?x1300xf32>
  return %r, %3 : tensor<?x?x1300xf32>, tensor<f32>
}

// -----

// Pooled rows: losses of segments.
// TILE-LABEL: func.func @pooled
// TILE-SAME: %[[SEGMENTS:[a-z0-9]+]]: index {hexad.extent = 4 : i64}
// TILE: hexad.cross_entropy
// TILE: {hexad.split = "segments"}
// TILE: tensor.extract_slice %{{.+}}[0, 0] [%[[SEGMENTS]], 1]
// TILE: hexad_kernel.mean_loss
hexad.parameter @table : tensor<10x20xf32> from "m.safetensors" ["t"]
func.func @pooled(%ids: tensor<?x?xi32>, %labels: tensor<?xi32>) -> tensor<f32> {
  %s = hexad.segments %ids : tensor<?x?xi32>
  %i = hexad.pack_rows %ids, %s : tensor<?x?xi32> -> tensor<?xi32>
  %t = hexad.load @table : tensor<10x20xf32>
  %x = hexad.embedding %i, %t : tensor<?xi32>, tensor<10x20xf32> -> tensor<?x20xf32>
  %p = hexad.pool first %x, %s : tensor<?x20xf32> -> tensor<?x20xf32>
  %1 = hexad.linear %p, %t : tensor<?x20xf32>, tensor<10x20xf32> -> tensor<?x10xf32>
  %l = hexad.labels %labels, %s : tensor<?xi32> -> tensor<?xi32>
  %2 = hexad.cross_entropy %1, %l : tensor<?x10xf32>, tensor<?xi32> -> tensor<?x1xf32>
  %3 = hexad.mean_loss %2, %l : tensor<?x1xf32>, tensor<?xi32> -> tensor<f32>
  return %3 : tensor<f32>
}
