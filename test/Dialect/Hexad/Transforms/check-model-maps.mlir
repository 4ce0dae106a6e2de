// RUN: hexad-opt %s -split-input-file -verify-diagnostics --hexad-check-model

func.func @member(%ids: tensor<?x?xi32>, %mask: tensor<?x?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %s = hexad.segments %mask : tensor<?x?xi32>
  %p = hexad.positions %s : tensor<?xi32>
  %x = hexad.rotary %p {inv_freq = array<f32: 1.0>} : tensor<?xi32> -> tensor<?x2xf32>
  %m = hexad.empty_maps %s : tensor<3x?x1x?x?xf32>
  %n = scf.for %l = %c0 to %c4 step %c1 iter_args(%a = %m) -> (tensor<3x?x1x?x?xf32>) {
    // expected-error@+1 {{expected a member from 0 to 2, found 3}}
    %b = hexad.attention_map %x, %x, %s into %a[%l] {heads = 1 : i64, kv_heads = 1 : i64, head_dim = 2 : i64, scale = 0.5 : f64} : tensor<?x2xf32>, tensor<?x2xf32>, tensor<3x?x1x?x?xf32>
    scf.yield %b : tensor<3x?x1x?x?xf32>
  }
  return
}

// -----

func.func @pooled(%mask: tensor<?x?xi32>) {
  %c0 = arith.constant 0 : index
  %s = hexad.segments %mask : tensor<?x?xi32>
  %p = hexad.positions %s : tensor<?xi32>
  %x = hexad.rotary %p {inv_freq = array<f32: 1.0>} : tensor<?xi32> -> tensor<?x2xf32>
  %y = hexad.pool first %x, %s : tensor<?x2xf32> -> tensor<?x2xf32>
  %m = hexad.empty_maps %s : tensor<3x?x1x?x?xf32>
  // expected-error@+1 {{expected rows of tokens, found rows of segments}}
  %n = hexad.attention_map %x, %y, %s into %m[%c0] {heads = 1 : i64, kv_heads = 1 : i64, head_dim = 2 : i64, scale = 0.5 : f64} : tensor<?x2xf32>, tensor<?x2xf32>, tensor<3x?x1x?x?xf32>
  return
}

// -----

func.func @fixed(%mask: tensor<?x?xi32>) {
  %s = hexad.segments %mask : tensor<?x?xi32>
  // expected-error@+1 {{expected a dynamic batch and seq, found 'tensor<3x2x1x?x?xf32>'}}
  %m = hexad.empty_maps %s : tensor<3x2x1x?x?xf32>
  return
}

// -----

func.func @stack_of_maps(%mask: tensor<?x?xi32>) {
  %c1 = arith.constant 1 : index
  %s = hexad.segments %mask : tensor<?x?xi32>
  %m = hexad.empty_maps %s : tensor<3x?x1x?x?xf32>
  %batch = tensor.dim %m, %c1 : tensor<3x?x1x?x?xf32>
  // expected-error@+1 {{expected a stack of as many rows as other rows have}}
  %e = tensor.empty(%batch) : tensor<3x?x8xf32>
  return
}
