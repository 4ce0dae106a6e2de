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
  // expected-error@+1 {{expected rows of tokens, rows of segments or selected rows, found tensor<?x4xf32>, which is no rows}}
  %y = hexad.activation relu %x : tensor<?x4xf32>
  return
}

// -----

func.func @computed_weights(%mask: tensor<?x?xi32>, %ids: tensor<?x?xi32> {hexad.limit = 10 : i64}, %t: tensor<10x4xf32>) {
  %segments = hexad.segments %mask : tensor<?x?xi32>
  %packed = hexad.pack_rows %ids, %segments : tensor<?x?xi32> -> tensor<?xi32>
  // expected-error@+1 {{expected weights from hexad.load, found 'tensor<10x4xf32>' from elsewhere}}
  %x = hexad.embedding %packed, %t : tensor<?xi32>, tensor<10x4xf32> -> tensor<?x4xf32>
  return
}

// -----

hexad.parameter @table : tensor<10x4xf32> from "m.safetensors" ["t"]
func.func @tokens_and_segments(%ids: tensor<?x?xi32> {hexad.limit = 10 : i64}, %mask: tensor<?x?xi32>) {
  %segments = hexad.segments %mask : tensor<?x?xi32>
  %packed = hexad.pack_rows %ids, %segments : tensor<?x?xi32> -> tensor<?xi32>
  %t = hexad.load @table : tensor<10x4xf32>
  %x = hexad.embedding %packed, %t : tensor<?xi32>, tensor<10x4xf32> -> tensor<?x4xf32>
  %p = hexad.pool mean %x, %segments : tensor<?x4xf32> -> tensor<?x4xf32>
  // expected-error@+1 {{expected rows of tokens, rows of segments or selected rows, found rows of segments and other rows}}
  %y = hexad.add %p, %x : tensor<?x4xf32>
  return
}

// -----

hexad.parameter @table : tensor<10x4xf32> from "m.safetensors" ["t"]
func.func @pooled_twice(%ids: tensor<?x?xi32> {hexad.limit = 10 : i64}, %mask: tensor<?x?xi32>) {
  %segments = hexad.segments %mask : tensor<?x?xi32>
  %packed = hexad.pack_rows %ids, %segments : tensor<?x?xi32> -> tensor<?xi32>
  %t = hexad.load @table : tensor<10x4xf32>
  %x = hexad.embedding %packed, %t : tensor<?xi32>, tensor<10x4xf32> -> tensor<?x4xf32>
  %p = hexad.pool mean %x, %segments : tensor<?x4xf32> -> tensor<?x4xf32>
  // expected-error@+1 {{expected rows of tokens, found rows of segments}}
  %q = hexad.pool mean %p, %segments : tensor<?x4xf32> -> tensor<?x4xf32>
  return
}

// -----

hexad.parameter @table : tensor<10x4xf32> from "m.safetensors" ["t"]
func.func @unlimited_ids(%ids: tensor<?x?xi32>, %mask: tensor<?x?xi32>) {
  %segments = hexad.segments %mask : tensor<?x?xi32>
  %packed = hexad.pack_rows %ids, %segments : tensor<?x?xi32> -> tensor<?xi32>
  %t = hexad.load @table : tensor<10x4xf32>
  // expected-error@+1 {{expected ids of an argument with hexad.limit, or positions in a function with hexad.position_limit}}
  %x = hexad.embedding %packed, %t : tensor<?xi32>, tensor<10x4xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @static_rows(%ids: tensor<?x?xi32>, %mask: tensor<?x?xi32>) {
  %segments = hexad.segments %mask : tensor<?x?xi32>
  // expected-error@+1 {{expected a dynamic number of rows, found 'tensor<4xi32>'}}
  %packed = hexad.pack_rows %ids, %segments : tensor<?x?xi32> -> tensor<4xi32>
  return
}

// -----

func.func @stack_of_anything(%n: index) {
  // expected-error@+1 {{expected a stack of as many rows as other rows have (tensor.dim), found 'tensor<2x?x4xf32>'}}
  %stack = tensor.empty(%n) : tensor<2x?x4xf32>
  return
}

// -----

func.func @not_an_index() {
  // expected-error@+1 {{expected an index in a model, found 'i32'}}
  %c = arith.constant 1 : i32
  return
}

// -----

func.func @unknown_step(%step: index) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  // expected-error@+1 {{expected an index that grows by a positive constant step}}
  scf.for %i = %c0 to %c3 step %step {
  }
  return
}

// -----

func.func @carried(%x: tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{expected rows of f32 to be carried, found 'tensor<4xf32>'}}
  %y = scf.for %i = %c0 to %c1 step %c1 iter_args(%z = %x) -> tensor<4xf32> {
    scf.yield %z : tensor<4xf32>
  }
  return
}

