//===- HexadFeedForwardOps.td - Embedding, linear, activation -------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_DIALECT_HEXAD_IR_HEXADFEEDFORWARDOPS_TD
#define HEXAD_DIALECT_HEXAD_IR_HEXADFEEDFORWARDOPS_TD

include "hexad/Dialect/Hexad/IR/HexadDialect.td"

def Hexad_EmbeddingOp : Hexad_RowLocalOp<"embedding"> {
  let summary = "rows of a table, chosen by index";
  let description = [{
    `y[r, :] = table[ids[r] + offset, :]`. An index outside the table is an error
    at run time. Serves tokens, token types and learned positions alike.

    | operand | shape |
    | --- | --- |
    | `ids` | `[rows]`, i32 |
    | `table` | `[entries, dim]` |
    | result | `[rows, dim]` |

    Constraints:

    - `embedding_c1`: the result has the table's columns.
    - `embedding_c2`: the result has a row for each index.
    - `embedding_c3`: `offset` is an entry of the table.

    Example:

    ```mlir
    %y = hexad.embedding %ids, %table : tensor<?xi32>, tensor<113x60xf32> -> tensor<?x60xf32>
    ```
  }];
  let arguments = (ins Hexad_IndexRows:$ids, Hexad_Matrix:$table,
                       DefaultValuedAttr<I64Attr, "0">:$offset);
  let results = (outs Hexad_Rows:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$ids, "::mlir::Value":$table,
                                 CArg<"int64_t", "0">:$offset)>];
  let assemblyFormat = "$ids `,` $table attr-dict `:` type($ids) `,` type($table) `->` type($result)";
  let hasVerifier = 1;
}

def Hexad_LinearOp : Hexad_RowLocalOp<"linear"> {
  let summary = "y = x · weightᵀ + bias";
  let description = [{
    `y[r, n] = Σ_k x[r, k] · weight[n, k] + bias[n]`; the sum is one chain of fused
    multiply-adds from k = 0 up, whatever the number of rows.

    | operand | shape |
    | --- | --- |
    | `x` | `[rows, in]` |
    | `weight` | `[out, in]` |
    | `bias` | `[out]`, optional |
    | result | `[rows, out]` |

    Constraints:

    - `linear_c1`: `weight` has a column for each column of `x`.
    - `linear_c2`: the result has the rows of `x` and a column for each row of `weight`.
    - `linear_c3`: `bias` has an element for each row of `weight`.

    Example:

    ```mlir
    %y = hexad.linear %x, %w bias %b : tensor<?x60xf32>, tensor<171x60xf32>, tensor<171xf32> -> tensor<?x171xf32>
    ```
  }];
  let arguments = (ins Hexad_Rows:$x, Hexad_Matrix:$weight, Optional<Hexad_Vector>:$bias);
  let results = (outs Hexad_Rows:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$x, "::mlir::Value":$weight,
                                 CArg<"::mlir::Value", "{}">:$bias)>];
  let assemblyFormat = [{
    $x `,` $weight (`bias` $bias^)? attr-dict `:` type($x) `,` type($weight)
    (`,` type($bias)^)? `->` type($result)
  }];
  let hasVerifier = 1;
}

def Hexad_ActivationOp : Hexad_RowLocalOp<"activation", [AllTypesMatch<["x", "result"]>]> {
  let summary = "an elementwise activation";
  let description = [{
    | kind | formula |
    | --- | --- |
    | `gelu` | `x·Φ(x)` (Hendrycks and Gimpel, arXiv:1606.08415) |
    | `gelu_tanh` | `x/2·(1 + tanh(√(2/π)(x + 0.044715x³)))` |
    | `quick_gelu` | `x·σ(1.702x)` |
    | `silu` | `x·σ(x)` |
    | `relu` | `max(x, 0)` |
    | `tanh`, `sigmoid` | as named |

    NaN gives NaN. At -∞ the first four are at their limit, 0.

    Example:

    ```mlir
    %y = hexad.activation gelu %x : tensor<?x171xf32>
    ```
  }];
  let arguments = (ins Hexad_ActivationAttr:$kind, Hexad_Rows:$x);
  let results = (outs Hexad_Rows:$result);
  let assemblyFormat = "custom<Keyword>($kind) $x attr-dict `:` type($x)";
}

