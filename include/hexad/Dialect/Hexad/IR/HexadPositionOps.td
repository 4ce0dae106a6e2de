//===- HexadPositionOps.td - Rotary position embedding -----*- tablegen -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_DIALECT_HEXAD_IR_HEXADPOSITIONOPS_TD
#define HEXAD_DIALECT_HEXAD_IR_HEXADPOSITIONOPS_TD

include "hexad/Dialect/Hexad/IR/HexadDialect.td"

def Hexad_RotaryOp : Hexad_RowLocalOp<"rotary"> {
  let summary = "cosines and sines of each row's rotation angles";
  let description = [{
    `y[r, i] = attention_factor · cos(positions[r] · inv_freq[i])` and
    `y[r, n + i] = attention_factor · sin(positions[r] · inv_freq[i])` for the n
    frequencies (Su et al., arXiv:2104.09864). Made once for all layers of a model.
    Scaled variants (linear, llama3, YaRN) differ in the frequencies and, YaRN, in
    the factor. Frequencies are f32: they belong to the model's definition.

    | operand | shape |
    | --- | --- |
    | `positions` | `[rows]`, i32 |
    | result | `[rows, 2n]` |

    Constraints:

    - `rotary_c1`: the result has two columns for each of at least one frequency.
    - `rotary_c2`: frequencies are finite and not negative.
    - `rotary_c3`: `attention_factor` is finite, in f32 too.
    - `rotary_c4`: the result has a row for each position.

    Example:

    ```mlir
    %table = hexad.rotary %positions {inv_freq = array<f32: 1.0, 0.1>} : tensor<?xi32> -> tensor<?x4xf32>
    ```
  }];
  let arguments = (ins Hexad_IndexRows:$positions, DenseF32ArrayAttr:$inv_freq,
                       DefaultValuedAttr<F64Attr, "1.0">:$attention_factor);
  let results = (outs Hexad_Rows:$result);
  let assemblyFormat = "$positions attr-dict `:` type($positions) `->` type($result)";
  let hasVerifier = 1;
}

def Hexad_RopeOp : Hexad_RowLocalOp<"rope", [AllTypesMatch<["x", "result"]>],
                                    ["getNumRowOperands"]> {
  let summary = "rotates pairs of columns of each head by the row's angles";
  let description = [{
    For each of `heads` heads of `head_dim` columns that lie side by side from
    column `offset` on, a pair of columns `(a, b)` becomes
    `(a·cos - b·sin, b·cos + a·sin)`; cos and sin stand in `rotary`
    (`hexad.rotary`), n of each.

    | pairing | pair i of a head, i < n |
    | --- | --- |
    | `half` | columns `(i, n + i)` (GPT-NeoX, Llama) |
    | `interleaved` | columns `(2i, 2i + 1)` (GPT-J) |

    Columns of a head from 2n on, and columns outside the heads, are passed on.

    | operand | shape |
    | --- | --- |
    | `x`, result | `[rows, ≥ offset + heads·head_dim]` |
    | `rotary` | `[rows, 2n]` |

    Constraints:

    - `rope_c1`: the heads lie inside the columns of `x`.
    - `rope_c2`: `rotary` has an even number of columns, at most `head_dim`.
    - `rope_c3`: `rotary` has a row for each row of `x`.

    Example:

    ```mlir
    %y = hexad.rope half %x, %rotary {heads = 6 : i64, head_dim = 12 : i64} : tensor<?x72xf32>, tensor<?x12xf32>
    ```
  }];
  let arguments = (ins Hexad_PairingAttr:$pairing, Hexad_Rows:$x, Hexad_Rows:$rotary,
                       ConfinedAttr<I64Attr, [IntPositive]>:$heads,
                       ConfinedAttr<I64Attr, [IntPositive]>:$head_dim,
                       DefaultValuedAttr<I64Attr, "0">:$offset);
  let results = (outs Hexad_Rows:$result);
  let assemblyFormat = [{
    custom<Keyword>($pairing) $x `,` $rotary attr-dict `:` type($x) `,` type($rotary)
  }];
  let hasVerifier = 1;
}

#endif // HEXAD_DIALECT_HEXAD_IR_HEXADPOSITIONOPS_TD
