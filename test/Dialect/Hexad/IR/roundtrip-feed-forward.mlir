// RUN: hexad-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func @embedding
// CHECK:         hexad.embedding %{{.+}}, %{{.+}} : tensor<?xi32>, tensor<113x60xf32> -> tensor<?x60xf32>
// CHECK:         hexad.embedding %{{.+}}, %{{.+}} {offset = 2 : i64} : tensor<?xi32>, tensor<113x60xf32> -> tensor<?x60xf32>
func.func @embedding(%ids: tensor<?xi32>, %table: tensor<113x60xf32>) {
  // The default is not printed.
  %0 = hexad.embedding %ids, %table {offset = 0 : i64} : tensor<?xi32>, tensor<113x60xf32> -> tensor<?x60xf32>
  %1 = hexad.embedding %ids, %table {offset = 2 : i64} : tensor<?xi32>, tensor<113x60xf32> -> tensor<?x60xf32>
  return
}

// CHECK-LABEL: func @linear
// CHECK-SAME:    %[[X:[^:]+]]: tensor<?x60xf32>, %[[W:[^:]+]]: tensor<171x60xf32>, %[[B:[^:]+]]: tensor<171xf32>
// CHECK:         hexad.linear %[[X]], %[[W]] bias %[[B]] : tensor<?x60xf32>, tensor<171x60xf32>, tensor<171xf32> -> tensor<?x171xf32>
// CHECK:         hexad.linear %[[X]], %[[W]] : tensor<?x60xf32>, tensor<171x60xf32> -> tensor<?x171xf32>
func.func @linear(%x: tensor<?x60xf32>, %w: tensor<171x60xf32>, %b: tensor<171xf32>) {
  %0 = hexad.linear %x, %w bias %b : tensor<?x60xf32>, tensor<171x60xf32>, tensor<171xf32> -> tensor<?x171xf32>
  %1 = hexad.linear %x, %w : tensor<?x60xf32>, tensor<171x60xf32> -> tensor<?x171xf32>
  return
}

// CHECK-LABEL: func @activation
// CHECK:         hexad.activation gelu %{{.+}} : tensor<?x60xf32>
// CHECK:         hexad.activation gelu_tanh %{{.+}} : tensor<?x60xf32>
// CHECK:         hexad.activation quick_gelu %{{.+}} : tensor<?x60xf32>
// CHECK:         hexad.activation silu %{{.+}} : tensor<?x60xf32>
// CHECK:         hexad.activation relu %{{.+}} : tensor<?x60xf32>
// CHECK:         hexad.activation tanh %{{.+}} : tensor<?x60xf32>
// CHECK:         hexad.activation sigmoid %{{.+}} : tensor<?x60xf32>
func.func @activation(%x: tensor<?x60xf32>) {
  %0 = hexad.activation gelu %x : tensor<?x60xf32>
  %1 = hexad.activation gelu_tanh %x : tensor<?x60xf32>
  %2 = hexad.activation quick_gelu %x : tensor<?x60xf32>
  %3 = hexad.activation silu %x : tensor<?x60xf32>
  %4 = hexad.activation relu %x : tensor<?x60xf32>
  %5 = hexad.activation tanh %x : tensor<?x60xf32>
  %6 = hexad.activation sigmoid %x : tensor<?x60xf32>
  return
}

// As an attribute of any op, the kind stands in its own brackets.

// CHECK-LABEL: func @activation_attribute
// CHECK-SAME:    kind = #hexad.activation<gelu>
func.func @activation_attribute() attributes {kind = #hexad.activation<gelu>} {
  return
}

// CHECK-LABEL: func @add
// CHECK:         hexad.add %{{.+}}, %{{.+}} : tensor<7x60xf32>
func.func @add(%x: tensor<7x60xf32>, %y: tensor<7x60xf32>) -> tensor<7x60xf32> {
  %0 = hexad.add %x, %y : tensor<7x60xf32>
  return %0 : tensor<7x60xf32>
}

// CHECK-LABEL: func @gates
// CHECK:         hexad.multiply %{{.+}}, %{{.+}} : tensor<?x60xf32>
// CHECK:         hexad.scale %{{.+}} by -2.500000e-01 : tensor<?x60xf32>
// CHECK:         hexad.softcap %{{.+}} cap 3.000000e+01 : tensor<?x60xf32>
func.func @gates(%x: tensor<?x60xf32>, %y: tensor<?x60xf32>) {
  %0 = hexad.multiply %x, %y : tensor<?x60xf32>
  %1 = hexad.scale %x by -0.25 : tensor<?x60xf32>
  %2 = hexad.softcap %x cap 30.0 : tensor<?x60xf32>
  return
}

// CHECK-LABEL: func @scale_columns
// CHECK:         hexad.scale_columns %{{.+}}, %{{.+}} : tensor<?x60xf32>, tensor<60xf32>
func.func @scale_columns(%x: tensor<?x60xf32>, %w: tensor<60xf32>) -> tensor<?x60xf32> {
  %y = hexad.scale_columns %x, %w : tensor<?x60xf32>, tensor<60xf32>
  return %y : tensor<?x60xf32>
}