// -----

hexad.parameter @table : tensor<10x4xf32> from "m.safetensors" ["t"]
func.func @kind_changes(%ids: tensor<?x?xi32> {hexad.limit = 10 : i64}, %mask: tensor<?x?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %segments = hexad.segments %mask : tensor<?x?xi32>
  %packed = hexad.pack_rows %ids, %segments : tensor<?x?xi32> -> tensor<?xi32>
  %t = hexad.load @table : tensor<10x4xf32>
  %x = hexad.embedding %packed, %t : tensor<?xi32>, tensor<10x4xf32> -> tensor<?x4xf32>
  %y = scf.for %i = %c0 to %c1 step %c1 iter_args(%z = %x) -> tensor<?x4xf32> {
    %p = hexad.pool mean %z, %segments : tensor<?x4xf32> -> tensor<?x4xf32>
    // expected-error@+1 {{expected rows of tokens as they were carried in, found rows of segments}}
    scf.yield %p : tensor<?x4xf32>
  }
  return
}

// -----

hexad.parameter @table : tensor<10x4xf32> from "m.safetensors" ["t"]
func.func @members(%ids: tensor<?x?xi32> {hexad.limit = 10 : i64}, %mask: tensor<?x?xi32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %segments = hexad.segments %mask : tensor<?x?xi32>
  %packed = hexad.pack_rows %ids, %segments : tensor<?x?xi32> -> tensor<?xi32>
  %t = hexad.load @table : tensor<10x4xf32>
  %x = hexad.embedding %packed, %t : tensor<?xi32>, tensor<10x4xf32> -> tensor<?x4xf32>
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %stack = tensor.empty(%n) : tensor<2x?x4xf32>
  // expected-error@+1 {{expected a member from 0 to 1, found 2}}
  %s = tensor.insert_slice %x into %stack[%c2, 0, 0] [1, %n, 4] [1, 1, 1] : tensor<?x4xf32> into tensor<2x?x4xf32>
  return
}

// -----

hexad.parameter @table : tensor<10x4xf32> from "m.safetensors" ["t"]
func.func @part_of_a_member(%ids: tensor<?x?xi32> {hexad.limit = 10 : i64}, %mask: tensor<?x?xi32>) {
  %c0 = arith.constant 0 : index
  %segments = hexad.segments %mask : tensor<?x?xi32>
  %packed = hexad.pack_rows %ids, %segments : tensor<?x?xi32> -> tensor<?xi32>
  %t = hexad.load @table : tensor<10x4xf32>
  %x = hexad.embedding %packed, %t : tensor<?xi32>, tensor<10x4xf32> -> tensor<?x4xf32>
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %stack = tensor.empty(%n) : tensor<2x?x8xf32>
  // expected-error@+1 {{expected rows to become a whole member of a stack of such rows}}
  %s = tensor.insert_slice %x into %stack[0, 0, 0] [1, %n, 4] [1, 1, 1] : tensor<?x4xf32> into tensor<2x?x8xf32>
  return
}

// -----

// Each sum is twice the one before: what is known of it is found once.
hexad.parameter @w : tensor<3x4x4xf32> from "m.safetensors" ["a", "b", "c"] {layers = 3 : i64}
func.func @sums() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %0 = %c0 to %c1 step %c1 {
    %1 = arith.addi %0, %0 : index
    %2 = arith.addi %1, %1 : index
    %3 = arith.addi %2, %2 : index
    %4 = arith.addi %3, %3 : index
    %5 = arith.addi %4, %4 : index
    %6 = arith.addi %5, %5 : index
    %7 = arith.addi %6, %6 : index
    %8 = arith.addi %7, %7 : index
    %9 = arith.addi %8, %8 : index
    %10 = arith.addi %9, %9 : index
    %11 = arith.addi %10, %10 : index
    %12 = arith.addi %11, %11 : index
    %13 = arith.addi %12, %12 : index
    %14 = arith.addi %13, %13 : index
    %15 = arith.addi %14, %14 : index
    %16 = arith.addi %15, %15 : index
    %17 = arith.addi %16, %16 : index
    %18 = arith.addi %17, %17 : index
    %19 = arith.addi %18, %18 : index
    %20 = arith.addi %19, %19 : index
    %21 = arith.addi %20, %20 : index
    %22 = arith.addi %21, %21 : index
    %23 = arith.addi %22, %22 : index
    %24 = arith.addi %23, %23 : index
    %25 = arith.addi %24, %24 : index
    %26 = arith.addi %25, %25 : index
    %27 = arith.addi %26, %26 : index
    %28 = arith.addi %27, %27 : index
    %29 = arith.addi %28, %28 : index
    %30 = arith.addi %29, %29 : index
    %31 = arith.addi %30, %30 : index
    %32 = arith.addi %31, %31 : index
    %33 = arith.addi %32, %32 : index
    %34 = arith.addi %33, %33 : index
    %35 = arith.addi %34, %34 : index
    %36 = arith.addi %35, %35 : index
    %37 = arith.addi %36, %36 : index
    %38 = arith.addi %37, %37 : index
    %39 = arith.addi %38, %38 : index
    %40 = arith.addi %39, %39 : index
    %41 = arith.addi %40, %40 : index
    %42 = arith.addi %41, %41 : index
    %43 = arith.addi %42, %42 : index
    %44 = arith.addi %43, %43 : index
    %45 = arith.addi %44, %44 : index
    %46 = arith.addi %45, %45 : index
    %47 = arith.addi %46, %46 : index
    %48 = arith.addi %47, %47 : index
    %49 = arith.addi %48, %48 : index
    %50 = arith.addi %49, %49 : index
    %51 = arith.addi %50, %50 : index
    %52 = arith.addi %51, %51 : index
    %53 = arith.addi %52, %52 : index
    %54 = arith.addi %53, %53 : index
    %55 = arith.addi %54, %54 : index
    %56 = arith.addi %55, %55 : index
    %57 = arith.addi %56, %56 : index
    %58 = arith.addi %57, %57 : index
    %59 = arith.addi %58, %58 : index
    %60 = arith.addi %59, %59 : index
    %61 = arith.addi %60, %60 : index
    %62 = arith.addi %61, %61 : index
    %63 = arith.addi %62, %62 : index
    %64 = arith.addi %63, %63 : index
    %w = hexad.load @w[%64] : tensor<4x4xf32>
  }
  return
}

