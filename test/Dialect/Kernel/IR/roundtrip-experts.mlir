// RUN: hexad-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func @buffers
func.func @buffers(%x: memref<?x16xf32>, %r: memref<?x16xf32>, %b: memref<16xf32>, %n: index, %i: memref<?xi32>, %e: memref<9xi32>, %p: memref<?x64xf32>, %y: memref<?x64xf32>) {
  // CHECK: hexad_kernel.route ins(%{{.*}} : memref<?x16xf32>) outs(%{{.*}} : memref<?x16xf32>)
  // CHECK-SAME: {experts = 8 : i64, renormalize, scaling = 1.000000e+00 : f64, score = #hexad.router_score<softmax>, top_k = 2 : i64}
  hexad_kernel.route ins(%x : memref<?x16xf32>) outs(%r : memref<?x16xf32>)
      {score = #hexad.router_score<softmax>, experts = 8 : i64, top_k = 2 : i64, renormalize, scaling = 1.0 : f64}
  // CHECK: hexad_kernel.route ins(%{{.*}} : memref<?x16xf32>) selection_bias(%{{.*}} : memref<16xf32>) scales(%{{.*}} : memref<16xf32>) outs(%{{.*}} : memref<?x16xf32>)
  // CHECK-SAME: groups = 4 : i64
  hexad_kernel.route ins(%x : memref<?x16xf32>) selection_bias(%b : memref<16xf32>) scales(%b : memref<16xf32>) outs(%r : memref<?x16xf32>)
      {score = #hexad.router_score<sigmoid>, experts = 8 : i64, top_k = 2 : i64, scaling = 2.5 : f64, groups = 4 : i64, top_groups = 2 : i64}
  // CHECK: hexad_kernel.group_rows ins(%{{.*}}, %{{.*}} : index, memref<?x16xf32>)
  // CHECK-SAME: outs(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : memref<?xi32>, memref<?xi32>, memref<9xi32>, memref<9xi32>) {experts = 8 : i64, top_k = 2 : i64}
  hexad_kernel.group_rows ins(%n, %r : index, memref<?x16xf32>) outs(%i, %i, %e, %e : memref<?xi32>, memref<?xi32>, memref<9xi32>, memref<9xi32>)
      {experts = 8 : i64, top_k = 2 : i64}
  // CHECK: hexad_kernel.combine_rows ins(%{{.*}}, %{{.*}}, %{{.*}} : memref<?x64xf32>, memref<?xi32>, memref<?x16xf32>) outs(%{{.*}} : memref<?x64xf32>) {top_k = 2 : i64}
  hexad_kernel.combine_rows ins(%p, %i, %r : memref<?x64xf32>, memref<?xi32>, memref<?x16xf32>) outs(%y : memref<?x64xf32>) {top_k = 2 : i64}
  // CHECK: hexad_kernel.clamp ins(%{{.*}} : memref<?x64xf32>) outs(%{{.*}} : memref<?x64xf32>) {lower = -7.000000e+00 : f64, upper = 7.000000e+00 : f64}
  hexad_kernel.clamp ins(%p : memref<?x64xf32>) outs(%p : memref<?x64xf32>) {lower = -7.0 : f64, upper = 7.0 : f64}
  return
}

// CHECK-LABEL: func @tensors
func.func @tensors(%x: tensor<?x16xf32>, %r: tensor<?x16xf32>) -> tensor<?x16xf32> {
  // CHECK: hexad_kernel.route {{.*}} -> tensor<?x16xf32>
  %y = hexad_kernel.route ins(%x : tensor<?x16xf32>) outs(%r : tensor<?x16xf32>)
      {score = #hexad.router_score<softmax>, experts = 8 : i64, top_k = 2 : i64, scaling = 1.0 : f64} -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}
