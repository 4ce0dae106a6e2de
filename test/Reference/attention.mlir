// RUN: hexad-reference %s | FileCheck %s

// Scores of ±ln 3 after the scale: probabilities 3/4 and 1/4. The second segment
// has one row, which sees only itself.

// CHECK-LABEL: @segments_apart
// CHECK-NEXT:  3x1
// CHECK-NEXT:  25
// CHECK-NEXT:  75
// CHECK-NEXT:  7
func.func @segments_apart() -> tensor<3x1xf32> {
  %mask = arith.constant dense<[[1, 1], [0, 1]]> : tensor<2x2xi32>
  %segments = hexad.segments %mask : tensor<2x2xi32>
  %q = arith.constant dense<[[1.0], [-1.0], [5.0]]> : tensor<3x1xf32>
  %k = arith.constant dense<[[1.0], [-1.0], [9.0]]> : tensor<3x1xf32>
  %v = arith.constant dense<[[0.0], [100.0], [7.0]]> : tensor<3x1xf32>
  // scale = ln(3) / 2
  %o = hexad.attention %q, %k, %v, %segments {heads = 1 : i64, kv_heads = 1 : i64, head_dim = 1 : i64, scale = 0.549306144334054846 : f64}
      : tensor<3x1xf32>, tensor<3x1xf32>, tensor<3x1xf32> -> tensor<3x1xf32>
  return %o : tensor<3x1xf32>
}

// Four query heads share two key-value heads, two by two. With scale 0 each head
// gives the mean of its values.

// CHECK-LABEL: @grouped_heads
// CHECK-NEXT:  2x4
// CHECK-NEXT:  2 2 30 30
// CHECK-NEXT:  2 2 30 30
func.func @grouped_heads() -> tensor<2x4xf32> {
  %mask = arith.constant dense<1> : tensor<1x2xi32>
  %segments = hexad.segments %mask : tensor<1x2xi32>
  %q = arith.constant dense<1.0> : tensor<2x4xf32>
  %k = arith.constant dense<1.0> : tensor<2x2xf32>
  %v = arith.constant dense<[[1.0, 20.0], [3.0, 40.0]]> : tensor<2x2xf32>
  %o = hexad.attention %q, %k, %v, %segments {heads = 4 : i64, kv_heads = 2 : i64, head_dim = 1 : i64, scale = 0.0 : f64}
      : tensor<2x4xf32>, tensor<2x2xf32>, tensor<2x2xf32> -> tensor<2x4xf32>
  return %o : tensor<2x4xf32>
}

// Query, key and value out of one projection: columns 1, 3 and 5 on. Whoever reads
// column 0 gets NaN.

// CHECK-LABEL: @offsets
// CHECK-NEXT:  2x2
// CHECK-NEXT:  10 20
// CHECK-NEXT:  11 21
func.func @offsets() -> tensor<2x2xf32> {
  %mask = arith.constant dense<1> : tensor<1x2xi32>
  %segments = hexad.segments %mask : tensor<1x2xi32>
  %qkv = arith.constant dense<[[0x7FC00000, 100.0, 0.0, 100.0, 0.0, 10.0, 20.0],
                               [0x7FC00000, 0.0, 100.0, 0.0, 100.0, 11.0, 21.0]]> : tensor<2x7xf32>
  %o = hexad.attention %qkv, %qkv, %qkv, %segments
      {heads = 1 : i64, kv_heads = 1 : i64, head_dim = 2 : i64, scale = 1.0 : f64, offsets = array<i64: 1, 3, 5>}
      : tensor<2x7xf32>, tensor<2x7xf32>, tensor<2x7xf32> -> tensor<2x2xf32>
  return %o : tensor<2x2xf32>
}

// NaN in a key reaches its segment and head; the other segment is as before.