// -----

// Ids are no angles.
func.func @rotary_of_ids(%ids: tensor<?x?xi32> {hexad.limit = 10 : i64}, %mask: tensor<?x?xi32>) {
  %segments = hexad.segments %mask : tensor<?x?xi32>
  %packed = hexad.pack_rows %ids, %segments : tensor<?x?xi32> -> tensor<?xi32>
  // expected-error@+1 {{expected positions (hexad.positions), found rows of tokens from elsewhere}}
  %t = hexad.rotary %packed {inv_freq = array<f32: 1.0>} : tensor<?xi32> -> tensor<?x2xf32>
  return
}

// -----

// expected-error@+1 {{expected an attention that extends the cache}}
hexad.cache @unused {kv_heads = 1 : i64, head_dim = 4 : i64}
func.func @unused_cache(%mask: tensor<?x?xi32>) {
  return
}

// -----

hexad.parameter @table : tensor<10x4xf32> from "m.safetensors" ["t"]
hexad.cache @cache {layers = 2 : i64, kv_heads = 1 : i64, head_dim = 4 : i64}
func.func @same_layer_again(%ids: tensor<?x?xi32> {hexad.limit = 10 : i64}, %mask: tensor<?x?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %segments = hexad.segments %mask : tensor<?x?xi32>
  %packed = hexad.pack_rows %ids, %segments : tensor<?x?xi32> -> tensor<?xi32>
  %t = hexad.load @table : tensor<10x4xf32>
  %x0 = hexad.embedding %packed, %t : tensor<?xi32>, tensor<10x4xf32> -> tensor<?x4xf32>
  %y = scf.for %i = %c0 to %c2 step %c1 iter_args(%x = %x0) -> (tensor<?x4xf32>) {
    // expected-error@+1 {{expected a layer of the cache for each iteration of the loops around}}
    %a = hexad.attention %x, %x, %x, %segments cache @cache[%c0] {causal, heads = 1 : i64, kv_heads = 1 : i64, head_dim = 4 : i64, scale = 0.5 : f64}
        : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    scf.yield %a : tensor<?x4xf32>
  }
  return
}

// -----

// Also where a loop around repeats what has an index of its own.
hexad.parameter @table : tensor<10x4xf32> from "m.safetensors" ["t"]
hexad.cache @cache {layers = 2 : i64, kv_heads = 1 : i64, head_dim = 4 : i64}
func.func @same_layers_again(%ids: tensor<?x?xi32> {hexad.limit = 10 : i64}, %mask: tensor<?x?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %segments = hexad.segments %mask : tensor<?x?xi32>
  %packed = hexad.pack_rows %ids, %segments : tensor<?x?xi32> -> tensor<?xi32>
  %t = hexad.load @table : tensor<10x4xf32>
  %x0 = hexad.embedding %packed, %t : tensor<?xi32>, tensor<10x4xf32> -> tensor<?x4xf32>
  %y = scf.for %i = %c0 to %c2 step %c1 iter_args(%x = %x0) -> (tensor<?x4xf32>) {
    %z = scf.for %j = %c0 to %c2 step %c1 iter_args(%u = %x) -> (tensor<?x4xf32>) {
      // expected-error@+1 {{expected a layer of the cache for each iteration of the loops around}}
      %a = hexad.attention %u, %u, %u, %segments cache @cache[%j] {causal, heads = 1 : i64, kv_heads = 1 : i64, head_dim = 4 : i64, scale = 0.5 : f64}
          : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
      scf.yield %a : tensor<?x4xf32>
    }
    scf.yield %z : tensor<?x4xf32>
  }
  return
}

