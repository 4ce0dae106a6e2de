// RUN: hexad-opt %s --verify-roundtrip | FileCheck %s

// CHECK: hexad.parameter @word : tensor<113x60xf32> from "model.safetensors" ["word"]
hexad.parameter @word : tensor<113x60xf32> from "model.safetensors" ["word"]
// CHECK: hexad.parameter @query.weight : tensor<2x60x60xf32> from "model.safetensors" ["0.query", "1.query"] {layers = 2 : i64}
hexad.parameter @query.weight : tensor<2x60x60xf32> from "model.safetensors" ["0.query", "1.query"] {layers = 2 : i64}
// CHECK: hexad.parameter @fused : tensor<120x60xf32> from "model.safetensors" ["q", "k"] {transposed}
hexad.parameter @fused : tensor<120x60xf32> from "model.safetensors" ["q", "k"] {transposed}
// CHECK: hexad.parameter @packed : tensor<4x60x16xf32> from "model.safetensors" ["w"] {panel = 16 : i64}
hexad.parameter @packed : tensor<4x60x16xf32> from "model.safetensors" ["w"] {panel = 16 : i64}
// CHECK: hexad.parameter @picked : tensor<60x60xf32> from "model.safetensors" ["qkv"] {picks = [array<i64: 20, 20, 60, 3>]}
hexad.parameter @picked : tensor<60x60xf32> from "model.safetensors" ["qkv"] {picks = [array<i64: 20, 20, 60, 3>]}
// CHECK: hexad.parameter @rows : tensor<2x20x60xf32> from "model.safetensors" ["w", "w"] {layers = 2 : i64, picks = [array<i64: 0, 20, 20, 1, 20>]}
hexad.parameter @rows : tensor<2x20x60xf32> from "model.safetensors" ["w", "w"] {layers = 2 : i64, picks = [array<i64: 0, 20, 20, 1, 20>]}
// CHECK: hexad.parameter @repeated : tensor<60xf32> from "model.safetensors" ["s"] {picks = [array<i64: 0, 1, 0, 60>]}
hexad.parameter @repeated : tensor<60xf32> from "model.safetensors" ["s"] {picks = [array<i64: 0, 1, 0, 60>]}
// CHECK: hexad.parameter @columns : tensor<2x109x8xf32> from "model.safetensors" ["t", "t"] {columns = array<i64: 0, 8, 8>, layers = 2 : i64}
hexad.parameter @columns : tensor<2x109x8xf32> from "model.safetensors" ["t", "t"] {layers = 2 : i64, columns = array<i64: 0, 8, 8>}
// CHECK: hexad.parameter @rounded : tensor<60x60xf32> from "model.safetensors" ["r"] {storage = f16}
hexad.parameter @rounded : tensor<60x60xf32> from "model.safetensors" ["r"] {storage = f16}
// CHECK: hexad.parameter @narrow : tensor<4x60x16xbf16> from "model.safetensors" ["w"] {panel = 16 : i64}
hexad.parameter @narrow : tensor<4x60x16xbf16> from "model.safetensors" ["w"] {panel = 16 : i64}

// A load is named after its parameter.

// CHECK-LABEL: func @load
// CHECK-SAME:    %[[LAYER:[^:]+]]: index
// CHECK:         %word = hexad.load @word : tensor<113x60xf32>
// CHECK:         %query.weight = hexad.load @query.weight[%[[LAYER]]] : tensor<60x60xf32>
// CHECK:         %query.weight_0 = hexad.load @query.weight : tensor<2x60x60xf32>
// CHECK:         hexad.load @word : memref<113x60xf32>
func.func @load(%layer: index) {
  %0 = hexad.load @word : tensor<113x60xf32>
  %1 = hexad.load @query.weight[%layer] : tensor<60x60xf32>
  %2 = hexad.load @query.weight : tensor<2x60x60xf32>
  %3 = hexad.load @word : memref<113x60xf32>
  return
}
