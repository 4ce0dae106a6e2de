// RUN: hexad-opt %s --split-input-file --hexad-form-rows --hexad-tile="tile-rows=6 tile-columns=16" --hexad-lower-to-kernels="tile-rows=6 tile-columns=16" --canonicalize --cse | FileCheck %s

// Weights become panels of 16 columns, tables and vectors are padded, all of it
// visible in the types; columns of activations are padded, widths are kept.
// CHECK-DAG: hexad.parameter @table.padded : tensor<10x32xf32> from "m.safetensors" ["t"]
// CHECK-DAG: hexad.parameter @up.panels : tensor<3x20x16xf32> from "m.safetensors" ["u"] {panel = 16 : i64}
// CHECK-DAG: hexad.parameter @up.bias.padded : tensor<48xf32>
// CHECK-DAG: hexad.parameter @down.panels : tensor<2x35x16xf32> from "m.safetensors" ["d"] {panel = 16 : i64}
// CHECK-DAG: hexad.parameter @norm.padded : tensor<32xf32>
hexad.parameter @table : tensor<10x20xf32> from "m.safetensors" ["t"]
hexad.parameter @up : tensor<35x20xf32> from "m.safetensors" ["u"]
hexad.parameter @up.bias : tensor<35xf32> from "m.safetensors" ["ub"]
hexad.parameter @down : tensor<20x35xf32> from "m.safetensors" ["d"]
hexad.parameter @norm : tensor<20xf32> from "m.safetensors" ["n"]

// CHECK-LABEL: func.func @mlp
func.func @mlp(%ids: tensor<?x?xi32>) -> tensor<?x?x20xf32> {
  %s = hexad.segments %ids : tensor<?x?xi32>
  %i = hexad.pack_rows %ids, %s : tensor<?x?xi32> -> tensor<?xi32>
  %t = hexad.load @table : tensor<10x20xf32>
  %u = hexad.load @up : tensor<35x20xf32>
  %ub = hexad.load @up.bias : tensor<35xf32>
  %d = hexad.load @down : tensor<20x35xf32>
  %n = hexad.load @norm : tensor<20xf32>
  // The embedding goes straight to its place.
  // CHECK: hexad_kernel.gather_rows ins(%{{.+}}, %{{.+}} : tensor<10x32xf32>, tensor<?xi32>) outs(%{{.+}} : tensor<?x32xf32>)
  %x = hexad.embedding %i, %t : tensor<?xi32>, tensor<10x20xf32> -> tensor<?x20xf32>
  // Bias and activation in the matmul that produced their input: three panels.
  // CHECK: hexad_kernel.matmul ins(%{{.+}}, %{{.+}} : tensor<?x32xf32>, tensor<3x20x16xf32>)
  // CHECK-SAME: bias(%{{.+}} : tensor<48xf32>) outs(%{{.+}} : tensor<?x48xf32>)
  // CHECK-SAME: activation = #hexad.activation<gelu>, tile = #hexad_kernel.tile<rows = 6, columns = 16>
  // CHECK-NOT: hexad_kernel.activation
  %1 = hexad.linear %x, %u bias %ub : tensor<?x20xf32>, tensor<35x20xf32>, tensor<35xf32> -> tensor<?x35xf32>
  %2 = hexad.activation gelu %1 : tensor<?x35xf32>
  // The residual too; the norm works in place on what the matmul wrote.
  // CHECK: %[[SUM:.+]] = hexad_kernel.matmul ins(%{{.+}}, %{{.+}} : tensor<?x48xf32>, tensor<2x35x16xf32>)
  // CHECK-SAME: residual(%{{.+}} : tensor<?x32xf32>)
  // CHECK-NOT: hexad_kernel.add
  // CHECK: hexad_kernel.layer_norm ins(%[[SUM]], %{{.+}} : tensor<?x32xf32>, tensor<32xf32>) outs(%[[SUM]] : tensor<?x32xf32>)
  // CHECK-SAME: width = 20
  // CHECK-NOT: hexad.{{linear|add|layer_norm|activation|embedding}}
  %3 = hexad.linear %2, %d : tensor<?x35xf32>, tensor<20x35xf32> -> tensor<?x20xf32>
  %4 = hexad.add %3, %x : tensor<?x20xf32>
  %5 = hexad.layer_norm %4, %n eps 1.0e-5 : tensor<?x20xf32>, tensor<20xf32>
  %r = hexad.unpack_rows %5, %s : tensor<?x20xf32> -> tensor<?x?x20xf32>
  return %r : tensor<?x?x20xf32>
}

// -----

