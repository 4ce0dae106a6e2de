// RUN: hexad-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func @attention
func.func @attention(%x: memref<?x192xf32>, %i: index, %q: memref<60x16xf32>, %keys: memref<4x12x32xf32>, %values: memref<1x128x16xf32>,
                     %scores: memref<60x128xf32>, %statistics: memref<6x64xf32>, %output: memref<60x16xf32>) {
  // CHECK: hexad_kernel.load_queries ins(%{{.*}}, %{{.*}} : memref<?x192xf32>, index) outs(%{{.*}} : memref<60x16xf32>) {scale = 4.100000e-01 : f64, width = 12 : i64}
  hexad_kernel.load_queries ins(%x, %i : memref<?x192xf32>, index) outs(%q : memref<60x16xf32>) {scale = 0.41 : f64, width = 12 : i64}
  // CHECK: hexad_kernel.pack_keys ins(%{{.*}}, %{{.*}} : memref<?x192xf32>, index) outs(%{{.*}} : memref<4x12x32xf32>) {width = 12 : i64}
  hexad_kernel.pack_keys ins(%x, %i : memref<?x192xf32>, index) outs(%keys : memref<4x12x32xf32>) {width = 12 : i64}
  // CHECK: hexad_kernel.pack_values ins(%{{.*}}, %{{.*}} : memref<?x192xf32>, index) outs(%{{.*}} : memref<1x128x16xf32>) {width = 12 : i64}
  hexad_kernel.pack_values ins(%x, %i : memref<?x192xf32>, index) outs(%values : memref<1x128x16xf32>) {width = 12 : i64}
  // CHECK: hexad_kernel.start_pages outs(%{{.*}}, %{{.*}} : memref<6x64xf32>, memref<60x16xf32>)
  hexad_kernel.start_pages outs(%statistics, %output : memref<6x64xf32>, memref<60x16xf32>)
  // CHECK: hexad_kernel.softmax_page ins(%{{.*}}, %{{.*}} : index, index) outs(%{{.*}}, %{{.*}} : memref<60x128xf32>, memref<6x64xf32>)
  hexad_kernel.softmax_page ins(%i, %i : index, index) outs(%scores, %statistics : memref<60x128xf32>, memref<6x64xf32>)
  // CHECK: hexad_kernel.finish_pages ins(%{{.*}}, %{{.*}}, %{{.*}} : memref<60x16xf32>, memref<6x64xf32>, index)
  // CHECK-SAME: outs(%{{.*}} : memref<?x192xf32>) {width = 12 : i64}
  hexad_kernel.finish_pages ins(%output, %statistics, %i : memref<60x16xf32>, memref<6x64xf32>, index)
      outs(%x : memref<?x192xf32>) {width = 12 : i64}
  return
}

// CHECK-LABEL: func @two_results
func.func @two_results(%i: index, %scores: tensor<60x128xf32>, %statistics: tensor<6x64xf32>) -> (tensor<60x128xf32>, tensor<6x64xf32>) {
  // CHECK: %[[R:.*]]:2 = hexad_kernel.softmax_page
  // CHECK-SAME: -> tensor<60x128xf32>, tensor<6x64xf32>
  %r:2 = hexad_kernel.softmax_page ins(%i, %i : index, index) outs(%scores, %statistics : tensor<60x128xf32>, tensor<6x64xf32>) -> tensor<60x128xf32>, tensor<6x64xf32>
  // CHECK: return %[[R]]#0, %[[R]]#1
  return %r#0, %r#1 : tensor<60x128xf32>, tensor<6x64xf32>
}
