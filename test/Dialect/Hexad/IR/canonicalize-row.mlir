// RUN: hexad-opt %s --canonicalize | FileCheck %s

// An operand that is not used, one that is there twice, a result that nobody
// uses and what only that one needed.

// CHECK-LABEL: func @drop_unused(
// CHECK-SAME:    %[[X:[^:]+]]: tensor<?x60xf32>, %{{.+}}: tensor<?x60xf32>, %[[W:[^:]+]]: tensor<171x60xf32>, %{{[^:]+}}: tensor<60xf32>
// CHECK:         %[[Y:.+]] = hexad.rows (%[[A:.+]] = %[[X]] : tensor<?x60xf32>, %[[WEIGHT:.+]] = %[[W]] : tensor<171x60xf32>) -> tensor<?x171xf32> attributes {block = 1 : i64} {
// CHECK-NEXT:      %[[SUM:.+]] = hexad.add %[[A]], %[[A]]
// CHECK-NEXT:      %[[UP:.+]] = hexad.linear %[[SUM]], %[[WEIGHT]]
// CHECK-NEXT:      hexad.yield %[[UP]] : tensor<?x171xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    return %[[Y]]
func.func @drop_unused(%x: tensor<?x60xf32>, %z: tensor<?x60xf32>, %w: tensor<171x60xf32>, %s: tensor<60xf32>) -> tensor<?x171xf32> {
  %y:2 = hexad.rows (%a = %x : tensor<?x60xf32>, %unused = %z : tensor<?x60xf32>, %b = %x : tensor<?x60xf32>,
                     %weight = %w : tensor<171x60xf32>, %scale = %s : tensor<60xf32>)
      -> (tensor<?x60xf32>, tensor<?x171xf32>) attributes {block = 1 : i64} {
    %1 = hexad.layer_norm %a, %scale eps 1.0e-12 : tensor<?x60xf32>, tensor<60xf32>
    %2 = hexad.add %a, %b : tensor<?x60xf32>
    %3 = hexad.linear %2, %weight : tensor<?x60xf32>, tensor<171x60xf32> -> tensor<?x171xf32>
    hexad.yield %1, %3 : tensor<?x60xf32>, tensor<?x171xf32>
  }
  return %y#1 : tensor<?x171xf32>
}

// A result that is an operand is that operand; a block without results goes.

// CHECK-LABEL: func @forward(
// CHECK-SAME:    %[[X:[^:]+]]: tensor<?x60xf32>
// CHECK-NEXT:    return %[[X]]
func.func @forward(%x: tensor<?x60xf32>) -> tensor<?x60xf32> {
  %y:2 = hexad.rows (%a = %x : tensor<?x60xf32>) -> (tensor<?x60xf32>, tensor<?x60xf32>) {
    %1 = hexad.activation relu %a : tensor<?x60xf32>
    hexad.yield %1, %a : tensor<?x60xf32>, tensor<?x60xf32>
  }
  return %y#1 : tensor<?x60xf32>
}
