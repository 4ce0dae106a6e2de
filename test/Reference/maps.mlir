// RUN: hexad-reference %s | FileCheck %s

// Scores of ±ln 3 after the scale: probabilities 3/4 and 1/4. The second batch row
// has one token, the last: it sees itself.

// CHECK-LABEL: @padding
// CHECK-NEXT:  2x2x1x2x2
// CHECK-NEXT:  nan nan
// CHECK:       0.75 0.25
// CHECK-NEXT:  0.25 0.75
// CHECK-NEXT:  0 0
// CHECK-NEXT:  0 1
func.func @padding() -> tensor<2x2x1x2x2xf32> {
  %c1 = arith.constant 1 : index
  %mask = arith.constant dense<[[1, 1], [0, 1]]> : tensor<2x2xi32>
  %segments = hexad.segments %mask : tensor<2x2xi32>
  %q = arith.constant dense<[[1.0], [-1.0], [5.0]]> : tensor<3x1xf32>
  %k = arith.constant dense<[[1.0], [-1.0], [9.0]]> : tensor<3x1xf32>
  %maps = hexad.empty_maps %segments : tensor<2x2x1x2x2xf32>
  // scale = ln(3) / 2
  %0 = hexad.attention_map %q, %k, %segments into %maps[%c1] {heads = 1 : i64, kv_heads = 1 : i64, head_dim = 1 : i64, scale = 0.549306144334054846 : f64}
      : tensor<3x1xf32>, tensor<3x1xf32>, tensor<2x2x1x2x2xf32>
  return %0 : tensor<2x2x1x2x2xf32>
}

// A key that is not seen has exactly 0, also beside NaN.

// CHECK-LABEL: @causal
// CHECK-NEXT:  1x1x1x3x3
// CHECK-NEXT:  1 0 0
// CHECK-NEXT:  nan nan 0
// CHECK-NEXT:  0 nan nan
func.func @causal() -> tensor<1x1x1x3x3xf32> {
  %c0 = arith.constant 0 : index
  %mask = arith.constant dense<1> : tensor<1x3xi32>
  %segments = hexad.segments %mask : tensor<1x3xi32>
  %q = arith.constant dense<1.0> : tensor<3x1xf32>
  %k = arith.constant dense<[[1.0], [0x7FC00000], [1.0]]> : tensor<3x1xf32>
  %maps = hexad.empty_maps %segments : tensor<1x1x1x3x3xf32>
  %0 = hexad.attention_map %q, %k, %segments into %maps[%c0] {causal, window = 2 : i64, heads = 1 : i64, kv_heads = 1 : i64, head_dim = 1 : i64, scale = 1.0 : f64}
      : tensor<3x1xf32>, tensor<3x1xf32>, tensor<1x1x1x3x3xf32>
  return %0 : tensor<1x1x1x3x3xf32>
}
