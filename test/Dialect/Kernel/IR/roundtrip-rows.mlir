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
