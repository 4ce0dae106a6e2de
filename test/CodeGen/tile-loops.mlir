// RUN: hexad-opt %s -split-input-file --hexad-form-rows --hexad-tile="tile-rows=6 tile-columns=16" --canonicalize --cse | FileCheck %s

// What a loop carries stays in one place. What attention makes elsewhere is copied
// there, each thread its rows.
// CHECK-LABEL: func.func @elsewhere
hexad.parameter @table : tensor<10x24xf32> from "m.safetensors" ["t"]
func.func @elsewhere(%ids: tensor<?x?xi32>) -> tensor<?x?x24xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %s = hexad.segments %ids : tensor<?x?xi32>
  %i = hexad.pack_rows %ids, %s : tensor<?x?xi32> -> tensor<?xi32>
  %t = hexad.load @table : tensor<10x24xf32>
  %x = hexad.embedding %i, %t : tensor<?xi32>, tensor<10x24xf32> -> tensor<?x24xf32>
  // CHECK: scf.for %{{.+}} = %c0 to %c3 step %c1 iter_args(%[[X:.+]] = %{{.+}}) -> (tensor<?x24xf32>)
  // CHECK: hexad_kernel.pack_keys
  // CHECK: %[[O:.+]] = scf.forall {{.*}} shared_outs(%{{.+}} = %{{.+}}) -> (tensor<?x24xf32>)
  // CHECK: hexad_kernel.finish_pages
  // CHECK: %[[PLACED:.+]] = scf.forall {{.*}} shared_outs(%{{.+}} = %[[X]]) -> (tensor<?x24xf32>)
  // CHECK: %[[PART:.+]] = tensor.extract_slice %[[O]]
  // CHECK: hexad_kernel.copy_rows ins(%[[PART]]
  // CHECK: hexad.split = "tokens"
  // CHECK: scf.yield %[[PLACED]]
  %h = scf.for %l = %c0 to %c3 step %c1 iter_args(%c = %x) -> tensor<?x24xf32> {
    %o = hexad.attention %c, %c, %c, %s {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 12 : i64, scale = 0.5 : f64} : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x24xf32>
    scf.yield %o : tensor<?x24xf32>
  }
  %r = hexad.unpack_rows %h, %s : tensor<?x24xf32> -> tensor<?x?x24xf32>
  return %r : tensor<?x?x24xf32>
}

// -----

// Values that change places are saved before one of them is overwritten.
// CHECK-LABEL: func.func @swap
hexad.parameter @table : tensor<10x8xf32> from "m.safetensors" ["t"]
func.func @swap(%ids: tensor<?x?xi32>) -> (tensor<?x?x8xf32>, tensor<?x?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %s = hexad.segments %ids : tensor<?x?xi32>
  %i = hexad.pack_rows %ids, %s : tensor<?x?xi32> -> tensor<?xi32>
  %t = hexad.load @table : tensor<10x8xf32>
  %x = hexad.embedding %i, %t : tensor<?xi32>, tensor<10x8xf32> -> tensor<?x8xf32>
  %y = hexad.activation gelu %x : tensor<?x8xf32>
  // CHECK: scf.for %{{.+}} = %c0 to %c3 step %c1 iter_args(%[[A:[a-z0-9]+]] = %{{.+}}, %[[B:[a-z0-9]+]] = %{{.+}})
  // CHECK: %[[NEW:.+]] = scf.forall
  // CHECK: hexad.activation tanh
  // CHECK: %[[SAVED:.+]] = scf.forall
  // CHECK: tensor.extract_slice %[[A]]
  // CHECK: scf.forall {{.*}} shared_outs(%{{.+}} = %[[A]])
  // CHECK: tensor.extract_slice %[[NEW]]
  // CHECK: scf.forall {{.*}} shared_outs(%{{.+}} = %[[B]])
  // CHECK: tensor.extract_slice %[[SAVED]]
  %h:2 = scf.for %l = %c0 to %c3 step %c1 iter_args(%a = %x, %b = %y) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
    %new = hexad.activation tanh %b : tensor<?x8xf32>
    scf.yield %new, %a : tensor<?x8xf32>, tensor<?x8xf32>
  }
  %r = hexad.unpack_rows %h#0, %s : tensor<?x8xf32> -> tensor<?x?x8xf32>
  %q = hexad.unpack_rows %h#1, %s : tensor<?x8xf32> -> tensor<?x?x8xf32>
  return %r, %q : tensor<?x?x8xf32>, tensor<?x?x8xf32>
}

// -----

// Nothing is made of what nobody looks at; a rectangle may be two outputs.
// CHECK-LABEL: func.func @dead
// CHECK-SAME: %[[FIRST:[a-z0-9]+]]: memref<?x8xf32> {hexad.pointer = 18 : i64}, %[[SECOND:[a-z0-9]+]]: memref<?x8xf32> {hexad.pointer = 19 : i64}
hexad.parameter @table : tensor<10x8xf32> from "m.safetensors" ["t"]
func.func @dead(%ids: tensor<?x?xi32>) -> (tensor<?x?x8xf32>, tensor<?x?x8xf32>) {
  %s = hexad.segments %ids : tensor<?x?xi32>
  %i = hexad.pack_rows %ids, %s : tensor<?x?xi32> -> tensor<?xi32>
  %t = hexad.load @table : tensor<10x8xf32>
  // CHECK-NOT: gelu
  // CHECK-DAG: bufferization.materialize_in_destination {{.*}} %[[FIRST]]
  // CHECK-DAG: bufferization.materialize_in_destination {{.*}} %[[SECOND]]
  %x = hexad.embedding %i, %t : tensor<?xi32>, tensor<10x8xf32> -> tensor<?x8xf32>
  %p = hexad.pool first %x, %s : tensor<?x8xf32> -> tensor<?x8xf32>
  %y = hexad.activation gelu %p : tensor<?x8xf32>
  %r = hexad.unpack_rows %x, %s : tensor<?x8xf32> -> tensor<?x?x8xf32>
  return %r, %r : tensor<?x?x8xf32>, tensor<?x?x8xf32>
}
