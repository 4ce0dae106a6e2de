// RUN: hexad-opt %s -split-input-file -verify-diagnostics --hexad-lower-copies | FileCheck %s

// Each thread copies its share of the rows; sizes are those of allocations, also
// through loops.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: %[[THREADS:[a-z0-9]+]]: index {hexad.extent = 0 : i64}, %[[ROWS:[a-z0-9]+]]: index {hexad.extent = 1 : i64}
func.func @rows(%threads: index {hexad.extent = 0 : i64}, %rows: index {hexad.extent = 1 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  // CHECK: %[[A:.+]] = memref.alloc(%[[ROWS]])
  %a = memref.alloc(%rows) : memref<?x32xf32>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %a) -> memref<?x32xf32> {
    // CHECK: iter_args(%[[X:.+]] = %[[A]])
    %n = memref.dim %x, %c0 : memref<?x32xf32>
    // CHECK: %[[B:.+]] = memref.alloc(%[[ROWS]])
    %b = memref.alloc(%n) : memref<?x32xf32>
    // CHECK: scf.forall (%[[T:.+]]) in (%[[THREADS]])
    // CHECK: %[[NEXT:.+]] = arith.addi %[[T]]
    // CHECK: arith.muli %[[ROWS]], %[[T]]
    // CHECK: %[[FIRST:.+]] = arith.divui
    // CHECK: arith.muli %[[ROWS]], %[[NEXT]]
    // CHECK: %[[SIZE:.+]] = arith.subi %{{.+}}, %[[FIRST]]
    // CHECK: %[[FROM:.+]] = memref.subview %[[X]][%[[FIRST]], 0] [%[[SIZE]], 32] [1, 1]
    // CHECK: %[[TO:.+]] = memref.subview %[[B]][%[[FIRST]], 0] [%[[SIZE]], 32] [1, 1]
    // CHECK: hexad_kernel.copy_rows ins(%[[FROM]] {{.*}} outs(%[[TO]]
    memref.copy %x, %b : memref<?x32xf32> to memref<?x32xf32>
    scf.yield %x : memref<?x32xf32>
  }
  // A stack: member by member.
  %s = memref.alloc(%rows) : memref<2x?x32xf32>
  %t = memref.alloc(%rows) : memref<2x?x32xf32>
  // CHECK: memref.subview %{{.+}}[0, %{{.+}}, 0] [1, %{{.+}}, 32] [1, 1, 1]
  // CHECK: hexad_kernel.copy_rows
  // CHECK: memref.subview %{{.+}}[1, %{{.+}}, 0] [1, %{{.+}}, 32] [1, 1, 1]
  // CHECK: hexad_kernel.copy_rows
  memref.copy %s, %t : memref<2x?x32xf32> to memref<2x?x32xf32>
  return
}

// -----

func.func @output(%threads: index {hexad.extent = 0 : i64}, %rows: index {hexad.extent = 1 : i64}, %output: memref<?x32xf32>) {
  %a = memref.alloc(%rows) : memref<?x32xf32>
  // expected-error@+1 {{was left by bufferization: a value is needed after its buffer was overwritten}}
  memref.copy %a, %output : memref<?x32xf32> to memref<?x32xf32>
  return
}
