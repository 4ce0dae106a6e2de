//===- HexadAttentionOps.td - Scaled dot-product attention -*- tablegen -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_DIALECT_HEXAD_IR_HEXADATTENTIONOPS_TD
#define HEXAD_DIALECT_HEXAD_IR_HEXADATTENTIONOPS_TD

include "hexad/Dialect/Hexad/IR/HexadDialect.td"
include "mlir/IR/SymbolInterfaces.td"

def Hexad_AttentionOp : Hexad_RowwiseOp<"attention",
    [AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "scaled dot-product attention of each segment with itself";
  let description = [{
    For every segment, head `h` with key-value head `g = h·kv_heads/heads` (rounded
    down), and rows q of the segment:

    `o[q, h] = Σ_t softmax_t(scale · Q[q, h] · K[t, g]) · V[t, g]`, t over the rows
    of the same segment (Vaswani et al., arXiv:1706.03762; grouped heads: Ainslie
    et al., arXiv:2305.13245). Heads lie side by side in a row, `head_dim` columns
    each.

    | operand | shape |
    | --- | --- |
    | `query` | `[rows, ≥ offset₀ + heads·head_dim]` |
    | `key` | `[rows, ≥ offset₁ + kv_heads·head_dim]`, optional with a cache |
    | `value` | `[rows, ≥ offset₂ + kv_heads·head_dim]`, where there is a key |
    | result | `[rows, heads·head_dim]` |

    `offsets` are the columns at which head 0 of query, key and value begins, so
    that the three can be parts of one fused projection; they are 0 unless given.

    A row at position p sees a key at position t

    - always, if neither `causal` nor `window` is given,
    - with `causal` only if `t ≤ p`,
    - with `window` w only if `t > p - w`: itself and the w - 1 before it (Beltagy
      et al., arXiv:2004.05150).

    With `softcap` c a score s becomes `c · tanh(s / c)` before the softmax.

    With `cache` the keys and values of the segment's rows are appended to the ones
    that its session holds (`hexad.cache`), of the layer `layer` if there are
    layers, and t runs over all of them. Without `key` and `value` nothing is
    appended: the attention sees what an earlier one appended, in the same call and
    before (shared keys and values: Brandon et al., arXiv:2405.12981). Of a cache with
    layers that is the one which was extended last.

    A score of -∞ is a key of weight 0; a query whose scores are all -∞ gives zeros.
    NaN in a segment's query row, keys or values gives NaN wherever it takes part;
    a value that is not finite may also reach rows of the segment that do not see it.

    Constraints:

    - `attention_c1`: `heads` is a multiple of `kv_heads`.
    - `attention_c2`: there are three `offsets`.
    - `attention_c3`: query, key and value have all columns of their heads; offsets
      are not negative.
    - `attention_c4`: the result has `heads·head_dim` columns.
    - `attention_c5`: `scale` is finite, in f32 too.
    - `attention_c6`: query, key, value and result have the same number of rows.
    - `attention_c7`: `softcap` is finite and positive, in f32 too.
    - `attention_c8`: a `cache` needs `causal`.
    - `attention_c9`: the symbol is a cache.
    - `attention_c10`: the cache has this attention's heads, head_dim and window.
    - `attention_c11`: a layer is given if, and only if, the cache has layers.
    - `attention_c12`: key and value are there, or, with a cache, neither.

    Example:

    ```mlir
    %o = hexad.attention %q, %k, %v, %segments {heads = 5 : i64, kv_heads = 5 : i64, head_dim = 12 : i64, scale = 0.288675134 : f64}
        : tensor<?x60xf32>, tensor<?x60xf32>, tensor<?x60xf32> -> tensor<?x60xf32>
    %o = hexad.attention %q, %k, %v, %segments cache @attention.cache[%layer] {causal, heads = 6 : i64, kv_heads = 2 : i64, head_dim = 12 : i64, scale = 0.288675134 : f64}
        : tensor<?x72xf32>, tensor<?x24xf32>, tensor<?x24xf32> -> tensor<?x72xf32>
    %o = hexad.attention %q, %segments cache @attention.cache[%layer] {causal, heads = 6 : i64, kv_heads = 2 : i64, head_dim = 12 : i64, scale = 0.288675134 : f64}
        : tensor<?x72xf32> -> tensor<?x72xf32>
    ```
  }];
  let arguments = (ins Hexad_Rows:$query, Optional<Hexad_Rows>:$key,
                       Optional<Hexad_Rows>:$value, Hexad_SegmentsType:$segments,
                       ConfinedAttr<I64Attr, [IntPositive]>:$heads,
                       ConfinedAttr<I64Attr, [IntPositive]>:$kv_heads,
                       ConfinedAttr<I64Attr, [IntPositive]>:$head_dim,
                       F64Attr:$scale,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{0, 0, 0}">:$offsets,
                       UnitAttr:$causal,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$window,
                       OptionalAttr<F64Attr>:$softcap,
                       OptionalAttr<FlatSymbolRefAttr>:$cache, Optional<Index>:$layer);
  let results = (outs Hexad_Rows:$result);
  let assemblyFormat = [{
    custom<AttentionOperands>($query, $key, $value, $segments)
    (`cache` $cache^ (`[` $layer^ `]`)?)? attr-dict
    `:` custom<AttentionTypes>(type($query), type($key), type($value)) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether it appends keys and values to its cache.
    bool extendsCache() { return getCache() && getKey(); }
  }];
}

#endif // HEXAD_DIALECT_HEXAD_IR_HEXADATTENTIONOPS_TD
