// One channel, two patches of a row each, a class token that is stored [1, 1, 2].
module @images {
  hexad.parameter @w : tensor<2x1x1x2xf32> from "model.safetensors" ["w"]
  hexad.parameter @class : tensor<1x2xf32> from "model.safetensors" ["class"]
  func.func @forward(%pixels: tensor<?x1x2x2xf32> {hexad.name = "pixels"})
      -> (tensor<?x?x2xf32> {hexad.name = "rows"}, tensor<?x2xf32> {hexad.name = "mean"}) {
    %w = hexad.load @w : tensor<2x1x1x2xf32>
    %class = hexad.load @class : tensor<1x2xf32>
    %segments = hexad.image_segments %pixels {length = 3 : i64} : tensor<?x1x2x2xf32>
    %positions = hexad.positions %segments : tensor<?xi32>
    %x = hexad.patchify %pixels, %w, %segments {prefix = 1 : i64} : tensor<?x1x2x2xf32>, tensor<2x1x1x2xf32> -> tensor<?x2xf32>
    %y = hexad.prefix_rows %x, %positions, %class : tensor<?x2xf32>, tensor<?xi32>, tensor<1x2xf32>
    %rows = hexad.unpack_rows %y, %segments : tensor<?x2xf32> -> tensor<?x?x2xf32>
    %mean = hexad.pool mean %y, %segments {skip = 1 : i64} : tensor<?x2xf32> -> tensor<?x2xf32>
    return %rows, %mean : tensor<?x?x2xf32>, tensor<?x2xf32>
  }
}
