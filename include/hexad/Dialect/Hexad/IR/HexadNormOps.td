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
    - `layer_norm_c3`: `eps` is finite and not negative.

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

def Hexad_L2NormalizeOp : Hexad_RowLocalOp<"l2_normalize", [AllTypesMatch<["x", "result"]>]> {
  let summary = "each row to length 1";
  let description = [{
    `y = x / max(sqrt(Σ x²), eps)` for each row: what torch.nn.functional.normalize
    does, and the last step of sentence-transformers models.

    Constraint `l2_normalize_c1`: `eps` is finite and not negative.

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