// CHECK-LABEL: @nan
// CHECK-NEXT:  3x2
// CHECK-NEXT:  nan 2
// CHECK-NEXT:  nan 2
// CHECK-NEXT:  5 6
func.func @nan() -> tensor<3x2xf32> {
  %mask = arith.constant dense<[[1, 1], [1, 0]]> : tensor<2x2xi32>
  %segments = hexad.segments %mask : tensor<2x2xi32>
  %q = arith.constant dense<0.0> : tensor<3x2xf32>
  %k = arith.constant dense<[[0x7FC00000, 1.0], [1.0, 1.0], [1.0, 1.0]]> : tensor<3x2xf32>
  %v = arith.constant dense<[[1.0, 1.0], [3.0, 3.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %o = hexad.attention %q, %k, %v, %segments {heads = 2 : i64, kv_heads = 2 : i64, head_dim = 1 : i64, scale = 1.0 : f64}
      : tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32> -> tensor<3x2xf32>
  return %o : tensor<3x2xf32>
}

// Scores far beyond what exp can take: the softmax never overflows.

// CHECK-LABEL: @large_scores
// CHECK-NEXT:  2x1
// CHECK-NEXT:  8
// CHECK-NEXT:  4
func.func @large_scores() -> tensor<2x1xf32> {
  %mask = arith.constant dense<1> : tensor<1x2xi32>
  %segments = hexad.segments %mask : tensor<1x2xi32>
  %q = arith.constant dense<[[1.0e30], [-1.0e30]]> : tensor<2x1xf32>
  %k = arith.constant dense<[[-1.0e30], [1.0e30]]> : tensor<2x1xf32>
  %v = arith.constant dense<[[4.0], [8.0]]> : tensor<2x1xf32>
  %o = hexad.attention %q, %k, %v, %segments {heads = 1 : i64, kv_heads = 1 : i64, head_dim = 1 : i64, scale = 1.0 : f64}
      : tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32> -> tensor<2x1xf32>
  return %o : tensor<2x1xf32>
}

// Scores of -∞ are keys that are not there: with some the others share the weight,
// with all the result is 0. A score of +∞ gives NaN. V is finite throughout.

// CHECK-LABEL: @infinite_scores
// CHECK-NEXT:  4x1
// CHECK-NEXT:  2
// CHECK-NEXT:  nan
// CHECK-NEXT:  0
// CHECK-NEXT:  nan
func.func @infinite_scores() -> tensor<4x1xf32> {
  %mask = arith.constant dense<[[1, 1], [1, 0], [1, 0]]> : tensor<3x2xi32>
  %segments = hexad.segments %mask : tensor<3x2xi32>
  %q = arith.constant dense<[[1.0], [-1.0], [1.0], [-1.0]]> : tensor<4x1xf32>
  %k = arith.constant dense<[[1.0], [0xFF800000], [0xFF800000], [0xFF800000]]> : tensor<4x1xf32>
  %v = arith.constant dense<[[2.0], [4.0], [6.0], [8.0]]> : tensor<4x1xf32>
  %o = hexad.attention %q, %k, %v, %segments {heads = 1 : i64, kv_heads = 1 : i64, head_dim = 1 : i64, scale = 1.0 : f64}
      : tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32> -> tensor<4x1xf32>
  return %o : tensor<4x1xf32>
}

// No rows at all.

// CHECK-LABEL: @empty
// CHECK-NEXT:  0x1
func.func @empty() -> tensor<0x1xf32> {
  %mask = arith.constant dense<0> : tensor<2x3xi32>
  %segments = hexad.segments %mask : tensor<2x3xi32>
  %x = arith.constant dense<1.0> : tensor<0x1xf32>
  %o = hexad.attention %x, %x, %x, %segments {heads = 1 : i64, kv_heads = 1 : i64, head_dim = 1 : i64, scale = 1.0 : f64}
      : tensor<0x1xf32>, tensor<0x1xf32>, tensor<0x1xf32> -> tensor<0x1xf32>
  return %o : tensor<0x1xf32>
}

// Keys and values that another attention has appended: its own of row 0, and the
// mean of both. Those of the other layer are others.

// CHECK-LABEL: @shared_keys
// CHECK-NEXT:  2x1
// CHECK-NEXT:  2
// CHECK-NEXT:  3
// CHECK:       2x1
// CHECK-NEXT:  4
// CHECK-NEXT:  6
hexad.cache @cache {layers = 2 : i64, kv_heads = 1 : i64, head_dim = 1 : i64}
func.func @shared_keys() -> (tensor<2x1xf32>, tensor<2x1xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %mask = arith.constant dense<[[1, 1]]> : tensor<1x2xi32>
  %segments = hexad.segments %mask : tensor<1x2xi32>
  %x = arith.constant dense<[[7.0, 1.0, 2.0], [8.0, 5.0, 4.0]]> : tensor<2x3xf32>
  %y = arith.constant dense<[[4.0], [8.0]]> : tensor<2x1xf32>
  %0 = hexad.attention %x, %x, %x, %segments cache @cache[%c1] {causal, offsets = array<i64: 0, 1, 2>, heads = 1 : i64, kv_heads = 1 : i64, head_dim = 1 : i64, scale = 1.0 : f64}
      : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x1xf32>
  %1 = hexad.attention %y, %y, %y, %segments cache @cache[%c0] {causal, heads = 1 : i64, kv_heads = 1 : i64, head_dim = 1 : i64, scale = 1.0 : f64}
      : tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32> -> tensor<2x1xf32>
  %q = arith.constant dense<0.0> : tensor<2x1xf32>
  %2 = hexad.attention %q, %segments cache @cache[%c1] {causal, heads = 1 : i64, kv_heads = 1 : i64, head_dim = 1 : i64, scale = 1.0 : f64}
      : tensor<2x1xf32> -> tensor<2x1xf32>
  %3 = hexad.attention %q, %segments cache @cache[%c0] {causal, heads = 1 : i64, kv_heads = 1 : i64, head_dim = 1 : i64, scale = 1.0 : f64}
      : tensor<2x1xf32> -> tensor<2x1xf32>
  return %2, %3 : tensor<2x1xf32>, tensor<2x1xf32>
}
