// RUN: hexad-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func @matmul_tensors
// CHECK: %[[R:.*]] = hexad_kernel.matmul ins(%{{.*}}, %{{.*}} : tensor<?x768xf32>, tensor<96x768x32xf32>)
// CHECK-SAME: bias(%{{.*}} : tensor<3072xf32>) outs(%{{.*}} : tensor<?x3072xf32>)
// CHECK-SAME: {activation = #hexad.activation<gelu>, tile = #hexad_kernel.tile<rows = 12, columns = 32>} -> tensor<?x3072xf32>
// CHECK: return %[[R]]
func.func @matmul_tensors(%a: tensor<?x768xf32>, %p: tensor<96x768x32xf32>, %b: tensor<3072xf32>, %c: tensor<?x3072xf32>) -> tensor<?x3072xf32> {
  %r = hexad_kernel.matmul ins(%a, %p : tensor<?x768xf32>, tensor<96x768x32xf32>) bias(%b : tensor<3072xf32>)
      outs(%c : tensor<?x3072xf32>) {activation = #hexad.activation<gelu>, tile = #hexad_kernel.tile<rows = 12, columns = 32>} -> tensor<?x3072xf32>
  return %r : tensor<?x3072xf32>
}

// CHECK-LABEL: func @matmul_buffers
// CHECK: hexad_kernel.matmul ins(%{{.*}}, %{{.*}} : memref<?x128xf32>, memref<?x?x16xf32, strided<[4096, 16, 1]>>)
// CHECK-SAME: factor(%{{.*}} : memref<?x32xf32>) residual(%{{.*}} : memref<?x32xf32>) fold(%{{.*}} : memref<6x64xf32>) outs(%{{.*}} : memref<?x32xf32>)
// CHECK-SAME: {tile = #hexad_kernel.tile<rows = 6, columns = 16>}{{$}}
func.func @matmul_buffers(%a: memref<?x128xf32>, %p: memref<?x?x16xf32, strided<[4096, 16, 1]>>, %s: memref<6x64xf32>, %c: memref<?x32xf32>) {
  hexad_kernel.matmul ins(%a, %p : memref<?x128xf32>, memref<?x?x16xf32, strided<[4096, 16, 1]>>) factor(%c : memref<?x32xf32>) residual(%c : memref<?x32xf32>) fold(%s : memref<6x64xf32>)
      outs(%c : memref<?x32xf32>) {tile = #hexad_kernel.tile<rows = 6, columns = 16>}
  return
}

// CHECK-LABEL: func @matmul_narrow
// CHECK: hexad_kernel.matmul ins(%{{.*}}, %{{.*}} : memref<?x8xf32>, memref<2x8x16xbf16>) outs(
// CHECK: hexad_kernel.matmul ins(%{{.*}}, %{{.*}} : memref<?x8xf32>, memref<2x8x16xf16>) outs(
func.func @matmul_narrow(%a: memref<?x8xf32>, %p: memref<2x8x16xbf16>, %q: memref<2x8x16xf16>, %c: memref<?x32xf32>) {
  hexad_kernel.matmul ins(%a, %p : memref<?x8xf32>, memref<2x8x16xbf16>) outs(%c : memref<?x32xf32>) {tile = #hexad_kernel.tile<rows = 6, columns = 16>}
  hexad_kernel.matmul ins(%a, %q : memref<?x8xf32>, memref<2x8x16xf16>) outs(%c : memref<?x32xf32>) {tile = #hexad_kernel.tile<rows = 6, columns = 16>}
  return
}