// A gated MLP: the product of both halves belongs to the epilogue of the second.
// CHECK-LABEL: func.func @gated
// CHECK: hexad_kernel.matmul ins(%{{.+}}, %{{.+}} : tensor<?x32xf32>, tensor<3x20x16xf32>) outs(
// CHECK-SAME: activation = #hexad.activation<silu>
// CHECK: hexad_kernel.matmul ins(%{{.+}}, %{{.+}} : tensor<?x32xf32>, tensor<3x20x16xf32>)
// CHECK-SAME: factor(%{{.+}} : tensor<?x48xf32>) outs(%{{.+}} : tensor<?x48xf32>)
// CHECK-NOT: hexad{{(_kernel)?}}.multiply
// CHECK: hexad_kernel.matmul ins(%{{.+}}, %{{.+}} : tensor<?x48xf32>, tensor<2x35x16xf32>)
// CHECK-SAME: residual(
// CHECK-NOT: hexad.{{linear|activation|add}}
hexad.parameter @table : tensor<10x20xf32> from "m.safetensors" ["t"]
hexad.parameter @up : tensor<35x20xf32> from "m.safetensors" ["u"]
hexad.parameter @gate : tensor<35x20xf32> from "m.safetensors" ["g"]
hexad.parameter @down : tensor<20x35xf32> from "m.safetensors" ["d"]
func.func @gated(%ids: tensor<?x?xi32>) -> tensor<?x?x20xf32> {
  %s = hexad.segments %ids : tensor<?x?xi32>
  %i = hexad.pack_rows %ids, %s : tensor<?x?xi32> -> tensor<?xi32>
  %t = hexad.load @table : tensor<10x20xf32>
  %u = hexad.load @up : tensor<35x20xf32>
  %g = hexad.load @gate : tensor<35x20xf32>
  %d = hexad.load @down : tensor<20x35xf32>
  %x = hexad.embedding %i, %t : tensor<?xi32>, tensor<10x20xf32> -> tensor<?x20xf32>
  %1 = hexad.linear %x, %g : tensor<?x20xf32>, tensor<35x20xf32> -> tensor<?x35xf32>
  %2 = hexad.activation silu %1 : tensor<?x35xf32>
  %3 = hexad.linear %x, %u : tensor<?x20xf32>, tensor<35x20xf32> -> tensor<?x35xf32>
  %4 = hexad.multiply %2, %3 : tensor<?x35xf32>
  %5 = hexad.linear %4, %d : tensor<?x35xf32>, tensor<20x35xf32> -> tensor<?x20xf32>
  %6 = hexad.add %x, %5 : tensor<?x20xf32>
  %r = hexad.unpack_rows %6, %s : tensor<?x20xf32> -> tensor<?x?x20xf32>
  return %r : tensor<?x?x20xf32>
}

// -----

// What is stored in 16 bits: the type of the form that kernels read says so. A table that is also a matrix lies there once,
// one that is not keeps its rows, also where they need no padding. What is not said stays f32.
// CHECK-DAG: hexad.parameter @tied.panels : tensor<1x16x16xbf16> from "m.safetensors" ["t"] {panel = 16 : i64}
// CHECK-DAG: hexad.parameter @table.padded : tensor<7x16xf16> from "m.safetensors" ["u"]{{$}}
// CHECK-DAG: hexad.parameter @bias.padded : tensor<16xf32> from "m.safetensors" ["b"]{{$}}
// CHECK-NOT: hexad.parameter
hexad.parameter @tied : tensor<10x16xf32> from "m.safetensors" ["t"] {storage = bf16}
hexad.parameter @table : tensor<7x16xf32> from "m.safetensors" ["u"] {storage = f16}
hexad.parameter @bias : tensor<10xf32> from "m.safetensors" ["b"]
// CHECK-LABEL: func.func @narrow
func.func @narrow(%ids: tensor<?x?xi32>) -> tensor<?x?x10xf32> {
  %s = hexad.segments %ids : tensor<?x?xi32>
  %i = hexad.pack_rows %ids, %s : tensor<?x?xi32> -> tensor<?xi32>
  %t = hexad.load @tied : tensor<10x16xf32>
  %u = hexad.load @table : tensor<7x16xf32>
  %b = hexad.load @bias : tensor<10xf32>
  // CHECK-DAG: hexad_kernel.gather_packed_rows ins(%{{.+}}, %{{.+}} : tensor<1x16x16xbf16>, tensor<?xi32>) outs(%{{.+}} : tensor<?x16xf32>)
  // CHECK-DAG: hexad_kernel.gather_rows ins(%{{.+}}, %{{.+}} : tensor<7x16xf16>, tensor<?xi32>) outs(%{{.+}} : tensor<?x16xf32>)
  %x = hexad.embedding %i, %t : tensor<?xi32>, tensor<10x16xf32> -> tensor<?x16xf32>
  %y = hexad.embedding %i, %u : tensor<?xi32>, tensor<7x16xf32> -> tensor<?x16xf32>
  %z = hexad.add %x, %y : tensor<?x16xf32>
  // CHECK: hexad_kernel.matmul ins(%{{.+}}, %{{.+}} : tensor<?x16xf32>, tensor<1x16x16xbf16>) bias(%{{.+}} : tensor<16xf32>)
  %l = hexad.linear %z, %t bias %b : tensor<?x16xf32>, tensor<10x16xf32>, tensor<10xf32> -> tensor<?x10xf32>
  %r = hexad.unpack_rows %l, %s : tensor<?x10xf32> -> tensor<?x?x10xf32>
  return %r : tensor<?x?x10xf32>
}
