//===- HexadStateOps.td - What a model remembers -----------*- tablegen -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_DIALECT_HEXAD_IR_HEXADSTATEOPS_TD
#define HEXAD_DIALECT_HEXAD_IR_HEXADSTATEOPS_TD

include "hexad/Dialect/Hexad/IR/HexadDialect.td"
include "mlir/IR/SymbolInterfaces.td"

def Hexad_CacheOp : Hexad_Op<"cache", [Symbol]> {
  let summary = "keys and values that a session keeps, as a symbol";
  let description = [{
    Names memory of a session: for every position so far the keys and values of
    `kv_heads` heads of `head_dim` columns, for each of `layers` layers (one if
    absent). An attention that names a cache appends its keys and values there and
    attends to all that the segment's session holds. A model with caches can be
    extended token by token; a call on a rectangle (`forward`) begins with an empty
    cache for each segment.

    With `window` w only the last w positions are of use, and a session keeps not
    many more.

    Constraints:

    - `cache_c1`: the columns of all heads fit 31 bits.
    - `cache_c2`: `layers` fits 31 bits.

    Example:

    ```mlir
    hexad.cache @attention.cache {layers = 30 : i64, kv_heads = 3 : i64, head_dim = 64 : i64}
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$layers,
                       ConfinedAttr<I64Attr, [IntPositive]>:$kv_heads,
                       ConfinedAttr<I64Attr, [IntPositive]>:$head_dim,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$window);
  let assemblyFormat = "$sym_name attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Number of layers, 1 if not given.
    int64_t getLayerCount() { return getLayers().value_or(1); }
  }];
}

#endif // HEXAD_DIALECT_HEXAD_IR_HEXADSTATEOPS_TD
