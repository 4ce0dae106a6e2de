//===- HexadNormOps.td - Normalizations and softmax of a row --------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_DIALECT_HEXAD_IR_HEXADNORMOPS_TD
#define HEXAD_DIALECT_HEXAD_IR_HEXADNORMOPS_TD

include "hexad/Dialect/Hexad/IR/HexadDialect.td"

def Hexad_LayerNormOp : Hexad_RowLocalOp<"layer_norm", [AllTypesMatch<["x", "result"]>]> {
  let summary = "each row to mean 0 and variance 1, scaled and shifted";
  let description = [{
    `y = (x - mean(x)) / sqrt(mean((x - mean(x))²) + eps) · weight + bias` for each
    row (Ba et al., arXiv:1607.06450). The variance is that of the whole row, not
    an estimate from a sample.

    | operand | shape |
    | --- | --- |
    | `x`, result | `[rows, dim]` |
    | `weight` | `[dim]` |
    | `bias` | `[dim]`, optional |

    Constraints:

    - `layer_norm_c1`: `weight` has an element for each column.
    - `layer_norm_c2`: `bias` is of `weight`'s type.
    - `layer_norm_c3`: `eps` is finite, in f32 too, and not negative.

    Example:

    ```mlir
    %y = hexad.layer_norm %x, %w bias %b eps 1.0e-12 : tensor<?x60xf32>, tensor<60xf32>, tensor<60xf32>
    ```
  }];
  let arguments = (ins Hexad_Rows:$x, Hexad_Vector:$weight, Optional<Hexad_Vector>:$bias,
                       F64Attr:$eps);
  let results = (outs Hexad_Rows:$result);
  let assemblyFormat = [{
    $x `,` $weight (`bias` $bias^)? `eps` $eps attr-dict `:` type($x) `,` type($weight)
    (`,` type($bias)^)?
  }];
  let hasVerifier = 1;
}

def Hexad_RmsNormOp : Hexad_RowLocalOp<"rms_norm", [AllTypesMatch<["x", "result"]>]> {
  let summary = "groups of columns of each row to a mean square of 1, scaled";
  let description = [{
    `y = x / sqrt(mean(x²) + eps) · weight` for each row (Zhang and Sennrich,
    arXiv:1910.07467), by itself for each of `groups` groups of `group_size`
    columns that lie side by side from column `offset` on; other columns are
    passed on. One group of all columns is the norm of a Llama block; a group for
    each head is QK-norm (Dehghani et al., arXiv:2302.05442), which needs `offset`
    where query, key and value are one fused projection.

    With `unit_offset` the factor is `1 + weight` (Gemma); without a weight it is 1.

    | operand | shape |
    | --- | --- |
    | `x`, result | `[rows, ≥ offset + groups·group_size]` |
    | `weight` | `[group_size]`, optional: the same for every group |

    `group_size` is all columns behind `offset` divided by `groups` unless given.

    Constraints:

    - `rms_norm_c1`: the groups lie inside the columns of `x`.
    - `rms_norm_c2`: `weight` has an element for each column of a group.
    - `rms_norm_c3`: `eps` is finite, in f32 too, and not negative.
    - `rms_norm_c4`: `unit_offset` needs a weight.

    Example:

    ```mlir
    %y = hexad.rms_norm %x weight %w eps 1.0e-6 : tensor<?x72xf32>, tensor<72xf32>
    %q = hexad.rms_norm %qkv weight %u eps 1.0e-6 {groups = 4 : i64, group_size = 28 : i64} : tensor<?x224xf32>, tensor<28xf32>
    ```
  }];
  let arguments = (ins Hexad_Rows:$x, Optional<Hexad_Vector>:$weight, F64Attr:$eps,
                       DefaultValuedAttr<I64Attr, "0">:$offset,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntPositive]>, "1">:$groups,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$group_size,
                       UnitAttr:$unit_offset);
  let results = (outs Hexad_Rows:$result);
  let assemblyFormat = [{
    $x (`weight` $weight^)? `eps` $eps attr-dict `:` type($x) (`,` type($weight)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Columns of a group, given or not.
    int64_t getColumnsPerGroup();
  }];
}

def Hexad_L2NormalizeOp : Hexad_RowLocalOp<"l2_normalize", [AllTypesMatch<["x", "result"]>]> {
  let summary = "each row to length 1";
  let description = [{
    `y = x / max(sqrt(Σ x²), eps)` for each row: what torch.nn.functional.normalize
    does, and the last step of sentence-transformers models.

    Constraint `l2_normalize_c1`: `eps` is finite, in f32 too, and not negative.

    Example:

    ```mlir
    %y = hexad.l2_normalize %x eps 1.0e-12 : tensor<?x384xf32>
    ```
  }];
  let arguments = (ins Hexad_Rows:$x, F64Attr:$eps);
  let results = (outs Hexad_Rows:$result);
  let assemblyFormat = "$x `eps` $eps attr-dict `:` type($x)";
  let hasVerifier = 1;
}

def Hexad_SoftmaxOp : Hexad_RowLocalOp<"softmax", [AllTypesMatch<["x", "result"]>]> {
  let summary = "softmax of each row";
  let description = [{
    `y[r, n] = exp(x[r, n] - m) / Σ_j exp(x[r, j] - m)`, `m` the maximum of the row:
    it never overflows. A row with NaN or +∞, or of -∞ only, gives NaN.

    Example:

    ```mlir
    %y = hexad.softmax %x : tensor<?x3xf32>
    ```
  }];
  let arguments = (ins Hexad_Rows:$x);
  let results = (outs Hexad_Rows:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

#endif // HEXAD_DIALECT_HEXAD_IR_HEXADNORMOPS_TD
