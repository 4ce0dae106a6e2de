// RUN: hexad-opt %s --split-input-file --verify-diagnostics

func.func @route_columns(%x: memref<?x16xf32>, %y: memref<?x16xf32>) {
  // expected-error @below {{route_c1: expected at least 32 columns of logits, found 16}}
  hexad_kernel.route ins(%x : memref<?x16xf32>) outs(%y : memref<?x16xf32>)
      {score = #hexad.router_score<softmax>, experts = 17 : i64, top_k = 2 : i64, scaling = 1.0 : f64}
  return
}

// -----

func.func @route_no_experts(%x: memref<?x16xf32>, %y: memref<?x16xf32>) {
  // expected-error @below {{route_c1: expected from 1 to 2^24 experts}}
  hexad_kernel.route ins(%x : memref<?x16xf32>) outs(%y : memref<?x16xf32>)
      {score = #hexad.router_score<softmax>, experts = 0 : i64, top_k = 2 : i64, scaling = 1.0 : f64}
  return
}

// -----

func.func @route_too_many_experts(%x: memref<?x16xf32>, %y: memref<?x16xf32>) {
  // expected-error @below {{route_c1: expected from 1 to 2^24 experts}}
  hexad_kernel.route ins(%x : memref<?x16xf32>) outs(%y : memref<?x16xf32>)
      {score = #hexad.router_score<softmax>, experts = 16777217 : i64, top_k = 2 : i64, scaling = 1.0 : f64}
  return
}

// -----

func.func @route_rows(%x: memref<3x16xf32>, %y: memref<4x16xf32>) {
  // expected-error @below {{route_c2: expected 3 rows of destination, found 4}}
  hexad_kernel.route ins(%x : memref<3x16xf32>) outs(%y : memref<4x16xf32>)
      {score = #hexad.router_score<softmax>, experts = 8 : i64, top_k = 2 : i64, scaling = 1.0 : f64}
  return
}

// -----

func.func @route_destination(%x: memref<?x16xf32>, %y: memref<?x5xf32>) {
  // expected-error @below {{route_c2: expected at least 6 columns of destination, found 5}}
  hexad_kernel.route ins(%x : memref<?x16xf32>) outs(%y : memref<?x5xf32>)
      {score = #hexad.router_score<softmax>, experts = 8 : i64, top_k = 3 : i64, scaling = 1.0 : f64}
  return
}

// -----

func.func @route_bias(%x: memref<?x16xf32>, %y: memref<?x16xf32>, %b: memref<8xf32>) {
  // expected-error @below {{route_c3: expected at least 16 elements of selection_bias, found 8}}
  hexad_kernel.route ins(%x : memref<?x16xf32>) selection_bias(%b : memref<8xf32>) outs(%y : memref<?x16xf32>)
      {score = #hexad.router_score<sigmoid>, experts = 8 : i64, top_k = 2 : i64, scaling = 1.0 : f64}
  return
}

// -----

func.func @route_scales(%x: memref<?x16xf32>, %y: memref<?x16xf32>, %b: memref<8xf32>) {
  // expected-error @below {{route_c4: expected at least 16 elements of scales, found 8}}
  hexad_kernel.route ins(%x : memref<?x16xf32>) scales(%b : memref<8xf32>) outs(%y : memref<?x16xf32>)
      {score = #hexad.router_score<softmax>, experts = 8 : i64, top_k = 2 : i64, scaling = 1.0 : f64}
  return
}

// -----

func.func @route_top_k(%x: memref<?x16xf32>, %y: memref<?x32xf32>) {
  // expected-error @below {{route_c5: expected a top_k from 1 to the number of experts}}
  hexad_kernel.route ins(%x : memref<?x16xf32>) outs(%y : memref<?x32xf32>)
      {score = #hexad.router_score<softmax>, experts = 8 : i64, top_k = 9 : i64, scaling = 1.0 : f64}
  return
}

// -----

func.func @route_no_rank(%x: memref<?x16xf32>, %y: memref<?x16xf32>) {
  // expected-error @below {{route_c5: expected a top_k from 1 to the number of experts}}
  hexad_kernel.route ins(%x : memref<?x16xf32>) outs(%y : memref<?x16xf32>)
      {score = #hexad.router_score<softmax>, experts = 8 : i64, top_k = 0 : i64, scaling = 1.0 : f64}
  return
}

// -----

func.func @route_groups_alone(%x: memref<?x16xf32>, %y: memref<?x16xf32>) {
  // expected-error @below {{route_c6: expected top_groups of groups of equally many experts, two at least, with sigmoid}}
  hexad_kernel.route ins(%x : memref<?x16xf32>) outs(%y : memref<?x16xf32>)
      {score = #hexad.router_score<sigmoid>, experts = 8 : i64, top_k = 2 : i64, scaling = 1.0 : f64, groups = 2 : i64}
  return
}

// -----

func.func @route_groups_softmax(%x: memref<?x16xf32>, %y: memref<?x16xf32>) {
  // expected-error @below {{route_c6: expected top_groups of groups of equally many experts, two at least, with sigmoid}}
  hexad_kernel.route ins(%x : memref<?x16xf32>) outs(%y : memref<?x16xf32>)
      {score = #hexad.router_score<softmax>, experts = 8 : i64, top_k = 2 : i64, scaling = 1.0 : f64, groups = 2 : i64, top_groups = 1 : i64}
  return
}

// -----

func.func @route_groups_uneven(%x: memref<?x16xf32>, %y: memref<?x16xf32>) {
  // expected-error @below {{route_c6: expected top_groups of groups of equally many experts, two at least, with sigmoid}}
  hexad_kernel.route ins(%x : memref<?x16xf32>) outs(%y : memref<?x16xf32>)
      {score = #hexad.router_score<sigmoid>, experts = 8 : i64, top_k = 2 : i64, scaling = 1.0 : f64, groups = 3 : i64, top_groups = 1 : i64}
  return
}

// -----

func.func @route_groups_of_one(%x: memref<?x16xf32>, %y: memref<?x16xf32>) {
  // expected-error @below {{route_c6: expected top_groups of groups of equally many experts, two at least, with sigmoid}}
  hexad_kernel.route ins(%x : memref<?x16xf32>) outs(%y : memref<?x16xf32>)
      {score = #hexad.router_score<sigmoid>, experts = 8 : i64, top_k = 2 : i64, scaling = 1.0 : f64, groups = 8 : i64, top_groups = 1 : i64}
  return
}

// -----

func.func @route_groups_none_open(%x: memref<?x16xf32>, %y: memref<?x16xf32>) {
  // expected-error @below {{route_c6: expected top_groups of groups of equally many experts, two at least, with sigmoid}}
  hexad_kernel.route ins(%x : memref<?x16xf32>) outs(%y : memref<?x16xf32>)
      {score = #hexad.router_score<sigmoid>, experts = 8 : i64, top_k = 2 : i64, scaling = 1.0 : f64, groups = 2 : i64, top_groups = 0 : i64}
  return
}

// -----

func.func @route_groups_too_many_open(%x: memref<?x16xf32>, %y: memref<?x16xf32>) {
  // expected-error @below {{route_c6: expected top_groups of groups of equally many experts, two at least, with sigmoid}}
  hexad_kernel.route ins(%x : memref<?x16xf32>) outs(%y : memref<?x16xf32>)
      {score = #hexad.router_score<sigmoid>, experts = 8 : i64, top_k = 2 : i64, scaling = 1.0 : f64, groups = 2 : i64, top_groups = 3 : i64}
  return
}

// -----

func.func @group_rows_columns(%n: index, %r: memref<?x16xf32>, %p: memref<?xi32>, %o: memref<?xi32>, %b: memref<9xi32>, %a: memref<9xi32>) {
  // expected-error @below {{group_rows_c1: expected at least 18 columns of routes, found 16}}
  hexad_kernel.group_rows ins(%n, %r : index, memref<?x16xf32>) outs(%p, %o, %b, %a : memref<?xi32>, memref<?xi32>, memref<9xi32>, memref<9xi32>)
      {experts = 8 : i64, top_k = 9 : i64}
  return
}

// -----

func.func @group_rows_bounds(%n: index, %r: memref<?x16xf32>, %p: memref<?xi32>, %o: memref<?xi32>, %b: memref<8xi32>, %a: memref<9xi32>) {
  // expected-error @below {{group_rows_c2: expected 9 bounds, found 8}}
  hexad_kernel.group_rows ins(%n, %r : index, memref<?x16xf32>) outs(%p, %o, %b, %a : memref<?xi32>, memref<?xi32>, memref<8xi32>, memref<9xi32>)
      {experts = 8 : i64, top_k = 2 : i64}
  return
}

// -----

func.func @group_rows_active(%n: index, %r: memref<?x16xf32>, %p: memref<?xi32>, %o: memref<?xi32>, %b: memref<9xi32>, %a: memref<8xi32>) {
  // expected-error @below {{group_rows_c2: expected 9 elements of active, found 8}}
  hexad_kernel.group_rows ins(%n, %r : index, memref<?x16xf32>) outs(%p, %o, %b, %a : memref<?xi32>, memref<?xi32>, memref<9xi32>, memref<8xi32>)
      {experts = 8 : i64, top_k = 2 : i64}
  return
}

// -----

func.func @group_rows_experts(%n: index, %r: memref<?x16xf32>, %p: memref<?xi32>, %o: memref<?xi32>, %b: memref<1xi32>, %a: memref<1xi32>) {
  // expected-error @below {{group_rows_c3: expected from 1 to 2^24 experts and a top_k from 1 to 2^24}}
  hexad_kernel.group_rows ins(%n, %r : index, memref<?x16xf32>) outs(%p, %o, %b, %a : memref<?xi32>, memref<?xi32>, memref<1xi32>, memref<1xi32>)
      {experts = 0 : i64, top_k = 2 : i64}
  return
}

// -----

func.func @group_rows_top_k(%n: index, %r: memref<?x16xf32>, %p: memref<?xi32>, %o: memref<?xi32>, %b: memref<9xi32>, %a: memref<9xi32>) {
  // expected-error @below {{group_rows_c3: expected from 1 to 2^24 experts and a top_k from 1 to 2^24}}
  hexad_kernel.group_rows ins(%n, %r : index, memref<?x16xf32>) outs(%p, %o, %b, %a : memref<?xi32>, memref<?xi32>, memref<9xi32>, memref<9xi32>)
      {experts = 8 : i64, top_k = 0 : i64}
  return
}

// -----

// Twice as many do not fit 64 bits.
func.func @group_rows_huge_top_k(%n: index, %r: memref<?x16xf32>, %p: memref<?xi32>, %o: memref<?xi32>, %b: memref<9xi32>, %a: memref<9xi32>) {
  // expected-error @below {{group_rows_c3: expected from 1 to 2^24 experts and a top_k from 1 to 2^24}}
  hexad_kernel.group_rows ins(%n, %r : index, memref<?x16xf32>) outs(%p, %o, %b, %a : memref<?xi32>, memref<?xi32>, memref<9xi32>, memref<9xi32>)
      {experts = 8 : i64, top_k = 4611686018427387904 : i64}
  return
}

// -----

func.func @combine_rows_dynamic(%x: memref<?x64xf32>, %p: memref<?xi32>, %r: memref<?x16xf32>, %y: memref<?x?xf32, strided<[64, 1]>>) {
  // expected-error @below {{combine_rows_c4: expected a static number of columns of destination, found 'memref<?x?xf32, strided<[64, 1]>>'}}
  hexad_kernel.combine_rows ins(%x, %p, %r : memref<?x64xf32>, memref<?xi32>, memref<?x16xf32>) outs(%y : memref<?x?xf32, strided<[64, 1]>>) {top_k = 2 : i64}
  return
}

// -----

func.func @combine_rows_parts(%x: memref<?x48xf32>, %p: memref<?xi32>, %r: memref<?x16xf32>, %y: memref<?x64xf32>) {
  // expected-error @below {{combine_rows_c1: expected at least 64 columns of parts, found 48}}
  hexad_kernel.combine_rows ins(%x, %p, %r : memref<?x48xf32>, memref<?xi32>, memref<?x16xf32>) outs(%y : memref<?x64xf32>) {top_k = 2 : i64}
  return
}

// -----

func.func @combine_rows_rows(%x: memref<?x64xf32>, %p: memref<?xi32>, %r: memref<4x16xf32>, %y: memref<3x64xf32>) {
  // expected-error @below {{combine_rows_c2: expected 3 rows of routes, found 4}}
  hexad_kernel.combine_rows ins(%x, %p, %r : memref<?x64xf32>, memref<?xi32>, memref<4x16xf32>) outs(%y : memref<3x64xf32>) {top_k = 2 : i64}
  return
}

// -----

func.func @combine_rows_columns(%x: memref<?x64xf32>, %p: memref<?xi32>, %r: memref<?x16xf32>, %y: memref<?x64xf32>) {
  // expected-error @below {{combine_rows_c2: expected at least 18 columns of routes, found 16}}
  hexad_kernel.combine_rows ins(%x, %p, %r : memref<?x64xf32>, memref<?xi32>, memref<?x16xf32>) outs(%y : memref<?x64xf32>) {top_k = 9 : i64}
  return
}

// -----

func.func @combine_rows_top_k(%x: memref<?x64xf32>, %p: memref<?xi32>, %r: memref<?x16xf32>, %y: memref<?x64xf32>) {
  // expected-error @below {{combine_rows_c3: expected a top_k from 1 to 2^24}}
  hexad_kernel.combine_rows ins(%x, %p, %r : memref<?x64xf32>, memref<?xi32>, memref<?x16xf32>) outs(%y : memref<?x64xf32>) {top_k = 0 : i64}
  return
}

// -----

func.func @combine_rows_huge_top_k(%x: memref<?x64xf32>, %p: memref<?xi32>, %r: memref<?x16xf32>, %y: memref<?x64xf32>) {
  // expected-error @below {{combine_rows_c3: expected a top_k from 1 to 2^24}}
  hexad_kernel.combine_rows ins(%x, %p, %r : memref<?x64xf32>, memref<?xi32>, memref<?x16xf32>) outs(%y : memref<?x64xf32>) {top_k = 4611686018427387904 : i64}
  return
}

// -----

func.func @clamp_padding(%x: memref<?x60xf32>, %y: memref<?x60xf32>) {
  // expected-error @below {{kernel_c3: expected the columns of destination to be a static, positive multiple of 16, found 'memref<?x60xf32>'}}
  hexad_kernel.clamp ins(%x : memref<?x60xf32>) outs(%y : memref<?x60xf32>) {upper = 7.0 : f64}
  return
}

// -----

func.func @clamp_shape(%x: memref<?x64xf32>, %y: memref<?x48xf32>) {
  // expected-error @below {{kernel_c5: expected 48 columns of x, found 64}}
  hexad_kernel.clamp ins(%x : memref<?x64xf32>) outs(%y : memref<?x48xf32>) {upper = 7.0 : f64}
  return
}

// -----

func.func @clamp_bounds(%x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  // expected-error @below {{clamp_c1: expected a lower or an upper bound}}
  hexad_kernel.clamp ins(%x : memref<?x64xf32>) outs(%y : memref<?x64xf32>)
  return
}
