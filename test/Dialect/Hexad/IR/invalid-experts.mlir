// RUN: hexad-opt %s --split-input-file --verify-diagnostics

func.func @too_many(%x: tensor<?x8xf32>) {
  // expected-error @below {{route_c1: expected top_k from 1 to 8, the number of experts, found 9}}
  %y = hexad.route softmax %x {top_k = 9 : i64} : tensor<?x8xf32> -> tensor<?x18xf32>
  return
}

// -----

func.func @result(%x: tensor<?x8xf32>) {
  // expected-error @below {{route_c2: expected the rows of the logits with 4 columns, found 'tensor<?x6xf32>'}}
  %y = hexad.route softmax %x {top_k = 2 : i64} : tensor<?x8xf32> -> tensor<?x6xf32>
  return
}

// -----

func.func @result_rows(%x: tensor<3x8xf32>) {
  // expected-error @below {{route_c2: expected the rows of the logits with 4 columns, found 'tensor<4x4xf32>'}}
  %y = hexad.route softmax %x {top_k = 2 : i64} : tensor<3x8xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @bias_size(%x: tensor<?x8xf32>, %b: tensor<7xf32>) {
  // expected-error @below {{route_c3: expected a selection bias of 8 elements, one for each expert, found 'tensor<7xf32>'}}
  %y = hexad.route sigmoid %x selection_bias %b {top_k = 2 : i64} : tensor<?x8xf32> selection_bias tensor<7xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @bias_score(%x: tensor<?x8xf32>, %b: tensor<8xf32>) {
  // expected-error @below {{route_c3: expected a selection bias with sigmoid only}}
  %y = hexad.route softmax %x selection_bias %b {top_k = 2 : i64} : tensor<?x8xf32> selection_bias tensor<8xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @scales(%x: tensor<?x8xf32>, %b: tensor<9xf32>) {
  // expected-error @below {{route_c4: expected scales of 8 elements, one for each expert, found 'tensor<9xf32>'}}
  %y = hexad.route softmax %x scales %b {top_k = 2 : i64} : tensor<?x8xf32> scales tensor<9xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @groups_alone(%x: tensor<?x8xf32>) {
  // expected-error @below {{route_c5: expected groups and top_groups together}}
  %y = hexad.route sigmoid %x {top_k = 2 : i64, groups = 2 : i64} : tensor<?x8xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @groups_softmax(%x: tensor<?x8xf32>) {
  // expected-error @below {{route_c5: expected groups with sigmoid only}}
  %y = hexad.route softmax %x {top_k = 2 : i64, groups = 2 : i64, top_groups = 1 : i64} : tensor<?x8xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @groups_uneven(%x: tensor<?x8xf32>) {
  // expected-error @below {{route_c5: expected a number of groups that divides 8 experts into groups of at least two, found 3}}
  %y = hexad.route sigmoid %x {top_k = 2 : i64, groups = 3 : i64, top_groups = 1 : i64} : tensor<?x8xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @groups_of_one(%x: tensor<?x8xf32>) {
  // expected-error @below {{route_c5: expected a number of groups that divides 8 experts into groups of at least two, found 8}}
  %y = hexad.route sigmoid %x {top_k = 2 : i64, groups = 8 : i64, top_groups = 2 : i64} : tensor<?x8xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @no_group(%x: tensor<?x8xf32>) {
  // expected-error @below {{route_c5: expected a number of groups that divides 8 experts into groups of at least two, found 0}}
  %y = hexad.route sigmoid %x {top_k = 2 : i64, groups = 0 : i64, top_groups = 1 : i64} : tensor<?x8xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @top_groups(%x: tensor<?x8xf32>) {
  // expected-error @below {{route_c5: expected top_groups from 1 to 4, found 5}}
  %y = hexad.route sigmoid %x {top_k = 2 : i64, groups = 4 : i64, top_groups = 5 : i64} : tensor<?x8xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @open_experts(%x: tensor<?x8xf32>) {
  // expected-error @below {{route_c5: expected top_groups that leave at least 3 experts (top_k), found 2}}
  %y = hexad.route sigmoid %x {top_k = 3 : i64, groups = 4 : i64, top_groups = 1 : i64} : tensor<?x8xf32> -> tensor<?x6xf32>
  return
}

// -----

func.func @scaling(%x: tensor<?x8xf32>) {
  // expected-error @below {{route_c6: expected a finite, positive scaling, found 0.000000e+00}}
  %y = hexad.route softmax %x {top_k = 2 : i64, scaling = 0.0 : f64} : tensor<?x8xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @scaling_f32(%x: tensor<?x8xf32>) {
  // expected-error @below {{route_c6: expected a finite, positive scaling, found 1.000000e+39}}
  %y = hexad.route softmax %x {top_k = 2 : i64, scaling = 1.0e+39 : f64} : tensor<?x8xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @experts_f32(%x: tensor<?x16777217xf32>) {
  // expected-error @below {{route_c7: expected at most 2^24 experts, found 16777217}}
  %y = hexad.route softmax %x {top_k = 2 : i64} : tensor<?x16777217xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @count(%x: tensor<?x8xf32>, %r: tensor<?x4xf32>) {
  // expected-error @below {{experts_c1: expected at least one expert, found 0}}
  %y = hexad.experts %x, %r count 0 : tensor<?x8xf32>, tensor<?x4xf32> -> tensor<?x8xf32> {
  ^bb0(%e: index, %rows: tensor<?x8xf32>):
    hexad.yield %rows : tensor<?x8xf32>
  }
  return
}

// -----

func.func @many(%x: tensor<?x8xf32>, %r: tensor<?x4xf32>) {
  // expected-error @below {{experts_c1: expected at most 2^24 experts, found 16777217}}
  %y = hexad.experts %x, %r count 16777217 : tensor<?x8xf32>, tensor<?x4xf32> -> tensor<?x8xf32> {
  ^bb0(%e: index, %rows: tensor<?x8xf32>):
    hexad.yield %rows : tensor<?x8xf32>
  }
  return
}

// -----

func.func @routes_columns(%x: tensor<?x8xf32>, %r: tensor<?x3xf32>) {
  // expected-error @below {{experts_c2: expected routes with an even number of columns and the rows of x, found 'tensor<?x3xf32>'}}
  %y = hexad.experts %x, %r count 4 : tensor<?x8xf32>, tensor<?x3xf32> -> tensor<?x8xf32> {
  ^bb0(%e: index, %rows: tensor<?x8xf32>):
    hexad.yield %rows : tensor<?x8xf32>
  }
  return
}

// -----

func.func @routes_rows(%x: tensor<3x8xf32>, %r: tensor<4x4xf32>) {
  // expected-error @below {{experts_c2: expected routes with an even number of columns and the rows of x, found 'tensor<4x4xf32>'}}
  %y = hexad.experts %x, %r count 4 : tensor<3x8xf32>, tensor<4x4xf32> -> tensor<3x8xf32> {
  ^bb0(%e: index, %rows: tensor<3x8xf32>):
    hexad.yield %rows : tensor<3x8xf32>
  }
  return
}

// -----

func.func @arguments(%x: tensor<?x8xf32>, %r: tensor<?x4xf32>) {
  // expected-error @below {{experts_c3: expected the region to get an index and 'tensor<?x8xf32>'}}
  %y = hexad.experts %x, %r count 4 : tensor<?x8xf32>, tensor<?x4xf32> -> tensor<?x7xf32> {
  ^bb0(%e: index, %rows: tensor<?x7xf32>):
    hexad.yield %rows : tensor<?x7xf32>
  }
  return
}

// -----

func.func @no_number(%x: tensor<?x8xf32>, %r: tensor<?x4xf32>) {
  // expected-error @below {{experts_c3: expected the region to get an index and 'tensor<?x8xf32>'}}
  %y = hexad.experts %x, %r count 4 : tensor<?x8xf32>, tensor<?x4xf32> -> tensor<?x8xf32> {
  ^bb0(%rows: tensor<?x8xf32>):
    hexad.yield %rows : tensor<?x8xf32>
  }
  return
}

// -----

func.func @yielded(%x: tensor<?x8xf32>, %r: tensor<?x4xf32>) {
  // expected-error @below {{experts_c4: expected the region to yield 'tensor<?x9xf32>'}}
  %y = hexad.experts %x, %r count 4 : tensor<?x8xf32>, tensor<?x4xf32> -> tensor<?x9xf32> {
  ^bb0(%e: index, %rows: tensor<?x8xf32>):
    hexad.yield %rows : tensor<?x8xf32>
  }
  return
}

// -----

func.func @op_in_expert(%x: tensor<?x8xf32>, %r: tensor<?x4xf32>) {
  %y = hexad.experts %x, %r count 4 : tensor<?x8xf32>, tensor<?x4xf32> -> tensor<?x8xf32> {
  ^bb0(%e: index, %rows: tensor<?x8xf32>):
    %c0 = arith.constant 0 : index
  // expected-error @below {{experts_c5: is not expected in an expert: only row-local ops, loads and index arithmetic are}}
    %n = tensor.dim %rows, %c0 : tensor<?x8xf32>
    hexad.yield %rows : tensor<?x8xf32>
  }
  return
}

// -----

func.func @captured(%x: tensor<?x8xf32>, %r: tensor<?x4xf32>) {
  %y = hexad.experts %x, %r count 4 : tensor<?x8xf32>, tensor<?x4xf32> -> tensor<?x8xf32> {
  ^bb0(%e: index, %rows: tensor<?x8xf32>):
  // expected-error @below {{experts_c5: expected only indices from outside of an expert, found 'tensor<?x8xf32>'}}
    %z = hexad.add %rows, %x : tensor<?x8xf32>
    hexad.yield %rows : tensor<?x8xf32>
  }
  return
}

// -----

func.func @result_rows_of_experts(%x: tensor<3x8xf32>, %r: tensor<3x4xf32>) {
  // expected-error @below {{experts_c6: expected a row for each row of x, found 'tensor<4x8xf32>'}}
  %y = hexad.experts %x, %r count 4 : tensor<3x8xf32>, tensor<3x4xf32> -> tensor<4x8xf32> {
  ^bb0(%e: index, %rows: tensor<3x8xf32>):
    hexad.yield %rows : tensor<3x8xf32>
  }
  return
}

// -----

func.func @unbounded(%x: tensor<?x8xf32>) {
  // expected-error @below {{clamp_c1: expected a lower or an upper bound}}
  %y = hexad.clamp %x : tensor<?x8xf32>
  return
}

// -----

func.func @infinite(%x: tensor<?x8xf32>) {
  // expected-error @below {{clamp_c2: expected finite bounds, found -INF}}
  %y = hexad.clamp %x {lower = 0xFFF0000000000000 : f64} : tensor<?x8xf32>
  return
}

// -----

func.func @infinite_f32(%x: tensor<?x8xf32>) {
  // expected-error @below {{clamp_c2: expected finite bounds, found 1.000000e+39}}
  %y = hexad.clamp %x {upper = 1.0e+39 : f64} : tensor<?x8xf32>
  return
}

// -----

func.func @crossed(%x: tensor<?x8xf32>) {
  // expected-error @below {{clamp_c3: expected a lower bound that is not above the upper one, found 1.000000e+00 and 0.000000e+00}}
  %y = hexad.clamp %x {lower = 1.0 : f64, upper = 0.0 : f64} : tensor<?x8xf32>
  return
}
