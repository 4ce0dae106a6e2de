// RUN: hexad-opt %s -split-input-file --hexad-split-columns -canonicalize -cse | FileCheck %s

// Several threads, and fewer strips than threads or than 12: each thread takes its share of the panels of every row. The norm, of which all
// need all columns, is the first thread's. Two panels' columns of bias, residual and result are 32 columns.
// CHECK-LABEL: func.func @block
// CHECK-SAME: (%[[THREADS:.+]]: index {hexad.extent = 0 : i64}, %[[STRIPS:.+]]: index {hexad.extent = 3 : i64}, %[[ROWS:.+]]: index, %[[X:.+]]: memref<?x64xf32>, %[[S:.+]]: memref<?x64xf32>, %[[P:.+]]: memref<4x64x16xf32>, %[[B:.+]]: memref<64xf32>, %[[Y:.+]]: memref<?x64xf32>)
// CHECK: %[[SOME:.+]] = arith.maxui %[[THREADS]], %c12
// CHECK: %[[ALONE:.+]] = arith.cmpi eq, %[[THREADS]], %c1
// CHECK: %[[MOST:.+]] = arith.select %[[ALONE]], %c0, %[[SOME]]
// CHECK: %[[FEW:.+]] = arith.cmpi ult, %[[STRIPS]], %[[MOST]]
// CHECK: scf.forall (%[[T:.+]]) in (%[[THREADS]])
// CHECK: %[[AS:.+]] = arith.select %[[FEW]], %c0, %[[T]]
// CHECK: %[[TEAM:.+]] = arith.select %[[FEW]], %c1, %[[THREADS]]
// CHECK: %[[FIRST_THREAD:.+]] = arith.cmpi eq, %[[T]], %[[AS]]
// A share of the rows is one of `team` threads' then: all.
// CHECK: %[[PRODUCT:.+]] = arith.muli %[[ROWS]], %[[AS]]
// CHECK: arith.divui %[[PRODUCT]], %[[TEAM]]
// CHECK: scf.for
// CHECK: scf.if %[[FIRST_THREAD]] {
// CHECK-NEXT: hexad_kernel.rms_norm
// CHECK: scf.if %[[FEW]] {
// CHECK-NEXT: hexad_kernel.barrier
// CHECK: %[[BEGIN:.+]] = arith.divui %{{.+}}, %[[THREADS]]
// CHECK: %[[FIRST:.+]] = arith.select %[[FEW]], %[[BEGIN]], %c0
// CHECK: %[[END:.+]] = arith.divui %{{.+}}, %[[THREADS]]
// CHECK: %[[LAST:.+]] = arith.select %[[FEW]], %[[END]], %c4
// CHECK: %[[COUNT:.+]] = arith.subi %[[LAST]], %[[FIRST]]
// CHECK: %[[COLUMN:.+]] = arith.muli %[[FIRST]], %c16
// CHECK: %[[COLUMNS:.+]] = arith.muli %[[COUNT]], %c16
// CHECK: %[[PANELS:.+]] = memref.subview %[[P]][%[[FIRST]], 0, 0] [%[[COUNT]], 64, 16]
// CHECK: %[[BIAS:.+]] = memref.subview %[[B]][%[[COLUMN]]] [%[[COLUMNS]]]
// CHECK: %[[RESIDUAL:.+]] = memref.subview %{{.+}}[0, %[[COLUMN]]] [%{{.+}}, %[[COLUMNS]]]
// CHECK: %[[RESULT:.+]] = memref.subview %{{.+}}[0, %[[COLUMN]]] [%{{.+}}, %[[COLUMNS]]]
// CHECK: hexad_kernel.matmul ins(%{{.+}}, %[[PANELS]] : {{.*}}) bias(%[[BIAS]] : {{.*}}) residual(%[[RESIDUAL]] : {{.*}}) outs(%[[RESULT]] :
// CHECK-NEXT: scf.if %[[FEW]] {
// CHECK-NEXT: hexad_kernel.barrier
// CHECK-NEXT: }
// The next kernel works in place on columns of all.
// CHECK: scf.if %[[FIRST_THREAD]] {
// CHECK-NEXT: hexad_kernel.activation
// Before the next block of rows, and before whoever comes behind.
// CHECK: scf.if %[[FEW]] {
// CHECK-NEXT: hexad_kernel.barrier
// CHECK-NOT: hexad_kernel
// CHECK: hexad.nowait
func.func @block(%threads: index {hexad.extent = 0 : i64}, %strips: index {hexad.extent = 3 : i64}, %rows: index,
                 %x: memref<?x64xf32>, %s: memref<?x64xf32>, %p: memref<4x64x16xf32>, %b: memref<64xf32>, %y: memref<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c144 = arith.constant 144 : index
  scf.forall (%t) in (%threads) {
    %0 = arith.muli %rows, %t : index
    %first = arith.divui %0, %threads : index
    %next = arith.addi %t, %c1 : index
    %1 = arith.muli %rows, %next : index
    %last = arith.divui %1, %threads : index
    %count = arith.subi %last, %first : index
    scf.for %i = %c0 to %count step %c144 {
      %row = arith.addi %first, %i : index
      %left = arith.subi %count, %i : index
      %size = arith.minui %left, %c144 : index
      %xs = memref.subview %x[%row, 0] [%size, 64] [1, 1] : memref<?x64xf32> to memref<?x64xf32, strided<[64, 1], offset: ?>>
      %ss = memref.subview %s[%row, 0] [%size, 64] [1, 1] : memref<?x64xf32> to memref<?x64xf32, strided<[64, 1], offset: ?>>
      %ys = memref.subview %y[%row, 0] [%size, 64] [1, 1] : memref<?x64xf32> to memref<?x64xf32, strided<[64, 1], offset: ?>>
      hexad_kernel.rms_norm ins(%xs : memref<?x64xf32, strided<[64, 1], offset: ?>>) outs(%ss : memref<?x64xf32, strided<[64, 1], offset: ?>>) {eps = 1.0e-5 : f64, groups = 1 : i64, offset = 0 : i64, group_size = 64 : i64}
      hexad_kernel.matmul ins(%ss, %p : memref<?x64xf32, strided<[64, 1], offset: ?>>, memref<4x64x16xf32>) bias(%b : memref<64xf32>)
          residual(%xs : memref<?x64xf32, strided<[64, 1], offset: ?>>) outs(%ys : memref<?x64xf32, strided<[64, 1], offset: ?>>)
          {tile = #hexad_kernel.tile<rows = 6, columns = 16>}
      hexad_kernel.activation ins(%ys : memref<?x64xf32, strided<[64, 1], offset: ?>>) outs(%ys : memref<?x64xf32, strided<[64, 1], offset: ?>>) {kind = #hexad.activation<gelu>}
    }
  } {hexad.nowait, hexad.split = "tokens"}
  return
}

// -----

// Without a matrix each thread keeps its rows; but the next loop may take columns of them.
// CHECK-LABEL: func.func @copy
// CHECK: %[[FEW:.+]] = arith.cmpi ult
// CHECK: scf.forall (%[[T:.+]]) in
// CHECK: memref.subview %{{.+}}[%[[T]], 0]
// CHECK: hexad_kernel.copy_rows
// CHECK-NEXT: scf.if %[[FEW]] {
// CHECK-NEXT: hexad_kernel.barrier
// CHECK: hexad.nowait
// Where threads wait, all is said.
// CHECK: scf.forall
// CHECK: hexad_kernel.copy_rows
// CHECK-NOT: hexad_kernel.barrier
// CHECK: return
func.func @copy(%threads: index {hexad.extent = 0 : i64}, %strips: index {hexad.extent = 3 : i64}, %x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  scf.forall (%t) in (%threads) {
    %xs = memref.subview %x[%t, 0] [1, 64] [1, 1] : memref<?x64xf32> to memref<1x64xf32, strided<[64, 1], offset: ?>>
    %ys = memref.subview %y[%t, 0] [1, 64] [1, 1] : memref<?x64xf32> to memref<1x64xf32, strided<[64, 1], offset: ?>>
    hexad_kernel.copy_rows ins(%xs : memref<1x64xf32, strided<[64, 1], offset: ?>>) outs(%ys : memref<1x64xf32, strided<[64, 1], offset: ?>>)
  } {hexad.nowait, hexad.split = "tokens"}
  scf.forall (%t) in (%threads) {
    %xs = memref.subview %x[%t, 0] [1, 64] [1, 1] : memref<?x64xf32> to memref<1x64xf32, strided<[64, 1], offset: ?>>
    %ys = memref.subview %y[%t, 0] [1, 64] [1, 1] : memref<?x64xf32> to memref<1x64xf32, strided<[64, 1], offset: ?>>
    hexad_kernel.copy_rows ins(%ys : memref<1x64xf32, strided<[64, 1], offset: ?>>) outs(%xs : memref<1x64xf32, strided<[64, 1], offset: ?>>)
  } {hexad.split = "tokens"}
  return
}

// -----

// A function that does not know its strips is left as it is.
// CHECK-LABEL: func.func @unknown
// CHECK-NOT: scf.if
// CHECK: return
func.func @unknown(%threads: index {hexad.extent = 0 : i64}, %x: memref<?x64xf32>) {
  scf.forall (%t) in (%threads) {
    %xs = memref.subview %x[%t, 0] [1, 64] [1, 1] : memref<?x64xf32> to memref<1x64xf32, strided<[64, 1], offset: ?>>
    hexad_kernel.activation ins(%xs : memref<1x64xf32, strided<[64, 1], offset: ?>>) outs(%xs : memref<1x64xf32, strided<[64, 1], offset: ?>>) {kind = #hexad.activation<gelu>}
  } {hexad.nowait, hexad.split = "tokens"}
  return
}

// -----

// Copies and stores would be repeated by every thread: the loop stays as it is, and waits.
// CHECK-LABEL: func.func @effects
// CHECK: scf.forall
// CHECK-NOT: scf.if
// CHECK: hexad_kernel.matmul ins(%{{.+}}, %{{.+}} : memref<1x64xf32, {{.+}}>, memref<4x64x16xf32>)
// CHECK: memref.copy
// CHECK-NEXT: scf.if
// CHECK-NEXT: hexad_kernel.barrier
// CHECK: scf.forall
// CHECK-NOT: scf.if
// CHECK: scf.for
// CHECK-NEXT: hexad_kernel.matmul
// CHECK-NEXT: memref.store
// CHECK-NOT: scf.if
// CHECK: return
func.func @effects(%threads: index {hexad.extent = 0 : i64}, %strips: index {hexad.extent = 3 : i64}, %x: memref<?x64xf32>, %p: memref<4x64x16xf32>,
                   %y: memref<?x64xf32>, %z: memref<1x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = arith.constant 1.0 : f32
  scf.forall (%t) in (%threads) {
    %xs = memref.subview %x[%t, 0] [1, 64] [1, 1] : memref<?x64xf32> to memref<1x64xf32, strided<[64, 1], offset: ?>>
    %ys = memref.subview %y[%t, 0] [1, 64] [1, 1] : memref<?x64xf32> to memref<1x64xf32, strided<[64, 1], offset: ?>>
    hexad_kernel.matmul ins(%xs, %p : memref<1x64xf32, strided<[64, 1], offset: ?>>, memref<4x64x16xf32>)
        outs(%ys : memref<1x64xf32, strided<[64, 1], offset: ?>>) {tile = #hexad_kernel.tile<rows = 6, columns = 16>}
    memref.copy %z, %ys : memref<1x64xf32> to memref<1x64xf32, strided<[64, 1], offset: ?>>
  } {hexad.nowait, hexad.split = "tokens"}
  scf.forall (%t) in (%threads) {
    scf.for %i = %c0 to %t step %c1 {
      hexad_kernel.matmul ins(%x, %p : memref<?x64xf32>, memref<4x64x16xf32>) outs(%y : memref<?x64xf32>) {tile = #hexad_kernel.tile<rows = 6, columns = 16>}
      memref.store %f, %y[%i, %c0] : memref<?x64xf32>
    }
  } {hexad.split = "tokens"}
  return
}

// -----

// What is folded into its destination stays with the thread that has the rows.
// CHECK-LABEL: func.func @fold
// CHECK: scf.forall
// CHECK-NOT: scf.if
// CHECK: hexad_kernel.matmul {{.*}} fold(
// CHECK-NOT: scf.if
// CHECK: return
func.func @fold(%threads: index {hexad.extent = 0 : i64}, %strips: index {hexad.extent = 3 : i64}, %x: memref<?x64xf32>, %p: memref<4x64x16xf32>,
                %statistics: memref<6x48xf32>, %y: memref<?x64xf32>) {
  scf.forall (%t) in (%threads) {
    %xs = memref.subview %x[%t, 0] [1, 64] [1, 1] : memref<?x64xf32> to memref<1x64xf32, strided<[64, 1], offset: ?>>
    %ys = memref.subview %y[%t, 0] [1, 64] [1, 1] : memref<?x64xf32> to memref<1x64xf32, strided<[64, 1], offset: ?>>
    hexad_kernel.matmul ins(%xs, %p : memref<1x64xf32, strided<[64, 1], offset: ?>>, memref<4x64x16xf32>) fold(%statistics : memref<6x48xf32>)
        outs(%ys : memref<1x64xf32, strided<[64, 1], offset: ?>>) {tile = #hexad_kernel.tile<rows = 6, columns = 16>}
  } {hexad.split = "tokens"}
  return
}