// -----

// In a session it would see the new tokens alone.
hexad.parameter @table : tensor<10x4xf32> from "m.safetensors" ["t"]
hexad.cache @cache {layers = 3 : i64, kv_heads = 1 : i64, head_dim = 4 : i64}
func.func @some_without_cache(%ids: tensor<?x?xi32> {hexad.limit = 10 : i64}, %mask: tensor<?x?xi32>) -> tensor<?x?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %segments = hexad.segments %mask : tensor<?x?xi32>
  %packed = hexad.pack_rows %ids, %segments : tensor<?x?xi32> -> tensor<?xi32>
  %t = hexad.load @table : tensor<10x4xf32>
  %x0 = hexad.embedding %packed, %t : tensor<?xi32>, tensor<10x4xf32> -> tensor<?x4xf32>
  %y = scf.for %i = %c0 to %c2 step %c1 iter_args(%x = %x0) -> (tensor<?x4xf32>) {
    %layer = arith.addi %c1, %i : index
    %a = hexad.attention %x, %x, %x, %segments cache @cache[%layer] {causal, heads = 1 : i64, kv_heads = 1 : i64, head_dim = 4 : i64, scale = 0.5 : f64}
        : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    scf.yield %a : tensor<?x4xf32>
  }
  // expected-error@+1 {{expected a cache, as other attention of the model has}}
  %b = hexad.attention %y, %y, %y, %segments {causal, heads = 1 : i64, kv_heads = 1 : i64, head_dim = 4 : i64, scale = 0.5 : f64}
      : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
  %s = hexad.select_rows %b, %segments : tensor<?x4xf32> -> tensor<?x4xf32>
  %r = hexad.unpack_rows %s, %segments : tensor<?x4xf32> -> tensor<?x?x4xf32>
  return %r : tensor<?x?x4xf32>
}

// -----

func.func @routes_of_other_rows(%mask: tensor<?x?xi32>, %x: tensor<?x4xf32>, %r: tensor<?x4xf32>) {
  // expected-error@+1 {{expected rows and routes of the same rows, found tensor<?x4xf32>, which is no rows and tensor<?x4xf32>, which is no rows}}
  %y = hexad.experts %x, %r count 2 : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32> {
  ^bb0(%e: index, %rows: tensor<?x4xf32>):
    hexad.yield %rows : tensor<?x4xf32>
  }
  return
}

// -----

// A router of four experts where there are two.
hexad.parameter @table : tensor<10x4xf32> from "m.safetensors" ["t"]
func.func @more_routes_than_experts(%ids: tensor<?x?xi32> {hexad.limit = 10 : i64}, %mask: tensor<?x?xi32>) {
  %segments = hexad.segments %mask : tensor<?x?xi32>
  %packed = hexad.pack_rows %ids, %segments : tensor<?x?xi32> -> tensor<?xi32>
  %t = hexad.load @table : tensor<10x4xf32>
  %x = hexad.embedding %packed, %t : tensor<?xi32>, tensor<10x4xf32> -> tensor<?x4xf32>
  %r = hexad.route softmax %x {top_k = 2 : i64} : tensor<?x4xf32> -> tensor<?x4xf32>
  // expected-error@+1 {{expected routes to at most 2 experts, found a router of 4}}
  %y = hexad.experts %x, %r count 2 : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32> {
  ^bb0(%expert: index, %rows: tensor<?x4xf32>):
    hexad.yield %rows : tensor<?x4xf32>
  }
  return
}

// -----

