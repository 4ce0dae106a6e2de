// RUN: hexad-opt %s --pass-pipeline='builtin.module(hexad-kernel-to-vector,canonicalize,cse)' | FileCheck %s
// Fused multiply-adds are math.fma; no sum is left to an order of LLVM's, nothing is fast.
// RUN: hexad-opt %s --pass-pipeline='builtin.module(hexad-kernel-to-vector,canonicalize,cse)' \
// RUN:   | FileCheck %s --check-prefix=NEVER
// NEVER-NOT: {{vector\.fma|vector\.reduction|vector\.contract|fastmath|arith\.maximumf|arith\.maxnumf|math\.exp|hexad_kernel\.[^bt]}}

// CHECK-LABEL: func @matmul(
// CHECK-SAME: %[[A:.*]]: memref<?x10xf32>, %[[PANELS:.*]]: memref<3x10x16xf32>, %[[C:.*]]: memref<?x48xf32>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<16xf32>
// CHECK-NOT: memref.prefetch
// CHECK: %[[KEPT:.*]] = memref.alloca() {alignment = 64 : i64} : memref<16x16xf32>
// CHECK: %[[WHOLE:.*]] = arith.divui %{{.*}}, %c2
// One row: groups of two panels, as many as the tile has registers for; one panel is left.
// CHECK: %[[ONE:.*]] = arith.cmpi eq, %{{.*}}, %c1 : index
// CHECK: %[[SHIFT:.*]] = arith.select %[[ONE]], %c1, %c0 : index
// CHECK: %[[GROUPS:.*]] = arith.shrui %c3, %[[SHIFT]]
// CHECK: scf.for %[[TURN:.*]] = %c0 to %{{.*}} step %c1
// CHECK: %[[IS_GROUP:.*]] = arith.cmpi ult, %[[TURN]], %[[GROUPS]]
// CHECK: %[[NOW:.*]] = arith.select %[[IS_GROUP]], %[[SHIFT]], %c0
// CHECK: %[[P:.*]] = arith.select %[[IS_GROUP]], %{{.*}}, %{{.*}} : index
// CHECK: scf.for %[[STRIP:.*]] = %c0 to %{{.*}} step %c1
// CHECK: %[[M:.*]] = arith.muli %[[STRIP]], %c2
// CHECK: %[[IS_WHOLE:.*]] = arith.cmpi ult, %[[STRIP]], %[[WHOLE]]
// CHECK: %[[COUNT:.*]] = arith.select %[[IS_WHOLE]], %c0, %[[REST:.*]] : index
// CHECK: scf.if %[[IS_WHOLE]]
// CHECK: %[[M1:.*]] = arith.addi %[[M]], %c1
// Ten steps of k: four in the loop's body, two behind it.
// CHECK: %[[SUMS:.*]]:2 = scf.for %[[K:.*]] = %c0 to %c8 step %c4 iter_args(%[[S0:.*]] = %[[ZERO]], %[[S1:.*]] = %[[ZERO]])
// CHECK: %[[B:.*]] = vector.load %[[PANELS]][%[[P]], %[[K]], %c0] : memref<3x10x16xf32>, vector<16xf32>
// CHECK: %[[X0:.*]] = memref.load %[[A]][%[[M]], %[[K]]]
// CHECK: %[[W0:.*]] = vector.broadcast %[[X0]] : f32 to vector<16xf32>
// CHECK: math.fma %[[W0]], %[[B]], %[[S0]] : vector<16xf32>
// CHECK: %[[X1:.*]] = memref.load %[[A]][%[[M1]], %[[K]]]
// CHECK: %[[W1:.*]] = vector.broadcast %[[X1]] : f32 to vector<16xf32>
// CHECK: math.fma %[[W1]], %[[B]], %[[S1]] : vector<16xf32>
// CHECK-COUNT-6: math.fma
// CHECK-NOT: math.fma
// CHECK: scf.yield
// CHECK-COUNT-4: math.fma
// CHECK-NOT: math.fma
// CHECK: %[[N:.*]] = arith.muli %[[P]], %c16
// CHECK: vector.store %{{.*}}, %[[C]][%[[M]], %[[N]]]
// CHECK: vector.store %{{.*}}, %[[C]][%[[M1]], %{{.*}}]
// The rest, here a single row, by a group of panels or a panel: in functions.
// CHECK: } else {
// CHECK: scf.if
// CHECK: scf.if %[[ONE]]
// CHECK: call @hexad_strip_1x2x16xf32(%{{.*}}, %{{.*}}, %{{.*}}, %[[P]], %c0, %c0)
// CHECK: } else {
// CHECK: scf.if
// CHECK: call @hexad_strip_1x1x16xf32(%{{.*}}, %{{.*}}, %{{.*}}, %[[P]], %{{.*}}, %[[WHOLE]], %c0, %{{.*}})
// What they leave: a row for each panel.
// CHECK: %[[LEFT:.*]] = arith.shli %[[COUNT]], %[[NOW]]
// CHECK: scf.for %[[I:.*]] = %c0 to %[[LEFT]] step %c1
// CHECK: %[[PANEL:.*]] = arith.andi %[[I]]
// CHECK: %[[ROW:.*]] = arith.shrui %[[I]], %[[NOW]]
// CHECK: %[[RM:.*]] = arith.addi %[[M]], %[[ROW]]
// CHECK: %[[RP:.*]] = arith.addi %[[P]], %[[PANEL]]
// CHECK: %[[V:.*]] = vector.load %[[KEPT]][%[[I]], %c0]
// CHECK: %[[RN:.*]] = arith.muli %[[RP]], %c16
// CHECK: vector.store %[[V]], %[[C]][%[[RM]], %[[RN]]]
// CHECK-NOT: math.fma
// CHECK: return
func.func @matmul(%a: memref<?x10xf32>, %panels: memref<3x10x16xf32>, %c: memref<?x48xf32>) {
  hexad_kernel.matmul ins(%a, %panels : memref<?x10xf32>, memref<3x10x16xf32>) outs(%c : memref<?x48xf32>)
      {tile = #hexad_kernel.tile<rows = 2, columns = 16>}
  return
}

// Large panels: strips share the fetching of the one behind theirs. Strip s fetches eight cache lines from element
// (512 * s + k) * share on, share being at most 32: no gap is between them and those of the next four steps.
// CHECK-LABEL: func @matmul_fetch
// CHECK-SAME: %{{.*}}: memref<?x512xf32>, %[[PANELS:.*]]: memref<?x512x16xf32>, %[[C:.*]]: memref<?x32xf32>
// CHECK: %[[ROWS:.*]] = memref.dim %[[C]], %c0
// CHECK: %[[WHOLE:.*]] = arith.divui %[[ROWS]], %c2
// CHECK: %[[STRIPS:.*]] = arith.maxui %{{.*}}, %c1
// CHECK: %[[SUM:.*]] = arith.addi %[[STRIPS]], %c15
// CHECK: %[[PART:.*]] = arith.divui %[[SUM]], %[[STRIPS]]
// CHECK: %[[SHARE:.*]] = arith.minui %[[PART]], %c32
// CHECK: scf.for
// CHECK: arith.select
// CHECK: %[[P:.*]] = arith.select {{.*}} : index
// CHECK: scf.for %[[STRIP:.*]] = %c0 to %{{.*}} step %c1
// CHECK: scf.for %[[K:.*]] = %c0 to %c512 step %c4
// CHECK: %[[NEXT:.*]] = arith.addi %[[P]], %c1
// CHECK: %[[BEGIN:.*]] = arith.muli %[[STRIP]], %c512
// CHECK: %[[STEP:.*]] = arith.addi %[[BEGIN]], %[[K]]
// CHECK: %[[FIRST:.*]] = arith.muli %[[STEP]], %[[SHARE]]
// CHECK: memref.prefetch %[[PANELS]][%[[NEXT]], %c0, %[[FIRST]]], read, locality<2>, data
// CHECK: %[[E1:.*]] = arith.addi %[[FIRST]], %c16
// CHECK: memref.prefetch %[[PANELS]][%[[NEXT]], %c0, %[[E1]]], read, locality<2>, data
// CHECK: %[[E2:.*]] = arith.addi %[[FIRST]], %c32
// CHECK: memref.prefetch %[[PANELS]][%[[NEXT]], %c0, %[[E2]]], read, locality<2>, data
// CHECK: %[[E3:.*]] = arith.addi %[[FIRST]], %c48
// CHECK: memref.prefetch %[[PANELS]][%[[NEXT]], %c0, %[[E3]]], read, locality<2>, data
// CHECK: %[[E4:.*]] = arith.addi %[[FIRST]], %c64
// CHECK: memref.prefetch %[[PANELS]][%[[NEXT]], %c0, %[[E4]]], read, locality<2>, data
// CHECK: %[[E5:.*]] = arith.addi %[[FIRST]], %c80
// CHECK: memref.prefetch %[[PANELS]][%[[NEXT]], %c0, %[[E5]]], read, locality<2>, data
// CHECK: %[[E6:.*]] = arith.addi %[[FIRST]], %c96
// CHECK: memref.prefetch %[[PANELS]][%[[NEXT]], %c0, %[[E6]]], read, locality<2>, data
// CHECK: %[[E7:.*]] = arith.addi %[[FIRST]], %c112
// CHECK: memref.prefetch %[[PANELS]][%[[NEXT]], %c0, %[[E7]]], read, locality<2>, data
// CHECK-NOT: memref.prefetch
// The last single row is the strip behind the whole ones, and fetches its share, too.
// CHECK: call @hexad_strip_1x1x16xf32({{.*}}, %[[WHOLE]], %[[SHARE]], %{{.*}})
func.func @matmul_fetch(%a: memref<?x512xf32>, %panels: memref<?x512x16xf32>, %c: memref<?x32xf32>) {
  hexad_kernel.matmul ins(%a, %panels : memref<?x512xf32>, memref<?x512x16xf32>) outs(%c : memref<?x32xf32>)
      {tile = #hexad_kernel.tile<rows = 2, columns = 16>}
  return
}

// Panels of 16 bits are widened as they are read; twice as many columns are eight cache lines. Their strips are functions of
// their own; sums are f32.
// CHECK-LABEL: func @matmul_narrow
// CHECK-SAME: %{{.*}}: memref<?x512xf32>, %[[PANELS:.*]]: memref<?x512x32xbf16>
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<16x32xf32>
// CHECK: %[[SHARE:.*]] = arith.minui %{{.*}}, %c64
// CHECK: scf.for %[[K:.*]] = %c0 to %c512 step %c4
// CHECK: %[[AT:.*]] = arith.muli %{{.*}}, %[[SHARE]]
// CHECK: memref.prefetch %[[PANELS]][%{{.*}}, %c0, %[[AT]]]
// CHECK: %[[E1:.*]] = arith.addi %[[AT]], %c32
// CHECK: memref.prefetch %[[PANELS]][%{{.*}}, %c0, %[[E1]]]
// CHECK-COUNT-6: memref.prefetch %[[PANELS]]
// CHECK-NOT: memref.prefetch
// CHECK: %[[B0:.*]] = vector.load %[[PANELS]][%{{.*}}, %[[K]], %c0] : memref<?x512x32xbf16>, vector<16xbf16>
// CHECK: %[[W0:.*]] = arith.extf %[[B0]] : vector<16xbf16> to vector<16xf32>
// CHECK: %[[B1:.*]] = vector.load %[[PANELS]][%{{.*}}, %[[K]], %c16] : memref<?x512x32xbf16>, vector<16xbf16>
// CHECK: %[[W1:.*]] = arith.extf %[[B1]] : vector<16xbf16> to vector<16xf32>
// CHECK: math.fma %{{.*}}, %[[W0]], %{{.*}} : vector<16xf32>
// CHECK: math.fma %{{.*}}, %[[W1]], %{{.*}} : vector<16xf32>
// CHECK: call @hexad_strip_1x1x32xbf16(%{{.*}}) : (memref<?x?xf32, strided<[?, 1], offset: ?>>, memref<?x?x32xbf16, strided<[?, 32, 1], offset: ?>>, memref<?x32xf32>,
func.func @matmul_narrow(%a: memref<?x512xf32>, %panels: memref<?x512x32xbf16>, %c: memref<?x64xf32>) {
  hexad_kernel.matmul ins(%a, %panels : memref<?x512xf32>, memref<?x512x32xbf16>) outs(%c : memref<?x64xf32>)
      {tile = #hexad_kernel.tile<rows = 2, columns = 32>}
  return
}

// The same number of columns, but half the bytes: too small to be fetched ahead.
// CHECK-LABEL: func @matmul_narrow_small
// CHECK-NOT: memref.prefetch
// CHECK: call @hexad_strip_1x1x16xf16
func.func @matmul_narrow_small(%a: memref<?x256xf32>, %panels: memref<?x256x16xf16>, %c: memref<?x32xf32>) {
  hexad_kernel.matmul ins(%a, %panels : memref<?x256xf32>, memref<?x256x16xf16>) outs(%c : memref<?x32xf32>)
      {tile = #hexad_kernel.tile<rows = 2, columns = 16>}
  return
}

// An activation is applied in a loop over the rows of a strip, so that its code is there once; operands of the
// epilogue may lie in the destination, so the sums wait elsewhere.
// CHECK-LABEL: func @matmul_activation
// CHECK: %[[KEPT:.*]] = memref.alloca() {alignment = 64 : i64} : memref<16x16xf32>
// CHECK: scf.for
// CHECK: scf.for
// CHECK: arith.select %{{.*}}, %c2, %{{.*}} : index
// CHECK: scf.if
// CHECK: scf.for {{.*}} iter_args
// CHECK-NOT: arith.divf
// CHECK: vector.store %{{.*}}, %[[KEPT]][%c0, %c0]
// CHECK: vector.store %{{.*}}, %[[KEPT]][%c1, %c0]
// CHECK: call @hexad_strip_1x2x16xf32
// CHECK: call @hexad_strip_1x1x16xf32
// CHECK: scf.for
// CHECK: vector.load %[[KEPT]]
// CHECK: arith.divf
// CHECK-NOT: arith.divf
// CHECK: vector.store
// CHECK: return
func.func @matmul_activation(%a: memref<?x8xf32>, %panels: memref<2x?x16xf32, strided<[128, 16, 1]>>, %c: memref<?x32xf32>) {
  hexad_kernel.matmul ins(%a, %panels : memref<?x8xf32>, memref<2x?x16xf32, strided<[128, 16, 1]>>) residual(%c : memref<?x32xf32>) outs(%c : memref<?x32xf32>)
      {activation = #hexad.activation<sigmoid>, tile = #hexad_kernel.tile<rows = 2, columns = 16>}
  return
}

// A row's sum: 16 lanes, folded by halves.
// CHECK-LABEL: func @l2_normalize
// CHECK: %[[LANES:.*]] = scf.for {{.*}} to %c32 step %c16 iter_args
// CHECK: math.fma
// CHECK: %[[MASK:.*]] = {{.*}}vector.constant_mask [5] : vector<16xi1>
// CHECK: arith.select
// CHECK: %[[ALL:.*]] = math.fma
// CHECK: %[[LOW8:.*]] = vector.shuffle %[[ALL]], %[[ALL]] [0, 1, 2, 3, 4, 5, 6, 7]
// CHECK: %[[HIGH8:.*]] = vector.shuffle %[[ALL]], %[[ALL]] [8, 9, 10, 11, 12, 13, 14, 15]
// CHECK: %[[EIGHT:.*]] = arith.addf %[[LOW8]], %[[HIGH8]] : vector<8xf32>
// CHECK: arith.addf {{.*}} : vector<4xf32>
// CHECK: arith.addf {{.*}} : vector<2xf32>
// CHECK: arith.addf {{.*}} : vector<1xf32>
// CHECK: math.sqrt {{.*}} : f32
func.func @l2_normalize(%x: memref<?x48xf32>) {
  hexad_kernel.l2_normalize ins(%x : memref<?x48xf32>) outs(%x : memref<?x48xf32>) {eps = 1.0e-12 : f64, width = 37 : i64}
  return
}

// An output that was not asked for, and one whose rows are not padded.
// CHECK-LABEL: func @gather_rows
// CHECK: %[[ADDRESS:.*]] = memref.extract_aligned_pointer_as_index %[[D:.*]] : memref<?x18xf32>
// CHECK: %[[PRESENT:.*]] = arith.cmpi ne, %[[ADDRESS]], %c0
// CHECK: scf.if %[[PRESENT]]
// CHECK: vector.store %{{.*}}, %arg2[%{{.*}}, %c0]
// CHECK: scf.for {{.*}} = %c16 to %c18 step %c1
// CHECK: memref.store
func.func @gather_rows(%s: memref<?x32xf32>, %w: memref<?xi32>, %d: memref<?x18xf32>) {
  hexad_kernel.gather_rows ins(%s, %w : memref<?x32xf32>, memref<?xi32>) outs(%d : memref<?x18xf32>)
  return
}

// From a table of 16 bits.
// CHECK-LABEL: func @gather_narrow_rows
// CHECK: %[[ROW:.*]] = vector.load %{{.*}} : memref<?x32xf16>, vector<16xf16>
// CHECK: %[[WIDE:.*]] = arith.extf %[[ROW]] : vector<16xf16> to vector<16xf32>
// CHECK: vector.store %[[WIDE]], %arg2[%{{.*}}, %{{.*}}]
// CHECK: %[[ELEMENT:.*]] = memref.load %{{.*}} : memref<?x32xf16>
// CHECK: %[[WIDE:.*]] = arith.extf %[[ELEMENT]] : f16 to f32
// CHECK: memref.store %[[WIDE]]
func.func @gather_narrow_rows(%s: memref<?x32xf16>, %w: memref<?xi32>, %d: memref<?x18xf32>) {
  hexad_kernel.gather_rows ins(%s, %w : memref<?x32xf16>, memref<?xi32>) outs(%d : memref<?x18xf32>)
  return
}

// The ops of the team stay.
// CHECK-LABEL: func @team
// CHECK: hexad_kernel.thread
// CHECK: hexad_kernel.barrier
func.func @team() -> index {
  %t = hexad_kernel.thread : index
  hexad_kernel.barrier
  return %t : index
}

// One row times two panels side by side: each sum is a chain of its own; they are kept one below the other. What is read 2 KiB
// later is fetched, a line for each step and panel; behind the panels' ends that of the next two.
// CHECK-LABEL: func private @hexad_strip_1x2x16xf32
// CHECK-SAME: %[[A:.*]]: memref<?x?xf32, strided<[?, 1], offset: ?>>, %[[PANELS:.*]]: memref<?x?x16xf32, strided<[?, 16, 1], offset: ?>>,
// CHECK-SAME: %[[SUMS:.*]]: memref<?x16xf32>, %[[P:.*]]: index, %[[FIRST:.*]]: index, %[[M:.*]]: index) attributes {llvm.linkage = #llvm.linkage<internal>, passthrough = ["noinline"]}
// CHECK: %[[P1:.*]] = arith.addi %[[P]], %c1
// CHECK: %[[DEPTH:.*]] = memref.dim %[[PANELS]], %c1
// CHECK: %[[MAIN:.*]]:2 = scf.for %[[K:.*]] = %c0 to %{{.*}} step %c4 iter_args(%[[S0:.*]] = %{{.*}}, %[[S1:.*]] = %{{.*}})
// CHECK: %[[AHEAD:.*]] = arith.addi %[[K]], %c32
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[AHEAD]], %[[DEPTH]]
// CHECK: %[[OTHERS:.*]] = arith.select %[[INSIDE]], %c0, %[[DEPTH]]
// CHECK: %[[STEP:.*]] = arith.addi %[[AHEAD]], %[[OTHERS]]
// CHECK: memref.prefetch %[[PANELS]][%[[P]], %[[STEP]], %c0], read, locality<3>, data
// CHECK: memref.prefetch %[[PANELS]][%[[P]], %[[STEP]], %c16]
// CHECK: memref.prefetch %[[PANELS]][%[[P]], %[[STEP]], %c32]
// CHECK: memref.prefetch %[[PANELS]][%[[P]], %[[STEP]], %c48]
// CHECK-COUNT-4: memref.prefetch %[[PANELS]][%[[P1]], %[[STEP]]
// CHECK-NOT: memref.prefetch
// CHECK: %[[B0:.*]] = vector.load %[[PANELS]][%[[P]], %[[K]], %c0]
// CHECK: %[[B1:.*]] = vector.load %[[PANELS]][%[[P1]], %[[K]], %c0]
// CHECK: %[[X:.*]] = memref.load %[[A]][%[[M]], %[[K]]]
// CHECK: %[[W:.*]] = vector.broadcast %[[X]]
// CHECK: math.fma %[[W]], %[[B0]], %[[S0]]
// CHECK: math.fma %[[W]], %[[B1]], %[[S1]]
// CHECK-COUNT-6: math.fma
// CHECK-NOT: math.fma
// CHECK: %[[ALL:.*]]:2 = scf.for %{{.*}} step %c1 iter_args(%{{.*}} = %[[MAIN]]#0, %{{.*}} = %[[MAIN]]#1)
// CHECK-COUNT-2: math.fma
// CHECK: vector.store %[[ALL]]#0, %[[SUMS]][%[[FIRST]], %c0]
// CHECK: %[[SECOND:.*]] = arith.addi %[[FIRST]], %c1
// CHECK: vector.store %[[ALL]]#1, %[[SUMS]][%[[SECOND]], %c0]

// CHECK-LABEL: func private @hexad_strip_1x1x16xf32
// CHECK-SAME: , %[[PANELS:[a-z0-9]*]]: memref<?x?x16xf32, strided<[?, 16, 1], offset: ?>>,
// CHECK-SAME: memref<?x16xf32>, %[[P:.*]]: index, %{{.*}}: index, %[[NUMBER:.*]]: index, %[[SHARE:.*]]: index, %{{.*}}: index)
// CHECK: %[[DEPTH:.*]] = memref.dim %[[PANELS]], %c1
// CHECK: %[[NEXT:.*]] = arith.addi %[[P]], %c1
// CHECK: %[[BEGIN:.*]] = arith.muli %[[NUMBER]], %[[DEPTH]]
// CHECK: %[[STEP:.*]] = arith.addi %[[BEGIN]]
// CHECK: %[[AT:.*]] = arith.muli %[[STEP]], %[[SHARE]]
// CHECK: memref.prefetch %[[PANELS]][%[[NEXT]], %c0, %[[AT]]]
