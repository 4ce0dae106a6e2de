// RUN: hexad-opt %s --pass-pipeline='builtin.module(hexad-kernel-to-vector,canonicalize,cse)' | FileCheck %s
// RUN: hexad-opt %s --pass-pipeline='builtin.module(hexad-kernel-to-vector,canonicalize,cse)' \
// RUN:   | FileCheck %s --check-prefix=NEVER
// NEVER-NOT: {{vector\.fma|vector\.reduction|vector\.contract|fastmath|math\.exp|hexad_kernel}}

// The sum of all exponentials; then each rank passes over the logits as they
// are, and reads no more of the last vector than there are experts.
// CHECK-LABEL: func @route
// CHECK-SAME: %[[X:.*]]: memref<?x32xf32>, %[[Y:.*]]: memref<?x16xf32>
// CHECK: scf.for %[[M:.*]] = %c0 to
// CHECK: vector.load %[[X]][%[[M]], %c0]
// CHECK: vector.maskedload %[[X]][%[[M]], %c16]
// CHECK: math.fma
// CHECK: scf.for %[[J:.*]] = %c0 to %c3 step %c1 iter_args(
// CHECK-NOT: math.fma
// CHECK: arith.cmpf olt
// CHECK: arith.cmpf oeq
// CHECK: memref.store %{{.*}}, %[[Y]][%[[M]], %[[J]]]
// CHECK: memref.store %{{.*}}, %[[Y]]
// The three weights, and nothing behind them.
// CHECK: vector.maskedload %[[Y]][%[[M]], %c3]
// CHECK: math.fma
// CHECK: vector.maskedstore %[[Y]][%[[M]], %c3]
// CHECK: arith.divf
// CHECK: vector.maskedstore %[[Y]][%[[M]], %c3]
// CHECK-NOT: vector.store
// CHECK: return
func.func @route(%x: memref<?x32xf32>, %y: memref<?x16xf32>) {
  hexad_kernel.route ins(%x : memref<?x32xf32>) outs(%y : memref<?x16xf32>)
      {score = #hexad.router_score<softmax>, experts = 20 : i64, top_k = 3 : i64, renormalize, scaling = 1.0 : f64}
  return
}

// One pass to count, one over the experts, one to give places.
// CHECK-LABEL: func @group_rows
// CHECK-SAME: %[[N:.*]]: index, %[[R:.*]]: memref<?x16xf32>, %[[P:.*]]: memref<?xi32>, %[[O:.*]]: memref<?xi32>, %[[B:.*]]: memref<9xi32>, %[[A:.*]]: memref<9xi32>
// CHECK: scf.for %{{.*}} = %c0 to %c9
// CHECK-NEXT: memref.store %c0_i32, %[[B]]
// CHECK: scf.for %{{.*}} = %c0 to %[[N]]
// CHECK: scf.for %{{.*}} = %c0 to %c2
// CHECK: memref.load %[[R]]
// CHECK: arith.cmpf ord
// CHECK: arith.fptosi
// CHECK: memref.store %{{.*}}, %[[B]]
// CHECK: scf.for %{{.*}} = %c0 to %c8
// CHECK: memref.store %{{.*}}, %[[A]]
// CHECK: memref.store %{{.*}}, %[[A]][%c0]
// CHECK: scf.for %{{.*}} = %c0 to %[[N]]
// CHECK: memref.store %{{.*}}, %[[P]]
// CHECK: memref.store %{{.*}}, %[[O]]
// CHECK: return
func.func @group_rows(%n: index, %r: memref<?x16xf32>, %p: memref<?xi32>, %o: memref<?xi32>, %b: memref<9xi32>, %a: memref<9xi32>) {
  hexad_kernel.group_rows ins(%n, %r : index, memref<?x16xf32>) outs(%p, %o, %b, %a : memref<?xi32>, memref<?xi32>, memref<9xi32>, memref<9xi32>)
      {experts = 8 : i64, top_k = 2 : i64}
  return
}

// CHECK-LABEL: func @combine_rows
// CHECK-SAME: %[[X:.*]]: memref<?x64xf32>, %[[P:.*]]: memref<?xi32>, %[[R:.*]]: memref<?x16xf32>, %[[Y:.*]]: memref<?x64xf32>
// CHECK: scf.for %[[M:.*]] = %c0 to
// CHECK: scf.for %[[C:.*]] = %c0 to %c64 step %c16
// CHECK: scf.for %[[J:.*]] = %c0 to %c2 step %c1 iter_args(%[[SUM:.*]] = %cst
// CHECK: memref.load %[[P]]
// CHECK: %[[PART:.*]] = vector.load %[[X]]
// CHECK: memref.load %[[R]]
// CHECK: math.fma %{{.*}}, %[[PART]], %[[SUM]]
// CHECK: vector.store %{{.*}}, %[[Y]][%[[M]], %[[C]]]
func.func @combine_rows(%x: memref<?x64xf32>, %p: memref<?xi32>, %r: memref<?x16xf32>, %y: memref<?x64xf32>) {
  hexad_kernel.combine_rows ins(%x, %p, %r : memref<?x64xf32>, memref<?xi32>, memref<?x16xf32>) outs(%y : memref<?x64xf32>) {top_k = 2 : i64}
  return
}

// NaN is below nothing and above nothing.
// CHECK-LABEL: func @clamp
// CHECK: %[[V:.*]] = vector.load
// CHECK: %[[BELOW:.*]] = arith.cmpf olt, %[[V]], %[[LOW:.*]] :
// CHECK: %[[W:.*]] = arith.select %[[BELOW]], %[[LOW]], %[[V]]
// CHECK: %[[ABOVE:.*]] = arith.cmpf ogt, %[[W]], %[[HIGH:.*]] :
// CHECK: arith.select %[[ABOVE]], %[[HIGH]], %[[W]]
func.func @clamp(%x: memref<?x64xf32>) {
  hexad_kernel.clamp ins(%x : memref<?x64xf32>) outs(%x : memref<?x64xf32>) {lower = -7.0 : f64, upper = 7.0 : f64}
  return
}
