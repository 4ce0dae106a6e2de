// RUN: hexad-opt %s -split-input-file -verify-diagnostics --hexad-form-team | FileCheck %s

// CHECK-LABEL: func.func @f
// CHECK-SAME: (%[[THREADS:.+]]: index {hexad.extent = 0 : i64}, %[[PAGES:.+]]: index, %[[M:.+]]: memref<?xindex>, %[[THREAD:.+]]: index {hexad.thread})
func.func @f(%threads: index {hexad.extent = 0 : i64}, %pages: index, %m: memref<?xindex>) {
  // A loop over threads is the thread's own part.
  // CHECK-NEXT: memref.store %[[THREAD]], %[[M]][%[[THREAD]]]
  // CHECK-NEXT: hexad_kernel.barrier
  scf.forall (%t) in (%threads) {
    memref.store %t, %m[%t] : memref<?xindex>
  }
  // Other iterations are split into contiguous ranges of the linear number.
  // CHECK: %[[TOTAL:.+]] = arith.muli %[[PAGES]], %c5
  // CHECK: %[[BEGIN:.+]] = arith.divui %{{.+}}, %[[THREADS]]
  // CHECK: %[[END:.+]] = arith.divui %{{.+}}, %[[THREADS]]
  // CHECK: scf.for %[[I:.+]] = %[[BEGIN]] to %[[END]]
  // CHECK: %[[H:.+]] = arith.remui %[[I]], %c5
  // CHECK: %[[P:.+]] = arith.divui %[[I]], %c5
  // CHECK: memref.store %[[H]], %[[M]][%[[P]]]
  // CHECK: }
  // CHECK-NOT: hexad_kernel.barrier
  scf.forall (%p, %h) in (%pages, 5) {
    memref.store %h, %m[%p] : memref<?xindex>
  } {hexad.nowait}
  // CHECK: return
  return
}

// -----

// Iterations of uneven length go round: neighbours to different threads.
// CHECK-LABEL: func.func @cyclic
// CHECK-SAME: (%[[THREADS:.+]]: index {hexad.extent = 0 : i64}, %[[TILES:.+]]: index, %[[M:.+]]: memref<?xindex>, %[[THREAD:.+]]: index {hexad.thread})
func.func @cyclic(%threads: index {hexad.extent = 0 : i64}, %tiles: index, %m: memref<?xindex>) {
  // CHECK: scf.for %[[I:.+]] = %[[THREAD]] to %[[TILES]] step %[[THREADS]]
  // CHECK: memref.store %[[I]], %[[M]][%[[I]]]
  scf.forall (%tile) in (%tiles) {
    memref.store %tile, %m[%tile] : memref<?xindex>
  } {hexad.cyclic}
  return
}

// -----

// expected-error@+1 {{expected an argument with the number of threads (hexad-tile)}}
func.func @no_threads(%m: memref<?xindex>) {
  return
}
