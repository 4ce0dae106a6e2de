// RUN: hexad-opt %s --pass-pipeline='builtin.module(hexad-kernel-to-vector,canonicalize,cse)' | FileCheck %s
// RUN: hexad-opt %s --pass-pipeline='builtin.module(hexad-kernel-to-vector,canonicalize,cse)' \
// RUN:   | FileCheck %s --check-prefix=NEVER
// NEVER-NOT: {{vector\.fma|vector\.reduction|fastmath|arith\.maximumf|arith\.maxnumf|math\.exp|math\.log|hexad_kernel\.[^bt]}}

// Rows without a label are passed over. The maximum begins with -FLT_MAX, the
// last vector counts the classes that are there; the sum is folded by one fma.
// CHECK-LABEL: func @tile(
// CHECK-SAME: %[[X:.*]]: memref<?x512xf32>, %[[L:.*]]: memref<?xi32>, %[[FIRST:.*]]: index, %[[CLASSES:.*]]: index, %[[S:.*]]: memref<144x48xf32>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<16xf32>
// CHECK-DAG: %[[LOWEST:.*]] = arith.constant dense<-3.40282347E+38> : vector<16xf32>
// CHECK: %[[PRESENT:.*]] = vector.create_mask
// CHECK: scf.for %[[M:.*]] = %c0
// CHECK: %[[LABEL:.*]] = memref.load %[[L]][%[[M]]]
// CHECK: %[[HAS:.*]] = arith.cmpi sge, %[[LABEL]], %c0_i32
// CHECK: scf.if %[[HAS]]
// CHECK: scf.for %[[C:.*]] = %c0 to %[[WHOLE:.*]] step %c16 iter_args(%[[G:.*]] = %[[LOWEST]])
// CHECK: %[[V:.*]] = vector.load %[[X]][%[[M]], %[[C]]]
// CHECK: arith.cmpf ogt, %[[G]], %[[V]]
// CHECK: arith.select %[[PRESENT]], %{{.*}}, %[[LOWEST]]
// CHECK: scf.for %{{.*}} = %c0 to %[[WHOLE]] step %c16 iter_args(%{{.*}} = %[[ZERO]])
// CHECK: arith.select %[[PRESENT]], %{{.*}}, %[[ZERO]]
// CHECK: %[[OLD:.*]] = vector.load %[[S]][%[[M]], %c0]
// CHECK: vector.store %{{.*}}, %[[S]][%[[M]], %c0]
// CHECK: %[[SUM:.*]] = vector.load %[[S]][%[[M]], %c16]
// CHECK: %[[NEW:.*]] = math.fma %[[SUM]], %{{.*}}, %{{.*}} : vector<16xf32>
// CHECK: vector.store %[[NEW]], %[[S]][%[[M]], %c16]
// CHECK: %[[COLUMN:.*]] = arith.subi %{{.*}}, %[[FIRST]]
// CHECK: %[[HERE:.*]] = arith.cmpi ult, %[[COLUMN]], %[[CLASSES]]
// CHECK: scf.if %[[HERE]]
// CHECK: memref.load %[[X]][%[[M]], %[[COLUMN]]]
// CHECK: vector.store %{{.*}}, %[[S]][%[[M]], %c32]
func.func @tile(%x: memref<?x512xf32>, %l: memref<?xi32>, %first: index, %classes: index, %s: memref<144x48xf32>) {
  hexad_kernel.cross_entropy_tile ins(%x, %l, %first, %classes : memref<?x512xf32>, memref<?xi32>, index, index) outs(%s : memref<144x48xf32>)
  return
}

// The mean in f64, written where somebody wants it.
// CHECK-LABEL: func @mean(
// CHECK: scf.if
// CHECK: %[[TOTALS:.*]]:2 = scf.for %{{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[COUNT:.*]] = %{{.*}}) -> (f64, f64)
// CHECK: %[[HAS:.*]] = arith.cmpi sge
// CHECK: arith.extf %{{.*}} : f32 to f64
// CHECK: arith.select %[[HAS]], %{{.*}}, %[[SUM]] : f64
// CHECK: arith.select %[[HAS]], %{{.*}}, %[[COUNT]] : f64
// CHECK: %[[MEAN:.*]] = arith.divf %[[TOTALS]]#0, %[[TOTALS]]#1 : f64
// CHECK: arith.truncf %[[MEAN]] : f64 to f32
func.func @mean(%x: memref<?x16xf32>, %l: memref<?xi32>, %loss: memref<?x1xf32>) {
  hexad_kernel.mean_loss ins(%x, %l : memref<?x16xf32>, memref<?xi32>) outs(%loss : memref<?x1xf32>)
  return
}
