//===- HexadExpertOps.td - Mixture of experts --------------*- tablegen -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_DIALECT_HEXAD_IR_HEXADEXPERTOPS_TD
#define HEXAD_DIALECT_HEXAD_IR_HEXADEXPERTOPS_TD

include "hexad/Dialect/Hexad/IR/HexadDialect.td"

def Hexad_RouteOp : Hexad_RowLocalOp<"route", [AttrSizedOperandSegments]> {
  let summary = "the experts that each row goes to, and their weights";
  let description = [{
    For each row of logits `l`, one for each of E experts:

    | score | experts are chosen by | weight of expert e |
    | --- | --- | --- |
    | `softmax` | `l[e]` | `softmax(l)[e]` over all E (Shazeer et al., arXiv:1701.06538; Mixtral, arXiv:2401.04088) |
    | `sigmoid` | `σ(l[e]) + selection_bias[e]` | `σ(l[e])` (DeepSeek-V3, arXiv:2412.19437) |

    The `top_k` experts with the greatest value are chosen, of equal ones that with
    the smaller number. With `groups` g, experts stand in g groups of E/g neighbours,
    and only those in the `top_groups` groups whose two greatest values have the
    greatest sum can be chosen (of equal groups the earlier). Then, in this order:
    `renormalize` divides the weights by their sum, `scaling` multiplies them all,
    and `scales` each by the element of its expert. A softmax over the chosen logits
    alone is `softmax` with `renormalize`.

    | operand | shape |
    | --- | --- |
    | `logits` | `[rows, E]` |
    | `selection_bias`, `scales` | `[E]`, optional |
    | result | `[rows, 2·top_k]`: the numbers of the chosen experts as f32, from the first chosen to the last, then their weights |

    All weights of a row are NaN if a logit is, a value that experts are chosen by, or, with
    `softmax`, if an infinity leaves no softmax. A value (a group's sum, too) that is NaN is
    never chosen; a rank that no expert is left for has expert 0 and weight NaN. So numbers
    of experts are always valid.

    Constraints:

    - `route_c1`: `top_k` is at least 1 and at most the number of experts.
    - `route_c2`: the result has 2·top_k columns and the rows of the logits.
    - `route_c3`: `selection_bias` has an element for each expert and goes with `sigmoid`.
    - `route_c4`: `scales` has an element for each expert.
    - `route_c5`: `groups` goes with `sigmoid` and `top_groups`, and divides the number of
      experts into groups of at least two; `top_groups` is at least 1, at most `groups`,
      and leaves at least top_k experts.
    - `route_c6`: `scaling` is finite and positive, in f32 too.
    - `route_c7`: there are at most 2²⁴ experts: their numbers are exact in f32.

    Example:

    ```mlir
    %r = hexad.route softmax %logits {top_k = 2 : i64, renormalize} : tensor<?x8xf32> -> tensor<?x4xf32>
    ```
  }];
  let arguments = (ins Hexad_RouterScoreAttr:$score, Hexad_Rows:$logits,
                       Optional<Hexad_Vector>:$selection_bias, Optional<Hexad_Vector>:$scales,
                       ConfinedAttr<I64Attr, [IntPositive]>:$top_k, UnitAttr:$renormalize,
                       DefaultValuedAttr<F64Attr, "1.0">:$scaling,
                       OptionalAttr<I64Attr>:$groups, OptionalAttr<I64Attr>:$top_groups);
  let results = (outs Hexad_Rows:$result);
  let assemblyFormat = [{
    custom<Keyword>($score) $logits (`selection_bias` $selection_bias^)? (`scales` $scales^)? attr-dict
    `:` type($logits) (`selection_bias` type($selection_bias)^)? (`scales` type($scales)^)?
    `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Number of experts.
    int64_t getExperts() {
      return ::llvm::cast<::mlir::RankedTensorType>(getLogits().getType()).getDimSize(1);
    }
  }];
}

def Hexad_ExpertsOp : Hexad_RowwiseOp<"experts", [SingleBlock]> {
  let summary = "each row through the experts that it is routed to, and their weighted sum";
  let description = [{
    `y[r] = Σ_j weight[r, j] · f(expert[r, j], x[r])`, one chain of fused
    multiply-adds over the ranks j = 0 … top_k-1 that starts at 0. The region is f:
    it gets the number of an expert and rows that go to it, and yields as many rows;
    it is made of row-local ops, loads of parameters (the experts of all layers are
    stacked: member `layer · count + expert`) and index arithmetic. What an expert
    does with a row does not depend on the other rows. An expert without rows is not
    called.

    | operand | shape |
    | --- | --- |
    | `x` | `[rows, in]` |
    | `routes` | `[rows, 2·top_k]`, from `hexad.route` |
    | result | `[rows, out]` |

    Constraints:

    - `experts_c1`: `count` is positive and at most 2²⁴, as in `hexad.route`.
    - `experts_c2`: `routes` has an even number of columns and the rows of `x`.
    - `experts_c3`: the region gets an index and rows of the type of `x`.
    - `experts_c4`: the region yields one value of the result's type.
    - `experts_c5`: the region consists of row-local ops, `hexad.load`, constants and
      sums and products of indices; values from outside are indices.
    - `experts_c6`: the result has a row for each row of `x`.

    Example:

    ```mlir
    %y = hexad.experts %x, %routes count 8 : tensor<?x48xf32>, tensor<?x4xf32> -> tensor<?x48xf32> {
    ^bb0(%expert: index, %rows: tensor<?x48xf32>):
      %up = hexad.load @up[%expert] : tensor<28x48xf32>
      %down = hexad.load @down[%expert] : tensor<48x28xf32>
      %0 = hexad.linear %rows, %up : tensor<?x48xf32>, tensor<28x48xf32> -> tensor<?x28xf32>
      %1 = hexad.activation silu %0 : tensor<?x28xf32>
      %2 = hexad.linear %1, %down : tensor<?x28xf32>, tensor<48x28xf32> -> tensor<?x48xf32>
      hexad.yield %2 : tensor<?x48xf32>
    }
    ```
  }];
  let arguments = (ins Hexad_Rows:$x, Hexad_Rows:$routes, I64Attr:$count);
  let results = (outs Hexad_Rows:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $x `,` $routes `count` $count attr-dict `:` type($x) `,` type($routes) `->` type($result) $body
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    int64_t getTopK() {
      return ::llvm::cast<::mlir::RankedTensorType>(getRoutes().getType()).getDimSize(1) / 2;
    }
    /// The region's arguments.
    ::mlir::BlockArgument getExpert() { return getBody().getArgument(0); }
    ::mlir::BlockArgument getRows() { return getBody().getArgument(1); }
  }];
}

def Hexad_ClampOp : Hexad_RowLocalOp<"clamp", [AllTypesMatch<["x", "result"]>]> {
  let summary = "elements not below a lower and not above an upper bound";
  let description = [{
    `y = x < lower ? lower : x`, then `y = y > upper ? upper : y`: NaN stays NaN. The
    clamped gate of gpt-oss's experts (OpenAI, 2025).

    Constraints:

    - `clamp_c1`: `lower`, `upper` or both are given.
    - `clamp_c2`: they are finite, in f32 too.
    - `clamp_c3`: `lower` is not above `upper`.

    Example:

    ```mlir
    %y = hexad.clamp %x {lower = -7.0 : f64, upper = 7.0 : f64} : tensor<?x28xf32>
    ```
  }];
  let arguments = (ins Hexad_Rows:$x, OptionalAttr<F64Attr>:$lower, OptionalAttr<F64Attr>:$upper);
  let results = (outs Hexad_Rows:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let hasVerifier = 1;
}

#endif // HEXAD_DIALECT_HEXAD_IR_HEXADEXPERTOPS_TD
