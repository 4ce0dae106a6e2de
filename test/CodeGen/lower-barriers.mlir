// RUN: hexad-opt %s --hexad-lower-barriers | FileCheck %s

// The function gets the team behind its other arguments; each barrier calls the
// runtime with it.
// CHECK: llvm.func hidden @hexad_team_barrier(!llvm.ptr)
// CHECK-LABEL: func.func @f
// CHECK-SAME: (%[[N:.+]]: index, %[[TEAM:.+]]: !llvm.ptr {hexad.pointer = 2 : i64})
func.func @f(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: llvm.call @hexad_team_barrier(%[[TEAM]]) : (!llvm.ptr) -> ()
  hexad_kernel.barrier
  // CHECK: scf.for
  scf.for %i = %c0 to %n step %c1 {
    // CHECK-NEXT: llvm.call @hexad_team_barrier(%[[TEAM]]) : (!llvm.ptr) -> ()
    hexad_kernel.barrier
  }
  // CHECK-NOT: hexad_kernel.barrier
  return
}
