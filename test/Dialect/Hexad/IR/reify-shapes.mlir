// RUN: hexad-opt %s --resolve-ranked-shaped-type-result-dims --canonicalize | FileCheck %s

// The number of rows of a result is that of the first operand, through a whole
// chain of ops; the number of columns is a constant.

// CHECK-LABEL: func @rows_of_a_layer(
// CHECK-SAME:    %[[IDS:[^:]+]]: tensor<?xi32>
// CHECK-DAG:     %[[C0:.+]] = arith.constant 0 : index
// CHECK-DAG:     %[[C60:.+]] = arith.constant 60 : index
// CHECK-NEXT:    %[[ROWS:.+]] = tensor.dim %[[IDS]], %[[C0]]
// CHECK-NEXT:    return %[[ROWS]], %[[C60]]
func.func @rows_of_a_layer(%ids: tensor<?xi32>, %segments: !hexad.segments, %table: tensor<113x60xf32>,
                           %w: tensor<60x60xf32>, %scale: tensor<60xf32>) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = hexad.embedding %ids, %table : tensor<?xi32>, tensor<113x60xf32> -> tensor<?x60xf32>
  %q = hexad.linear %x, %w : tensor<?x60xf32>, tensor<60x60xf32> -> tensor<?x60xf32>
  %a = hexad.attention %q, %x, %x, %segments {heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 0.3 : f64}
      : tensor<?x60xf32>, tensor<?x60xf32>, tensor<?x60xf32> -> tensor<?x60xf32>
  %g = hexad.activation tanh %a : tensor<?x60xf32>
  %s = hexad.add %g, %x : tensor<?x60xf32>
  %n = hexad.layer_norm %s, %scale eps 1.0e-12 : tensor<?x60xf32>, tensor<60xf32>
  %l = hexad.l2_normalize %n eps 1.0e-12 : tensor<?x60xf32>
  %y = hexad.softmax %l : tensor<?x60xf32>
  %rows = tensor.dim %y, %c0 : tensor<?x60xf32>
  %columns = tensor.dim %y, %c1 : tensor<?x60xf32>
  return %rows, %columns : index, index
}

// Operands of a block with a dynamic first dimension are rows, others weights.

// CHECK-LABEL: func @rows_of_a_block(
// CHECK-SAME:    %{{.+}}: tensor<171x60xf32>, %[[X:.+]]: tensor<?x60xf32>
// CHECK:         %[[ROWS:.+]] = tensor.dim %[[X]], %{{.+}}
// CHECK-NEXT:    return %[[ROWS]]
func.func @rows_of_a_block(%w: tensor<171x60xf32>, %x: tensor<?x60xf32>) -> index {
  %c0 = arith.constant 0 : index
  %y = hexad.rows (%weight = %w : tensor<171x60xf32>, %a = %x : tensor<?x60xf32>) -> tensor<?x171xf32> {
    %1 = hexad.linear %a, %weight : tensor<?x60xf32>, tensor<171x60xf32> -> tensor<?x171xf32>
    hexad.yield %1 : tensor<?x171xf32>
  }
  %rows = tensor.dim %y, %c0 : tensor<?x171xf32>
  return %rows : index
}

// How many rows a segment table has is known to nobody but the table.

// CHECK-LABEL: func @rows_of_segments(
// CHECK:         %[[IDS:.+]] = hexad.pack_rows
// CHECK:         tensor.dim %[[IDS]]
func.func @rows_of_segments(%ids: tensor<?x?xi32>, %segments: !hexad.segments, %table: tensor<113x60xf32>) -> index {
  %c0 = arith.constant 0 : index
  %rows = hexad.pack_rows %ids, %segments : tensor<?x?xi32> -> tensor<?xi32>
  %x = hexad.embedding %rows, %table : tensor<?xi32>, tensor<113x60xf32> -> tensor<?x60xf32>
  %count = tensor.dim %x, %c0 : tensor<?x60xf32>
  return %count : index
}
