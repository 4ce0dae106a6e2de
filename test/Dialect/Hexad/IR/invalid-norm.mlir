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
