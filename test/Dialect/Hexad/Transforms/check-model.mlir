// RUN: hexad-opt %s -split-input-file -verify-diagnostics --hexad-check-model

// What is right stays as it is: the last layer, the last entry, the last member.
hexad.parameter @table : tensor<10x4xf32> from "m.safetensors" ["t"]
hexad.parameter @w : tensor<3x4x4xf32> from "m.safetensors" ["a", "b", "c"] {layers = 3 : i64}
func.func @right(%ids: tensor<?x?xi32> {hexad.limit = 10 : i64}, %mask: tensor<?x?xi32>)
    -> (tensor<?x4xf32>, tensor<4x?x?x4xf32>) attributes {hexad.position_limit = 8 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %segments = hexad.segments %mask : tensor<?x?xi32>
  %packed = hexad.pack_rows %ids, %segments : tensor<?x?xi32> -> tensor<?xi32>
  %positions = hexad.positions %segments : tensor<?xi32>
  %t = hexad.load @table : tensor<10x4xf32>
  %e = hexad.embedding %packed, %t : tensor<?xi32>, tensor<10x4xf32> -> tensor<?x4xf32>
  %p = hexad.embedding %positions, %t {offset = 2 : i64} : tensor<?xi32>, tensor<10x4xf32> -> tensor<?x4xf32>
  %x0 = hexad.add %e, %p : tensor<?x4xf32>
  %n = tensor.dim %x0, %c0 : tensor<?x4xf32>
  %s0 = tensor.empty(%n) : tensor<4x?x4xf32>
  %s1 = tensor.insert_slice %x0 into %s0[0, 0, 0] [1, %n, 4] [1, 1, 1] : tensor<?x4xf32> into tensor<4x?x4xf32>
  %y:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %x0, %s = %s1) -> (tensor<?x4xf32>, tensor<4x?x4xf32>) {
    %wi = hexad.load @w[%i] : tensor<4x4xf32>
    %z = hexad.linear %x, %wi : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
    %next = arith.addi %i, %c1 : index
    %t2 = tensor.insert_slice %z into %s[%next, 0, 0] [1, %n, 4] [1, 1, 1] : tensor<?x4xf32> into tensor<4x?x4xf32>
    scf.yield %z, %t2 : tensor<?x4xf32>, tensor<4x?x4xf32>
  }
  %pooled = hexad.pool first %y#0, %segments : tensor<?x4xf32> -> tensor<?x4xf32>
  %stack = hexad.unpack_rows %y#1, %segments : tensor<4x?x4xf32> -> tensor<4x?x?x4xf32>
  return %pooled, %stack : tensor<?x4xf32>, tensor<4x?x?x4xf32>
}

// -----

hexad.parameter @table : tensor<10x4xf32> from "m.safetensors" ["t"]
func.func @ids(%ids: tensor<?x?xi32> {hexad.limit = 10 : i64}, %mask: tensor<?x?xi32>) {
  %segments = hexad.segments %mask : tensor<?x?xi32>
  %packed = hexad.pack_rows %ids, %segments : tensor<?x?xi32> -> tensor<?xi32>
  %t = hexad.load @table : tensor<10x4xf32>
  // expected-error@+1 {{expected a table with an entry for all ids below 10, found 10 entries and offset 1}}
  %e = hexad.embedding %packed, %t {offset = 1 : i64} : tensor<?xi32>, tensor<10x4xf32> -> tensor<?x4xf32>
  return
}

// -----

hexad.parameter @table : tensor<10x4xf32> from "m.safetensors" ["t"]
func.func @positions(%mask: tensor<?x?xi32>) attributes {hexad.position_limit = 11 : i64} {
  %segments = hexad.segments %mask : tensor<?x?xi32>
  %positions = hexad.positions %segments : tensor<?xi32>
  %t = hexad.load @table : tensor<10x4xf32>
  // expected-error@+1 {{expected a table with an entry for all positions below 11, found 10 entries and offset 0}}
  %e = hexad.embedding %positions, %t : tensor<?xi32>, tensor<10x4xf32> -> tensor<?x4xf32>
  return
}

// -----

hexad.parameter @w : tensor<3x4x4xf32> from "m.safetensors" ["a", "b", "c"] {layers = 3 : i64}
func.func @layer() {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  scf.for %i = %c0 to %c4 step %c2 {
    %last = hexad.load @w[%i] : tensor<4x4xf32>
  }
  scf.for %i = %c0 to %c0 step %c2 {
    %next = arith.addi %i, %c6 : index
    %never = hexad.load @w[%next] : tensor<4x4xf32>
  }
  scf.for %i = %c0 to %c6 step %c2 {
    // expected-error@+1 {{expected a layer from 0 to 2, found 4}}
    %beyond = hexad.load @w[%i] : tensor<4x4xf32>
  }
  return
}

// -----

hexad.parameter @w : tensor<3x4x4xf32> from "m.safetensors" ["a", "b", "c"] {layers = 3 : i64}
func.func @negative_layer() {
  %c = arith.constant -1 : index
  // expected-error@+1 {{expected a layer from 0 to 2, found -1}}
  %w = hexad.load @w[%c] : tensor<4x4xf32>
  return
}

// -----

hexad.parameter @w : tensor<3x4x4xf32> from "m.safetensors" ["a", "b", "c"] {layers = 3 : i64}
func.func @unknown_layer(%i: index) {
  // expected-error@+1 {{expected a layer that is known from constants and the bounds of loops}}
  %w = hexad.load @w[%i] : tensor<4x4xf32>
  return
}

// -----

func.func @kinds(%ids: tensor<?x?xi32> {hexad.limit = 10 : i64}, %mask: tensor<?x?xi32>, %x: tensor<?x4xf32>) {
  // expected-error@+1 {{expected rows of tokens or rows of segments, found tensor<?x4xf32>, which is no rows}}
  %y = hexad.activation relu %x : tensor<?x4xf32>
  return
}
