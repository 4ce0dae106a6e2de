// RUN: hexad-opt %s -split-input-file --hexad-form-rows | FileCheck %s

// A block has one linear op; what comes behind it belongs to it until the next
// one. Values that later blocks need are yielded, others are not.
// CHECK-LABEL: func.func @mlp
// CHECK-SAME: (%[[X:.+]]: tensor<?x8xf32>, %[[U:.+]]: tensor<16x8xf32>, %[[D:.+]]: tensor<8x16xf32>, %[[N:.+]]: tensor<8xf32>)
func.func @mlp(%x: tensor<?x8xf32>, %up: tensor<16x8xf32>, %down: tensor<8x16xf32>, %n: tensor<8xf32>) -> tensor<?x8xf32> {
  // CHECK: %[[H:.+]] = hexad.rows (%{{.+}} = %[[X]] : tensor<?x8xf32>, %{{.+}} = %[[U]] : tensor<16x8xf32>) -> tensor<?x16xf32>
  // CHECK-NEXT: hexad.linear
  // CHECK-NEXT: hexad.activation gelu
  // CHECK-NEXT: hexad.yield
  // CHECK: %[[Y:.+]] = hexad.rows (%{{.+}} = %[[H]]
  // CHECK-NEXT: hexad.linear
  // CHECK-NEXT: hexad.add
  // CHECK-NEXT: hexad.layer_norm
  // CHECK-NEXT: hexad.yield
  // CHECK: return %[[Y]]
  %0 = hexad.linear %x, %up : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x16xf32>
  %1 = hexad.activation gelu %0 : tensor<?x16xf32>
  %2 = hexad.linear %1, %down : tensor<?x16xf32>, tensor<8x16xf32> -> tensor<?x8xf32>
  %3 = hexad.add %2, %x : tensor<?x8xf32>
  %4 = hexad.layer_norm %3, %n eps 1.0e-5 : tensor<?x8xf32>, tensor<8xf32>
  return %4 : tensor<?x8xf32>
}

// -----

// A residual that is needed later is a second result.
// CHECK-LABEL: func.func @pre_norm
func.func @pre_norm(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>, %n: tensor<8xf32>) -> tensor<?x8xf32> {
  // CHECK: %[[R:.+]]:2 = hexad.rows {{.*}} -> (tensor<?x8xf32>, tensor<?x8xf32>)
  // CHECK: hexad.rows (%{{.+}} = %[[R]]#1{{.*}} = %[[R]]#0
  %0 = hexad.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32> -> tensor<?x8xf32>
  %1 = hexad.add %0, %x : tensor<?x8xf32>
  %2 = hexad.layer_norm %1, %n eps 1.0e-5 : tensor<?x8xf32>, tensor<8xf32>
  %3 = hexad.linear %2, %w : tensor<?x8xf32>, tensor<8x8xf32> -> tensor<?x8xf32>
  %4 = hexad.add %3, %1 : tensor<?x8xf32>
  return %4 : tensor<?x8xf32>
}

// -----

// Rows of tokens and rows of segments are never in one block.
// CHECK-LABEL: func.func @pooled
func.func @pooled(%x: tensor<?x8xf32>, %s: !hexad.segments) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  // CHECK: hexad.pool
  // CHECK: hexad.rows
  // CHECK-NEXT: hexad.activation tanh
  // CHECK-NEXT: hexad.yield
  // CHECK: hexad.rows
  // CHECK-NEXT: hexad.activation relu
  // CHECK-NEXT: hexad.yield
  %p = hexad.pool first %x, %s : tensor<?x8xf32> -> tensor<?x8xf32>
  %0 = hexad.activation tanh %p : tensor<?x8xf32>
  %1 = hexad.activation relu %x : tensor<?x8xf32>
  return %0, %1 : tensor<?x8xf32>, tensor<?x8xf32>
}

// -----

// What needs a value of the block stays behind the block.
// CHECK-LABEL: func.func @number_of_rows
func.func @number_of_rows(%x: tensor<?x8xf32>) -> (tensor<?x8xf32>, index) {
  %c0 = arith.constant 0 : index
  // CHECK: %[[FIRST:.+]] = hexad.rows
  // CHECK-NEXT: hexad.activation relu
  // CHECK: %[[N:.+]] = tensor.dim %[[FIRST]]
  // CHECK: hexad.rows
  // CHECK-NEXT: hexad.activation tanh
  %0 = hexad.activation relu %x : tensor<?x8xf32>
  %n = tensor.dim %0, %c0 : tensor<?x8xf32>
  %1 = hexad.activation tanh %0 : tensor<?x8xf32>
  return %1, %n : tensor<?x8xf32>, index
}
