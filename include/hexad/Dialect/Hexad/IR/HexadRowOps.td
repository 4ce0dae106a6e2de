//===- HexadRowOps.td - Rectangles, rows and blocks of rows ---------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_DIALECT_HEXAD_IR_HEXADROWOPS_TD
#define HEXAD_DIALECT_HEXAD_IR_HEXADROWOPS_TD

include "hexad/Dialect/Hexad/IR/HexadDialect.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Hexad_SegmentsOp : Hexad_Op<"segments", [Pure,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "the segment table of a rectangle with a mask";
  let description = [{
    Batch row `i` of the mask becomes segment `i`: the run of elements that are
    not 0. Padding may lie on either side; a hole inside a row is an error at run
    time. Positions count from the first real token. A batch row without any real
    token is a segment of length 0.

    | operand | shape |
    | --- | --- |
    | `mask` | `[batch, seq]`, i32, 0 or not 0 |

    Example:

    ```mlir
    %segments = hexad.segments %attention_mask : tensor<?x?xi32>
    ```
  }];
  let arguments = (ins Hexad_IdRectangle:$mask);
  let results = (outs Hexad_SegmentsType:$segments);
  let assemblyFormat = "$mask attr-dict `:` type($mask)";
}

def Hexad_PackRowsOp : Hexad_Op<"pack_rows", [Pure]> {
  let summary = "the real elements of a rectangle, one for each row";
  let description = [{
    `rows[r] = rectangle[i, s]` where element `(i, s)` of the rectangle is row `r`
    of the segment table.

    Example:

    ```mlir
    %ids = hexad.pack_rows %input_ids, %segments : tensor<?x?xi32> -> tensor<?xi32>
    ```
  }];
  let arguments = (ins Hexad_IdRectangle:$rectangle, Hexad_SegmentsType:$segments);
  let results = (outs Hexad_IndexRows:$rows);
  let assemblyFormat = "$rectangle `,` $segments attr-dict `:` type($rectangle) `->` type($rows)";
}

def Hexad_UnpackRowsOp : Hexad_Op<"unpack_rows", [Pure]> {
  let summary = "rows spread out into a rectangle again";
  let description = [{
    `rectangle[i, s, :] = rows[r, :]` where element `(i, s)` is row `r` of the
    segment table, 0 where it is padding. A stack of rows `[count, rows, dim]`
    becomes a stack of rectangles `[count, batch, seq, dim]`.

    Constraints:

    - `unpack_rows_c1`: the result is a rectangle, or for a stack a stack of them, with
      the columns of the rows.
    - `unpack_rows_c2`: both stacks have the same number of members.

    Example:

    ```mlir
    %y = hexad.unpack_rows %x, %segments : tensor<?x60xf32> -> tensor<?x?x60xf32>
    ```
  }];
  let arguments = (ins AnyTypeOf<[Hexad_Rows, Hexad_RowStack]>:$rows, Hexad_SegmentsType:$segments);
  let results = (outs AnyTypeOf<[Hexad_Rectangle, Hexad_RectangleStack]>:$rectangle);
  let assemblyFormat = "$rows `,` $segments attr-dict `:` type($rows) `->` type($rectangle)";
  let hasVerifier = 1;
}

def Hexad_PositionsOp : Hexad_Op<"positions", [Pure,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "the position of each row in its segment";
  let description = [{
    `positions[r]` counts from the first real token of the row's segment.

    Example:

    ```mlir
    %positions = hexad.positions %segments : tensor<?xi32>
    ```
  }];
  let arguments = (ins Hexad_SegmentsType:$segments);
  let results = (outs Hexad_IndexRows:$positions);
  let assemblyFormat = "$segments attr-dict `:` type($positions)";
}

