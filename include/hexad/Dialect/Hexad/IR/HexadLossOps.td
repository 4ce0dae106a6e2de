//===- HexadLossOps.td - Labels and cross-entropy ----------*- tablegen -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_DIALECT_HEXAD_IR_HEXADLOSSOPS_TD
#define HEXAD_DIALECT_HEXAD_IR_HEXADLOSSOPS_TD

include "hexad/Dialect/Hexad/IR/HexadDialect.td"

def Hexad_LabelsOp : Hexad_Op<"labels", [Pure]> {
  let summary = "the label of each row";
  let description = [{
    Of a rectangle `[batch, seq]`: the label of each row of tokens, that of its own
    element, or with `shift` that of the next row of its segment. What has no label
    is -100, which `hexad.cross_entropy` ignores: with `shift` the last row of each
    segment. The first label of a segment is then not looked at, nor is any at
    padding.

    Of a vector `[batch]`: the label of each segment; -100 for one without rows.

    | operand | shape |
    | --- | --- |
    | `labels` | `[batch, seq]` or `[batch]`, i32 |
    | result | `[rows]` of tokens or of segments, i32 |

    A model takes its labels as an argument with `hexad.limit`: each is -100 or in
    `[0, limit)`.

    Constraint `labels_c1`: only labels of a rectangle can have `shift`.

    Example:

    ```mlir
    %l = hexad.labels %labels, %segments {shift} : tensor<?x?xi32> -> tensor<?xi32>
    ```
  }];
  let arguments = (ins AnyTypeOf<[Hexad_IdRectangle, Hexad_IndexRows]>:$labels,
                       Hexad_SegmentsType:$segments, UnitAttr:$shift);
  let results = (outs Hexad_IndexRows:$rows);
  let assemblyFormat = "$labels `,` $segments attr-dict `:` type($labels) `->` type($rows)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// What a row is given that has no label.
    static constexpr int32_t ignored = -100;
    /// Whether each segment has one label.
    bool isOfSegments() {
      return ::llvm::cast<::mlir::RankedTensorType>(getLabels().getType()).getRank() == 1;
    }
  }];
}

def Hexad_CrossEntropyOp : Hexad_RowLocalOp<"cross_entropy", [], ["getNumRowOperands"]> {
  let summary = "the negative logarithm of the label's probability";
  let description = [{
    `y[r, 0] = ln Σ_j exp(logits[r, j]) - logits[r, labels[r]]`, that is
    `-ln softmax(logits[r])[labels[r]]`; 0 where the label is -100, whatever the
    logits are. Another label that is no column is an error at run time.

    Compiled code goes through the columns tile by tile, with a running maximum and
    sum; where `hexad.linear` makes the logits, they exist a tile at a time only
    (Milakov and Gimelshein, arXiv:1805.02867).

    | operand | shape |
    | --- | --- |
    | `logits` | `[rows, classes]` |
    | `labels` | `[rows]`, i32 |
    | result | `[rows, 1]` |

    Constraints:

    - `cross_entropy_c1`: the result has one column.
    - `cross_entropy_c2`: the result and the labels have the rows of `logits`.

    Example:

    ```mlir
    %y = hexad.cross_entropy %logits, %l : tensor<?x113xf32>, tensor<?xi32> -> tensor<?x1xf32>
    ```
  }];
  let arguments = (ins Hexad_Rows:$logits, Hexad_IndexRows:$labels);
  let results = (outs Hexad_Rows:$result);
  let assemblyFormat = "$logits `,` $labels attr-dict `:` type($logits) `,` type($labels) `->` type($result)";
  let hasVerifier = 1;
}

def Hexad_MeanLossOp : Hexad_Op<"mean_loss", [Pure]> {
  let summary = "the mean over the rows that have a label";
  let description = [{
    `mean = Σ losses[r, 0] / count` over the rows r whose label is not -100, in the
    order of the rows, in double precision. Without such a row it is NaN (0/0): no
    mean, where 0 would be that of a perfect model.

    | operand | shape |
    | --- | --- |
    | `losses` | `[rows, 1]` |
    | `labels` | `[rows]`, i32 |
    | result | `[]` |

    Constraints:

    - `mean_loss_c1`: the losses have one column.
    - `mean_loss_c2`: there is a label for each row of losses.

    Example:

    ```mlir
    %loss = hexad.mean_loss %y, %l : tensor<?x1xf32>, tensor<?xi32> -> tensor<f32>
    ```
  }];
  let arguments = (ins Hexad_Rows:$losses, Hexad_IndexRows:$labels);
  let results = (outs TensorRankOf<[F32], [0]>:$mean);
  let assemblyFormat = "$losses `,` $labels attr-dict `:` type($losses) `,` type($labels) `->` type($mean)";
  let hasVerifier = 1;
}

#endif // HEXAD_DIALECT_HEXAD_IR_HEXADLOSSOPS_TD
