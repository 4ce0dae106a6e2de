// RUN: hexad-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func @labels
// CHECK:         hexad.labels %{{.+}}, %{{.+}} : tensor<?x?xi32> -> tensor<?xi32>
// CHECK:         hexad.labels %{{.+}}, %{{.+}} {shift} : tensor<?x?xi32> -> tensor<?xi32>
// CHECK:         hexad.labels %{{.+}}, %{{.+}} : tensor<?xi32> -> tensor<?xi32>
func.func @labels(%labels: tensor<?x?xi32>, %one: tensor<?xi32>, %segments: !hexad.segments) {
  %0 = hexad.labels %labels, %segments : tensor<?x?xi32> -> tensor<?xi32>
  %1 = hexad.labels %labels, %segments {shift} : tensor<?x?xi32> -> tensor<?xi32>
  %2 = hexad.labels %one, %segments : tensor<?xi32> -> tensor<?xi32>
  return
}

// CHECK-LABEL: func @loss
// CHECK:         hexad.cross_entropy %{{.+}}, %{{.+}} : tensor<?x113xf32>, tensor<?xi32> -> tensor<?x1xf32>
// CHECK:         hexad.mean_loss %{{.+}}, %{{.+}} : tensor<?x1xf32>, tensor<?xi32> -> tensor<f32>
func.func @loss(%logits: tensor<?x113xf32>, %l: tensor<?xi32>) -> tensor<f32> {
  %0 = hexad.cross_entropy %logits, %l : tensor<?x113xf32>, tensor<?xi32> -> tensor<?x1xf32>
  %1 = hexad.mean_loss %0, %l : tensor<?x1xf32>, tensor<?xi32> -> tensor<f32>
  return %1 : tensor<f32>
}
