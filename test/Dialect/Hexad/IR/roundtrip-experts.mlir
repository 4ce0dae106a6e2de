// RUN: hexad-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func @routes
func.func @routes(%x: tensor<?x8xf32>, %b: tensor<8xf32>, %s: tensor<8xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x6xf32>) {
  // CHECK: hexad.route softmax %{{.*}} {renormalize, top_k = 2 : i64} : tensor<?x8xf32> -> tensor<?x4xf32>
  %0 = hexad.route softmax %x {top_k = 2 : i64, renormalize} : tensor<?x8xf32> -> tensor<?x4xf32>
  // CHECK: hexad.route softmax %{{.*}} scales %{{.*}} {top_k = 2 : i64} : tensor<?x8xf32> scales tensor<8xf32> -> tensor<?x4xf32>
  %1 = hexad.route softmax %x scales %s {top_k = 2 : i64} : tensor<?x8xf32> scales tensor<8xf32> -> tensor<?x4xf32>
  // CHECK: hexad.route sigmoid %{{.*}} selection_bias %{{.*}} scales %{{.*}} {groups = 4 : i64, scaling = 2.500000e+00 : f64, top_groups = 2 : i64, top_k = 3 : i64}
  // CHECK-SAME: : tensor<?x8xf32> selection_bias tensor<8xf32> scales tensor<8xf32> -> tensor<?x6xf32>
  %2 = hexad.route sigmoid %x selection_bias %b scales %s {top_k = 3 : i64, scaling = 2.5 : f64, groups = 4 : i64, top_groups = 2 : i64}
      : tensor<?x8xf32> selection_bias tensor<8xf32> scales tensor<8xf32> -> tensor<?x6xf32>
  return %0, %1, %2 : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x6xf32>
}

hexad.parameter @w : tensor<16x6x4xf32> from "m.safetensors" ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "a", "b", "c", "d", "e", "f"] {layers = 16 : i64}
// The experts of a layer in a stack of all.
// CHECK-LABEL: func @experts
func.func @experts(%x: tensor<?x4xf32>, %r: tensor<?x4xf32>, %layer: index) -> tensor<?x6xf32> {
  // CHECK: hexad.experts %{{.*}}, %{{.*}} count 8 : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x6xf32> {
  // CHECK-NEXT: ^bb0(%[[E:.*]]: index, %[[ROWS:.*]]: tensor<?x4xf32>):
  // CHECK: hexad.load @w[%{{.*}}]
  // CHECK: hexad.yield %{{.*}} : tensor<?x6xf32>
  %y = hexad.experts %x, %r count 8 : tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x6xf32> {
  ^bb0(%e: index, %rows: tensor<?x4xf32>):
    %c8 = arith.constant 8 : index
    %first = arith.muli %layer, %c8 : index
    %member = arith.addi %first, %e : index
    %w = hexad.load @w[%member] : tensor<6x4xf32>
    %z = hexad.linear %rows, %w : tensor<?x4xf32>, tensor<6x4xf32> -> tensor<?x6xf32>
    hexad.yield %z : tensor<?x6xf32>
  }
  return %y : tensor<?x6xf32>
}

// CHECK-LABEL: func @clamp
func.func @clamp(%x: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  // CHECK: hexad.clamp %{{.*}} {lower = -7.000000e+00 : f64, upper = 7.000000e+00 : f64} : tensor<?x8xf32>
  %0 = hexad.clamp %x {lower = -7.0 : f64, upper = 7.0 : f64} : tensor<?x8xf32>
  // CHECK: hexad.clamp %{{.*}} {upper = 7.000000e+00 : f64} : tensor<?x8xf32>
  %1 = hexad.clamp %x {upper = 7.0 : f64} : tensor<?x8xf32>
  return %0, %1 : tensor<?x8xf32>, tensor<?x8xf32>
}
