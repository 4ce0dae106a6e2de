//===- KernelExpertOps.td - Kernels of mixtures of experts -*- tablegen -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_DIALECT_KERNEL_IR_KERNELEXPERTOPS_TD
#define HEXAD_DIALECT_KERNEL_IR_KERNELEXPERTOPS_TD

include "hexad/Dialect/Kernel/IR/KernelBase.td"

def Kernel_RouteOp : Kernel_DestinationOp<"route", [AttrSizedOperandSegments]> {
  let summary = "the experts that each row goes to, and their weights";
  let description = [{
    `hexad.route` for the logits of `experts` experts in the first columns. The
    destination's columns 0 … top_k-1 become the chosen experts' numbers,
    top_k … 2·top_k-1 their weights; columns behind are left as they are.

    With `softmax`: `e[i] = exp(l[i] - max l)`, weight `e[i] / Σ e`. With `sigmoid`:
    `s[i] = σ(l[i])`, weight `s[i]`. With `renormalize` the divisor is the sum of the chosen
    e or s. Then `· scaling` if that is not 1, then `· scales`. Sums over all experts as in
    `layer_norm`, over the chosen ones a chain in the order of choice. exp and σ:
    docs/ElementaryFunctions.md.

    All weights of a row are NaN if a logit of it is, a value that experts are chosen by,
    or `Σ e`. A value, or a group's sum, that is NaN is never chosen; ranks that no expert
    is left for have expert 0 and weight NaN. `destination` is not the buffer of `logits`.

    - `route_c1`: the first columns of `logits` hold `experts` logits, padded to whole
      vectors; there are 1 to 2²⁴ experts.
    - `route_c2`: `destination` has at least 2·top_k columns, and the rows of `logits`.
    - `route_c3`: `selection_bias` has at least `experts` elements, rounded up to 16.
    - `route_c4`: so has `scales`.
    - `route_c5`: `top_k` is at least 1 and at most `experts`.
    - `route_c6`: `groups` and `top_groups` go together and with `sigmoid`; `groups` divides
      `experts` into groups of at least two, `top_groups` is at least 1 and at most `groups`.

    Example:

    ```mlir
    hexad_kernel.route ins(%logits : memref<?x16xf32>) outs(%routes : memref<?x16xf32>)
        {score = #hexad.router_score<softmax>, experts = 8 : i64, top_k = 2 : i64, renormalize, scaling = 1.0 : f64}
    ```
  }];
  let arguments = (ins Kernel_Rows:$logits, Optional<Kernel_Row>:$selection_bias,
                       Optional<Kernel_Row>:$scales, Kernel_Rows:$destination,
                       Hexad_RouterScoreAttr:$score, I64Attr:$experts, I64Attr:$top_k,
                       UnitAttr:$renormalize, F64Attr:$scaling,
                       OptionalAttr<I64Attr>:$groups, OptionalAttr<I64Attr>:$top_groups);
  let assemblyFormat = [{
    `ins` `(` $logits `:` type($logits) `)`
    (`selection_bias` `(` $selection_bias^ `:` type($selection_bias) `)`)?
    (`scales` `(` $scales^ `:` type($scales) `)`)?
    `outs` `(` $destination `:` type($destination) `)` attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_GroupRowsOp : Kernel_DestinationStyleOp<"group_rows"> {
  let summary = "rows sorted by the experts that they are routed to";
  let description = [{
    The pairs (row, rank) of the first `rows` rows of `routes` (`hexad_kernel.route`) are
    sorted by expert, those of one expert by row. Pair number `row · top_k + rank` gets the
    place `places[row · top_k + rank]`, and `order[place] = row`. `bounds[e]` is the first
    place of expert e, `bounds[experts]` the number of pairs. `active[0]` is the number of
    experts that have rows, `active[1], …` are these experts in order.

    A number of an expert in `routes` that is none counts as the nearest one; NaN as 0.

    | operand | size |
    | --- | --- |
    | `routes` | `[≥ rows, ≥ 2·top_k]` |
    | `places`, `order` | `[≥ rows · top_k]` |
    | `bounds`, `active` | `[experts + 1]` |

    - `group_rows_c1`: `routes` has at least 2·top_k columns.
    - `group_rows_c2`: `bounds` and `active` have `experts` + 1 elements.
    - `group_rows_c3`: `experts` and `top_k` are positive and at most 2^24: numbers of
      experts are exact in f32.

    Example:

    ```mlir
    hexad_kernel.group_rows ins(%rows, %routes : index, memref<?x16xf32>)
        outs(%places, %order, %bounds, %active : memref<?xi32>, memref<?xi32>, memref<9xi32>, memref<9xi32>)
        {experts = 8 : i64, top_k = 2 : i64}
    ```
  }];
  let arguments = (ins Index:$rows, Kernel_Rows:$routes, Kernel_Indices:$places, Kernel_Indices:$order,
                       Kernel_Indices:$bounds, Kernel_Indices:$active, I64Attr:$experts,
                       I64Attr:$top_k);
  let assemblyFormat = [{
    `ins` `(` $rows `,` $routes `:` type($rows) `,` type($routes) `)`
    `outs` `(` $places `,` $order `,` $bounds `,` $active `:` type($places) `,` type($order) `,` type($bounds) `,` type($active) `)`
    attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(*this, /*start=*/2, /*length=*/4);
    }
  }];
  let hasVerifier = 1;
}

def Kernel_CombineRowsOp : Kernel_DestinationOp<"combine_rows"> {
  let summary = "what the experts made of each row, weighted and summed";
  let description = [{
    For each row m of `destination`, one chain of fused multiply-adds from 0:
    `destination[m, :] = Σ_j routes[m, top_k + j] · parts[places[m · top_k + j], :]`,
    j = 0 … top_k-1 in order.

    | operand | shape |
    | --- | --- |
    | `parts` | `[pairs, ≥ columns of destination]` |
    | `places` | `[≥ M · top_k]`, those of the rows of `destination` |
    | `routes` | `[M, ≥ 2·top_k]` |

    - `combine_rows_c1`: `parts` has at least the columns of `destination`.
    - `combine_rows_c2`: `routes` has the rows of `destination` and at least 2·top_k columns.
    - `combine_rows_c3`: `top_k` is positive and at most 2^24.
    - `combine_rows_c4`: the destination's number of columns is static; it need not be
      padded.

    Example:

    ```mlir
    hexad_kernel.combine_rows ins(%parts, %places, %routes : memref<?x64xf32>, memref<?xi32>, memref<?x16xf32>)
        outs(%y : memref<?x64xf32>) {top_k = 2 : i64}
    ```
  }];
  let arguments = (ins Kernel_Rows:$parts, Kernel_Indices:$places, Kernel_Rows:$routes,
                       Kernel_Rows:$destination, I64Attr:$top_k);
  let assemblyFormat = [{
    `ins` `(` $parts `,` $places `,` $routes `:` type($parts) `,` type($places) `,` type($routes) `)`
    `outs` `(` $destination `:` type($destination) `)` attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_ClampOp : Kernel_DestinationOp<"clamp"> {
  let summary = "elements not outside of bounds; may work in place";
  let description = [{
    `hexad.clamp` on every column, padding too; bounds are rounded to f32.

    - `clamp_c1`: `lower`, `upper` or both are given.

    Example:

    ```mlir
    hexad_kernel.clamp ins(%x : memref<?x64xf32>) outs(%x : memref<?x64xf32>) {upper = 7.0 : f64}
    ```
  }];
  let arguments = (ins Kernel_Rows:$x, Kernel_Rows:$destination, OptionalAttr<F64Attr>:$lower,
                       OptionalAttr<F64Attr>:$upper);
  let assemblyFormat = [{
    `ins` `(` $x `:` type($x) `)` `outs` `(` $destination `:` type($destination) `)`
    attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

#endif // HEXAD_DIALECT_KERNEL_IR_KERNELEXPERTOPS_TD
