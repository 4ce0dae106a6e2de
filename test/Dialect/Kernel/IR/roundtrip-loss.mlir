// RUN: hexad-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func @buffers
func.func @buffers(%x: memref<?x512xf32>, %l: memref<?xi32>, %first: index, %classes: index, %s: memref<144x48xf32>,
                   %y: memref<?x16xf32>, %loss: memref<?x1xf32>) {
  // CHECK: hexad_kernel.start_cross_entropy outs(%{{.+}} : memref<144x48xf32>)
  hexad_kernel.start_cross_entropy outs(%s : memref<144x48xf32>)
  // CHECK: hexad_kernel.cross_entropy_tile ins(%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} : memref<?x512xf32>, memref<?xi32>, index, index) outs(%{{.+}} : memref<144x48xf32>)
  hexad_kernel.cross_entropy_tile ins(%x, %l, %first, %classes : memref<?x512xf32>, memref<?xi32>, index, index) outs(%s : memref<144x48xf32>)
  // CHECK: hexad_kernel.finish_cross_entropy ins(%{{.+}}, %{{.+}} : memref<144x48xf32>, memref<?xi32>) outs(%{{.+}} : memref<?x16xf32>)
  hexad_kernel.finish_cross_entropy ins(%s, %l : memref<144x48xf32>, memref<?xi32>) outs(%y : memref<?x16xf32>)
  // CHECK: hexad_kernel.mean_loss ins(%{{.+}}, %{{.+}} : memref<?x16xf32>, memref<?xi32>) outs(%{{.+}} : memref<?x1xf32>)
  hexad_kernel.mean_loss ins(%y, %l : memref<?x16xf32>, memref<?xi32>) outs(%loss : memref<?x1xf32>)
  return
}

// The mean goes to the caller's buffer.
// CHECK-LABEL: func @tensors
func.func @tensors(%x: tensor<?x?xf32>, %l: tensor<?xi32>, %first: index, %s: tensor<?x48xf32>, %y: tensor<?x16xf32>,
                   %loss: memref<?x1xf32>) -> tensor<?x16xf32> {
  // CHECK: hexad_kernel.start_cross_entropy outs(%{{.+}} : tensor<?x48xf32>) -> tensor<?x48xf32>
  %0 = hexad_kernel.start_cross_entropy outs(%s : tensor<?x48xf32>) -> tensor<?x48xf32>
  // CHECK: hexad_kernel.cross_entropy_tile {{.+}} -> tensor<?x48xf32>
  %1 = hexad_kernel.cross_entropy_tile ins(%x, %l, %first, %first : tensor<?x?xf32>, tensor<?xi32>, index, index) outs(%0 : tensor<?x48xf32>) -> tensor<?x48xf32>
  // CHECK: hexad_kernel.finish_cross_entropy {{.+}} -> tensor<?x16xf32>
  %2 = hexad_kernel.finish_cross_entropy ins(%1, %l : tensor<?x48xf32>, tensor<?xi32>) outs(%y : tensor<?x16xf32>) -> tensor<?x16xf32>
  // CHECK: hexad_kernel.mean_loss ins(%{{.+}}, %{{.+}} : tensor<?x16xf32>, tensor<?xi32>) outs(%{{.+}} : memref<?x1xf32>)
  hexad_kernel.mean_loss ins(%2, %l : tensor<?x16xf32>, tensor<?xi32>) outs(%loss : memref<?x1xf32>)
  return %2 : tensor<?x16xf32>
}
