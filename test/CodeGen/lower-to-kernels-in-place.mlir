// RUN: hexad-opt %s -split-input-file --hexad-form-rows --hexad-tile="tile-rows=6 tile-columns=16" --canonicalize --cse --hexad-lower-to-kernels="tile-rows=6 tile-columns=16" --canonicalize --cse | FileCheck %s

// A linear op reads its rows again for each panel: where these are the rows that
// its result is to replace, it works in scratch memory and is copied.
// CHECK-LABEL: func.func @linear
hexad.parameter @table : tensor<10x32xf32> from "m.safetensors" ["t"]
hexad.parameter @w : tensor<3x32x32xf32> from "m.safetensors" ["a", "b", "c"] {layers = 3 : i64}
func.func @linear(%ids: tensor<?x?xi32>) -> tensor<?x?x32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %s = hexad.segments %ids : tensor<?x?xi32>
  %i = hexad.pack_rows %ids, %s : tensor<?x?xi32> -> tensor<?xi32>
  %t = hexad.load @table : tensor<10x32xf32>
  %x = hexad.embedding %i, %t : tensor<?xi32>, tensor<10x32xf32> -> tensor<?x32xf32>
  // CHECK: scf.for %{{.+}} = %c0 to %c3 step %c1
  // CHECK: scf.for {{.*}} iter_args(%[[PART:.+]] = %{{.+}}) -> (tensor<?x32xf32>)
  // CHECK: %[[TILE:.+]] = tensor.extract_slice %[[PART]]
  // CHECK: %[[SCRATCH:.+]] = bufferization.alloc_tensor() : tensor<96x32xf32>
  // CHECK: %[[PLACE:.+]] = tensor.extract_slice %[[SCRATCH]]
  // CHECK: %[[PRODUCT:.+]] = hexad_kernel.matmul ins(%[[TILE]], {{.*}} outs(%[[PLACE]]
  // CHECK: %[[COPY:.+]] = hexad_kernel.copy_rows ins(%[[PRODUCT]] : tensor<?x32xf32>) outs(%[[TILE]] : tensor<?x32xf32>)
  // CHECK: tensor.insert_slice %[[COPY]] into %[[PART]]
  %h = scf.for %l = %c0 to %c3 step %c1 iter_args(%c = %x) -> tensor<?x32xf32> {
    %wl = hexad.load @w[%l] : tensor<32x32xf32>
    %y = hexad.linear %c, %wl : tensor<?x32xf32>, tensor<32x32xf32> -> tensor<?x32xf32>
    scf.yield %y : tensor<?x32xf32>
  }
  %r = hexad.unpack_rows %h, %s : tensor<?x32xf32> -> tensor<?x?x32xf32>
  return %r : tensor<?x?x32xf32>
}

// -----

// A sum may overwrite what it adds, but not before: the branch is in scratch
// memory until then, and the sum goes to its place without a copy.
// CHECK-LABEL: func.func @norm_of_branch
hexad.parameter @table : tensor<10x32xf32> from "m.safetensors" ["t"]
hexad.parameter @n : tensor<32xf32> from "m.safetensors" ["n"]
func.func @norm_of_branch(%ids: tensor<?x?xi32>) -> tensor<?x?x32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %s = hexad.segments %ids : tensor<?x?xi32>
  %i = hexad.pack_rows %ids, %s : tensor<?x?xi32> -> tensor<?xi32>
  %t = hexad.load @table : tensor<10x32xf32>
  %n = hexad.load @n : tensor<32xf32>
  %x = hexad.embedding %i, %t : tensor<?xi32>, tensor<10x32xf32> -> tensor<?x32xf32>
  // CHECK: scf.for %{{.+}} = %c0 to %c3 step %c1
  // CHECK: scf.for {{.*}} iter_args(%[[PART:.+]] = %{{.+}}) -> (tensor<?x32xf32>)
  // CHECK: %[[TILE:.+]] = tensor.extract_slice %[[PART]]
  // CHECK: %[[SCRATCH:.+]] = bufferization.alloc_tensor() : tensor<96x32xf32>
  // CHECK: %[[PLACE:.+]] = tensor.extract_slice %[[SCRATCH]]
  // CHECK: %[[TANH:.+]] = hexad_kernel.activation ins(%[[TILE]] : tensor<?x32xf32>) outs(%[[PLACE]]
  // CHECK: %[[NORM:.+]] = hexad_kernel.layer_norm ins(%[[TANH]], {{.*}} outs(%[[TANH]]
  // CHECK: %[[SUM:.+]] = hexad_kernel.add ins(%[[NORM]], %[[TILE]] : {{.*}} outs(%[[TILE]]
  // CHECK-NOT: copy_rows
  // CHECK: tensor.insert_slice %[[SUM]] into %[[PART]]
  %h = scf.for %l = %c0 to %c3 step %c1 iter_args(%c = %x) -> tensor<?x32xf32> {
    %0 = hexad.activation tanh %c : tensor<?x32xf32>
    %1 = hexad.layer_norm %0, %n eps 1.0e-5 : tensor<?x32xf32>, tensor<32xf32>
    %2 = hexad.add %1, %c : tensor<?x32xf32>
    scf.yield %2 : tensor<?x32xf32>
  }
  %r = hexad.unpack_rows %h, %s : tensor<?x32xf32> -> tensor<?x?x32xf32>
  return %r : tensor<?x?x32xf32>
}
