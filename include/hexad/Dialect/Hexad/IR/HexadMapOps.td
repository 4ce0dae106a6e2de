//===- HexadMapOps.td - Attention probabilities as results -*- tablegen -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_DIALECT_HEXAD_IR_HEXADMAPOPS_TD
#define HEXAD_DIALECT_HEXAD_IR_HEXADMAPOPS_TD

include "hexad/Dialect/Hexad/IR/HexadDialect.td"

def Hexad_EmptyMapsOp : Hexad_Op<"empty_maps", [Pure]> {
  let summary = "room for the attention maps of a model's layers";
  let description = [{
    A stack `[members, batch, heads, seq, seq]` for the rectangle that the segments
    were made from. What a member holds is not specified before a
    `hexad.attention_map` puts a map there.

    Example:

    ```mlir
    %maps = hexad.empty_maps %segments : tensor<4x?x5x?x?xf32>
    ```
  }];
  let arguments = (ins Hexad_SegmentsType:$segments);
  let results = (outs Hexad_Maps:$maps);
  let assemblyFormat = "$segments attr-dict `:` type($maps)";
}

def Hexad_AttentionMapOp : Hexad_Op<"attention_map", [Pure,
    AllTypesMatch<["maps", "result"]>]> {
  let summary = "the probabilities of an attention, put into a stack of maps";
  let description = [{
    Computes the weights of the `hexad.attention` that has the same query, key and
    attributes, a second time: attention itself never has them all. The result is
    `maps` with member `layer` replaced. For every element (i, s) of the rectangle
    that is row q of segment i, every element (i, t) that is a row of it too, and
    head `h` with key-value head `g = h·kv_heads/heads` (rounded down):

    `result[layer, i, h, s, t] = softmax_t(scale · Q[q, h] · K[t, g])`

    Exactly 0 where the query does not see the key, and where s or t is padding. A
    query that sees nothing, or whose scores are all -∞, has a row of zeros; NaN in
    a score, or +∞, gives NaN for all keys that the query sees.

    | operand | shape |
    | --- | --- |
    | `query` | `[rows, ≥ offset₀ + heads·head_dim]` |
    | `key` | `[rows, ≥ offset₁ + kv_heads·head_dim]` |
    | `maps`, result | `[members, batch, heads, seq, seq]` |

    `causal`, `window` and `softcap` mean what they do in `hexad.attention`. Keys are
    those of the call's own rows, whatever a session holds: a model gives maps to
    `forward` only.

    Constraints:

    - `attention_map_c1`: `heads` is a multiple of `kv_heads`.
    - `attention_map_c2`: there are two `offsets`.
    - `attention_map_c3`: query and key have all columns of their heads; offsets are
      not negative.
    - `attention_map_c4`: the maps have as many `heads`.
    - `attention_map_c5`: `scale` is finite, in f32 too.
    - `attention_map_c6`: query and key have the same number of rows.
    - `attention_map_c7`: `softcap` is finite and positive, in f32 too.

    Example:

    ```mlir
    %maps1 = hexad.attention_map %q, %k, %segments into %maps[%layer] {heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 0.288675134 : f64}
        : tensor<?x60xf32>, tensor<?x60xf32>, tensor<4x?x5x?x?xf32>
    ```
  }];
  let arguments = (ins Hexad_Rows:$query, Hexad_Rows:$key,
                       Hexad_SegmentsType:$segments, Hexad_Maps:$maps, Index:$layer,
                       ConfinedAttr<I64Attr, [IntPositive]>:$heads,
                       ConfinedAttr<I64Attr, [IntPositive]>:$kv_heads,
                       ConfinedAttr<I64Attr, [IntPositive]>:$head_dim,
                       F64Attr:$scale,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{0, 0}">:$offsets,
                       UnitAttr:$causal,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$window,
                       OptionalAttr<F64Attr>:$softcap);
  let results = (outs Hexad_Maps:$result);
  let assemblyFormat = [{
    $query `,` $key `,` $segments `into` $maps `[` $layer `]` attr-dict
    `:` type($query) `,` type($key) `,` type($maps)
  }];
  let hasVerifier = 1;
}

#endif // HEXAD_DIALECT_HEXAD_IR_HEXADMAPOPS_TD
