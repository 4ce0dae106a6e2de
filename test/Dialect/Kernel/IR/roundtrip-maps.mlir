// RUN: hexad-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func @maps
// CHECK:         hexad_kernel.is_present %[[MAPS:.+]] : memref<?xf32>
// CHECK:         hexad_kernel.clear ins(%{{.+}}, %{{.+}} : index, index) outs(%[[MAPS]] : memref<?xf32>)
// CHECK:         hexad_kernel.map_page ins(%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} : index, index, index, index, tensor<60x128xf32>, tensor<6x64xf32>) position(%{{.+}}) outs(%[[MAPS]] : memref<?xf32>) {causal, softcap = 5.000000e+01 : f64, window = 8 : i64}
// CHECK:         hexad_kernel.map_page ins(%{{.+}} : index, index, index, index, memref<60x128xf32>, memref<6x64xf32>) outs(%[[MAPS]] : memref<?xf32>)
func.func @maps(%maps: memref<?xf32>, %i: index, %scores: tensor<60x128xf32>, %statistics: tensor<6x64xf32>,
                %scores2: memref<60x128xf32>, %statistics2: memref<6x64xf32>) -> i1 {
  %0 = hexad_kernel.is_present %maps : memref<?xf32>
  hexad_kernel.clear ins(%i, %i : index, index) outs(%maps : memref<?xf32>)
  hexad_kernel.map_page ins(%i, %i, %i, %i, %scores, %statistics : index, index, index, index, tensor<60x128xf32>, tensor<6x64xf32>)
      position(%i) outs(%maps : memref<?xf32>) {causal, window = 8 : i64, softcap = 50.0 : f64}
  hexad_kernel.map_page ins(%i, %i, %i, %i, %scores2, %statistics2 : index, index, index, index, memref<60x128xf32>, memref<6x64xf32>)
      outs(%maps : memref<?xf32>)
  return %0 : i1
}