def Hexad_AddOp : Hexad_RowLocalOp<"add", [Commutative,
    AllTypesMatch<["lhs", "rhs", "result"]>], ["getNumRowOperands"]> {
  let summary = "elementwise sum of two rows: the residual connection";
  let description = [{
    `y = lhs + rhs`.

    Example:

    ```mlir
    %y = hexad.add %branch, %x : tensor<?x60xf32>
    ```
  }];
  let arguments = (ins Hexad_Rows:$lhs, Hexad_Rows:$rhs);
  let results = (outs Hexad_Rows:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs)";
}

def Hexad_MultiplyOp : Hexad_RowLocalOp<"multiply", [Commutative,
    AllTypesMatch<["lhs", "rhs", "result"]>], ["getNumRowOperands"]> {
  let summary = "elementwise product of two rows: the gate of a gated feed-forward layer";
  let description = [{
    `y = lhs · rhs`. A gated feed-forward layer (Shazeer, arXiv:2002.05202) is
    `linear(multiply(activation(linear(x)), linear(x)))`.

    Example:

    ```mlir
    %y = hexad.multiply %gate, %up : tensor<?x171xf32>
    ```
  }];
  let arguments = (ins Hexad_Rows:$lhs, Hexad_Rows:$rhs);
  let results = (outs Hexad_Rows:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs)";
}

def Hexad_ScaleOp : Hexad_RowLocalOp<"scale", [AllTypesMatch<["x", "result"]>]> {
  let summary = "rows times a constant";
  let description = [{
    `y = x · factor`, the factor rounded to f32.

    Constraint `scale_c1`: `factor` is finite, in f32 too.

    Example:

    ```mlir
    %y = hexad.scale %x by 7.745966692 : tensor<?x60xf32>
    ```
  }];
  let arguments = (ins Hexad_Rows:$x, F64Attr:$factor);
  let results = (outs Hexad_Rows:$result);
  let assemblyFormat = "$x `by` $factor attr-dict `:` type($x)";
  let hasVerifier = 1;
}

def Hexad_ScaleColumnsOp : Hexad_RowLocalOp<"scale_columns", [AllTypesMatch<["x", "result"]>]> {
  let summary = "each column times a weight of its own";
  let description = [{
    `y[r, c] = x[r, c] · weight[c]`: layer scale (Touvron et al., arXiv:2103.17239).

    Constraint `scale_columns_c1`: `weight` has an element for each column.

    Example:

    ```mlir
    %y = hexad.scale_columns %x, %w : tensor<?x60xf32>, tensor<60xf32>
    ```
  }];
  let arguments = (ins Hexad_Rows:$x, Hexad_Vector:$weight);
  let results = (outs Hexad_Rows:$result);
  let assemblyFormat = "$x `,` $weight attr-dict `:` type($x) `,` type($weight)";
  let hasVerifier = 1;
}

def Hexad_SoftcapOp : Hexad_RowLocalOp<"softcap", [AllTypesMatch<["x", "result"]>]> {
  let summary = "elements drawn softly into (-cap, cap)";
  let description = [{
    `y = cap · tanh(x / cap)` (Gemma 2, arXiv:2408.00118).

    Constraint `softcap_c1`: `cap` is finite and positive, in f32 too.

    Example:

    ```mlir
    %y = hexad.softcap %x cap 30.0 : tensor<?x131xf32>
    ```
  }];
  let arguments = (ins Hexad_Rows:$x, F64Attr:$cap);
  let results = (outs Hexad_Rows:$result);
  let assemblyFormat = "$x `cap` $cap attr-dict `:` type($x)";
  let hasVerifier = 1;
}

#endif // HEXAD_DIALECT_HEXAD_IR_HEXADFEEDFORWARDOPS_TD
