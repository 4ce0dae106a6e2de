// RUN: hexad-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func @move
func.func @move(%x: memref<?x64xf32>, %ids: memref<?xi32>, %where: memref<?xi32>, %y: memref<?x60xf32>) {
  // CHECK: hexad_kernel.gather_indices ins(%{{.*}}, %{{.*}} : memref<?xi32>, memref<?xi32>) outs(%{{.*}} : memref<?xi32>)
  hexad_kernel.gather_indices ins(%ids, %where : memref<?xi32>, memref<?xi32>) outs(%ids : memref<?xi32>)
  // CHECK: hexad_kernel.gather_rows ins(%{{.*}}, %{{.*}} : memref<?x64xf32>, memref<?xi32>) outs(%{{.*}} : memref<?x60xf32>) {offset = 2 : i64}
  hexad_kernel.gather_rows ins(%x, %ids : memref<?x64xf32>, memref<?xi32>) outs(%y : memref<?x60xf32>) {offset = 2 : i64}
  // CHECK: hexad_kernel.gather_rows ins(%{{.*}}, %{{.*}} : memref<?x64xf32>, memref<?xi32>) outs(%{{.*}} : memref<?x60xf32>){{$}}
  hexad_kernel.gather_rows ins(%x, %ids : memref<?x64xf32>, memref<?xi32>) outs(%y : memref<?x60xf32>)
  // CHECK: hexad_kernel.scatter_rows ins(%{{.*}}, %{{.*}} : memref<?x64xf32>, memref<?xi32>) outs(%{{.*}} : memref<?x60xf32>)
  hexad_kernel.scatter_rows ins(%x, %where : memref<?x64xf32>, memref<?xi32>) outs(%y : memref<?x60xf32>)
  // CHECK: hexad_kernel.copy_rows ins(%{{.*}} : memref<?x64xf32>) outs(%{{.*}} : memref<?x60xf32>)
  hexad_kernel.copy_rows ins(%x : memref<?x64xf32>) outs(%y : memref<?x60xf32>)
  // CHECK: hexad_kernel.mean_rows ins(%{{.*}}, %{{.*}} : memref<?x64xf32>, memref<?xi32>) outs(%{{.*}} : memref<?x60xf32>)
  hexad_kernel.mean_rows ins(%x, %ids : memref<?x64xf32>, memref<?xi32>) outs(%y : memref<?x60xf32>)
  // CHECK: hexad_kernel.thread : index
  %t = hexad_kernel.thread : index
  // CHECK: hexad_kernel.barrier
  hexad_kernel.barrier
  return
}

// CHECK-LABEL: func.func @gather_packed_rows
func.func @gather_packed_rows(%t: tensor<4x60x32xf32>, %w: tensor<?xi32>, %y: tensor<?x64xf32>) -> tensor<?x64xf32> {
  // CHECK: hexad_kernel.gather_packed_rows ins(%{{.+}}, %{{.+}} : tensor<4x60x32xf32>, tensor<?xi32>) outs(%{{.+}} : tensor<?x64xf32>) {offset = 2 : i64} -> tensor<?x64xf32>
  %0 = hexad_kernel.gather_packed_rows ins(%t, %w : tensor<4x60x32xf32>, tensor<?xi32>) outs(%y : tensor<?x64xf32>) {offset = 2 : i64} -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}
