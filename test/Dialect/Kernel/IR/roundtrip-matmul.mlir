// RUN: hexad-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func @matmul_tensors
// CHECK: %[[R:.*]] = hexad_kernel.matmul ins(%{{.*}}, %{{.*}} : tensor<?x768xf32>, tensor<768x32xf32>)
// CHECK-SAME: bias(%{{.*}} : tensor<32xf32>) outs(%{{.*}} : tensor<?x32xf32>)
// CHECK-SAME: {activation = #hexad.activation<gelu>, tile = #hexad_kernel.tile<rows = 12, columns = 32>} -> tensor<?x32xf32>
// CHECK: return %[[R]]
func.func @matmul_tensors(%a: tensor<?x768xf32>, %p: tensor<768x32xf32>, %b: tensor<32xf32>, %c: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %r = hexad_kernel.matmul ins(%a, %p : tensor<?x768xf32>, tensor<768x32xf32>) bias(%b : tensor<32xf32>)
      outs(%c : tensor<?x32xf32>) {activation = #hexad.activation<gelu>, tile = #hexad_kernel.tile<rows = 12, columns = 32>} -> tensor<?x32xf32>
  return %r : tensor<?x32xf32>
}

// CHECK-LABEL: func @matmul_buffers
// CHECK: hexad_kernel.matmul ins(%{{.*}}, %{{.*}} : memref<60x128xf32>, memref<?x16xf32>)
// CHECK-SAME: residual(%{{.*}} : memref<60x16xf32>) fold(%{{.*}} : memref<6x64xf32>) outs(%{{.*}} : memref<60x16xf32>)
// CHECK-SAME: {tile = #hexad_kernel.tile<rows = 6, columns = 16>}{{$}}
func.func @matmul_buffers(%a: memref<60x128xf32>, %p: memref<?x16xf32>, %s: memref<6x64xf32>, %c: memref<60x16xf32>) {
  hexad_kernel.matmul ins(%a, %p : memref<60x128xf32>, memref<?x16xf32>) residual(%c : memref<60x16xf32>) fold(%s : memref<6x64xf32>)
      outs(%c : memref<60x16xf32>) {tile = #hexad_kernel.tile<rows = 6, columns = 16>}
  return
}
