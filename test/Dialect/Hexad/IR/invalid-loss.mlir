// RUN: hexad-opt %s --split-input-file --verify-diagnostics

func.func @labels_shift(%labels: tensor<?xi32>, %segments: !hexad.segments) {
  // expected-error @below {{labels_c1: expected a rectangle of labels with shift, found 'tensor<?xi32>'}}
  %l = hexad.labels %labels, %segments {shift} : tensor<?xi32> -> tensor<?xi32>
  return
}

// -----

func.func @labels_of_floats(%labels: tensor<?x?xf32>, %segments: !hexad.segments) {
  // expected-error @below {{operand #0 must be}}
  %l = hexad.labels %labels, %segments : tensor<?x?xf32> -> tensor<?xi32>
  return
}

// -----

func.func @cross_entropy_columns(%x: tensor<?x7xf32>, %l: tensor<?xi32>) {
  // expected-error @below {{cross_entropy_c1: expected one column, found 'tensor<?x7xf32>'}}
  %y = hexad.cross_entropy %x, %l : tensor<?x7xf32>, tensor<?xi32> -> tensor<?x7xf32>
  return
}

// -----

func.func @cross_entropy_labels(%x: tensor<3x7xf32>, %l: tensor<4xi32>) {
  // expected-error @below {{cross_entropy_c2: expected as many rows as 'tensor<3x7xf32>' has, found 'tensor<4xi32>'}}
  %y = hexad.cross_entropy %x, %l : tensor<3x7xf32>, tensor<4xi32> -> tensor<3x1xf32>
  return
}

// -----

func.func @cross_entropy_rows(%x: tensor<3x7xf32>, %l: tensor<3xi32>) {
  // expected-error @below {{cross_entropy_c2: expected as many rows as 'tensor<3x7xf32>' has, found 'tensor<2x1xf32>'}}
  %y = hexad.cross_entropy %x, %l : tensor<3x7xf32>, tensor<3xi32> -> tensor<2x1xf32>
  return
}

// -----

func.func @mean_loss_columns(%x: tensor<?x2xf32>, %l: tensor<?xi32>) {
  // expected-error @below {{mean_loss_c1: expected losses of one column, found 'tensor<?x2xf32>'}}
  %y = hexad.mean_loss %x, %l : tensor<?x2xf32>, tensor<?xi32> -> tensor<f32>
  return
}

// -----

func.func @mean_loss_labels(%x: tensor<3x1xf32>, %l: tensor<2xi32>) {
  // expected-error @below {{mean_loss_c2: expected as many labels as 'tensor<3x1xf32>' has rows, found 'tensor<2xi32>'}}
  %y = hexad.mean_loss %x, %l : tensor<3x1xf32>, tensor<2xi32> -> tensor<f32>
  return
}
