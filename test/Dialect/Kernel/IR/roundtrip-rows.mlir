// RUN: hexad-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func @buffers
func.func @buffers(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %w: memref<64xf32>, %b: memref<64xf32>) {
  // CHECK: hexad_kernel.layer_norm ins(%{{.*}}, %{{.*}} : memref<?x64xf32>, memref<64xf32>) bias(%{{.*}} : memref<64xf32>)
  // CHECK-SAME: outs(%{{.*}} : memref<?x64xf32>) {eps = 9.9999999999999998E-13 : f64, width = 60 : i64}
  hexad_kernel.layer_norm ins(%x, %w : memref<?x64xf32>, memref<64xf32>) bias(%b : memref<64xf32>)
      outs(%x : memref<?x64xf32>) {eps = 1.0e-12 : f64, width = 60 : i64}
  // CHECK: hexad_kernel.layer_norm ins(%{{.*}}, %{{.*}} : memref<?x64xf32>, memref<64xf32>) outs(%{{.*}} : memref<?x64xf32>)
  hexad_kernel.layer_norm ins(%x, %w : memref<?x64xf32>, memref<64xf32>) outs(%y : memref<?x64xf32>) {eps = 0.0 : f64, width = 64 : i64}
  // CHECK: hexad_kernel.l2_normalize ins(%{{.*}} : memref<?x64xf32>) outs(%{{.*}} : memref<?x64xf32>) {eps = 9.9999999999999998E-13 : f64, width = 60 : i64}
  hexad_kernel.l2_normalize ins(%x : memref<?x64xf32>) outs(%x : memref<?x64xf32>) {eps = 1.0e-12 : f64, width = 60 : i64}
  // CHECK: hexad_kernel.softmax ins(%{{.*}} : memref<?x64xf32>) outs(%{{.*}} : memref<?x64xf32>) {width = 3 : i64}
  hexad_kernel.softmax ins(%x : memref<?x64xf32>) outs(%x : memref<?x64xf32>) {width = 3 : i64}
  // CHECK: hexad_kernel.activation ins(%{{.*}} : memref<?x64xf32>) outs(%{{.*}} : memref<?x64xf32>) {kind = #hexad.activation<tanh>}
  hexad_kernel.activation ins(%x : memref<?x64xf32>) outs(%x : memref<?x64xf32>) {kind = #hexad.activation<tanh>}
  // CHECK: hexad_kernel.add ins(%{{.*}}, %{{.*}} : memref<?x64xf32>, memref<?x64xf32>) outs(%{{.*}} : memref<?x64xf32>)
  hexad_kernel.add ins(%x, %y : memref<?x64xf32>, memref<?x64xf32>) outs(%x : memref<?x64xf32>)
  return
}

// CHECK-LABEL: func @tensors
func.func @tensors(%x: tensor<?x64xf32>, %y: tensor<?x64xf32>) -> tensor<?x64xf32> {
  // CHECK: hexad_kernel.add ins(%{{.*}}, %{{.*}} : tensor<?x64xf32>, tensor<?x64xf32>) outs(%{{.*}} : tensor<?x64xf32>) -> tensor<?x64xf32>
  %r = hexad_kernel.add ins(%x, %y : tensor<?x64xf32>, tensor<?x64xf32>) outs(%x : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}

// CHECK-LABEL: func @decoders
func.func @decoders(%x: memref<?x64xf32>, %y: memref<?x64xf32>, %w: memref<32xf32>, %p: memref<?xi32>, %r: memref<?x32xf32>) {
  // CHECK: hexad_kernel.rms_norm ins(%{{.*}} : memref<?x64xf32>) weight(%{{.*}} : memref<32xf32>) outs(%{{.*}} : memref<?x64xf32>)
  // CHECK-SAME: {eps = 1.250000e-01 : f64, group_size = 28 : i64, groups = 2 : i64, offset = 8 : i64, unit_offset}
  hexad_kernel.rms_norm ins(%x : memref<?x64xf32>) weight(%w : memref<32xf32>) outs(%x : memref<?x64xf32>)
      {eps = 0.125 : f64, offset = 8 : i64, groups = 2 : i64, group_size = 28 : i64, unit_offset}
  // CHECK: hexad_kernel.rms_norm ins(%{{.*}} : memref<?x64xf32>) outs(%{{.*}} : memref<?x64xf32>) {eps = 0.000000e+00 : f64, group_size = 60 : i64, groups = 1 : i64}
  hexad_kernel.rms_norm ins(%x : memref<?x64xf32>) outs(%y : memref<?x64xf32>) {eps = 0.0 : f64, groups = 1 : i64, group_size = 60 : i64}
  // CHECK: hexad_kernel.scale ins(%{{.*}} : memref<?x64xf32>) outs(%{{.*}} : memref<?x64xf32>) {factor = 2.500000e-01 : f64}
  hexad_kernel.scale ins(%x : memref<?x64xf32>) outs(%x : memref<?x64xf32>) {factor = 0.25 : f64}
  // CHECK: hexad_kernel.softcap ins(%{{.*}} : memref<?x64xf32>) outs(%{{.*}} : memref<?x64xf32>) {cap = 3.000000e+01 : f64}
  hexad_kernel.softcap ins(%x : memref<?x64xf32>) outs(%x : memref<?x64xf32>) {cap = 30.0 : f64}
  // CHECK: hexad_kernel.multiply ins(%{{.*}}, %{{.*}} : memref<?x64xf32>, memref<?x64xf32>) outs(%{{.*}} : memref<?x64xf32>)
  hexad_kernel.multiply ins(%x, %y : memref<?x64xf32>, memref<?x64xf32>) outs(%x : memref<?x64xf32>)
  // CHECK: hexad_kernel.rotary ins(%{{.*}} : memref<?xi32>) outs(%{{.*}} : memref<?x32xf32>) {attention_factor = 1.000000e+00 : f64, inv_freq = array<f32: 1.000000e+00, 1.250000e-01>}
  hexad_kernel.rotary ins(%p : memref<?xi32>) outs(%r : memref<?x32xf32>) {inv_freq = array<f32: 1.0, 0.125>, attention_factor = 1.0 : f64}
  // CHECK: hexad_kernel.rope ins(%{{.*}}, %{{.*}} : memref<?x64xf32>, memref<?x32xf32>) outs(%{{.*}} : memref<?x64xf32>)
  // CHECK-SAME: {frequencies = 2 : i64, head_dim = 12 : i64, heads = 4 : i64, offset = 4 : i64, pairing = #hexad.pairing<interleaved>}
  hexad_kernel.rope ins(%x, %r : memref<?x64xf32>, memref<?x32xf32>) outs(%x : memref<?x64xf32>)
      {pairing = #hexad.pairing<interleaved>, heads = 4 : i64, head_dim = 12 : i64, frequencies = 2 : i64, offset = 4 : i64}
  return
}
