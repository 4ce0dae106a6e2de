//===- HexadVisionOps.td - From images to rows of patches --*- tablegen -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_DIALECT_HEXAD_IR_HEXADVISIONOPS_TD
#define HEXAD_DIALECT_HEXAD_IR_HEXADVISIONOPS_TD

include "hexad/Dialect/Hexad/IR/HexadDialect.td"

def Hexad_ImageSegmentsOp : Hexad_Op<"image_segments", [Pure,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "the segment table of a batch of images";
  let description = [{
    Each image becomes a segment of `length` rows: its patches, and the rows in front
    of them that a model adds (class token, registers). Element `(i, t)` of the
    rectangle `[batch, length]` is row `i·length + t`; there is no padding.

    | operand | shape |
    | --- | --- |
    | `image` | `[batch, channels, height, width]` |

    Example:

    ```mlir
    %segments = hexad.image_segments %pixel_values {length = 25 : i64} : tensor<?x3x32x48xf32>
    ```
  }];
  let arguments = (ins Hexad_Image:$image, ConfinedAttr<I64Attr, [IntPositive]>:$length);
  let results = (outs Hexad_SegmentsType:$segments);
  let assemblyFormat = "$image attr-dict `:` type($image)";
}

def Hexad_ElementsOp : Hexad_Op<"elements", [Pure,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "the element of the rectangle that each row comes from";
  let description = [{
    `elements[r] = i·seq + s` where element `(i, s)` of the rectangle `[batch, seq]` is
    row `r` of the segment table.

    Example:

    ```mlir
    %elements = hexad.elements %segments : tensor<?xi32>
    ```
  }];
  let arguments = (ins Hexad_SegmentsType:$segments);
  let results = (outs Hexad_IndexRows:$elements);
  let assemblyFormat = "$segments attr-dict `:` type($elements)";
}

def Hexad_PatchifyOp : Hexad_Op<"patchify", [Pure]> {
  let summary = "patches of images, projected to rows";
  let description = [{
    The image is cut into patches of the weight's height P and width Q, row of patches
    by row of patches; each becomes a row (Dosovitskiy et al., arXiv:2010.11929).
    With T = `prefix` + (height / P)·(width / Q) rows for each image, row t of image i is,
    with p = t - `prefix` the patch at row y = p / (width / Q) and column
    x = p mod (width / Q):

    `y[i·T + t, n] = Σ_{c,u,v} image[i, c, y·P + u, x·Q + v] · weight[n, c, u, v] + bias[n]`

    Rows t < `prefix` are those of a patch of zeros (the bias, or zeros): room for
    class token and registers, see `hexad.prefix_rows`. It is a two-dimensional
    convolution with a stride of the filter's size; the passes
    `hexad-patchify-to-convolution` and `hexad-convolution-to-patchify` make one of the
    other.

    | operand | shape |
    | --- | --- |
    | `image` | `[batch, channels, height, width]` |
    | `weight` | `[N, channels, P, Q]` |
    | `bias` | `[N]` |
    | `segments` | of the images: T rows for each |
    | result | `[rows, N]` |

    Constraints:

    - `patchify_c1`: `weight` has the image's channels.
    - `patchify_c2`: height and width of the image are multiples of the patch's.
    - `patchify_c3`: the result has a column for each filter, and a row for each token.
    - `patchify_c4`: `bias` has an element for each filter.
    - `patchify_c5`: `prefix` is from 0 to 2^31 - 1.

    Example:

    ```mlir
    %x = hexad.patchify %pixel_values, %w bias %b, %segments {prefix = 1 : i64}
        : tensor<?x3x32x48xf32>, tensor<60x3x8x8xf32>, tensor<60xf32> -> tensor<?x60xf32>
    ```
  }];
  let arguments = (ins Hexad_Image:$image, Hexad_Filters:$weight, Optional<Hexad_Vector>:$bias,
                       Hexad_SegmentsType:$segments, DefaultValuedAttr<I64Attr, "0">:$prefix);
  let results = (outs Hexad_Rows:$result);
  let assemblyFormat = [{
    $image `,` $weight (`bias` $bias^)? `,` $segments attr-dict `:` type($image) `,` type($weight)
    (`,` type($bias)^)? `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Rows of each image: the prefix and a row for each patch.
    int64_t getTokensPerImage();
  }];
}

def Hexad_PatchesOp : Hexad_RowLocalOp<"patches"> {
  let summary = "the pixels of a patch as a row";
  let description = [{
    Row r is token t = `elements[r]` mod T of image i = `elements[r]` / T, with T as
    `hexad.patchify` has it; with p, y, x and the patch `[P, Q]` as there:

    `y[r, (c·P + u)·Q + v] = image[i, c, y·P + u, x·Q + v]`

    and zeros if t < `prefix`. Made of `hexad.patchify` by `hexad-lower-patchify`, which
    is this and a `hexad.linear`.

    | operand | shape |
    | --- | --- |
    | `elements` | `[rows]`, i32 |
    | `image` | `[batch, channels, height, width]` |
    | result | `[rows, channels·P·Q]` |

    Constraints:

    - `patches_c1`: `patch` is two positive numbers.
    - `patches_c2`: height and width of the image are multiples of the patch's.
    - `patches_c3`: the result has a row for each element, and a column for each pixel and
      channel of a patch.
    - `patches_c4`: `prefix` is from 0 to 2^31 - 1.

    Example:

    ```mlir
    %p = hexad.patches %elements, %pixel_values {patch = array<i64: 8, 8>, prefix = 1 : i64}
        : tensor<?xi32>, tensor<?x3x32x48xf32> -> tensor<?x192xf32>
    ```
  }];
  let arguments = (ins Hexad_IndexRows:$elements, Hexad_Image:$image,
                       DenseI64ArrayAttr:$patch, DefaultValuedAttr<I64Attr, "0">:$prefix);
  let results = (outs Hexad_Rows:$result);
  let assemblyFormat = [{
    $elements `,` $image attr-dict `:` type($elements) `,` type($image) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Hexad_PrefixRowsOp : Hexad_RowLocalOp<"prefix_rows", [AllTypesMatch<["x", "result"]>],
                                          ["getNumRowOperands"]> {
  let summary = "the first rows of each segment are those of a table";
  let description = [{
    `y[r, :] = table[positions[r], :]` if `positions[r]` is less than the table's number
    of entries, else `x[r, :]`: the class token of a vision transformer and its
    registers (Darcet et al., arXiv:2309.16588).

    | operand | shape |
    | --- | --- |
    | `x`, result | `[rows, D]` |
    | `positions` | `[rows]`, i32, not negative |
    | `table` | `[entries, D]` |

    Constraints:

    - `prefix_rows_c1`: `table` has the columns of `x`.
    - `prefix_rows_c2`: `positions` has an element for each row of `x`.

    Example:

    ```mlir
    %y = hexad.prefix_rows %x, %positions, %class : tensor<?x60xf32>, tensor<?xi32>, tensor<1x60xf32>
    ```
  }];
  let arguments = (ins Hexad_Rows:$x, Hexad_IndexRows:$positions, Hexad_Matrix:$table);
  let results = (outs Hexad_Rows:$result);
  let assemblyFormat = [{
    $x `,` $positions `,` $table attr-dict `:` type($x) `,` type($positions) `,` type($table)
  }];
  let hasVerifier = 1;
}

#endif // HEXAD_DIALECT_HEXAD_IR_HEXADVISIONOPS_TD