def Hexad_PoolOp : Hexad_Op<"pool", [Pure]> {
  let summary = "one row for each segment";
  let description = [{
    | kind | result for segment `i` with rows `r0 … r0+n-1` |
    | --- | --- |
    | `first` | `x[r0, :]` |
    | `mean` | `(x[r0+skip, :] + … + x[r0+n-1, :]) / (n - skip)`, added in row order |

    A segment without such rows gives zeros. `mean` over real tokens is what
    sentence-transformers calls mean pooling (Reimers and Gurevych,
    arXiv:1908.10084); with `skip` it is that of an image's patches behind its class
    token. `first` is BERT's (Devlin et al., arXiv:1810.04805).

    Constraints:

    - `pool_c1`: the result has the columns of the rows.
    - `pool_c2`: `skip` is from 0 to 2^31 - 1, and 0 with `first`.

    Example:

    ```mlir
    %p = hexad.pool first %x, %segments : tensor<?x60xf32> -> tensor<?x60xf32>
    ```
  }];
  let arguments = (ins Hexad_PoolingAttr:$kind,
                       Hexad_Rows:$rows, Hexad_SegmentsType:$segments,
                       DefaultValuedAttr<I64Attr, "0">:$skip);
  let results = (outs Hexad_Rows:$pooled);
  let assemblyFormat = "custom<Keyword>($kind) $rows `,` $segments attr-dict `:` type($rows) `->` type($pooled)";
  let hasVerifier = 1;
}

def Hexad_SelectRowsOp : Hexad_Op<"select_rows", [Pure]> {
  let summary = "the rows of which the caller wants results";
  let description = [{
    All rows of tokens in a call of `forward` (and in the reference interpreter); in
    a call of `extend` those that the caller asked for: the last row of each
    segment, all, or none. What is computed from them (a language model's head) is
    computed for these rows only.

    Constraint `select_rows_c1`: the result has the columns of the rows.

    Example:

    ```mlir
    %s = hexad.select_rows %x, %segments : tensor<?x60xf32> -> tensor<?x60xf32>
    ```
  }];
  let arguments = (ins Hexad_Rows:$rows, Hexad_SegmentsType:$segments);
  let results = (outs Hexad_Rows:$selected);
  let assemblyFormat = "$rows `,` $segments attr-dict `:` type($rows) `->` type($selected)";
  let hasVerifier = 1;
}

def Hexad_RowsOp : Hexad_Op<"rows", [IsolatedFromAbove,
    SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>]> {
  let summary = "ops that are computed together, block of rows by block of rows";
  let description = [{
    Says which row-local ops form a block: the tiling pass makes one loop over
    blocks of rows of it. The region has an argument for each operand. Vectors
    and matrices with a dynamic first dimension are rows and are sliced; the others
    (weights, images) are passed whole. How rows are split into blocks changes no value.

    Constraints:

    - `rows_c1`: block arguments have the types of the operands.
    - `rows_c2`: what is yielded has the types of the results.
    - `rows_c3`: results have a dynamic number of rows exactly if an operand has one.

    Example:

    ```mlir
    %y = hexad.rows (%a = %x : tensor<?x60xf32>, %w = %0 : tensor<171x60xf32>) -> tensor<?x171xf32> {
      %1 = hexad.linear %a, %w : tensor<?x60xf32>, tensor<171x60xf32> -> tensor<?x171xf32>
      %2 = hexad.activation gelu %1 : tensor<?x171xf32>
      hexad.yield %2 : tensor<?x171xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs);
  let results = (outs Variadic<Hexad_Rows>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether an operand or a block argument is rows, to be sliced.
    static bool isRows(::mlir::Value value) {
      auto type = ::llvm::cast<::mlir::RankedTensorType>(value.getType());
      // A batch of images is not: its rows are patches.
      return type.getRank() > 0 && type.getRank() < 3 && type.isDynamicDim(0);
    }
    /// The first operand that is rows, null if there is none.
    ::mlir::Value getFirstRows();
  }];
}

def Hexad_YieldOp : Hexad_Op<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<["RowsOp", "ExpertsOp"]>]> {
  let summary = "results of a block of rows, or of an expert";
  let arguments = (ins Variadic<Hexad_Rows>:$results);
  let builders = [OpBuilder<(ins), [{ }]>];
  let assemblyFormat = "($results^ `:` type($results))? attr-dict";
}

#endif // HEXAD_DIALECT_HEXAD_IR_HEXADROWOPS_TD