// The experts of two layers, four in each, need a stack of eight.
hexad.parameter @table : tensor<10x4xf32> from "m.safetensors" ["t"]
hexad.parameter @w : tensor<3x4x4xf32> from "m.safetensors" ["a", "b", "c"] {layers = 3 : i64}
func.func @experts_behind_the_stack(%ids: tensor<?x?xi32> {hexad.limit = 10 : i64}, %mask: tensor<?x?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %segments = hexad.segments %mask : tensor<?x?xi32>
  %packed = hexad.pack_rows %ids, %segments : tensor<?x?xi32> -> tensor<?xi32>
  %t = hexad.load @table : tensor<10x4xf32>
  %x0 = hexad.embedding %packed, %t : tensor<?xi32>, tensor<10x4xf32> -> tensor<?x4xf32>
  %y = scf.for %i = %c0 to %c2 step %c1 iter_args(%x = %x0) -> (tensor<?x4xf32>) {
    %r = hexad.route softmax %x {top_k = 2 : i64} : tensor<?x4xf32> -> tensor<?x4xf32>
    %z = hexad.experts %x, %r count 4 : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32> {
    ^bb0(%e: index, %rows: tensor<?x4xf32>):
      %first = arith.muli %i, %c4 : index
      %member = arith.addi %first, %e : index
      // expected-error@+1 {{expected a layer from 0 to 2, found 7}}
      %w = hexad.load @w[%member] : tensor<4x4xf32>
      %v = hexad.linear %rows, %w : tensor<?x4xf32>, tensor<4x4xf32> -> tensor<?x4xf32>
      hexad.yield %v : tensor<?x4xf32>
    }
    scf.yield %z : tensor<?x4xf32>
  }
  return
}

// -----

// Labels are as many as the logits have columns, not more.
hexad.parameter @table : tensor<10x4xf32> from "m.safetensors" ["t"]
func.func @labels_without_a_column(%ids: tensor<?x?xi32> {hexad.limit = 10 : i64}, %mask: tensor<?x?xi32>,
                                   %labels: tensor<?x?xi32> {hexad.limit = 5 : i64}) -> tensor<f32> {
  %segments = hexad.segments %mask : tensor<?x?xi32>
  %packed = hexad.pack_rows %ids, %segments : tensor<?x?xi32> -> tensor<?xi32>
  %t = hexad.load @table : tensor<10x4xf32>
  %x = hexad.embedding %packed, %t : tensor<?xi32>, tensor<10x4xf32> -> tensor<?x4xf32>
  %l = hexad.labels %labels, %segments : tensor<?x?xi32> -> tensor<?xi32>
  // expected-error@+1 {{expected labels of an argument with a hexad.limit of at most 4}}
  %y = hexad.cross_entropy %x, %l : tensor<?x4xf32>, tensor<?xi32> -> tensor<?x1xf32>
  %loss = hexad.mean_loss %y, %l : tensor<?x1xf32>, tensor<?xi32> -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// Nothing else has been checked against a limit of classes.
hexad.parameter @table : tensor<10x4xf32> from "m.safetensors" ["t"]
func.func @ids_as_labels(%ids: tensor<?x?xi32> {hexad.limit = 4 : i64}, %mask: tensor<?x?xi32>) {
  %segments = hexad.segments %mask : tensor<?x?xi32>
  %packed = hexad.pack_rows %ids, %segments : tensor<?x?xi32> -> tensor<?xi32>
  %t = hexad.load @table : tensor<10x4xf32>
  %x = hexad.embedding %packed, %t : tensor<?xi32>, tensor<10x4xf32> -> tensor<?x4xf32>
  // expected-error@+1 {{expected labels (hexad.labels), found rows of tokens from elsewhere}}
  %y = hexad.cross_entropy %x, %packed : tensor<?x4xf32>, tensor<?xi32> -> tensor<?x1xf32>
  return
}

// -----

hexad.parameter @table : tensor<10x4xf32> from "m.safetensors" ["t"]
func.func @labels_of_other_rows(%ids: tensor<?x?xi32> {hexad.limit = 10 : i64}, %mask: tensor<?x?xi32>,
                                %labels: tensor<?xi32> {hexad.limit = 4 : i64}) {
  %segments = hexad.segments %mask : tensor<?x?xi32>
  %packed = hexad.pack_rows %ids, %segments : tensor<?x?xi32> -> tensor<?xi32>
  %t = hexad.load @table : tensor<10x4xf32>
  %x = hexad.embedding %packed, %t : tensor<?xi32>, tensor<10x4xf32> -> tensor<?x4xf32>
  %l = hexad.labels %labels, %segments : tensor<?xi32> -> tensor<?xi32>
  // expected-error@+1 {{found rows of tokens and other rows}}
  %y = hexad.cross_entropy %x, %l : tensor<?x4xf32>, tensor<?xi32> -> tensor<?x1xf32>
  return
}

// -----

hexad.parameter @table : tensor<10x1xf32> from "m.safetensors" ["t"]
func.func @mean_of_other_rows(%ids: tensor<?x?xi32> {hexad.limit = 10 : i64}, %mask: tensor<?x?xi32>,
                              %labels: tensor<?xi32> {hexad.limit = 1 : i64}) {
  %segments = hexad.segments %mask : tensor<?x?xi32>
  %packed = hexad.pack_rows %ids, %segments : tensor<?x?xi32> -> tensor<?xi32>
  %t = hexad.load @table : tensor<10x1xf32>
  %x = hexad.embedding %packed, %t : tensor<?xi32>, tensor<10x1xf32> -> tensor<?x1xf32>
  %l = hexad.labels %labels, %segments : tensor<?xi32> -> tensor<?xi32>
  // expected-error@+1 {{expected rows of segments, found rows of tokens}}
  %loss = hexad.mean_loss %x, %l : tensor<?x1xf32>, tensor<?xi32> -> tensor<f32>
  return
}

// -----

// The runtime makes one table of labels.
func.func @labels_twice(%ids: tensor<?x?xi32> {hexad.limit = 10 : i64}, %mask: tensor<?x?xi32>,
                        %labels: tensor<?x?xi32> {hexad.limit = 4 : i64}) {
  %segments = hexad.segments %mask : tensor<?x?xi32>
  // expected-note@+1 {{the other is here}}
  %l = hexad.labels %labels, %segments : tensor<?x?xi32> -> tensor<?xi32>
  // expected-error@+1 {{expected to be the only one of a model}}
  %m = hexad.labels %labels, %segments {shift} : tensor<?x?xi32> -> tensor<?xi32>
  return
}

// -----

// What was extended in the same iteration, or last in a loop that has
// ended, can be read.
hexad.parameter @table : tensor<10x4xf32> from "m.safetensors" ["t"]
hexad.cache @cache {layers = 2 : i64, kv_heads = 1 : i64, head_dim = 4 : i64}
func.func @readers(%ids: tensor<?x?xi32> {hexad.limit = 10 : i64}, %mask: tensor<?x?xi32>) -> tensor<?x?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %segments = hexad.segments %mask : tensor<?x?xi32>
  %packed = hexad.pack_rows %ids, %segments : tensor<?x?xi32> -> tensor<?xi32>
  %t = hexad.load @table : tensor<10x4xf32>
  %x0 = hexad.embedding %packed, %t : tensor<?xi32>, tensor<10x4xf32> -> tensor<?x4xf32>
  %y = scf.for %i = %c0 to %c2 step %c1 iter_args(%x = %x0) -> (tensor<?x4xf32>) {
    %a = hexad.attention %x, %x, %x, %segments cache @cache[%i] {causal, heads = 1 : i64, kv_heads = 1 : i64, head_dim = 4 : i64, scale = 0.5 : f64}
        : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    %b = hexad.attention %a, %segments cache @cache[%i] {causal, heads = 1 : i64, kv_heads = 1 : i64, head_dim = 4 : i64, scale = 0.5 : f64} : tensor<?x4xf32> -> tensor<?x4xf32>
    scf.yield %b : tensor<?x4xf32>
  }
  %z = scf.for %i = %c0 to %c2 step %c1 iter_args(%x = %y) -> (tensor<?x4xf32>) {
    %a = hexad.attention %x, %segments cache @cache[%c1] {causal, heads = 1 : i64, kv_heads = 1 : i64, head_dim = 4 : i64, scale = 0.5 : f64} : tensor<?x4xf32> -> tensor<?x4xf32>
    scf.yield %a : tensor<?x4xf32>
  }
  %w = scf.for %i = %c1 to %c2 step %c1 iter_args(%x = %z) -> (tensor<?x4xf32>) {
    %a = hexad.attention %x, %segments cache @cache[%i] {causal, heads = 1 : i64, kv_heads = 1 : i64, head_dim = 4 : i64, scale = 0.5 : f64} : tensor<?x4xf32> -> tensor<?x4xf32>
    scf.yield %a : tensor<?x4xf32>
  }
  %s = hexad.select_rows %w, %segments : tensor<?x4xf32> -> tensor<?x4xf32>
  %r = hexad.unpack_rows %s, %segments : tensor<?x4xf32> -> tensor<?x?x4xf32>
  return %r : tensor<?x?x4xf32>
}

