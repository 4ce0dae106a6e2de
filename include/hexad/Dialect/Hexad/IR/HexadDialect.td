//===- HexadDialect.td - The hexad dialect -----------------*- tablegen -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_DIALECT_HEXAD_IR_HEXADDIALECT_TD
#define HEXAD_DIALECT_HEXAD_IR_HEXADDIALECT_TD

include "hexad/Dialect/Hexad/IR/HexadInterfaces.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Hexad_Dialect : Dialect {
  let name = "hexad";
  let cppNamespace = "::hexad";
  let summary = "Transformer layers on rows of tokens, with value semantics";
  let description = [{
    The dialect in which a model is described. Activations are *rows*: a
    `tensor<?xDxf32>` with one row for each token of the whole batch, without
    padding; a `!hexad.segments` value says which rows form a sequence.
    Rectangles `[batch, seq]` exist only at the door (`hexad.pack_rows`) and at
    the exit (`hexad.unpack_rows`). Weights are symbols (`hexad.parameter`) with
    a recipe that says how they are made from stored tensors.

    A model is a module with one function. Attributes say what its arguments and
    results are to a caller:

    | attribute | on | meaning |
    | --- | --- | --- |
    | `hexad.name` | argument, result | its name in the library's interface |
    | `hexad.limit` | argument | ids must lie in `[0, limit)`; so must labels, or be -100 |
    | `hexad.optional` | argument | may be left out: a mask is then all ones, ids are 0, no row has a label |
    | `hexad.stacked` | result | a stack, whose members are outputs `name.0`, `name.1`, … |
    | `hexad.position_limit` | function | the most tokens that a segment may have |

    Constraints: `boundary_c1` `hexad.name` is a string; `boundary_c2` `hexad.limit`
    is a positive i64; `boundary_c3` `hexad.optional` and `hexad.stacked` have no
    value; `boundary_c4` `hexad.position_limit` is a positive i64 on a function.

    `docs/Spec.md` defines every op, edge cases included.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::tensor::TensorDialect",
                           "::mlir::scf::SCFDialect"];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

class Hexad_Type<string name, string typeMnemonic> : TypeDef<Hexad_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Hexad_SegmentsType : Hexad_Type<"Segments", "segments"> {
  let summary = "which rows form a sequence";
  let description = [{
    The table of the sequences of a batch: for each segment the first row, the
    number of rows (possibly 0) and the position of its first row; and for each
    element of the rectangle `[batch, seq]` that it was made from, the row that
    holds it or none (padding). Segment `i` is batch row `i`. Rows of a segment
    are consecutive, segments lie in order.
  }];
}

def Hexad_Activation : I32EnumAttr<"Activation", "elementwise activation", [
    I32EnumAttrCase<"Gelu", 0, "gelu">,
    I32EnumAttrCase<"GeluTanh", 1, "gelu_tanh">,
    I32EnumAttrCase<"QuickGelu", 2, "quick_gelu">,
    I32EnumAttrCase<"Silu", 3, "silu">,
    I32EnumAttrCase<"Relu", 4, "relu">,
    I32EnumAttrCase<"Tanh", 5, "tanh">,
    I32EnumAttrCase<"Sigmoid", 6, "sigmoid">]> {
  let cppNamespace = "::hexad";
  let genSpecializedAttr = 0;
}
def Hexad_ActivationAttr : EnumAttr<Hexad_Dialect, Hexad_Activation, "activation"> {
  let assemblyFormat = "`<` $value `>`";
}

def Hexad_Pairing : I32EnumAttr<"Pairing", "which columns of a head are rotated together", [
    I32EnumAttrCase<"Half", 0, "half">,
    I32EnumAttrCase<"Interleaved", 1, "interleaved">]> {
  let cppNamespace = "::hexad";
  let genSpecializedAttr = 0;
}
def Hexad_PairingAttr : EnumAttr<Hexad_Dialect, Hexad_Pairing, "pairing"> {
  let assemblyFormat = "`<` $value `>`";
}

def Hexad_Pooling : I32EnumAttr<"Pooling", "how the rows of a segment become one", [
    I32EnumAttrCase<"First", 0, "first">,
    I32EnumAttrCase<"Mean", 1, "mean">]> {
  let cppNamespace = "::hexad";
  let genSpecializedAttr = 0;
}
def Hexad_PoolingAttr : EnumAttr<Hexad_Dialect, Hexad_Pooling, "pooling"> {
  let assemblyFormat = "`<` $value `>`";
}

def Hexad_RouterScore : I32EnumAttr<"RouterScore", "what a router makes of its logits", [
    I32EnumAttrCase<"Softmax", 0, "softmax">,
    I32EnumAttrCase<"Sigmoid", 1, "sigmoid">]> {
  let cppNamespace = "::hexad";
  let genSpecializedAttr = 0;
}
def Hexad_RouterScoreAttr : EnumAttr<Hexad_Dialect, Hexad_RouterScore, "router_score"> {
  let assemblyFormat = "`<` $value `>`";
}

// Shapes. The number of columns is part of the model, the number of rows that of
// a call.
class Hexad_FloatTensorThat<int rank, code condition, string summary>
    : Type<And<[TensorRankOf<[F32], [rank]>.predicate,
                SubstLeaves<"$_self", "::llvm::cast<::mlir::RankedTensorType>($_self)",
                            CPred<condition>>]>,
           summary, "::mlir::RankedTensorType">;
def Hexad_Rows : Hexad_FloatTensorThat<2, [{$_self.getDimSize(1) > 0}],
    "rows of f32 with a static, positive number of columns">;
def Hexad_RowStack : Hexad_FloatTensorThat<3,
    [{$_self.getDimSize(0) > 0 && $_self.getDimSize(2) > 0}],
    "stack of rows of f32 with a static, positive number of members and of columns">;
def Hexad_Rectangle : Hexad_FloatTensorThat<3, [{$_self.getDimSize(2) > 0}],
    "rectangle of f32 rows with a static, positive number of columns">;
def Hexad_RectangleStack : Hexad_FloatTensorThat<4,
    [{$_self.getDimSize(0) > 0 && $_self.getDimSize(3) > 0}],
    "stack of rectangles of f32 rows with a static, positive number of members and of columns">;
def Hexad_Maps : Hexad_FloatTensorThat<5,
    [{$_self.getDimSize(0) > 0 && $_self.getDimSize(2) > 0}],
    "stack of f32 attention maps with a static, positive number of members and of heads">;
def Hexad_Vector : Hexad_FloatTensorThat<1, [{$_self.getDimSize(0) > 0}],
    "f32 vector of static, positive size">;
def Hexad_Matrix : Hexad_FloatTensorThat<2,
    [{$_self.getDimSize(0) > 0 && $_self.getDimSize(1) > 0}],
    "f32 matrix of static, positive sizes">;
def Hexad_Filters : Hexad_FloatTensorThat<4,
    [{$_self.hasStaticShape() && !::llvm::is_contained($_self.getShape(), 0)}],
    "f32 filters [out, channels, height, width] of static, positive sizes">;
def Hexad_Image : Hexad_FloatTensorThat<4,
    [{::hexad::detail::isImageShape($_self.getShape())}],
    "f32 images [batch, channels, height, width] of static, positive sizes, each of fewer than 2^31 elements">;
def Hexad_IndexRows : TensorRankOf<[I32], [1]>;
def Hexad_IdRectangle : TensorRankOf<[I32], [2]>;
def Hexad_FloatTensor : StaticShapeTensorOf<[F32]>;
// What weights can be stored in.
def Hexad_HalfFloat : AnyTypeOf<[BF16, F16], "bf16 or f16">;
def Hexad_WeightTensor : StaticShapeTensorOf<[F32, BF16, F16]>;

class Hexad_Op<string opMnemonic, list<Trait> traits = []>
    : Op<Hexad_Dialect, opMnemonic, traits>;

// An op whose result has as many rows as its first operand.
class Hexad_RowwiseOp<string opMnemonic, list<Trait> traits = []>
    : Hexad_Op<opMnemonic, !listconcat([Pure,
        DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>],
        traits)> {
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::reifyResultShapes(
        ::mlir::OpBuilder &builder, ::mlir::ReifiedRankedShapedTypeDims &shapes) {
      return ::hexad::detail::reifyRowsOfFirstOperand(*this, builder, shapes);
    }
  }];
}

// An op that can be computed for any part of the rows.
class Hexad_RowLocalOp<string opMnemonic, list<Trait> traits = [],
                       list<string> interfaceMethods = []>
    : Hexad_RowwiseOp<opMnemonic, !listconcat(
        [DeclareOpInterfaceMethods<Hexad_RowLocalOpInterface, interfaceMethods>], traits)>;

#endif // HEXAD_DIALECT_HEXAD_IR_HEXADDIALECT_TD
