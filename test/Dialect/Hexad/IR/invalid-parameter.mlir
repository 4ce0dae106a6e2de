// RUN: hexad-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{attribute 'type' failed to satisfy constraint: type attribute of statically shaped tensor of 32-bit float or bfloat16 type or 16-bit float values}}
hexad.parameter @w : tensor<?x60xf32> from "model.safetensors" ["w"]

// -----

// expected-error @below {{attribute 'type' failed to satisfy constraint}}
hexad.parameter @w : tensor<60xf64> from "model.safetensors" ["w"]

// -----

// expected-error @below {{parameter_c1: expected dimensions of at least 1, found 'tensor<0x60xf32>'}}
hexad.parameter @w : tensor<0x60xf32> from "model.safetensors" ["w"]

// -----

// expected-error @below {{parameter_c1: expected dimensions of at least 1, found 'tensor<f32>'}}
hexad.parameter @w : tensor<f32> from "model.safetensors" ["w"]

// -----

// expected-error @below {{parameter_c2: expected at least one stored tensor}}
hexad.parameter @w : tensor<60xf32> from "model.safetensors" []

// -----

// expected-error @below {{parameter_c3: expected a leading dimension of 3 layers, found 'tensor<2x60xf32>'}}
hexad.parameter @w : tensor<2x60xf32> from "model.safetensors" ["0", "1", "2"] {layers = 3 : i64}

// -----

// expected-error @below {{parameter_c3: expected a leading dimension of 3 layers, found 'tensor<3xf32>'}}
hexad.parameter @w : tensor<3xf32> from "model.safetensors" ["0", "1", "2"] {layers = 3 : i64}

// -----

// expected-error @below {{parameter_c4: expected the same number of stored tensors for each of 2 layers, found 3 in all}}
hexad.parameter @w : tensor<2x60xf32> from "model.safetensors" ["0", "1", "2"] {layers = 2 : i64}

// -----

// expected-error @below {{parameter_c5: expected panels x in x 16 columns, found 'tensor<4x60x15xf32>'}}
hexad.parameter @w : tensor<4x60x15xf32> from "model.safetensors" ["w"] {panel = 16 : i64}

// -----

// expected-error @below {{parameter_c5: expected panels x in x 16 columns, found 'tensor<60x16xf32>'}}
hexad.parameter @w : tensor<2x60x16xf32> from "model.safetensors" ["0", "1"] {layers = 2 : i64, panel = 16 : i64}

// -----

// expected-error @below {{parameter_c6: expected matrices to be transposed, found 'tensor<60xf32>'}}
hexad.parameter @w : tensor<60xf32> from "model.safetensors" ["w"] {transposed}

// -----

// expected-error @below {{parameter_c11: expected 3 members to divide the number of layers, found 4}}
hexad.parameter @w : tensor<4x5x6xf32> from "model.safetensors" ["w"] {layers = 4 : i64, members = 3 : i64}

// -----

// expected-error @below {{parameter_c11: expected 3 members to divide the number of layers, found no layers}}
hexad.parameter @w : tensor<5x6xf32> from "model.safetensors" ["w"] {members = 3 : i64}

// -----

// expected-error @below {{parameter_c4: expected the same number of stored tensors for each of 2 stacks of layers, found 3 in all}}
hexad.parameter @w : tensor<4x5x6xf32> from "model.safetensors" ["a", "b", "c"] {layers = 4 : i64, members = 2 : i64}

// -----

// expected-error @below {{parameter_c7: expected picks of four or five numbers for each of 2 parts of a layer, found [array<i64: 0, 20, 60, 3>]}}
hexad.parameter @w : tensor<120x60xf32> from "model.safetensors" ["a", "b"] {picks = [array<i64: 0, 20, 60, 3>]}

// -----

// expected-error @below {{parameter_c7: expected picks of four or five numbers for each of 1 parts of a layer}}
hexad.parameter @w : tensor<2x60xf32> from "model.safetensors" ["a", "b"] {layers = 2 : i64, picks = [array<i64: 0, 60, 0>]}

// -----

// expected-error @below {{parameter_c8: expected a first row, one or more blocks of rows that do not overlap, and a step of at least 0, found array<i64: -1, 20, 60, 3>}}
hexad.parameter @w : tensor<60xf32> from "model.safetensors" ["w"] {picks = [array<i64: -1, 20, 60, 3>]}

// -----

// expected-error @below {{parameter_c8}}
hexad.parameter @w : tensor<60xf32> from "model.safetensors" ["w"] {picks = [array<i64: 0, 0, 60, 3>]}

// -----

// expected-error @below {{parameter_c8}}
hexad.parameter @w : tensor<60xf32> from "model.safetensors" ["w"] {picks = [array<i64: 0, 20, 60, 0>]}

// -----

// expected-error @below {{parameter_c8}}
hexad.parameter @w : tensor<60xf32> from "model.safetensors" ["w"] {picks = [array<i64: 0, 20, 19, 3>]}

// -----

// expected-error @below {{parameter_c8}}
hexad.parameter @w : tensor<60xf32> from "model.safetensors" ["w"] {picks = [array<i64: 0, 20, 20, 3, -1>]}

// -----

// expected-error @below {{parameter_c9: expected three numbers for the columns of matrices that are not transposed}}
hexad.parameter @w : tensor<60x8xf32> from "model.safetensors" ["w"] {columns = array<i64: 0, 8>}

