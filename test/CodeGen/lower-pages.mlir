// RUN: hexad-opt %s --hexad-lower-pages | FileCheck %s

// base + (page mod slots) · slot_stride + layer · layer_stride + offset, of a
// place that is four i64.
// CHECK-LABEL: func.func @page
// CHECK-SAME: (%[[PLACES:.+]]: memref<?xi64>, %[[PLACE:.+]]: index, %[[PAGE:.+]]: index, %[[LAYER:.+]]: index)
func.func @page(%places: memref<?xi64>, %place: index, %page: index, %layer: index) -> f32 {
  // CHECK: %[[FIRST:.+]] = arith.muli %[[PLACE]], %c4
  // CHECK: %[[AT:.+]] = arith.addi %[[FIRST]], %c1
  // CHECK: %[[SLOTS:.+]] = memref.load %[[PLACES]][%[[AT]]]
  // CHECK: %[[SLOT:.+]] = arith.remui %{{.+}}, %[[SLOTS]] : i64
  // CHECK: %[[BASE:.+]] = memref.load
  // CHECK: %[[SLOT_STRIDE:.+]] = memref.load
  // CHECK: %[[BEFORE:.+]] = arith.muli %[[SLOT]], %[[SLOT_STRIDE]] : i64
  // CHECK: %[[IN_SLOT:.+]] = arith.addi %[[BASE]], %[[BEFORE]] : i64
  // CHECK: %[[LAYER_STRIDE:.+]] = memref.load
  // CHECK: %[[LAYERS:.+]] = arith.muli %{{.+}}, %[[LAYER_STRIDE]] : i64
  // CHECK: %[[IN_LAYER:.+]] = arith.addi %[[IN_SLOT]], %[[LAYERS]] : i64
  // CHECK: %[[ADDRESS:.+]] = arith.addi %[[IN_LAYER]], %c4096_i64 : i64
  // CHECK: llvm.inttoptr %[[ADDRESS]] : i64 to !llvm.ptr
  // CHECK: builtin.unrealized_conversion_cast %{{.+}} : !llvm.struct<{{.*}}> to memref<4x12x32xf32>
  // CHECK-NOT: hexad_kernel.page
  %keys = hexad_kernel.page %places[%place, %page, %layer] offset 4096 : memref<?xi64> -> memref<4x12x32xf32>
  %c0 = arith.constant 0 : index
  %x = memref.load %keys[%c0, %c0, %c0] : memref<4x12x32xf32>
  return %x : f32
}
