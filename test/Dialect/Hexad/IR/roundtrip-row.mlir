// RUN: hexad-opt %s --verify-roundtrip | FileCheck %s

// Segments and positions are named after what they are.

// CHECK-LABEL: func @door
// CHECK-SAME:    %[[MASK:[^:]+]]: tensor<?x?xi32>
// CHECK:         %segments = hexad.segments %[[MASK]] : tensor<?x?xi32>
// CHECK:         hexad.pack_rows %[[MASK]], %segments : tensor<?x?xi32> -> tensor<?xi32>
// CHECK:         %positions = hexad.positions %segments : tensor<?xi32>
func.func @door(%mask: tensor<?x?xi32>) -> (tensor<?xi32>, tensor<?xi32>) {
  %0 = hexad.segments %mask : tensor<?x?xi32>
  %1 = hexad.pack_rows %mask, %0 : tensor<?x?xi32> -> tensor<?xi32>
  %2 = hexad.positions %0 : tensor<?xi32>
  return %1, %2 : tensor<?xi32>, tensor<?xi32>
}

// CHECK-LABEL: func @exit
// CHECK:         hexad.unpack_rows %{{.+}}, %{{.+}} : tensor<?x60xf32> -> tensor<?x?x60xf32>
// CHECK:         hexad.unpack_rows %{{.+}}, %{{.+}} : tensor<4x?x60xf32> -> tensor<4x?x?x60xf32>
// CHECK:         hexad.pool first %{{.+}}, %{{.+}} : tensor<?x60xf32> -> tensor<?x60xf32>
// CHECK:         hexad.pool mean %{{.+}}, %{{.+}} : tensor<?x60xf32> -> tensor<?x60xf32>
// CHECK:         hexad.pool mean %{{.+}}, %{{.+}} {skip = 1 : i64} : tensor<?x60xf32> -> tensor<?x60xf32>
func.func @exit(%x: tensor<?x60xf32>, %stack: tensor<4x?x60xf32>, %segments: !hexad.segments) {
  %0 = hexad.unpack_rows %x, %segments : tensor<?x60xf32> -> tensor<?x?x60xf32>
  %1 = hexad.unpack_rows %stack, %segments : tensor<4x?x60xf32> -> tensor<4x?x?x60xf32>
  %2 = hexad.pool first %x, %segments : tensor<?x60xf32> -> tensor<?x60xf32>
  %3 = hexad.pool mean %x, %segments : tensor<?x60xf32> -> tensor<?x60xf32>
  %4 = hexad.pool mean %x, %segments {skip = 1 : i64} : tensor<?x60xf32> -> tensor<?x60xf32>
  return
}

// CHECK-LABEL: func @pooling_attribute
// CHECK-SAME:    kind = #hexad.pooling<mean>
func.func @pooling_attribute() attributes {kind = #hexad.pooling<mean>} {
  return
}

// CHECK-LABEL: func @rows
// CHECK-SAME:    %[[X:[^:]+]]: tensor<?x60xf32>, %[[W:[^:]+]]: tensor<171x60xf32>
// CHECK:         %{{.+}}:2 = hexad.rows (%[[A:.+]] = %[[X]] : tensor<?x60xf32>, %[[WEIGHT:.+]] = %[[W]] : tensor<171x60xf32>) -> (tensor<?x171xf32>, tensor<?x171xf32>) {
// CHECK-NEXT:      %[[UP:.+]] = hexad.linear %[[A]], %[[WEIGHT]]
// CHECK-NEXT:      %[[Y:.+]] = hexad.activation gelu %[[UP]]
// CHECK-NEXT:      hexad.yield %[[UP]], %[[Y]] : tensor<?x171xf32>, tensor<?x171xf32>
// CHECK-NEXT:    }
func.func @rows(%x: tensor<?x60xf32>, %w: tensor<171x60xf32>) -> (tensor<?x171xf32>, tensor<?x171xf32>) {
  %y:2 = hexad.rows (%a = %x : tensor<?x60xf32>, %weight = %w : tensor<171x60xf32>) -> (tensor<?x171xf32>, tensor<?x171xf32>) {
    %1 = hexad.linear %a, %weight : tensor<?x60xf32>, tensor<171x60xf32> -> tensor<?x171xf32>
    %2 = hexad.activation gelu %1 : tensor<?x171xf32>
    hexad.yield %1, %2 : tensor<?x171xf32>, tensor<?x171xf32>
  }
  return %y#0, %y#1 : tensor<?x171xf32>, tensor<?x171xf32>
}

// CHECK-LABEL: func @rows_with_attributes
// CHECK:         hexad.rows (%{{.+}} = %{{.+}} : tensor<?xi32>, %{{.+}} = %{{.+}} : tensor<113x60xf32>) -> tensor<?x60xf32> attributes {block = 1 : i64} {
func.func @rows_with_attributes(%ids: tensor<?xi32>, %table: tensor<113x60xf32>) -> tensor<?x60xf32> {
  %y = hexad.rows (%i = %ids : tensor<?xi32>, %t = %table : tensor<113x60xf32>) -> tensor<?x60xf32> attributes {block = 1 : i64} {
    %1 = hexad.embedding %i, %t : tensor<?xi32>, tensor<113x60xf32> -> tensor<?x60xf32>
    hexad.yield %1 : tensor<?x60xf32>
  }
  return %y : tensor<?x60xf32>
}