// -----

// expected-error @below {{parameter_c9}}
hexad.parameter @w : tensor<60x8xf32> from "model.safetensors" ["w"] {transposed, columns = array<i64: 0, 8, 0>}

// -----

// expected-error @below {{parameter_c9}}
hexad.parameter @w : tensor<60xf32> from "model.safetensors" ["w"] {columns = array<i64: 0, 8, 0>}

// -----

// expected-error @below {{parameter_c10: expected a first column, one or more columns, and a step of at least 0, found array<i64: 0, 0, 0>}}
hexad.parameter @w : tensor<60x8xf32> from "model.safetensors" ["w"] {columns = array<i64: 0, 0, 0>}

// -----

// expected-error @below {{parameter_c10}}
hexad.parameter @w : tensor<60x8xf32> from "model.safetensors" ["w"] {columns = array<i64: -1, 8, 0>}

// -----

// expected-error @below {{parameter_c10}}
hexad.parameter @w : tensor<60x8xf32> from "model.safetensors" ["w"] {columns = array<i64: 0, 8, -8>}

// -----

// expected-error @below {{parameter_c12: expected a grid of one stored matrix, as it is stored, found 'tensor<60xf32>'}}
hexad.parameter @w : tensor<60xf32> from "model.safetensors" ["w"] {grid = array<i64: 1, 0, 2, 2, 3, 3>}

// -----

// expected-error @below {{parameter_c12}}
hexad.parameter @w : tensor<10x60xf32> from "model.safetensors" ["w", "v"] {grid = array<i64: 1, 0, 2, 2, 3, 3>}

// -----

// expected-error @below {{parameter_c12}}
hexad.parameter @w : tensor<10x60xf32> from "model.safetensors" ["w"] {grid = array<i64: 1, 0, 2, 2, 3, 3>, transposed}

// -----

// expected-error @below {{parameter_c12}}
hexad.parameter @w : tensor<10x60xf32> from "model.safetensors" ["w"] {grid = array<i64: 1, 0, 2, 2, 3, 3>, columns = array<i64: 0, 60, 0>}

// -----

// expected-error @below {{parameter_c13: expected a grid of six numbers kept, zeros, h, w, H, W, found array<i64: 1, 0, 2, 2, 3>}}
hexad.parameter @w : tensor<10x60xf32> from "model.safetensors" ["w"] {grid = array<i64: 1, 0, 2, 2, 3>}

// -----

// expected-error @below {{parameter_c13}}
hexad.parameter @w : tensor<10x60xf32> from "model.safetensors" ["w"] {grid = array<i64: 1, -1, 2, 2, 3, 3>}

// -----

// expected-error @below {{parameter_c13}}
hexad.parameter @w : tensor<10x60xf32> from "model.safetensors" ["w"] {grid = array<i64: 1, 0, 0, 2, 3, 3>}

// -----

// expected-error @below {{parameter_c13}}
hexad.parameter @w : tensor<10x60xf32> from "model.safetensors" ["w"] {grid = array<i64: 1, 0, 2147483648, 2, 3, 3>}

// -----

// expected-error @below {{parameter_c13: expected 12 rows of the grid, found 'tensor<10x60xf32>'}}
hexad.parameter @w : tensor<10x60xf32> from "model.safetensors" ["w"] {grid = array<i64: 1, 2, 2, 2, 3, 3>}

// -----

// expected-error @below {{parameter_c14: expected 'antialias' beside 'grid'}}
hexad.parameter @w : tensor<10x60xf32> from "model.safetensors" ["w"] {antialias}

// -----

// expected-error @below {{parameter_c15: expected layers of two dimensions or more to be stored in 16 bits, found 'tensor<60xf32>'}}
hexad.parameter @w : tensor<2x60xf32> from "model.safetensors" ["0", "1"] {layers = 2 : i64, storage = bf16}

// -----

// expected-error @below {{parameter_c15}}
hexad.parameter @w : tensor<60xf16> from "model.safetensors" ["w"]

// -----

// expected-error @below {{parameter_c16: expected elements of f32 beside 'storage', found 'tensor<60x60xbf16>'}}
hexad.parameter @w : tensor<60x60xbf16> from "model.safetensors" ["w"] {storage = bf16}

// -----

// expected-error @below {{attribute 'storage' failed to satisfy constraint: type attribute of bf16 or f16}}
hexad.parameter @w : tensor<60x60xf32> from "model.safetensors" ["w"] {storage = f64}

// -----

func.func @no_parameter() {
  // expected-error @below {{load_c1: no parameter of the name @w}}
  %w = hexad.load @w : tensor<60xf32>
  return
}

// -----

// expected-note @below {{declared here}}
hexad.parameter @w : tensor<60xf32> from "model.safetensors" ["w"]
func.func @no_layers(%layer: index) {
  // expected-error @below {{load_c2: a layer is chosen of a parameter without layers}}
  %w = hexad.load @w[%layer] : tensor<60xf32>
  return
}

// -----

// expected-note @below {{declared here}}
hexad.parameter @w : tensor<2x60xf32> from "model.safetensors" ["0", "1"] {layers = 2 : i64}
func.func @layer_type(%layer: index) {
  // expected-error @below {{load_c3: expected 'tensor<60xf32>', found 'tensor<2x60xf32>'}}
  %w = hexad.load @w[%layer] : tensor<2x60xf32>
  return
}
