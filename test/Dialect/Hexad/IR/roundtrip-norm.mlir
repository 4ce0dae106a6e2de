// RUN: hexad-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func @layer_norm
// CHECK-SAME:    %[[X:[^:]+]]: tensor<?x60xf32>, %[[W:[^:]+]]: tensor<60xf32>, %[[B:[^:]+]]: tensor<60xf32>
// CHECK:         hexad.layer_norm %[[X]], %[[W]] bias %[[B]] eps 1.250000e-01 : tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>
// CHECK:         hexad.layer_norm %[[X]], %[[W]] eps 0.000000e+00 : tensor<?x60xf32>, tensor<60xf32>
func.func @layer_norm(%x: tensor<?x60xf32>, %w: tensor<60xf32>, %b: tensor<60xf32>) {
  %0 = hexad.layer_norm %x, %w bias %b eps 0.125 : tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>
  %1 = hexad.layer_norm %x, %w eps 0.0 : tensor<?x60xf32>, tensor<60xf32>
  return
}

// CHECK-LABEL: func @l2_normalize
// CHECK:         hexad.l2_normalize %{{.+}} eps 1.250000e-01 : tensor<?x384xf32>
func.func @l2_normalize(%x: tensor<?x384xf32>) {
  %y = hexad.l2_normalize %x eps 0.125 : tensor<?x384xf32>
  return
}

// CHECK-LABEL: func @softmax
// CHECK:         hexad.softmax %{{.+}} : tensor<?x3xf32>
func.func @softmax(%x: tensor<?x3xf32>) {
  %y = hexad.softmax %x : tensor<?x3xf32>
  return
}

// CHECK-LABEL: func @rms_norm
// CHECK-SAME:    %[[X:[^:]+]]: tensor<?x60xf32>, %[[W:[^:]+]]: tensor<60xf32>, %[[G:[^:]+]]: tensor<12xf32>
// CHECK:         hexad.rms_norm %[[X]] eps 0.000000e+00 : tensor<?x60xf32>
// CHECK:         hexad.rms_norm %[[X]] weight %[[W]] eps 1.250000e-01 {unit_offset} : tensor<?x60xf32>, tensor<60xf32>
// CHECK:         hexad.rms_norm %[[X]] weight %[[G]] eps 1.250000e-01 {group_size = 12 : i64, groups = 2 : i64, offset = 36 : i64} : tensor<?x60xf32>, tensor<12xf32>
func.func @rms_norm(%x: tensor<?x60xf32>, %w: tensor<60xf32>, %g: tensor<12xf32>) {
  %0 = hexad.rms_norm %x eps 0.0 : tensor<?x60xf32>
  %1 = hexad.rms_norm %x weight %w eps 0.125 {unit_offset} : tensor<?x60xf32>, tensor<60xf32>
  %2 = hexad.rms_norm %x weight %g eps 0.125 {groups = 2 : i64, group_size = 12 : i64, offset = 36 : i64} : tensor<?x60xf32>, tensor<12xf32>
  return
}
