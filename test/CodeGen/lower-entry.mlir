// RUN: hexad-opt %s -split-input-file -verify-diagnostics --hexad-lower-entry | FileCheck %s

// Each argument comes from where abi.h has it: the thread is the first of the
// entry's arguments, extents are numbers, pointers addresses. A buffer is row-major
// from its address on, whatever its number of rows.
// CHECK-LABEL: func.func private @f
// CHECK-SAME: (%{{[a-z0-9]+}}: index, %{{[a-z0-9]+}}: memref<?x8xf32>, %{{[a-z0-9]+}}: !llvm.ptr, %{{[a-z0-9]+}}: index)
// CHECK-LABEL: func.func @hexad_entry
// CHECK-SAME: (%[[THREAD:.+]]: i64, %[[EXTENTS:.+]]: !llvm.ptr, %[[POINTERS:.+]]: !llvm.ptr)
func.func @f(%rows: index {hexad.extent = 1 : i64}, %output: memref<?x8xf32> {hexad.pointer = 12 : i64},
             %team: !llvm.ptr {hexad.pointer = 2 : i64}, %thread: index {hexad.thread}) {
  // CHECK: %[[E:.+]] = llvm.getelementptr %[[EXTENTS]][1] : (!llvm.ptr) -> !llvm.ptr, i64
  // CHECK: %[[R:.+]] = llvm.load %[[E]] : !llvm.ptr -> i64
  // CHECK: %[[ROWS:.+]] = builtin.unrealized_conversion_cast %[[R]] : i64 to index
  // CHECK: %[[P:.+]] = llvm.getelementptr %[[POINTERS]][12] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  // CHECK: %[[ADDRESS:.+]] = llvm.load %[[P]] : !llvm.ptr -> !llvm.ptr
  // CHECK: llvm.insertvalue %[[ADDRESS]], %{{.+}}[0]
  // CHECK: llvm.insertvalue %[[ADDRESS]], %{{.+}}[1]
  // CHECK: %[[ZERO:.+]] = llvm.mlir.constant(0 : {{.*}})
  // CHECK: llvm.insertvalue %[[ZERO]], %{{.+}}[2]
  // CHECK: llvm.insertvalue %{{.+}}, %{{.+}}[3, 1]
  // CHECK-NEXT: %[[STRIDE:.+]] = llvm.mlir.constant(8 : {{.*}})
  // CHECK-NEXT: llvm.insertvalue %[[STRIDE]], %{{.+}}[4, 0]
  // CHECK: %[[OUTPUT:.+]] = builtin.unrealized_conversion_cast %{{.+}} : !llvm.struct<{{.*}}> to memref<?x8xf32>
  // CHECK: %[[T:.+]] = llvm.getelementptr %[[POINTERS]][2]
  // CHECK: %[[TEAM:.+]] = llvm.load %[[T]] : !llvm.ptr -> !llvm.ptr
  // CHECK: %[[INDEX:.+]] = builtin.unrealized_conversion_cast %[[THREAD]] : i64 to index
  // CHECK: call @f(%[[ROWS]], %[[OUTPUT]], %[[TEAM]], %[[INDEX]])
  // CHECK-NEXT: return
  return
}

// -----

// expected-error@+1 {{argument 0 is none that the ABI has: expected one of hexad.extent, hexad.pointer, hexad.thread}}
func.func @unknown(%n: index) {
  return
}

// -----

// expected-error@+1 {{expected one public function}}
module {
  func.func @f() {
    return
  }
  func.func @g() {
    return
  }
}
