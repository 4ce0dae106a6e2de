//===- HexadParameterOps.td - Weights as symbols -----------*- tablegen -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_DIALECT_HEXAD_IR_HEXADPARAMETEROPS_TD
#define HEXAD_DIALECT_HEXAD_IR_HEXADPARAMETEROPS_TD

include "hexad/Dialect/Hexad/IR/HexadDialect.td"
include "mlir/IR/SymbolInterfaces.td"

def Hexad_ParameterOp : Hexad_Op<"parameter", [Symbol]> {
  let summary = "a weight, as a symbol with a recipe";
  let description = [{
    Names a constant of the model and says how its elements are made from tensors
    stored in a safetensors file; the bytes never enter the IR.

    `tensors` holds `layers × parts` names, layer by layer (`layers` is 1 where
    the attribute is absent, and several are stored as one with `members`). The parts of a layer are concatenated along their
    first dimension; `transposed` says that each is stored `[in, out]`. With
    `layers` the parameter's type has a leading dimension of that size. Stored
    F32, F16 and BF16 elements are widened to f32.

    `picks` takes rows of each part of a layer, after transposing, instead of all:
    `first, size, stride, count` are `count` blocks of `size` rows, block i from row
    `first + i·stride` on. So query, key and value are three parameters of one
    stored projection, whether they lie there one behind the other or head by head.
    A stride of 0 takes the same block again and again. A fifth number, `step`, is
    where the layers of one stored tensor lie: layer l takes from
    `first + l·step` on.

    `columns` takes columns of each stored matrix instead of all: `first, size,
    step` are `size` columns, those of layer l from `first + l·step` on.

    A stored tensor of more dimensions than the type has loses dimensions of 1 in
    front, then its last ones become one: filters `[out, channels, height, width]` may
    be a matrix. No element changes its place.

    `members` says that each stored tensor holds so many layers one behind the
    other along a first dimension of that size, as the experts of a layer are
    stored: layer l is member l mod `members` of its tensor, without that dimension,
    and there is one name for each `members` layers and part.

    `grid` resizes the learned positions of an image's patches. Of its numbers
    `kept, zeros, h, w, H, W` the stored matrix has kept + h·w rows. The first `kept`
    (a class token's) stay, `zeros` rows of zeros follow (registers have no positions),
    then the others, which are an h × w grid in row order, resized to H × W by cubic
    convolution with a = -3/4 (Keys, "Cubic Convolution Interpolation for Digital Image
    Processing", IEEE TASSP 29, 1981; torch's `interpolate(mode="bicubic",
    align_corners=False)`). Row (y, x) of it is, with s = (y + ½)·h/H - ½, s' = (x + ½)·w/W - ½:

    `Σ_{i,j} k(s - i)·k(s' - j)·stored[clamp(i, 0, h-1), clamp(j, 0, w-1)]`,
    `k(d) = (a+2)|d|³ - (a+3)|d|² + 1` for |d| ≤ 1, `a|d|³ - 5a|d|² + 8a|d| - 4a` for
    1 < |d| < 2, else 0. With `antialias` a = -1/2, and an axis that shrinks by f has
    `k((s - i)/f)` in place of `k(s - i)`; elements outside are left out, and the weights
    of each axis divided by their sum (torch's `antialias=True`). All is computed in
    double precision and rounded once; a weight of 0 takes no part.

    `storage` says that the weights file holds the elements in 16 bits: each is the
    recipe's rounded to that type, to the nearest, of two to the even one, and widened to
    f32 again. A finite element that the type would make infinite is an error. The
    compiler makes of it a parameter with elements of that type, which kernels widen as
    they read them.

    `panel = NR` says that the last two dimensions `[out, in]` of the result lie
    in memory as panels of NR columns: the type is then
    `[layers,] ceil(out / NR) x in x NR`, the columns behind `out` are zero.
    Without `panel` a last dimension that is larger than the stored one is filled
    with zeros.

    | field | meaning |
    | --- | --- |
    | `type` | the type that `hexad.load` gives, before a layer is chosen |
    | `file` | the safetensors file, relative to the folder of the description |
    | `tensors` | names of the stored tensors |
    | `picks` | for each part of a layer `first, size, stride, count`, and perhaps `step` |
    | `columns` | `first, size, step` |
    | `members` | layers in each stored tensor |
    | `grid` | `kept, zeros, h, w, H, W` |
    | `storage` | `bf16` or `f16`; absent: elements lie in the file as the type says |

    Constraints:

    - `parameter_c1`: the type has dimensions, none of them 0.
    - `parameter_c2`: there is a stored tensor.
    - `parameter_c3`: with `layers`, the leading dimension is their number, and there
      are others.
    - `parameter_c4`: each layer has the same number of stored tensors.
    - `parameter_c5`: with `panel`, a layer has the shape of panels.
    - `parameter_c6`: what is `transposed` are matrices.
    - `parameter_c7`: `picks` are four or five numbers for each part of a layer.
    - `parameter_c8`: a pick begins at a row, has rows, and its blocks are one block
      or do not overlap; `step` is not negative.
    - `parameter_c9`: `columns` are three numbers, of matrices that are not
      `transposed`.
    - `parameter_c10`: `columns` begin at a column and have columns; their `step` is
      not negative.
    - `parameter_c11`: `members` divide the number of `layers`.
    - `parameter_c12`: `grid` is of one stored matrix, without `layers`, `transposed`, `panel`
      and picks.
    - `parameter_c13`: `grid` is six numbers below 2^31, the first two at least 0, the
      others at least 1; the type has kept + zeros + H·W rows.
    - `parameter_c14`: `antialias` stands beside `grid`.
    - `parameter_c15`: what is stored in 16 bits are layers of two dimensions or more.
    - `parameter_c16`: `storage` stands beside elements of f32.

    Example:

    ```mlir
    hexad.parameter @encoder.0.query.weight : tensor<12x768x768xf32> from "model.safetensors"
        ["encoder.layer.0.attention.self.query.weight"] {layers = 12 : i64}
    hexad.parameter @key.weight : tensor<60x60xf32> from "model.safetensors"
        ["attention.query_key_value.weight"] {picks = [array<i64: 20, 20, 60, 3>]}
    hexad.parameter @experts.up.weight : tensor<16x28x60xf32> from "model.safetensors"
        ["0.gate_up", "1.gate_up"] {layers = 16 : i64, picks = [array<i64: 28, 28, 28, 1>], members = 8 : i64}
    hexad.parameter @table : tensor<2x109x8xf32> from "model.safetensors"
        ["tables.weight", "tables.weight"] {layers = 2 : i64, columns = array<i64: 0, 8, 8>}
    hexad.parameter @positions : tensor<17x60xf32> from "model.safetensors"
        ["embeddings.position_embeddings"] {grid = array<i64: 1, 0, 14, 14, 4, 4>}
    hexad.parameter @up.weight : tensor<240x60xf32> from "model.safetensors" ["up.weight"] {storage = bf16}
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Hexad_WeightTensor>:$type,
                       StrAttr:$file, StrArrayAttr:$tensors,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$layers,
                       UnitAttr:$transposed,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$panel,
                       OptionalAttr<TypedArrayAttrBase<DenseI64ArrayAttr,
                           "picks of rows">>:$picks,
                       OptionalAttr<DenseI64ArrayAttr>:$columns,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$members,
                       OptionalAttr<DenseI64ArrayAttr>:$grid, UnitAttr:$antialias,
                       OptionalAttr<TypeAttrOf<Hexad_HalfFloat>>:$storage);
  let assemblyFormat = [{
    $sym_name `:` $type `from` $file $tensors attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Number of stacked layers, 1 if there is no leading layer dimension.
    int64_t getLayerCount() { return getLayers().value_or(1); }
    /// Layers that a stored tensor holds.
    int64_t getMemberCount() { return getMembers().value_or(1); }
    /// Stored tensors that make up one layer.
    int64_t getPartsPerLayer() {
      return getTensors().size() / (getLayerCount() / getMemberCount());
    }
    /// The parameter's type as a ranked tensor.
    ::mlir::RankedTensorType getTensorType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getType());
    }
    /// The type of one layer: without the leading dimension of stacked layers.
    ::mlir::RankedTensorType getLayerType();
    /// What an element is rounded to.
    ::mlir::Type getStoredElementType() {
      return getStorage().value_or(getTensorType().getElementType());
    }
  }];
}

def Hexad_LoadOp : Hexad_Op<"load", [Pure,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "the value of a parameter, or of one layer of it";
  let description = [{
    Without an index: the whole parameter. With `[%layer]`: that layer of a
    parameter whose layers are stacked. After bufferization the result is a
    memref into the mapped weights.

    Constraints:

    - `load_c1`: the symbol is a parameter.
    - `load_c2`: a layer is chosen only of stacked layers.
    - `load_c3`: the result has the type of the parameter or layer.

    Example:

    ```mlir
    %w = hexad.load @encoder.0.query.weight[%layer] : tensor<768x768xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$parameter, Optional<Index>:$layer);
  let results = (outs AnyTypeOf<[AnyRankedTensor, AnyMemRef]>:$result);
  let assemblyFormat = [{
    $parameter (`[` $layer^ `]`)? attr-dict `:` type($result)
  }];
}

#endif // HEXAD_DIALECT_HEXAD_IR_HEXADPARAMETEROPS_TD
