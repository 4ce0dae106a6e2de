//===- KernelMapOps.td - Attention maps of a query tile ----*- tablegen -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of KernelOps.td, which includes it: the rows of a map are those of a
// rectangle, which has neither padding nor a static size.
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_DIALECT_KERNEL_IR_KERNELMAPOPS_TD
#define HEXAD_DIALECT_KERNEL_IR_KERNELMAPOPS_TD

def Kernel_IsPresentOp : Kernel_Op<"is_present", [Pure]> {
  let summary = "whether the caller gave an output";
  let description = [{
    False if the buffer's address is null: what would go there need not be computed.

    Example:

    ```mlir
    %wanted = hexad_kernel.is_present %maps : memref<?xf32>
    ```
  }];
  let arguments = (ins MemRefRankOf<[F32], [1]>:$buffer);
  let results = (outs I1:$result);
  let assemblyFormat = "$buffer attr-dict `:` type($buffer)";
}

def Kernel_ClearOp : Kernel_DestinationOp<"clear"> {
  let summary = "destination[start … start + count - 1] = 0";
  let description = [{
    Touches no other element.

    Example:

    ```mlir
    hexad_kernel.clear ins(%start, %count : index, index) outs(%maps : memref<?xf32>)
    ```
  }];
  let arguments = (ins Index:$start, Index:$count, Kernel_Row:$destination);
  let assemblyFormat = [{
    `ins` `(` $start `,` $count `:` type($start) `,` type($count) `)`
    `outs` `(` $destination `:` type($destination) `)` attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_MapPageOp : Kernel_DestinationOp<"map_page"> {
  let summary = "probabilities of the keys of one page, from scores and final statistics";
  let description = [{
    For every row m < `rows` of a tile and every key t < `keys` of a page, with the
    maximum `statistics[0, m]` and the sum `statistics[1, m]` of all pages that the
    row sees (`hexad_kernel.softmax_page`):

    `destination[start + m·stride + t] = exp2(scores[m, t] - maximum) · (1 / sum)`

    if the row sees the key and the sum is not 0, else exactly 0. With `softcap` c the
    score is first made `c · tanh(scores[m, t] / c)`. Scores, `position`, `causal` and
    `window` are those of `softmax_page`. Elements beside these are not touched.

    | operand | shape |
    | --- | --- |
    | `scores` | `[tile, page]`, as a matmul gives them |
    | `statistics` | `[6, tile rounded up to 16]` |
    | `destination` | `[≥ start + (rows - 1)·stride + keys]` |

    - `map_page_c1`: `causal` and `window` need a position.
    - `map_page_c2`: `window` is positive, `softcap` finite and positive.

    Example:

    ```mlir
    hexad_kernel.map_page ins(%rows, %keys, %start, %stride, %scores, %statistics : index, index, index, index, memref<60x128xf32>, memref<6x64xf32>)
        position(%p) outs(%maps : memref<?xf32>) {causal}
    ```
  }];
  let arguments = (ins Index:$rows, Index:$keys, Index:$start, Index:$stride,
                       Kernel_Rows:$scores, Kernel_Rows:$statistics,
                       Optional<Index>:$position, Kernel_Row:$destination,
                       UnitAttr:$causal, OptionalAttr<I64Attr>:$window,
                       OptionalAttr<F64Attr>:$softcap);
  let assemblyFormat = [{
    `ins` `(` $rows `,` $keys `,` $start `,` $stride `,` $scores `,` $statistics `:`
    type($rows) `,` type($keys) `,` type($start) `,` type($stride) `,` type($scores) `,` type($statistics) `)`
    (`position` `(` $position^ `)`)? `outs` `(` $destination `:` type($destination) `)`
    attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

#endif // HEXAD_DIALECT_KERNEL_IR_KERNELMAPOPS_TD
