//===- KernelOps.td - Ops of the hexad_kernel dialect ------*- tablegen -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_DIALECT_KERNEL_IR_KERNELOPS_TD
#define HEXAD_DIALECT_KERNEL_IR_KERNELOPS_TD

include "hexad/Dialect/Kernel/IR/KernelBase.td"
include "hexad/Dialect/Kernel/IR/KernelExpertOps.td"
include "hexad/Dialect/Kernel/IR/KernelVisionOps.td"
include "hexad/Dialect/Kernel/IR/KernelLossOps.td"

//===----------------------------------------------------------------------===//
// Matrix product
//===----------------------------------------------------------------------===//

def Kernel_MatmulOp : Kernel_DestinationOp<"matmul", [AttrSizedOperandSegments]> {
  let summary = "rows times a packed matrix, with an epilogue";
  let description = [{
    The matrix is packed as P panels of NR columns each: its column n stands in
    panel `p = n / NR`, column `n % NR`. For every row m of `destination` and column
    n < P·NR:

    1. `s = Σ_k a[m, k] · panels[p, k, n % NR]`, one chain of fused multiply-adds
       from k = 0 to `K - 1` that starts at 0; K is the depth of the panels.
    2. `s += bias[n]` if there is a bias,
    3. `s = activation(s)` if there is one,
    4. `s = s · factor[m, n]` if there is a factor,
    5. `s = s + residual[m, n]` if there is a residual,
    6. with `fold`: `s = fma(destination[m, n], fold[4, m], s · fold[5, m])`,
    7. `destination[m, n] = s`. Columns behind these keep their contents.

    | operand | shape |
    | --- | --- |
    | `a` | `[M, ≥ K]`; M and K need not be multiples of anything |
    | `panels` | `[P, K, NR]`, NR a multiple of 16, at most the tile's columns; a panel is contiguous, panels may be strided |
    | `bias` | `[≥ P·NR]` |
    | `factor`, `residual`, `destination` | `[M, ≥ P·NR]`, rows strided; factor and residual may be the destination |
    | `fold` | `[6, ≥ M]`: the statistics of `hexad_kernel.softmax_page` |

    P, K and M may be dynamic. Panels of bf16 or f16 are widened to f32, which is exact.

    - `matmul_c1`: the panels have at most `tile.columns` columns.
    - `matmul_c2`: `a` has at least K columns.
    - `matmul_c3`: the rows of a panel are contiguous.
    - `matmul_c4`: `a` has M rows.
    - `matmul_c5`: `destination` has at least P·NR columns.
    - `matmul_c6`: `bias` has at least P·NR elements.
    - `matmul_c7`: `fold` has 6 rows and at least M columns.
    - `matmul_c8`: `factor` and `residual` have M rows and at least P·NR columns.

    Example:

    ```mlir
    %r = hexad_kernel.matmul ins(%a, %p : tensor<?x768xf32>, tensor<96x768x32xf32>) bias(%b : tensor<3072xf32>)
        outs(%c : tensor<?x3072xf32>) {activation = #hexad.activation<gelu>, tile = #hexad_kernel.tile<rows = 12, columns = 32>} -> tensor<?x3072xf32>
    ```
  }];
  let arguments = (ins Kernel_Rows:$a, Kernel_Panels:$panels, Optional<Kernel_Row>:$bias,
                       Optional<Kernel_Rows>:$factor, Optional<Kernel_Rows>:$residual,
                       Optional<Kernel_Rows>:$fold, Kernel_Rows:$destination,
                       Kernel_TileAttr:$tile, OptionalAttr<Hexad_ActivationAttr>:$activation);
  let assemblyFormat = [{
    `ins` `(` $a `,` $panels `:` type($a) `,` type($panels) `)`
    (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`factor` `(` $factor^ `:` type($factor) `)`)?
    (`residual` `(` $residual^ `:` type($residual) `)`)?
    (`fold` `(` $fold^ `:` type($fold) `)`)?
    `outs` `(` $destination `:` type($destination) `)` attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

class Kernel_UnaryRowsOp<string mnemonic> : Kernel_DestinationOp<mnemonic> {
  let assemblyFormat = [{
    `ins` `(` $x `:` type($x) `)` `outs` `(` $destination `:` type($destination) `)`
    attr-dict (`->` type($results)^)?
  }];
}

def Kernel_LayerNormOp : Kernel_DestinationOp<"layer_norm"> {
  let summary = "layer norm of each row; may work in place";
  let description = [{
    `hexad.layer_norm` on the first `width` columns. Sums use 16 lanes: lane l adds
    the columns l, l+16, … in order (absent ones as +0), then lanes are folded by
    halves (l, l+8), (l, l+4), (l, l+2), (l, l+1). Columns from `width` up to the
    next multiple of 16 are written with an unspecified value that is finite where
    `x` is, others are left as they are.

    `mean = sum / width`, `d = x - mean`, `variance = Σ d·d / width` (chain of fma
    per lane), `inverse = 1 / sqrt(variance + eps)`,
    `y = fma(d · inverse, weight, bias)`, without a bias `(d · inverse) · weight`.

    - `layer_norm_c1`: `weight` has at least `width` elements, rounded up to 16.
    - `layer_norm_c2`: so has `bias`.

    Example:

    ```mlir
    hexad_kernel.layer_norm ins(%x, %w : memref<?x64xf32>, memref<64xf32>) bias(%b : memref<64xf32>)
        outs(%x : memref<?x64xf32>) {eps = 1.0e-12 : f64, width = 60 : i64}
    ```
  }];
  let arguments = (ins Kernel_Rows:$x, Kernel_Row:$weight, Optional<Kernel_Row>:$bias,
                       Kernel_Rows:$destination, F64Attr:$eps, I64Attr:$width);
  let assemblyFormat = [{
    `ins` `(` $x `,` $weight `:` type($x) `,` type($weight) `)`
    (`bias` `(` $bias^ `:` type($bias) `)`)?
    `outs` `(` $destination `:` type($destination) `)` attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_RmsNormOp : Kernel_DestinationOp<"rms_norm"> {
  let summary = "groups of columns of each row to a mean square of 1; may work in place";
  let description = [{
    `hexad.rms_norm` on `groups` groups of `group_size` columns from column `offset`
    on; the other columns are copied. Squares are summed as in `layer_norm`, lanes
    counted from the group's first column.

    `inverse = 1 / sqrt(sum / group_size + eps)`, `y = (x · inverse) · weight`, with
    `unit_offset` `y = fma(x · inverse, weight, x · inverse)`, without a weight
    `y = x · inverse`.

    - `rms_norm_c1`: the groups lie inside the columns of `destination`.
    - `rms_norm_c2`: `weight` has at least `group_size` elements, rounded up to 16.
    - `rms_norm_c3`: `unit_offset` needs a weight.

    Example:

    ```mlir
    hexad_kernel.rms_norm ins(%x : memref<?x224xf32>) weight(%w : memref<32xf32>) outs(%x : memref<?x224xf32>)
        {eps = 1.0e-6 : f64, groups = 4 : i64, group_size = 28 : i64}
    ```
  }];
  let arguments = (ins Kernel_Rows:$x, Optional<Kernel_Row>:$weight, Kernel_Rows:$destination,
                       F64Attr:$eps, DefaultValuedAttr<I64Attr, "0">:$offset,
                       I64Attr:$groups, I64Attr:$group_size, UnitAttr:$unit_offset);
  let assemblyFormat = [{
    `ins` `(` $x `:` type($x) `)` (`weight` `(` $weight^ `:` type($weight) `)`)?
    `outs` `(` $destination `:` type($destination) `)` attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_L2NormalizeOp : Kernel_UnaryRowsOp<"l2_normalize"> {
  let summary = "each row to length 1; may work in place";
  let description = [{
    `y = x / max(sqrt(Σ x²), eps)` on the first `width` columns, the squares summed
    as in `layer_norm`, and the columns behind as there.

    Example:

    ```mlir
    hexad_kernel.l2_normalize ins(%x : memref<?x64xf32>) outs(%x : memref<?x64xf32>) {eps = 1.0e-12 : f64, width = 60 : i64}
    ```
  }];
  let arguments = (ins Kernel_Rows:$x, Kernel_Rows:$destination, F64Attr:$eps, I64Attr:$width);
  let hasVerifier = 1;
}

def Kernel_SoftmaxOp : Kernel_UnaryRowsOp<"softmax"> {
  let summary = "softmax of the first `width` columns of each row; may work in place";
  let description = [{
    `e = exp(x - maximum)`, `y = e / Σ e`. Maximum and sum use 16 lanes as in
    `layer_norm`; the exponential is that of docs/ElementaryFunctions.md. Columns
    from `width` on become 0. A row that holds NaN or +∞ or nothing but -∞ becomes
    NaN.

    Example:

    ```mlir
    hexad_kernel.softmax ins(%x : memref<?x16xf32>) outs(%x : memref<?x16xf32>) {width = 3 : i64}
    ```
  }];
  let arguments = (ins Kernel_Rows:$x, Kernel_Rows:$destination, I64Attr:$width);
  let hasVerifier = 1;
}

def Kernel_ActivationOp : Kernel_UnaryRowsOp<"activation"> {
  let summary = "an elementwise activation; may work in place";
  let description = [{
    `hexad.activation` on every column, padding too. Formulas, errors and what
    happens at infinities: docs/ElementaryFunctions.md.

    Example:

    ```mlir
    hexad_kernel.activation ins(%x : memref<?x64xf32>) outs(%x : memref<?x64xf32>) {kind = #hexad.activation<tanh>}
    ```
  }];
  let arguments = (ins Kernel_Rows:$x, Kernel_Rows:$destination,
                       Hexad_ActivationAttr:$kind);
  let hasVerifier = 1;
}

def Kernel_ScaleOp : Kernel_UnaryRowsOp<"scale"> {
  let summary = "rows times a constant; may work in place";
  let description = [{
    `destination = x · factor` on every column, padding too; the factor is rounded to
    f32.

    Example:

    ```mlir
    hexad_kernel.scale ins(%x : memref<?x64xf32>) outs(%x : memref<?x64xf32>) {factor = 7.7 : f64}
    ```
  }];
  let arguments = (ins Kernel_Rows:$x, Kernel_Rows:$destination, F64Attr:$factor);
  let hasVerifier = 1;
}

def Kernel_ScaleColumnsOp : Kernel_DestinationOp<"scale_columns"> {
  let summary = "each column times a weight of its own; may work in place";
  let description = [{
    `destination[i, c] = x[i, c] · weight[c]` on every column, padding too.

    - `scale_columns_c1`: `weight` has an element for each column of `destination`.

    Example:

    ```mlir
    hexad_kernel.scale_columns ins(%x, %w : memref<?x64xf32>, memref<64xf32>) outs(%x : memref<?x64xf32>)
    ```
  }];
  let arguments = (ins Kernel_Rows:$x, Kernel_Row:$weight, Kernel_Rows:$destination);
  let assemblyFormat = [{
    `ins` `(` $x `,` $weight `:` type($x) `,` type($weight) `)`
    `outs` `(` $destination `:` type($destination) `)` attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_SoftcapOp : Kernel_UnaryRowsOp<"softcap"> {
  let summary = "elements drawn softly into (-cap, cap); may work in place";
  let description = [{
    `destination = cap · tanh(x · (1 / cap))` on every column, padding too; `cap` and
    `1 / cap` are rounded to f32. tanh: docs/ElementaryFunctions.md.

    Example:

    ```mlir
    hexad_kernel.softcap ins(%x : memref<?x64xf32>) outs(%x : memref<?x64xf32>) {cap = 30.0 : f64}
    ```
  }];
  let arguments = (ins Kernel_Rows:$x, Kernel_Rows:$destination, F64Attr:$cap);
  let hasVerifier = 1;
}

class Kernel_BinaryRowsOp<string mnemonic> : Kernel_DestinationOp<mnemonic> {
  let arguments = (ins Kernel_Rows:$lhs, Kernel_Rows:$rhs, Kernel_Rows:$destination);
  let assemblyFormat = [{
    `ins` `(` $lhs `,` $rhs `:` type($lhs) `,` type($rhs) `)`
    `outs` `(` $destination `:` type($destination) `)` attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_AddOp : Kernel_BinaryRowsOp<"add"> {
  let summary = "elementwise sum; may work in place";
  let description = [{
    `destination = lhs + rhs` on every column, padding too.

    Example:

    ```mlir
    hexad_kernel.add ins(%x, %y : memref<?x64xf32>, memref<?x64xf32>) outs(%x : memref<?x64xf32>)
    ```
  }];
}

def Kernel_MultiplyOp : Kernel_BinaryRowsOp<"multiply"> {
  let summary = "elementwise product; may work in place";
  let description = [{
    `destination = lhs · rhs` on every column, padding too.

    Example:

    ```mlir
    hexad_kernel.multiply ins(%x, %y : memref<?x64xf32>, memref<?x64xf32>) outs(%x : memref<?x64xf32>)
    ```
  }];
}

def Kernel_RotaryOp : Kernel_DestinationOp<"rotary"> {
  let summary = "cosines and sines of the angles of each position";
  let description = [{
    `hexad.rotary`: for each of the n frequencies the angle is the exact product of
    position and frequency, in two f32 (`p = position · f`,
    `e = fma(position, f, -p)`); cosine and sine of it as docs/ElementaryFunctions.md
    says. Cosines stand in the columns 0 … n-1, sines in n … 2n-1; columns behind
    become 0.

    - `rotary_c1`: `positions` has an element for each row of `destination`.
    - `rotary_c2`: `destination` has two columns for each of at least one frequency.

    Example:

    ```mlir
    hexad_kernel.rotary ins(%positions : memref<?xi32>) outs(%table : memref<?x32xf32>) {inv_freq = array<f32: 1.0, 0.1>, attention_factor = 1.0 : f64}
    ```
  }];
  let arguments = (ins Kernel_Indices:$positions, Kernel_Rows:$destination,
                       DenseF32ArrayAttr:$inv_freq, F64Attr:$attention_factor);
  let assemblyFormat = [{
    `ins` `(` $positions `:` type($positions) `)`
    `outs` `(` $destination `:` type($destination) `)` attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_RopeOp : Kernel_DestinationOp<"rope"> {
  let summary = "rotates pairs of columns of each head; may work in place";
  let description = [{
    `hexad.rope`: with n frequencies, `a' = fma(a, cos, -(b · sin))` and
    `b' = fma(b, cos, a · sin)`; the other columns are copied.

    - `rope_c1`: the heads lie inside the columns of `destination`.
    - `rope_c2`: 2n columns are at most `head_dim` and those of `rotary`.
    - `rope_c3`: `rotary` has as many rows as `destination`.

    Example:

    ```mlir
    hexad_kernel.rope ins(%x, %rotary : memref<?x96xf32>, memref<?x32xf32>) outs(%x : memref<?x96xf32>)
        {pairing = #hexad.pairing<half>, heads = 6 : i64, head_dim = 12 : i64, frequencies = 6 : i64}
    ```
  }];
  let arguments = (ins Kernel_Rows:$x, Kernel_Rows:$rotary, Kernel_Rows:$destination,
                       Hexad_PairingAttr:$pairing, I64Attr:$heads, I64Attr:$head_dim,
                       I64Attr:$frequencies, DefaultValuedAttr<I64Attr, "0">:$offset);
  let assemblyFormat = [{
    `ins` `(` $x `,` $rotary `:` type($x) `,` type($rotary) `)`
    `outs` `(` $destination `:` type($destination) `)` attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Moving rows
//===----------------------------------------------------------------------===//

def Kernel_GatherIndicesOp : Kernel_DestinationOp<"gather_indices"> {
  let summary = "destination[i] = source[where[i]], 0 where that is negative";
  let description = [{
    Packs a rectangle of ids into rows. `source` is the rectangle, flattened; if its
    address is null (an optional input that was not given) everything becomes 0.

    - `gather_indices_c1`: `where` has at least as many elements as `destination`.

    Example:

    ```mlir
    hexad_kernel.gather_indices ins(%ids, %where : memref<?xi32>, memref<?xi32>) outs(%rows : memref<?xi32>)
    ```
  }];
  let arguments = (ins Kernel_Indices:$source, Kernel_Indices:$where, Kernel_Indices:$destination);
  let assemblyFormat = [{
    `ins` `(` $source `,` $where `:` type($source) `,` type($where) `)`
    `outs` `(` $destination `:` type($destination) `)` attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_GatherRowsOp : Kernel_DestinationOp<"gather_rows"> {
  let summary = "destination[i, :] = source[where[i] + offset, :], zeros where where[i] is negative";
  let description = [{
    Table look-up (embeddings, `first` pooling) and the spreading of rows into a
    rectangle. Copies `destination`'s columns, of which `source` has at least as
    many; bf16 and f16 become f32. If the destination's address is null (an output that
    was not asked for) nothing happens.

    - `gather_rows_c1`: the destination's number of columns is static; it need not be
      padded.
    - `gather_rows_c2`: `source` has at least as many columns.
    - `gather_rows_c3`: `where` has an element for each row of `destination`.

    Example:

    ```mlir
    hexad_kernel.gather_rows ins(%table, %ids : memref<113x64xf32>, memref<?xi32>) outs(%x : memref<?x64xf32>) {offset = 0 : i64}
    ```
  }];
  let arguments = (ins Kernel_Table:$source, Kernel_Indices:$where, Kernel_Rows:$destination,
                       DefaultValuedAttr<I64Attr, "0">:$offset);
  let assemblyFormat = [{
    `ins` `(` $source `,` $where `:` type($source) `,` type($where) `)`
    `outs` `(` $destination `:` type($destination) `)` attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_GatherPackedRowsOp : Kernel_DestinationOp<"gather_packed_rows"> {
  let summary = "gather_rows from a table that lies in panels";
  let description = [{
    `destination[i, k] = panels[r / NR, k, r mod NR]` with `r = where[i] + offset`,
    zeros where `where[i]` is negative, and in columns from K on. For a table that is
    the weight of a linear layer as well (tied embeddings): it need not be stored
    twice.

    - `gather_packed_rows_c1`: K and NR are static, and `destination` has at least K
      columns.
    - `gather_packed_rows_c2`: `where` has an element for each row of `destination`.

    Example:

    ```mlir
    hexad_kernel.gather_packed_rows ins(%panels, %ids : memref<4x60x32xf32>, memref<?xi32>) outs(%x : memref<?x64xf32>) {offset = 0 : i64}
    ```
  }];
  let arguments = (ins Kernel_Panels:$panels, Kernel_Indices:$where, Kernel_Rows:$destination,
                       DefaultValuedAttr<I64Attr, "0">:$offset);
  let assemblyFormat = [{
    `ins` `(` $panels `,` $where `:` type($panels) `,` type($where) `)`
    `outs` `(` $destination `:` type($destination) `)` attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_ScatterRowsOp : Kernel_DestinationOp<"scatter_rows"> {
  let summary = "destination[where[i], :] = source[i, :]";
  let description = [{
    Puts rows where the caller wants them: as many rows as `source` has, as many
    columns as `destination` has. Nothing happens if the destination's address is
    null.

    - `scatter_rows_c1`: the destination's number of columns is static; it need not be
      padded.
    - `scatter_rows_c2`: `source` has at least as many columns.
    - `scatter_rows_c3`: `where` has an element for each row of `source`.

    Example:

    ```mlir
    hexad_kernel.scatter_rows ins(%x, %where : memref<?x64xf32>, memref<?xi32>) outs(%y : memref<?x60xf32>)
    ```
  }];
  let arguments = (ins Kernel_Rows:$source, Kernel_Indices:$where, Kernel_Rows:$destination);
  let assemblyFormat = [{
    `ins` `(` $source `,` $where `:` type($source) `,` type($where) `)`
    `outs` `(` $destination `:` type($destination) `)` attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_CopyRowsOp : Kernel_DestinationOp<"copy_rows"> {
  let summary = "destination[i, :] = source[i, :]";
  let description = [{
    Copies as many rows and columns as the destination has; the source has at least
    as many. Nothing happens if the destination's address is null.

    - `copy_rows_c1`: the destination's number of columns is static; it need not be
      padded.
    - `copy_rows_c2`: `source` has at least as many columns.
    - `copy_rows_c3`: `source` has at least as many rows.

    Example:

    ```mlir
    hexad_kernel.copy_rows ins(%x : memref<?x64xf32>) outs(%y : memref<?x60xf32>)
    ```
  }];
  let arguments = (ins Kernel_Rows:$source, Kernel_Rows:$destination);
  let assemblyFormat = [{
    `ins` `(` $source `:` type($source) `)`
    `outs` `(` $destination `:` type($destination) `)` attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_MeanRowsOp : Kernel_DestinationOp<"mean_rows"> {
  let summary = "destination[i, :] = mean of the rows bounds[i] + skip … bounds[i+1]-1 of the source";
  let description = [{
    Rows are added in order, the sum is divided by their number; no rows give zeros.

    - `mean_rows_c1`: the destination's number of columns is static; it need not be
      padded.
    - `mean_rows_c2`: `source` has at least as many columns.
    - `mean_rows_c3`: `bounds` has at least one element more than `destination` has
      rows.
    - `mean_rows_c4`: `skip` is from 0 to 2^31 - 1.

    Example:

    ```mlir
    hexad_kernel.mean_rows ins(%x, %bounds : memref<?x64xf32>, memref<?xi32>) outs(%y : memref<?x64xf32>)
    ```
  }];
  let arguments = (ins Kernel_Rows:$source, Kernel_Indices:$bounds, Kernel_Rows:$destination,
                       DefaultValuedAttr<I64Attr, "0">:$skip);
  let assemblyFormat = [{
    `ins` `(` $source `,` $bounds `:` type($source) `,` type($bounds) `)`
    `outs` `(` $destination `:` type($destination) `)` attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Attention over pages
//===----------------------------------------------------------------------===//

def Kernel_LoadQueriesOp : Kernel_DestinationOp<"load_queries"> {
  let summary = "a query tile: destination[m, d] = source[m, column + d] · scale";
  let description = [{
    Copies the rows that `source` has (at most the destination's) and `width`
    columns of each, multiplied by `scale` in f32. Rows and columns behind them are
    left as they are.

    - `load_queries_c1`: `destination` has at least as many rows as `source`.

    Example:

    ```mlir
    hexad_kernel.load_queries ins(%x, %column : memref<?x192xf32>, index) outs(%q : memref<60x16xf32>) {scale = 0.41 : f64, width = 12 : i64}
    ```
  }];
  let arguments = (ins Kernel_Rows:$source, Index:$column, Kernel_Rows:$destination,
                       F64Attr:$scale, I64Attr:$width);
  let assemblyFormat = [{
    `ins` `(` $source `,` $column `:` type($source) `,` type($column) `)`
    `outs` `(` $destination `:` type($destination) `)` attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

// Pages of a call are tensors, those of a session buffers from the start: source and
// destination may be of different kinds.
class Kernel_PackPageOp<string mnemonic> : Kernel_DestinationOp<mnemonic> {
  let arguments = (ins Kernel_Rows:$source, Index:$column, Optional<Index>:$start,
                       Kernel_Cube:$destination, I64Attr:$width);
  let assemblyFormat = [{
    `ins` `(` $source `,` $column `:` type($source) `,` type($column) `)`
    (`start` `(` $start^ `)`)? `outs` `(` $destination `:` type($destination) `)` attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_PackKeysOp : Kernel_PackPageOp<"pack_keys"> {
  let summary = "keys of a page, transposed into panels";
  let description = [{
    `destination[t / NR, d, t mod NR] = source[t, column + d]` for the rows t that
    `source` has (at most a page's) and d < `width`; keys behind them become 0. With
    `start` s row t becomes key `s + t`, and nothing else is written: a page is
    continued.

    | operand | shape |
    | --- | --- |
    | `source` | `[keys, ≥ column + width]` |
    | `destination` | `[page / NR, width, NR]` |

    - `pack_keys_c1`: each panel has `width` rows.
    - `pack_keys_c2`: the page has room for as many keys as `source` has rows.

    Example:

    ```mlir
    hexad_kernel.pack_keys ins(%x, %column : memref<?x192xf32>, index) outs(%page : memref<4x12x32xf32>) {width = 12 : i64}
    ```
  }];
}

def Kernel_PackValuesOp : Kernel_PackPageOp<"pack_values"> {
  let summary = "values of a page, in panels of columns";
  let description = [{
    `destination[d / NR, t, d mod NR] = source[t, column + d]` for the rows t that
    `source` has (at most a page's) and d < `width`; everything else becomes 0. With
    `start` s row t becomes value `s + t`, and other keys are left as they are.

    | operand | shape |
    | --- | --- |
    | `source` | `[keys, ≥ column + width]` |
    | `destination` | `[≥ width / NR, page, NR]` |

    - `pack_values_c1`: the panels together have at least `width` columns.
    - `pack_values_c2`: the page has room for as many keys as `source` has rows.

    Example:

    ```mlir
    hexad_kernel.pack_values ins(%x, %column : memref<?x192xf32>, index) outs(%page : memref<1x128x16xf32>) {width = 12 : i64}
    ```
  }];
}

def Kernel_SoftmaxPageOp : Kernel_DestinationStyleOp<"softmax_page"> {
  let summary = "scores of one page to probabilities, and its statistics folded into the running ones";
  let description = [{
    For every row m < `rows` of a tile (scores are in units of log2):

    1. with `softcap` c (in the same units) `scores[m, t] = c · tanh(scores[m, t] / c)`,
       `g` = maximum of -FLT_MAX and the scores that the row sees, t < `keys`,
    2. `scores[m, t] = exp2(scores[m, t] - g)` for these, exactly 0 for the others,
    3. `z` = their sum; both over 16 lanes and one tree as in `layer_norm`,
    4. with the running maximum `statistics[0, m]` and sum `statistics[1, m]`:
       `n = max(old, g)`, `a = exp2(old - n)`, `b = exp2(g - n)`;
       `statistics[0, m] = n`, `statistics[1, m] = fma(sum, a, z · b)`;
       `statistics[4, m] = a`, `statistics[5, m] = b`: what the old and the page's
       output are multiplied by (`hexad_kernel.matmul … fold`).

    Row m stands at `position + m`, counted from the page's first key, which may be
    negative. It sees key t if `t ≤ position + m` (with `causal`) and
    `t > position + m - window` (with `window`); without either it sees all.

    Rows 2 and 3 of the statistics hold `g` and `z`. For the columns from `rows` up
    to the next multiple of 16, statistics are those of a page without keys.

    The maximum of a lane or a fold is `a > b ? a : b`, which may lose a NaN. The NaN
    comes back as `exp2(NaN - g)`: then the probability, the sum, and with them the
    row of the output are NaN, whatever pages follow.

    | operand | shape |
    | --- | --- |
    | `scores` | `[tile, page]` |
    | `statistics` | `[6, tile rounded up to 16]` |

    - `softmax_page_c1`: `causal` and `window` need a position.
    - `softmax_page_c2`: `window` is positive, `softcap` finite and positive.

    Example:

    ```mlir
    hexad_kernel.softmax_page ins(%rows, %keys : index, index) position(%p)
        outs(%scores, %statistics : memref<60x128xf32>, memref<6x64xf32>) {causal}
    ```
  }];
  let arguments = (ins Index:$rows, Index:$keys, Optional<Index>:$position,
                       Kernel_Rows:$scores, Kernel_Rows:$statistics, UnitAttr:$causal,
                       OptionalAttr<I64Attr>:$window, OptionalAttr<F64Attr>:$softcap);
  let assemblyFormat = [{
    `ins` `(` $rows `,` $keys `:` type($rows) `,` type($keys) `)` (`position` `(` $position^ `)`)?
    `outs` `(` $scores `,` $statistics `:` type($scores) `,` type($statistics) `)`
    attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(*this, /*start=*/getNumOperands() - 2, /*length=*/2);
    }
  }];
  let hasVerifier = 1;
}

def Kernel_StartPagesOp : Kernel_DestinationStyleOp<"start_pages"> {
  let summary = "empty statistics and output, before the first page";
  let description = [{
    `statistics[0, :] = -FLT_MAX`, `statistics[1, :] = 0`, `output = 0`.

    Example:

    ```mlir
    hexad_kernel.start_pages outs(%statistics, %output : memref<6x64xf32>, memref<60x64xf32>)
    ```
  }];
  let arguments = (ins Kernel_Rows:$statistics, Kernel_Rows:$output);
  let assemblyFormat = [{
    `outs` `(` $statistics `,` $output `:` type($statistics) `,` type($output) `)`
    attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(*this, /*start=*/0, /*length=*/2);
    }
  }];
  let hasVerifier = 1;
}

def Kernel_FinishPagesOp : Kernel_DestinationOp<"finish_pages"> {
  let summary = "the output of an attention tile: destination[m, column + d] = (output[m, d] + 0) · (1 / sum)";
  let description = [{
    Writes the rows that `destination` has and `width` columns of each, nothing
    beside them. A row whose sum is 0 (it saw nothing) becomes 0.

    - `finish_pages_c1`: `output` has at least as many rows as `destination`.

    Example:

    ```mlir
    hexad_kernel.finish_pages ins(%output, %statistics, %column : memref<60x32xf32>, memref<6x64xf32>, index)
        outs(%y : memref<?x64xf32>) {width = 12 : i64}
    ```
  }];
  let arguments = (ins Kernel_Rows:$output, Kernel_Rows:$statistics, Index:$column,
                       Kernel_Rows:$destination, I64Attr:$width);
  let assemblyFormat = [{
    `ins` `(` $output `,` $statistics `,` $column `:` type($output) `,` type($statistics) `,` type($column) `)`
    `outs` `(` $destination `:` type($destination) `)` attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_PageOp : Kernel_Op<"page", [Pure]> {
  let summary = "a page of a session's cache, as a buffer";
  let description = [{
    What lies `offset` bytes behind the beginning of a page: its address is
    `base + (page mod slots) · slot_stride + layer · layer_stride + offset`, with the
    `place`-th `hexad_cache_place` of `places` (`abi.h`, docs/Sessions.md), which holds
    four i64.

    - `page_c1`: the result has a static shape and no layout.
    - `page_c2`: `offset` is not negative.

    Example:

    ```mlir
    %keys = hexad_kernel.page %places[%place, %page, %layer] offset 0 : memref<?xi64> -> memref<3x4x64x32xf32>
    ```
  }];
  let arguments = (ins MemRefRankOf<[I64], [1]>:$places, Index:$place, Index:$page, Index:$layer,
                       I64Attr:$offset);
  let results = (outs MemRefOf<[F32]>:$result);
  let assemblyFormat = [{
    $places `[` $place `,` $page `,` $layer `]` `offset` $offset attr-dict
    `:` type($places) `->` type($result)
  }];
  let hasVerifier = 1;
}

include "hexad/Dialect/Kernel/IR/KernelMapOps.td"

//===----------------------------------------------------------------------===//
// The team
//===----------------------------------------------------------------------===//

def Kernel_ThreadOp : Kernel_Op<"thread", [Pure]> {
  let summary = "the number of the thread that runs this, from 0";
  let description = [{
    Stands inside `scf.forall` bodies, where it says whose scratch memory is meant;
    in the team phase it has become an argument of the function.

    Example:

    ```mlir
    %t = hexad_kernel.thread : index
    ```
  }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Kernel_BarrierOp : Kernel_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits until every thread of the team is here";
  let description = [{
    Appears in the team phase, when each thread runs the whole function.

    Example:

    ```mlir
    hexad_kernel.barrier
    ```
  }];
  let assemblyFormat = "attr-dict";
}

#endif // HEXAD_DIALECT_KERNEL_IR_KERNELOPS_TD
