// RUN: hexad-opt %s --split-input-file --verify-diagnostics

func.func @embedding_columns(%ids: tensor<?xi32>, %table: tensor<113x60xf32>) {
  // expected-error @below {{embedding_c1: expected rows of 60 columns, found 'tensor<?x61xf32>'}}
  %y = hexad.embedding %ids, %table : tensor<?xi32>, tensor<113x60xf32> -> tensor<?x61xf32>
  return
}

// -----

func.func @embedding_rows(%ids: tensor<7xi32>, %table: tensor<113x60xf32>) {
  // expected-error @below {{embedding_c2: expected one row for each index of 'tensor<7xi32>', found 'tensor<8x60xf32>'}}
  %y = hexad.embedding %ids, %table : tensor<7xi32>, tensor<113x60xf32> -> tensor<8x60xf32>
  return
}

// -----

func.func @embedding_offset(%ids: tensor<?xi32>, %table: tensor<113x60xf32>) {
  // expected-error @below {{embedding_c3: expected an offset from 0 to 112, found 113}}
  %y = hexad.embedding %ids, %table {offset = 113 : i64} : tensor<?xi32>, tensor<113x60xf32> -> tensor<?x60xf32>
  return
}

// -----

func.func @embedding_negative_offset(%ids: tensor<?xi32>, %table: tensor<113x60xf32>) {
  // expected-error @below {{embedding_c3: expected an offset from 0 to 112, found -1}}
  %y = hexad.embedding %ids, %table {offset = -1 : i64} : tensor<?xi32>, tensor<113x60xf32> -> tensor<?x60xf32>
  return
}

// -----

func.func @embedding_table(%ids: tensor<?xi32>, %table: tensor<?x60xf32>) {
  // expected-error @below {{operand #1 must be f32 matrix of static, positive sizes, but got 'tensor<?x60xf32>'}}
  %y = hexad.embedding %ids, %table : tensor<?xi32>, tensor<?x60xf32> -> tensor<?x60xf32>
  return
}

// -----

func.func @embedding_ids(%ids: tensor<?xi64>, %table: tensor<113x60xf32>) {
  // expected-error @below {{operand #0 must be 1D tensor of 32-bit signless integer values, but got 'tensor<?xi64>'}}
  %y = hexad.embedding %ids, %table : tensor<?xi64>, tensor<113x60xf32> -> tensor<?x60xf32>
  return
}

// -----

func.func @linear_in(%x: tensor<?x60xf32>, %w: tensor<171x61xf32>) {
  // expected-error @below {{linear_c1: expected a weight of 60 columns (in), found 'tensor<171x61xf32>'}}
  %y = hexad.linear %x, %w : tensor<?x60xf32>, tensor<171x61xf32> -> tensor<?x171xf32>
  return
}

// -----

func.func @linear_out(%x: tensor<?x60xf32>, %w: tensor<171x60xf32>) {
  // expected-error @below {{linear_c2: expected ? x 171, found 'tensor<?x60xf32>'}}
  %y = hexad.linear %x, %w : tensor<?x60xf32>, tensor<171x60xf32> -> tensor<?x60xf32>
  return
}

// -----

func.func @linear_rows(%x: tensor<7x60xf32>, %w: tensor<171x60xf32>) {
  // expected-error @below {{linear_c2: expected 7 x 171, found 'tensor<8x171xf32>'}}
  %y = hexad.linear %x, %w : tensor<7x60xf32>, tensor<171x60xf32> -> tensor<8x171xf32>
  return
}

// -----

func.func @linear_bias(%x: tensor<?x60xf32>, %w: tensor<171x60xf32>, %b: tensor<60xf32>) {
  // expected-error @below {{linear_c3: expected a bias of 171 elements, found 'tensor<60xf32>'}}
  %y = hexad.linear %x, %w bias %b : tensor<?x60xf32>, tensor<171x60xf32>, tensor<60xf32> -> tensor<?x171xf32>
  return
}

// -----

func.func @linear_type(%x: tensor<?x60xf64>, %w: tensor<171x60xf32>) {
  // expected-error @below {{operand #0 must be rows of f32}}
  %y = hexad.linear %x, %w : tensor<?x60xf64>, tensor<171x60xf32> -> tensor<?x171xf32>
  return
}

// -----

func.func @activation_kind(%x: tensor<?x60xf32>) {
  // expected-error @below {{expected one of [gelu, gelu_tanh, quick_gelu, silu, relu, tanh, sigmoid] for elementwise activation, got: swish}}
  %y = hexad.activation swish %x : tensor<?x60xf32>
  return
}

// -----

func.func @activation_no_columns(%x: tensor<?x0xf32>) {
  // expected-error @below {{must be rows of f32 with a static, positive number of columns, but got 'tensor<?x0xf32>'}}
  %y = hexad.activation relu %x : tensor<?x0xf32>
  return
}

// -----

func.func @activation_type(%x: tensor<?x60xf32>) {
  // expected-error @below {{all of {x, result} have same type}}
  %y = "hexad.activation"(%x) {kind = #hexad.activation<relu>} : (tensor<?x60xf32>) -> tensor<7x60xf32>
  return
}

// -----

func.func @add_types(%x: tensor<?x60xf32>, %y: tensor<7x60xf32>) {
  // expected-error @below {{all of {lhs, rhs, result} have same type}}
  %z = "hexad.add"(%x, %y) : (tensor<?x60xf32>, tensor<7x60xf32>) -> tensor<?x60xf32>
  return
}

// -----

func.func @scale_infinite(%x: tensor<?x60xf32>) {
  // expected-error @below {{scale_c1: expected a finite factor, found INF}}
  %y = hexad.scale %x by 0x7FF0000000000000 : tensor<?x60xf32>
  return
}

// -----

func.func @softcap_zero(%x: tensor<?x60xf32>) {
  // expected-error @below {{softcap_c1: expected a finite, positive cap, found 0}}
  %y = hexad.softcap %x cap 0.0 : tensor<?x60xf32>
  return
}

// -----

func.func @softcap_nan(%x: tensor<?x60xf32>) {
  // expected-error @below {{softcap_c1: expected a finite, positive cap, found}}
  %y = hexad.softcap %x cap 0x7FF8000000000000 : tensor<?x60xf32>
  return
}

// -----

// Compiled code computes in f32.
func.func @scale_infinite_in_f32(%x: tensor<?x60xf32>) {
  // expected-error @below {{scale_c1: expected a finite factor, found -1.0}}
  %y = hexad.scale %x by -1.0e+40 : tensor<?x60xf32>
  return
}

// -----

func.func @softcap_infinite_in_f32(%x: tensor<?x60xf32>) {
  // expected-error @below {{softcap_c1: expected a finite, positive cap, found 1.0}}
  %y = hexad.softcap %x cap 1.0e+40 : tensor<?x60xf32>
  return
}

// -----

func.func @scale_columns_weight(%x: tensor<?x60xf32>, %w: tensor<61xf32>) {
  // expected-error @below {{scale_columns_c1: expected a weight of 60 elements, found 'tensor<61xf32>'}}
  %y = hexad.scale_columns %x, %w : tensor<?x60xf32>, tensor<61xf32>
  return
}
