//===- KernelLossOps.td - Cross-entropy, tile by tile ------*- tablegen -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_DIALECT_KERNEL_IR_KERNELLOSSOPS_TD
#define HEXAD_DIALECT_KERNEL_IR_KERNELLOSSOPS_TD

include "hexad/Dialect/Kernel/IR/KernelBase.td"

def Kernel_StartCrossEntropyOp : Kernel_DestinationOp<"start_cross_entropy"> {
  let summary = "statistics of rows of which no class was seen yet";
  let description = [{
    Each row of the statistics holds three numbers, 16 times each: the running
    maximum becomes -FLT_MAX, the running sum and the label's logit 0.

    - `start_cross_entropy_c1`: the statistics have 48 columns.

    Example:

    ```mlir
    hexad_kernel.start_cross_entropy outs(%s : memref<144x48xf32>)
    ```
  }];
  let arguments = (ins Kernel_Rows:$destination);
  let assemblyFormat = [{
    `outs` `(` $destination `:` type($destination) `)` attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_CrossEntropyTileOp : Kernel_DestinationOp<"cross_entropy_tile"> {
  let summary = "the logits of some classes folded into the statistics of their rows";
  let description = [{
    `logits` has a row for each label and a column for each of the `classes` classes
    from number `first` on. For each row whose label is not negative (ignored rows
    are left as they are):

    1. `g` = maximum of -FLT_MAX and the logits,
    2. `z = Σ exp(logit - g)`, both over 16 lanes and one tree as in `layer_norm`,
    3. with the running maximum and sum: `n = max(old, g)`,
       `sum = fma(sum, exp(old - n), z · exp(g - n))`, and n is the new maximum,
    4. the logit of the label is kept if it is among these.

    A NaN in step 1 may be lost; it comes back in step 2 and stays in the sum.

    | operand | shape |
    | --- | --- |
    | `logits` | `[M, ≥ classes rounded up to 16]` |
    | `labels` | `[M]` |
    | `destination` (statistics) | `[≥ M, 48]` |

    - `cross_entropy_tile_c1`: the statistics have 48 columns.
    - `cross_entropy_tile_c2`: they have a row for each row of logits.
    - `cross_entropy_tile_c3`: there is a label for each row of logits.

    Example:

    ```mlir
    hexad_kernel.cross_entropy_tile ins(%x, %labels, %first, %classes : memref<?x512xf32>, memref<?xi32>, index, index)
        outs(%s : memref<144x48xf32>)
    ```
  }];
  let arguments = (ins Kernel_Rows:$logits, Kernel_Indices:$labels, Index:$first, Index:$classes,
                       Kernel_Rows:$destination);
  let assemblyFormat = [{
    `ins` `(` $logits `,` $labels `,` $first `,` $classes `:` type($logits) `,` type($labels) `,`
    type($first) `,` type($classes) `)`
    `outs` `(` $destination `:` type($destination) `)` attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_FinishCrossEntropyOp : Kernel_DestinationOp<"finish_cross_entropy"> {
  let summary = "the cross-entropy of rows of which all classes were seen";
  let description = [{
    `y = ln(sum) + (maximum - logit of the label)`, 0 where the label is negative; in
    every column of the row. ln: docs/ElementaryFunctions.md.

    - `finish_cross_entropy_c1`: the statistics have 48 columns.
    - `finish_cross_entropy_c2`: they have a row for each row of the destination.
    - `finish_cross_entropy_c3`: there is a label for each row of the destination.

    Example:

    ```mlir
    hexad_kernel.finish_cross_entropy ins(%s, %labels : memref<144x48xf32>, memref<?xi32>) outs(%y : memref<?x16xf32>)
    ```
  }];
  let arguments = (ins Kernel_Rows:$statistics, Kernel_Indices:$labels, Kernel_Rows:$destination);
  let assemblyFormat = [{
    `ins` `(` $statistics `,` $labels `:` type($statistics) `,` type($labels) `)`
    `outs` `(` $destination `:` type($destination) `)` attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_MeanLossOp : Kernel_DestinationOp<"mean_loss"> {
  let summary = "the mean of the losses of rows whose label is not negative";
  let description = [{
    The losses stand in column 0. They are added in the order of the rows and divided
    by their number, in f64; the result is rounded to f32. Without any it is NaN.
    Nothing is done if the destination, a buffer from the start, is null.

    - `mean_loss_c1`: there is a label for each row of losses.

    Example:

    ```mlir
    hexad_kernel.mean_loss ins(%y, %labels : memref<?x16xf32>, memref<?xi32>) outs(%loss : memref<?x1xf32>)
    ```
  }];
  let arguments = (ins Kernel_Rows:$losses, Kernel_Indices:$labels, Kernel_Rows:$destination);
  let assemblyFormat = [{
    `ins` `(` $losses `,` $labels `:` type($losses) `,` type($labels) `)`
    `outs` `(` $destination `:` type($destination) `)` attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

#endif // HEXAD_DIALECT_KERNEL_IR_KERNELLOSSOPS_TD
