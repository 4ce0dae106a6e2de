// RUN: hexad-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func @rotary
// CHECK:         hexad.rotary %{{.+}} {inv_freq = array<f32: 1.000000e+00, 1.250000e-01>} : tensor<?xi32> -> tensor<?x4xf32>
// CHECK:         hexad.rotary %{{.+}} {attention_factor = 1.500000e+00 : f64, inv_freq = array<f32: 0.000000e+00>} : tensor<?xi32> -> tensor<?x2xf32>
func.func @rotary(%p: tensor<?xi32>) {
  %0 = hexad.rotary %p {inv_freq = array<f32: 1.0, 0.125>} : tensor<?xi32> -> tensor<?x4xf32>
  %1 = hexad.rotary %p {inv_freq = array<f32: 0.0>, attention_factor = 1.5 : f64} : tensor<?xi32> -> tensor<?x2xf32>
  return
}

// CHECK-LABEL: func @rope
// CHECK:         hexad.rope half %{{.+}}, %{{.+}} {head_dim = 12 : i64, heads = 6 : i64} : tensor<?x72xf32>, tensor<?x12xf32>
// CHECK:         hexad.rope interleaved %{{.+}}, %{{.+}} {head_dim = 20 : i64, heads = 3 : i64, offset = 12 : i64} : tensor<?x72xf32>, tensor<?x12xf32>
func.func @rope(%x: tensor<?x72xf32>, %t: tensor<?x12xf32>) {
  %0 = hexad.rope half %x, %t {heads = 6 : i64, head_dim = 12 : i64} : tensor<?x72xf32>, tensor<?x12xf32>
  %1 = hexad.rope interleaved %x, %t {heads = 3 : i64, head_dim = 20 : i64, offset = 12 : i64} : tensor<?x72xf32>, tensor<?x12xf32>
  return
}
