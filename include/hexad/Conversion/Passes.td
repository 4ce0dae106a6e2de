//===- Passes.td - Between hexad and MLIR's dialects -------*- tablegen -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_CONVERSION_PASSES_TD
#define HEXAD_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def PatchifyToConvolutionPass : Pass<"hexad-patchify-to-convolution", "::mlir::func::FuncOp"> {
  let summary = "Make a convolution of hexad.patchify";
  let description = [{
    `hexad.patchify` becomes `linalg.conv_2d_nchw_fchw` with a stride of the filter's
    size; its result is transposed to rows of patches, padded by the prefix, and the
    bias is added. `hexad.unpack_rows` of images becomes `tensor.expand_shape`.
    Expects hexad IR. Afterwards there is no `hexad.patchify`. Terms of sums and their
    order stay; `linalg` rounds products.

    Before:

    ```mlir
    %s = hexad.image_segments %image {length = 24 : i64} : tensor<?x3x32x48xf32>
    %x = hexad.patchify %image, %w, %s : tensor<?x3x32x48xf32>, tensor<60x3x8x8xf32> -> tensor<?x60xf32>
    ```

    After:

    ```mlir
    %0 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<8> : tensor<2xi64>}
        ins(%image, %w : tensor<?x3x32x48xf32>, tensor<60x3x8x8xf32>) outs(%zeros : tensor<?x60x4x6xf32>) -> tensor<?x60x4x6xf32>
    %1 = tensor.collapse_shape %0 [[0], [1], [2, 3]] : tensor<?x60x4x6xf32> into tensor<?x60x24xf32>
    %2 = linalg.transpose ins(%1 : tensor<?x60x24xf32>) outs(%empty : tensor<?x24x60xf32>) permutation = [0, 2, 1]
    %x = tensor.collapse_shape %2 [[0, 1], [2]] : tensor<?x24x60xf32> into tensor<?x60xf32>
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def ConvolutionToPatchifyPass : Pass<"hexad-convolution-to-patchify", "::mlir::func::FuncOp"> {
  let summary = "Make hexad.patchify of convolutions with a stride of their filter's size";
  let description = [{
    `linalg.conv_2d_nchw_fchw` of f32 images that are whole patches, with strides of the
    filter's size and no dilation, becomes `hexad.patchify`; its rows are brought into
    the shape of the result. What it adds to must be zeros (`linalg.fill`), or a bias
    (`linalg.broadcast`), which is then added behind the sum instead of in front.
    Expects tensors. Other convolutions stay, and a remark says why.

    Before:

    ```mlir
    %0 = linalg.conv_2d_nchw_fchw {strides = dense<8> : tensor<2xi64>}
        ins(%image, %w : tensor<?x3x32x48xf32>, tensor<60x3x8x8xf32>) outs(%zeros : tensor<?x60x4x6xf32>) -> tensor<?x60x4x6xf32>
    ```

    After:

    ```mlir
    %segments = hexad.image_segments %image {length = 24 : i64} : tensor<?x3x32x48xf32>
    %x = hexad.patchify %image, %w, %segments : tensor<?x3x32x48xf32>, tensor<60x3x8x8xf32> -> tensor<?x60xf32>
    %1 = hexad.unpack_rows %x, %segments : tensor<?x60xf32> -> tensor<?x24x60xf32>
    %2 = linalg.transpose ins(%1 : tensor<?x24x60xf32>) outs(%empty : tensor<?x60x24xf32>) permutation = [0, 2, 1]
    %0 = tensor.expand_shape %2 [[0], [1], [2, 3]] output_shape [%batch, 60, 4, 6] : tensor<?x60x24xf32> into tensor<?x60x4x6xf32>
    ```
  }];
  let dependentDialects = ["::hexad::HexadDialect", "::mlir::linalg::LinalgDialect"];
}

#endif // HEXAD_CONVERSION_PASSES_TD