// -----

hexad.parameter @table : tensor<10x4xf32> from "m.safetensors" ["t"]
hexad.cache @cache {kv_heads = 1 : i64, head_dim = 4 : i64}
func.func @read_before(%ids: tensor<?x?xi32> {hexad.limit = 10 : i64}, %mask: tensor<?x?xi32>) -> tensor<?x?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %segments = hexad.segments %mask : tensor<?x?xi32>
  %packed = hexad.pack_rows %ids, %segments : tensor<?x?xi32> -> tensor<?xi32>
  %t = hexad.load @table : tensor<10x4xf32>
  %x0 = hexad.embedding %packed, %t : tensor<?xi32>, tensor<10x4xf32> -> tensor<?x4xf32>
  // expected-error@+1 {{expected an attention in front of it that appends to the cache}}
  %b = hexad.attention %x0, %segments cache @cache {causal, heads = 1 : i64, kv_heads = 1 : i64, head_dim = 4 : i64, scale = 0.5 : f64} : tensor<?x4xf32> -> tensor<?x4xf32>
  %a = hexad.attention %b, %b, %b, %segments cache @cache {causal, heads = 1 : i64, kv_heads = 1 : i64, head_dim = 4 : i64, scale = 0.5 : f64}
      : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
  %s = hexad.select_rows %a, %segments : tensor<?x4xf32> -> tensor<?x4xf32>
  %r = hexad.unpack_rows %s, %segments : tensor<?x4xf32> -> tensor<?x?x4xf32>
  return %r : tensor<?x?x4xf32>
}

