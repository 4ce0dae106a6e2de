// RUN: hexad-opt %s --split-input-file --verify-diagnostics --hexad-tile="tile-rows=6 tile-columns=16 block-rows=96 query-tile=60 page=128" --canonicalize --cse | FileCheck %s

// The loop carries no maps: they are written to the output, which is a buffer. What
// is not wanted costs nothing: no page and no tile.
// CHECK-LABEL: func.func @maps
// CHECK-SAME: %[[TILES:[a-z0-9]+]]: index {hexad.extent = 10 : i64}
// CHECK-SAME: %[[PAGES:[a-z0-9]+]]: index {hexad.extent = 11 : i64}
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: memref<?xf32>
// CHECK: scf.for %{{.+}} = %c0 to %c3 step %c1 {
// CHECK: %[[WANTED:.+]] = hexad_kernel.is_present %[[OUT]]
// CHECK: %[[P:.+]] = arith.select %[[WANTED]], %[[PAGES]], %{{.+}}
// CHECK: scf.forall (%{{.+}}, %{{.+}}) in (%[[P]], 2)
// CHECK: hexad_kernel.pack_keys
// CHECK-NOT: hexad_kernel.pack_values
// CHECK: %[[T:.+]] = arith.select %[[WANTED]], %[[TILES]], %{{.+}}
// CHECK: scf.forall (%{{.+}}, %{{.+}}) in (%[[T]], 2)
// CHECK: hexad_kernel.clear ins({{.+}}) outs(%[[OUT]]
// CHECK: scf.for
// CHECK: hexad_kernel.matmul
// CHECK: hexad_kernel.softmax_page {{.*}} {causal}
// CHECK: scf.for
// CHECK: hexad_kernel.matmul
// CHECK: hexad_kernel.map_page {{.*}} position(%{{.+}}) outs(%[[OUT]] : memref<?xf32>) {causal}
// CHECK: hexad.cyclic
func.func @maps(%ids: tensor<?x?xi32>) -> tensor<3x?x2x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %s = hexad.segments %ids : tensor<?x?xi32>
  %p = hexad.positions %s : tensor<?xi32>
  %x = hexad.rows (%a = %p : tensor<?xi32>) -> tensor<?x24xf32> {
    %0 = hexad.rotary %a {inv_freq = array<f32: 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0>} : tensor<?xi32> -> tensor<?x24xf32>
    hexad.yield %0 : tensor<?x24xf32>
  }
  %m = hexad.empty_maps %s : tensor<3x?x2x?x?xf32>
  %y, %n = scf.for %l = %c0 to %c3 step %c1 iter_args(%c = %x, %d = %m) -> (tensor<?x24xf32>, tensor<3x?x2x?x?xf32>) {
    %e = hexad.attention_map %c, %c, %s into %d[%l] {causal, heads = 2 : i64, kv_heads = 2 : i64, head_dim = 12 : i64, scale = 0.5 : f64} : tensor<?x24xf32>, tensor<?x24xf32>, tensor<3x?x2x?x?xf32>
    scf.yield %c, %e : tensor<?x24xf32>, tensor<3x?x2x?x?xf32>
  }
  return %n : tensor<3x?x2x?x?xf32>
}

// -----

// Maps that nobody returns are not computed.
// CHECK-LABEL: func.func @unused
// CHECK-NOT: hexad_kernel.map_page
// CHECK: return
func.func @unused(%ids: tensor<?x?xi32>) -> (tensor<1x?x1x?x?xf32>) {
  %c0 = arith.constant 0 : index
  %s = hexad.segments %ids : tensor<?x?xi32>
  %p = hexad.positions %s : tensor<?xi32>
  %x = hexad.rows (%a = %p : tensor<?xi32>) -> tensor<?x2xf32> {
    %0 = hexad.rotary %a {inv_freq = array<f32: 1.0>} : tensor<?xi32> -> tensor<?x2xf32>
    hexad.yield %0 : tensor<?x2xf32>
  }
  %m = hexad.empty_maps %s : tensor<1x?x1x?x?xf32>
  %n = hexad.attention_map %x, %x, %s into %m[%c0] {heads = 1 : i64, kv_heads = 1 : i64, head_dim = 2 : i64, scale = 0.5 : f64} : tensor<?x2xf32>, tensor<?x2xf32>, tensor<1x?x1x?x?xf32>
  return %m : tensor<1x?x1x?x?xf32>
}

// -----

func.func @exchanged(%ids: tensor<?x?xi32>) -> (tensor<1x?x1x?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = hexad.segments %ids : tensor<?x?xi32>
  %m = hexad.empty_maps %s : tensor<1x?x1x?x?xf32>
  %n, %o = scf.for %l = %c0 to %c1 step %c1 iter_args(%a = %m, %b = %m) -> (tensor<1x?x1x?x?xf32>, tensor<1x?x1x?x?xf32>) {
    // expected-error @below {{expected the maps that the loop carries to be those it got, with more maps in them}}
    scf.yield %b, %a : tensor<1x?x1x?x?xf32>, tensor<1x?x1x?x?xf32>
  }
  return %n : tensor<1x?x1x?x?xf32>
}
