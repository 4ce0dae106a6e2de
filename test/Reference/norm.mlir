// RUN: hexad-reference %s | FileCheck %s

// Mean 2, variance 1: the variance is that of the row, not a sample's.

// CHECK-LABEL: @layer_norm
// CHECK-NEXT:  1x2
// CHECK-NEXT:  -10 23
func.func @layer_norm() -> tensor<1x2xf32> {
  %x = arith.constant dense<[[1.0, 3.0]]> : tensor<1x2xf32>
  %w = arith.constant dense<[10.0, 20.0]> : tensor<2xf32>
  %b = arith.constant dense<[0.0, 3.0]> : tensor<2xf32>
  %y = hexad.layer_norm %x, %w bias %b eps 0.0 : tensor<1x2xf32>, tensor<2xf32>, tensor<2xf32>
  return %y : tensor<1x2xf32>
}

// eps is added to the variance, before the root: 1 / sqrt(1 + 3).

// CHECK-LABEL: @layer_norm_eps
// CHECK-NEXT:  1x2
// CHECK-NEXT:  -0.5 0.5
func.func @layer_norm_eps() -> tensor<1x2xf32> {
  %x = arith.constant dense<[[1.0, 3.0]]> : tensor<1x2xf32>
  %w = arith.constant dense<1.0> : tensor<2xf32>
  %y = hexad.layer_norm %x, %w eps 3.0 : tensor<1x2xf32>, tensor<2xf32>
  return %y : tensor<1x2xf32>
}

// A constant row gives the bias; without eps it is 0 / 0. NaN and infinity fill
// their row and no other.

// CHECK-LABEL: @layer_norm_special
// CHECK-NEXT:  4x2
// CHECK-NEXT:  7 8
// CHECK-NEXT:  nan nan
// CHECK-NEXT:  nan nan
// CHECK-NEXT:  6 9
// CHECK-NEXT:  1x2
// CHECK-NEXT:  nan nan
func.func @layer_norm_special() -> (tensor<4x2xf32>, tensor<1x2xf32>) {
  %x = arith.constant dense<[[5.0, 5.0], [0x7FC00000, 1.0], [0x7F800000, 1.0], [1.0, 3.0]]> : tensor<4x2xf32>
  %w = arith.constant dense<1.0> : tensor<2xf32>
  %b = arith.constant dense<[7.0, 8.0]> : tensor<2xf32>
  %y = hexad.layer_norm %x, %w bias %b eps 1.0e-30 : tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>
  %c = arith.constant dense<5.0> : tensor<1x2xf32>
  %z = hexad.layer_norm %c, %w eps 0.0 : tensor<1x2xf32>, tensor<2xf32>
  return %y, %z : tensor<4x2xf32>, tensor<1x2xf32>
}

// A row of one column is its own mean.

// CHECK-LABEL: @layer_norm_one_column
// CHECK-NEXT:  2x1
// CHECK-NEXT:  4
// CHECK-NEXT:  4
func.func @layer_norm_one_column() -> tensor<2x1xf32> {
  %x = arith.constant dense<[[100.0], [-3.0]]> : tensor<2x1xf32>
  %w = arith.constant dense<2.0> : tensor<1xf32>
  %b = arith.constant dense<4.0> : tensor<1xf32>
  %y = hexad.layer_norm %x, %w bias %b eps 1.0e-12 : tensor<2x1xf32>, tensor<1xf32>, tensor<1xf32>
  return %y : tensor<2x1xf32>
}

// Zeros stay zeros; a length below eps is divided by eps.

// CHECK-LABEL: @l2_normalize
// CHECK-NEXT:  4x2
// CHECK-NEXT:  0.6 -0.8
// CHECK-NEXT:  0 0
// CHECK-NEXT:  0.25 0
// CHECK-NEXT:  nan nan
func.func @l2_normalize() -> tensor<4x2xf32> {
  %x = arith.constant dense<[[3.0, -4.0], [0.0, 0.0], [0.125, 0.0], [0x7FC00000, 1.0]]> : tensor<4x2xf32>
  %y = hexad.l2_normalize %x eps 0.5 : tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// CHECK-LABEL: @softmax
// CHECK-NEXT:  3x3
// CHECK-NEXT:  0.0900305732 0.244728471 0.665240956
// CHECK-NEXT:  0 0.5 0.5
// CHECK-NEXT:  0.333333333 0.333333333 0.333333333
func.func @softmax() -> tensor<3x3xf32> {
  // Nothing overflows; -∞ beside something finite is a probability of 0.
  %x = arith.constant dense<[[1.0, 2.0, 3.0], [0xFF800000, 3.0e38, 3.0e38], [-3.0e38, -3.0e38, -3.0e38]]> : tensor<3x3xf32>
  %y = hexad.softmax %x : tensor<3x3xf32>
  return %y : tensor<3x3xf32>
}

// CHECK-LABEL: @softmax_special
// CHECK-NEXT:  4x2
// CHECK-NEXT:  nan nan
// CHECK-NEXT:  nan nan
// CHECK-NEXT:  nan nan
// CHECK-NEXT:  0.5 0.5
// CHECK-NEXT:  1x1
// CHECK-NEXT:  1
func.func @softmax_special() -> (tensor<4x2xf32>, tensor<1x1xf32>) {
  // NaN; +∞; only -∞; and a row that is not disturbed by them.
  %x = arith.constant dense<[[0x7FC00000, 1.0], [0x7F800000, 1.0], [0xFF800000, 0xFF800000], [7.0, 7.0]]> : tensor<4x2xf32>
  %y = hexad.softmax %x : tensor<4x2xf32>
  %one = arith.constant dense<-5.0> : tensor<1x1xf32>
  %z = hexad.softmax %one : tensor<1x1xf32>
  return %y, %z : tensor<4x2xf32>, tensor<1x1xf32>
}