// -----

hexad.parameter @table : tensor<10x4xf32> from "m.safetensors" ["t"]
hexad.cache @cache {layers = 2 : i64, kv_heads = 1 : i64, head_dim = 4 : i64}
func.func @read_other_layer(%ids: tensor<?x?xi32> {hexad.limit = 10 : i64}, %mask: tensor<?x?xi32>) -> tensor<?x?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %segments = hexad.segments %mask : tensor<?x?xi32>
  %packed = hexad.pack_rows %ids, %segments : tensor<?x?xi32> -> tensor<?xi32>
  %t = hexad.load @table : tensor<10x4xf32>
  %x0 = hexad.embedding %packed, %t : tensor<?xi32>, tensor<10x4xf32> -> tensor<?x4xf32>
  %y = scf.for %i = %c0 to %c2 step %c1 iter_args(%x = %x0) -> (tensor<?x4xf32>) {
    // expected-note@+1 {{it is extended here}}
    %a = hexad.attention %x, %x, %x, %segments cache @cache[%i] {causal, heads = 1 : i64, kv_heads = 1 : i64, head_dim = 4 : i64, scale = 0.5 : f64}
        : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    // expected-error@+1 {{expected the layer of the cache that is extended in the same iteration}}
    %b = hexad.attention %a, %segments cache @cache[%c1] {causal, heads = 1 : i64, kv_heads = 1 : i64, head_dim = 4 : i64, scale = 0.5 : f64} : tensor<?x4xf32> -> tensor<?x4xf32>
    scf.yield %b : tensor<?x4xf32>
  }
  %s = hexad.select_rows %y, %segments : tensor<?x4xf32> -> tensor<?x4xf32>
  %r = hexad.unpack_rows %s, %segments : tensor<?x4xf32> -> tensor<?x?x4xf32>
  return %r : tensor<?x?x4xf32>
}

// -----

// Layers 0 and 2 are extended.
hexad.parameter @table : tensor<10x4xf32> from "m.safetensors" ["t"]
hexad.cache @cache {layers = 4 : i64, kv_heads = 1 : i64, head_dim = 4 : i64}
func.func @step_two(%ids: tensor<?x?xi32> {hexad.limit = 10 : i64}, %mask: tensor<?x?xi32>) -> tensor<?x?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %segments = hexad.segments %mask : tensor<?x?xi32>
  %packed = hexad.pack_rows %ids, %segments : tensor<?x?xi32> -> tensor<?xi32>
  %t = hexad.load @table : tensor<10x4xf32>
  %x0 = hexad.embedding %packed, %t : tensor<?xi32>, tensor<10x4xf32> -> tensor<?x4xf32>
  %y = scf.for %i = %c0 to %c4 step %c2 iter_args(%x = %x0) -> (tensor<?x4xf32>) {
    // expected-note@+1 {{it is extended here}}
    %a = hexad.attention %x, %x, %x, %segments cache @cache[%i] {causal, heads = 1 : i64, kv_heads = 1 : i64, head_dim = 4 : i64, scale = 0.5 : f64}
        : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    scf.yield %a : tensor<?x4xf32>
  }
  // expected-error@+1 {{expected the layer of the cache that is extended last, 2, found 1}}
  %b = hexad.attention %y, %segments cache @cache[%c1] {causal, heads = 1 : i64, kv_heads = 1 : i64, head_dim = 4 : i64, scale = 0.5 : f64} : tensor<?x4xf32> -> tensor<?x4xf32>
  %s = hexad.select_rows %b, %segments : tensor<?x4xf32> -> tensor<?x4xf32>
  %r = hexad.unpack_rows %s, %segments : tensor<?x4xf32> -> tensor<?x?x4xf32>
  return %r : tensor<?x?x4xf32>
}

// -----

