// RUN: hexad-opt %s --split-input-file --verify-diagnostics

func.func @layer_norm_weight(%x: tensor<?x60xf32>, %w: tensor<61xf32>) {
  // expected-error @below {{layer_norm_c1: expected a weight of 60 elements, found 'tensor<61xf32>'}}
  %y = hexad.layer_norm %x, %w eps 1.0e-12 : tensor<?x60xf32>, tensor<61xf32>
  return
}

// -----

func.func @layer_norm_bias(%x: tensor<?x60xf32>, %w: tensor<60xf32>, %b: tensor<59xf32>) {
  // expected-error @below {{layer_norm_c2: expected a bias of type 'tensor<60xf32>', found 'tensor<59xf32>'}}
  %y = hexad.layer_norm %x, %w bias %b eps 1.0e-12 : tensor<?x60xf32>, tensor<60xf32>, tensor<59xf32>
  return
}

// -----

func.func @layer_norm_negative_eps(%x: tensor<?x60xf32>, %w: tensor<60xf32>) {
  // expected-error @below {{layer_norm_c3: expected a finite eps of at least 0, found -1}}
  %y = hexad.layer_norm %x, %w eps -1.0 : tensor<?x60xf32>, tensor<60xf32>
  return
}

// -----

func.func @layer_norm_nan_eps(%x: tensor<?x60xf32>, %w: tensor<60xf32>) {
  // expected-error @below {{layer_norm_c3: expected a finite eps of at least 0, found nan}}
  %y = hexad.layer_norm %x, %w eps 0x7FF8000000000000 : tensor<?x60xf32>, tensor<60xf32>
  return
}

// -----

func.func @layer_norm_type(%x: tensor<?x60xf32>, %w: tensor<60xf32>) {
  // expected-error @below {{all of {x, result} have same type}}
  %y = "hexad.layer_norm"(%x, %w) {eps = 1.0 : f64} : (tensor<?x60xf32>, tensor<60xf32>) -> tensor<?x61xf32>
  return
}

// -----

func.func @l2_normalize_eps(%x: tensor<?x60xf32>) {
  // expected-error @below {{l2_normalize_c1: expected a finite eps of at least 0, found INF}}
  %y = hexad.l2_normalize %x eps 0x7FF0000000000000 : tensor<?x60xf32>
  return
}

// -----

func.func @softmax_rank(%x: tensor<?x3x3xf32>) {
  // expected-error @below {{operand #0 must be rows of f32 with a static, positive number of columns, but got 'tensor<?x3x3xf32>'}}
  %y = hexad.softmax %x : tensor<?x3x3xf32>
  return
}

// -----

func.func @rms_norm_groups(%x: tensor<?x60xf32>) {
  // expected-error @below {{rms_norm_c1: expected 7 groups of columns from column 0 on to lie inside (without group_size: to fill)}}
  %y = hexad.rms_norm %x eps 1.0e-6 {groups = 7 : i64} : tensor<?x60xf32>
  return
}

// -----

func.func @rms_norm_group_size(%x: tensor<?x60xf32>) {
  // expected-error @below {{rms_norm_c1: expected 3 groups of columns from column 1 on to lie inside}}
  %y = hexad.rms_norm %x eps 1.0e-6 {groups = 3 : i64, group_size = 20 : i64, offset = 1 : i64} : tensor<?x60xf32>
  return
}

// -----

func.func @rms_norm_many_groups(%x: tensor<?x60xf32>) {
  // expected-error @below {{rms_norm_c1: expected 9223372036854775807 groups}}
  %y = hexad.rms_norm %x eps 1.0e-6 {groups = 9223372036854775807 : i64, group_size = 9223372036854775807 : i64} : tensor<?x60xf32>
  return
}

// -----

func.func @rms_norm_offset(%x: tensor<?x60xf32>) {
  // expected-error @below {{rms_norm_c1: expected 1 groups of columns from column 60 on}}
  %y = hexad.rms_norm %x eps 1.0e-6 {offset = 60 : i64} : tensor<?x60xf32>
  return
}

// -----

func.func @rms_norm_negative_offset(%x: tensor<?x60xf32>) {
  // expected-error @below {{rms_norm_c1: expected 1 groups of columns from column -1 on}}
  %y = hexad.rms_norm %x eps 1.0e-6 {offset = -1 : i64} : tensor<?x60xf32>
  return
}

// -----

func.func @rms_norm_weight(%x: tensor<?x60xf32>, %w: tensor<60xf32>) {
  // expected-error @below {{rms_norm_c2: expected a weight of 12 elements, found 'tensor<60xf32>'}}
  %y = hexad.rms_norm %x weight %w eps 1.0e-6 {groups = 5 : i64} : tensor<?x60xf32>, tensor<60xf32>
  return
}

// -----

func.func @rms_norm_eps(%x: tensor<?x60xf32>) {
  // expected-error @below {{rms_norm_c3: expected a finite eps of at least 0, found}}
  %y = hexad.rms_norm %x eps -1.0 {} : tensor<?x60xf32>
  return
}

// -----

func.func @rms_norm_eps_nan(%x: tensor<?x60xf32>) {
  // expected-error @below {{rms_norm_c3: expected a finite eps of at least 0, found}}
  %y = hexad.rms_norm %x eps 0x7FF8000000000000 {} : tensor<?x60xf32>
  return
}

// -----

func.func @rms_norm_unit_offset(%x: tensor<?x60xf32>) {
  // expected-error @below {{rms_norm_c4: expected a weight beside unit_offset}}
  %y = hexad.rms_norm %x eps 1.0e-6 {unit_offset} : tensor<?x60xf32>
  return
}

// -----

func.func @rms_norm_no_groups(%x: tensor<?x60xf32>) {
  // expected-error @below {{attribute 'groups' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %y = hexad.rms_norm %x eps 1.0e-6 {groups = 0 : i64} : tensor<?x60xf32>
  return
}

// -----

// Compiled code computes in f32.
func.func @rms_norm_eps_infinite_in_f32(%x: tensor<?x60xf32>) {
  // expected-error @below {{rms_norm_c3: expected a finite eps of at least 0, found}}
  %y = hexad.rms_norm %x eps 1.0e+40 {} : tensor<?x60xf32>
  return
}
