// RUN: hexad-opt %s --transform-interpreter --split-input-file --resolve-ranked-shaped-type-result-dims --canonicalize --cse | FileCheck %s

// A tile has its part of the rows and the whole weight and bias.

// CHECK-DAG:     #[[$CEIL:.+]] = affine_map<()[s0] -> (s0 ceildiv 12)>
// CHECK-DAG:     #[[$FIRST:.+]] = affine_map<(d0) -> (d0 * 12)>
// CHECK-DAG:     #[[$COUNT:.+]] = affine_map<(d0)[s0] -> (d0 * -12 + s0, 12)>
// CHECK-LABEL: func @linear(
// CHECK-SAME:    %[[X:.+]]: tensor<?x60xf32>, %[[W:.+]]: tensor<171x60xf32>, %[[B:.+]]: tensor<171xf32>
// CHECK-DAG:     %[[ROWS:.+]] = tensor.dim %[[X]], %{{.+}}
// CHECK-DAG:     %[[EMPTY:.+]] = tensor.empty(%[[ROWS]]) : tensor<?x171xf32>
// CHECK-DAG:     %[[TILES:.+]] = affine.apply #[[$CEIL]]()[%[[ROWS]]]
// CHECK:         %[[Y:.+]] = scf.forall (%[[I:.+]]) in (%[[TILES]]) shared_outs(%[[OUT:.+]] = %[[EMPTY]])
// CHECK-DAG:       %[[ROW:.+]] = affine.apply #[[$FIRST]](%[[I]])
// CHECK-DAG:       %[[SIZE:.+]] = affine.min #[[$COUNT]](%[[I]])[%[[ROWS]]]
// CHECK:           %[[SLICE:.+]] = tensor.extract_slice %[[X]][%[[ROW]], 0] [%[[SIZE]], 60] [1, 1]
// CHECK:           %[[TILE:.+]] = hexad.linear %[[SLICE]], %[[W]] bias %[[B]] : tensor<?x60xf32>, tensor<171x60xf32>, tensor<171xf32> -> tensor<?x171xf32>
// CHECK:           tensor.parallel_insert_slice %[[TILE]] into %[[OUT]][%[[ROW]], 0] [%[[SIZE]], 171] [1, 1]
// CHECK:         return %[[Y]]
func.func @linear(%x: tensor<?x60xf32>, %w: tensor<171x60xf32>, %b: tensor<171xf32>) -> tensor<?x171xf32> {
  %y = hexad.linear %x, %w bias %b : tensor<?x60xf32>, tensor<171x60xf32>, tensor<171xf32> -> tensor<?x171xf32>
  return %y : tensor<?x171xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["hexad.linear"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_forall %op tile_sizes [12]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// A static tile size that divides the rows gives static tiles; ids are sliced
// as vectors, attributes stay.

// CHECK-LABEL: func @embedding(
// CHECK:         scf.for %[[ROW:.+]] = %{{.+}} to %{{.+}} step %{{.+}} iter_args(%[[OUT:.+]] = %{{.+}})
// CHECK:           %[[SLICE:.+]] = tensor.extract_slice %{{.+}}[%[[ROW]]] [8] [1] : tensor<48xi32> to tensor<8xi32>
// CHECK:           %[[TILE:.+]] = hexad.embedding %[[SLICE]], %{{.+}} {offset = 2 : i64} : tensor<8xi32>, tensor<113x60xf32> -> tensor<8x60xf32>
// CHECK:           tensor.insert_slice %[[TILE]] into %[[OUT]][%[[ROW]], 0] [8, 60] [1, 1]
func.func @embedding(%ids: tensor<48xi32>, %table: tensor<113x60xf32>) -> tensor<48x60xf32> {
  %y = hexad.embedding %ids, %table {offset = 2 : i64} : tensor<48xi32>, tensor<113x60xf32> -> tensor<48x60xf32>
  return %y : tensor<48x60xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["hexad.embedding"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_for %op tile_sizes [8]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// A whole chain of row-local ops becomes one loop: producers are fused into the
// tile of the last op, both row operands of the sum are sliced.

// CHECK-LABEL: func @feed_forward(
// CHECK-SAME:    %[[X:[^:]+]]: tensor<?x60xf32>
// CHECK:         %[[ROWS:.+]] = tensor.dim %[[X]], %{{.+}}
// CHECK:         scf.for %[[ROW:.+]] = %{{.+}} to %[[ROWS]] step %{{.+}} iter_args(%[[OUT:.+]] = %{{.+}})
// CHECK:           %[[SIZE:.+]] = affine.min
// CHECK:           %[[SLICE:.+]] = tensor.extract_slice %[[X]][%[[ROW]], 0] [%[[SIZE]], 60] [1, 1]
// CHECK:           %[[UP:.+]] = hexad.linear %[[SLICE]], %{{.+}} -> tensor<?x171xf32>
// CHECK:           %[[ACTIVE:.+]] = hexad.activation gelu %[[UP]] : tensor<?x171xf32>
// CHECK:           %[[DOWN:.+]] = hexad.linear %[[ACTIVE]], %{{.+}} -> tensor<?x60xf32>
// CHECK:           %[[SUM:.+]] = hexad.add %[[DOWN]], %[[SLICE]] : tensor<?x60xf32>
// CHECK:           %[[NORM:.+]] = hexad.layer_norm %[[SUM]], %{{.+}} eps
// CHECK:           %[[UNIT:.+]] = hexad.l2_normalize %[[NORM]] eps
// CHECK:           %[[SOFT:.+]] = hexad.softmax %[[UNIT]] : tensor<?x60xf32>
// CHECK:           tensor.insert_slice %[[SOFT]] into %[[OUT]][%[[ROW]], 0] [%[[SIZE]], 60] [1, 1]
func.func @feed_forward(%x: tensor<?x60xf32>, %w1: tensor<171x60xf32>, %w2: tensor<60x171xf32>,
                        %scale: tensor<60xf32>) -> tensor<?x60xf32> {
  %up = hexad.linear %x, %w1 : tensor<?x60xf32>, tensor<171x60xf32> -> tensor<?x171xf32>
  %active = hexad.activation gelu %up : tensor<?x171xf32>
  %down = hexad.linear %active, %w2 : tensor<?x171xf32>, tensor<60x171xf32> -> tensor<?x60xf32>
  %sum = hexad.add %down, %x : tensor<?x60xf32>
  %norm = hexad.layer_norm %sum, %scale eps 1.0e-12 : tensor<?x60xf32>, tensor<60xf32>
  %unit = hexad.l2_normalize %norm eps 1.0e-12 : tensor<?x60xf32>
  %y = hexad.softmax %unit : tensor<?x60xf32>
  return %y : tensor<?x60xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %op = transform.structured.match ops{["hexad.softmax"]} in %root : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.fuse %op tile_sizes [12]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