hexad.parameter @table : tensor<10x4xf32> from "m.safetensors" ["t"]
hexad.cache @cache {layers = 4 : i64, kv_heads = 1 : i64, head_dim = 4 : i64}
func.func @read_beyond(%ids: tensor<?x?xi32> {hexad.limit = 10 : i64}, %mask: tensor<?x?xi32>) -> tensor<?x?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %segments = hexad.segments %mask : tensor<?x?xi32>
  %packed = hexad.pack_rows %ids, %segments : tensor<?x?xi32> -> tensor<?xi32>
  %t = hexad.load @table : tensor<10x4xf32>
  %x0 = hexad.embedding %packed, %t : tensor<?xi32>, tensor<10x4xf32> -> tensor<?x4xf32>
  %y = scf.for %i = %c0 to %c2 step %c1 iter_args(%x = %x0) -> (tensor<?x4xf32>) {
    // expected-note@+1 {{it is extended here}}
    %a = hexad.attention %x, %x, %x, %segments cache @cache[%i] {causal, heads = 1 : i64, kv_heads = 1 : i64, head_dim = 4 : i64, scale = 0.5 : f64}
        : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    scf.yield %a : tensor<?x4xf32>
  }
  // expected-error@+1 {{expected the layer of the cache that is extended last, 1, found 3}}
  %b = hexad.attention %y, %segments cache @cache[%c3] {causal, heads = 1 : i64, kv_heads = 1 : i64, head_dim = 4 : i64, scale = 0.5 : f64} : tensor<?x4xf32> -> tensor<?x4xf32>
  %s = hexad.select_rows %b, %segments : tensor<?x4xf32> -> tensor<?x4xf32>
  %r = hexad.unpack_rows %s, %segments : tensor<?x4xf32> -> tensor<?x?x4xf32>
  return %r : tensor<?x?x4xf32>
}

// -----

hexad.parameter @table : tensor<10x4xf32> from "m.safetensors" ["t"]
hexad.cache @cache {layers = 4 : i64, kv_heads = 1 : i64, head_dim = 4 : i64}
func.func @no_iteration(%ids: tensor<?x?xi32> {hexad.limit = 10 : i64}, %mask: tensor<?x?xi32>) -> tensor<?x?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %segments = hexad.segments %mask : tensor<?x?xi32>
  %packed = hexad.pack_rows %ids, %segments : tensor<?x?xi32> -> tensor<?xi32>
  %t = hexad.load @table : tensor<10x4xf32>
  %x0 = hexad.embedding %packed, %t : tensor<?xi32>, tensor<10x4xf32> -> tensor<?x4xf32>
  %y = scf.for %i = %c0 to %c0 step %c1 iter_args(%x = %x0) -> (tensor<?x4xf32>) {
    // expected-note@+1 {{it is extended here}}
    %a = hexad.attention %x, %x, %x, %segments cache @cache[%i] {causal, heads = 1 : i64, kv_heads = 1 : i64, head_dim = 4 : i64, scale = 0.5 : f64}
        : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
    scf.yield %a : tensor<?x4xf32>
  }
  // expected-error@+1 {{expected an attention that appends to the cache at all}}
  %b = hexad.attention %y, %segments cache @cache[%c3] {causal, heads = 1 : i64, kv_heads = 1 : i64, head_dim = 4 : i64, scale = 0.5 : f64} : tensor<?x4xf32> -> tensor<?x4xf32>
  %s = hexad.select_rows %b, %segments : tensor<?x4xf32> -> tensor<?x4xf32>
  %r = hexad.unpack_rows %s, %segments : tensor<?x4xf32> -> tensor<?x?x4xf32>
  return %r : tensor<?x?x4xf32>
}

// -----

// What nobody looks at would not be computed.
hexad.parameter @table : tensor<10x4xf32> from "m.safetensors" ["t"]
hexad.cache @cache {kv_heads = 1 : i64, head_dim = 4 : i64}
func.func @unused_writer(%ids: tensor<?x?xi32> {hexad.limit = 10 : i64}, %mask: tensor<?x?xi32>) -> tensor<?x?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %segments = hexad.segments %mask : tensor<?x?xi32>
  %packed = hexad.pack_rows %ids, %segments : tensor<?x?xi32> -> tensor<?xi32>
  %t = hexad.load @table : tensor<10x4xf32>
  %x0 = hexad.embedding %packed, %t : tensor<?xi32>, tensor<10x4xf32> -> tensor<?x4xf32>
  // expected-note@+1 {{it is extended here}}
  %a = hexad.attention %x0, %x0, %x0, %segments cache @cache {causal, heads = 1 : i64, kv_heads = 1 : i64, head_dim = 4 : i64, scale = 0.5 : f64}
      : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x4xf32>
  // expected-error@+1 {{expected the attention that appends to the cache to be used}}
  %b = hexad.attention %x0, %segments cache @cache {causal, heads = 1 : i64, kv_heads = 1 : i64, head_dim = 4 : i64, scale = 0.5 : f64} : tensor<?x4xf32> -> tensor<?x4xf32>
  %s = hexad.select_rows %b, %segments : tensor<?x4xf32> -> tensor<?x4xf32>
  %r = hexad.unpack_rows %s, %segments : tensor<?x4xf32> -> tensor<?x?x4xf32>
  return %r : tensor<?x?x4xf32>
}
