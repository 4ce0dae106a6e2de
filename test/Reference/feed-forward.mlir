// RUN: hexad-reference %s | FileCheck %s

// CHECK-LABEL: @embedding
// CHECK-NEXT:  4x2
// CHECK-NEXT:  5 6
// CHECK-NEXT:  1 2
// CHECK-NEXT:  5 6
// CHECK-NEXT:  3 4
func.func @embedding() -> tensor<4x2xf32> {
  %ids = arith.constant dense<[2, 0, 2, 1]> : tensor<4xi32>
  %table = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %y = hexad.embedding %ids, %table : tensor<4xi32>, tensor<3x2xf32> -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// The offset counts entries from the beginning of the table.

// CHECK-LABEL: @embedding_offset
// CHECK-NEXT:  2x2
// CHECK-NEXT:  3 4
// CHECK-NEXT:  5 6
func.func @embedding_offset() -> tensor<2x2xf32> {
  %ids = arith.constant dense<[0, 1]> : tensor<2xi32>
  %table = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %y = hexad.embedding %ids, %table {offset = 1 : i64} : tensor<2xi32>, tensor<3x2xf32> -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// CHECK-LABEL: @embedding_no_rows
// CHECK-NEXT:  0x2
// CHECK-NEXT:  @linear
func.func @embedding_no_rows() -> tensor<0x2xf32> {
  %ids = arith.constant dense<[]> : tensor<0xi32>
  %table = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %y = hexad.embedding %ids, %table : tensor<0xi32>, tensor<3x2xf32> -> tensor<0x2xf32>
  return %y : tensor<0x2xf32>
}

// A row of the weight for each output column.

// CHECK-NEXT:  2x3
// CHECK-NEXT:  14 22 31
// CHECK-NEXT:  10.5 21 32
func.func @linear() -> tensor<2x3xf32> {
  %x = arith.constant dense<[[1.0, 2.0], [-1.0, 1.0]]> : tensor<2x2xf32>
  %w = arith.constant dense<[[1.0, 1.5], [0.0, 1.0], [-1.0, 1.0]]> : tensor<3x2xf32>
  %b = arith.constant dense<[10.0, 20.0, 30.0]> : tensor<3xf32>
  %y = hexad.linear %x, %w bias %b : tensor<2x2xf32>, tensor<3x2xf32>, tensor<3xf32> -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// Without a bias; NaN stays in its row.

// CHECK-LABEL: @linear_without_bias
// CHECK-NEXT:  2x2
// CHECK-NEXT:  3 -1
// CHECK-NEXT:  nan nan
func.func @linear_without_bias() -> tensor<2x2xf32> {
  %x = arith.constant dense<[[1.0, 2.0], [0x7FC00000, 1.0]]> : tensor<2x2xf32>
  %w = arith.constant dense<[[1.0, 1.0], [1.0, -1.0]]> : tensor<2x2xf32>
  %y = hexad.linear %x, %w : tensor<2x2xf32>, tensor<2x2xf32> -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// In double precision: 2^24 + 1 is no f32.

// CHECK-LABEL: @linear_in_double
// CHECK-NEXT:  1x1
// CHECK-NEXT:  1
func.func @linear_in_double() -> tensor<1x1xf32> {
  %x = arith.constant dense<[[16777216.0, 1.0, -16777216.0]]> : tensor<1x3xf32>
  %w = arith.constant dense<1.0> : tensor<1x3xf32>
  %y = hexad.linear %x, %w : tensor<1x3xf32>, tensor<1x3xf32> -> tensor<1x1xf32>
  return %y : tensor<1x1xf32>
}

// Small values far to the left do not vanish; -0 stays -0; NaN stays NaN.

// CHECK-LABEL: @gelu
// CHECK-NEXT:  1x7
// CHECK-NEXT:  -2.61040038e-10 -0.158655254 -0 0.345731231 0.841344746 100 nan
func.func @gelu() -> tensor<1x7xf32> {
  %x = arith.constant dense<[[-6.5, -1.0, -0.0, 0.5, 1.0, 100.0, 0x7FC00000]]> : tensor<1x7xf32>
  %y = hexad.activation gelu %x : tensor<1x7xf32>
  return %y : tensor<1x7xf32>
}

// CHECK-LABEL: @gelu_tanh
// CHECK-NEXT:  1x7
// CHECK-NEXT:  -6.27825877e-13 -0.158808009 -0 0.34571401 0.841191991 100 nan
func.func @gelu_tanh() -> tensor<1x7xf32> {
  %x = arith.constant dense<[[-6.5, -1.0, -0.0, 0.5, 1.0, 100.0, 0x7FC00000]]> : tensor<1x7xf32>
  %y = hexad.activation gelu_tanh %x : tensor<1x7xf32>
  return %y : tensor<1x7xf32>
}

// CHECK-LABEL: @quick_gelu
// CHECK-NEXT:  1x7
// CHECK-NEXT:  -0.000101931096 -0.154204234 -0 0.350388437 0.845795766 100 nan
func.func @quick_gelu() -> tensor<1x7xf32> {
  %x = arith.constant dense<[[-6.5, -1.0, -0.0, 0.5, 1.0, 100.0, 0x7FC00000]]> : tensor<1x7xf32>
  %y = hexad.activation quick_gelu %x : tensor<1x7xf32>
  return %y : tensor<1x7xf32>
}

// CHECK-LABEL: @silu
// CHECK-NEXT:  1x7
// CHECK-NEXT:  -0.00975768467 -0.268941421 -0 0.311229666 0.731058579 100 nan
func.func @silu() -> tensor<1x7xf32> {
  %x = arith.constant dense<[[-6.5, -1.0, -0.0, 0.5, 1.0, 100.0, 0x7FC00000]]> : tensor<1x7xf32>
  %y = hexad.activation silu %x : tensor<1x7xf32>
  return %y : tensor<1x7xf32>
}

// CHECK-LABEL: @relu
// CHECK-NEXT:  1x7
// CHECK-NEXT:  0 0 -0 0.5 1 100 nan
func.func @relu() -> tensor<1x7xf32> {
  %x = arith.constant dense<[[-6.5, -1.0, -0.0, 0.5, 1.0, 100.0, 0x7FC00000]]> : tensor<1x7xf32>
  %y = hexad.activation relu %x : tensor<1x7xf32>
  return %y : tensor<1x7xf32>
}

// CHECK-LABEL: @tanh
// CHECK-NEXT:  1x7
// CHECK-NEXT:  -0.999995479 -0.761594156 -0 0.462117157 0.761594156 1 nan
func.func @tanh() -> tensor<1x7xf32> {
  %x = arith.constant dense<[[-6.5, -1.0, -0.0, 0.5, 1.0, 100.0, 0x7FC00000]]> : tensor<1x7xf32>
  %y = hexad.activation tanh %x : tensor<1x7xf32>
  return %y : tensor<1x7xf32>
}

// CHECK-LABEL: @sigmoid
// CHECK-NEXT:  1x7
// CHECK-NEXT:  0.00150118226 0.268941421 0.5 0.622459331 0.731058579 1 nan
func.func @sigmoid() -> tensor<1x7xf32> {
  %x = arith.constant dense<[[-6.5, -1.0, -0.0, 0.5, 1.0, 100.0, 0x7FC00000]]> : tensor<1x7xf32>
  %y = hexad.activation sigmoid %x : tensor<1x7xf32>
  return %y : tensor<1x7xf32>
}

// Infinities: the limit of the formula.

// CHECK-LABEL: @infinities
// CHECK-NEXT:  1x2
// CHECK-NEXT:  0 inf
// CHECK-NEXT:  1x2
// CHECK-NEXT:  0 inf
// CHECK-NEXT:  1x2
// CHECK-NEXT:  0 inf
// CHECK-NEXT:  1x2
// CHECK-NEXT:  0 inf
// CHECK-NEXT:  1x2
// CHECK-NEXT:  0 inf
// CHECK-NEXT:  1x2
// CHECK-NEXT:  -1 1
// CHECK-NEXT:  1x2
// CHECK-NEXT:  0 1
func.func @infinities() -> (tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>) {
  %x = arith.constant dense<[[0xFF800000, 0x7F800000]]> : tensor<1x2xf32>
  %0 = hexad.activation gelu %x : tensor<1x2xf32>
  %1 = hexad.activation gelu_tanh %x : tensor<1x2xf32>
  %2 = hexad.activation quick_gelu %x : tensor<1x2xf32>
  %3 = hexad.activation silu %x : tensor<1x2xf32>
  %4 = hexad.activation relu %x : tensor<1x2xf32>
  %5 = hexad.activation tanh %x : tensor<1x2xf32>
  %6 = hexad.activation sigmoid %x : tensor<1x2xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>
}

// CHECK-LABEL: @add
// CHECK-NEXT:  2x2
// CHECK-NEXT:  11 0
// CHECK-NEXT:  nan inf
func.func @add() -> tensor<2x2xf32> {
  %x = arith.constant dense<[[1.0, 2.0], [0x7FC00000, 0x7F800000]]> : tensor<2x2xf32>
  %y = arith.constant dense<[[10.0, -2.0], [1.0, 1.0]]> : tensor<2x2xf32>
  %z = hexad.add %x, %y : tensor<2x2xf32>
  return %z : tensor<2x2xf32>
}
