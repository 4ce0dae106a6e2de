// RUN: hexad-opt %s --hexad-lower-to-kernels --split-input-file --verify-diagnostics

// What was not tiled is refused: nobody knows its number of rows.

hexad.parameter @w : tensor<4x3xf32> from "m.safetensors" ["w"]
func.func @whole(%x: tensor<?x3xf32>) -> tensor<?x4xf32> {
  %w = hexad.load @w : tensor<4x3xf32>
  // expected-error @below {{expected operand 0 to be a tile of rows (hexad-tile), found 'tensor<?x3xf32>' from elsewhere}}
  %y = hexad.linear %x, %w : tensor<?x3xf32>, tensor<4x3xf32> -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// -----

func.func @weight(%x: tensor<?x3xf32>, %w: tensor<4x3xf32>, %size: index) -> tensor<?x4xf32> {
  %tile = tensor.extract_slice %x[0, 0] [%size, 3] [1, 1] : tensor<?x3xf32> to tensor<?x3xf32>
  // expected-error @below {{expected operand 1 to be a parameter (hexad.load), found 'tensor<4x3xf32>' from elsewhere}}
  %y = hexad.linear %tile, %w : tensor<?x3xf32>, tensor<4x3xf32> -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
