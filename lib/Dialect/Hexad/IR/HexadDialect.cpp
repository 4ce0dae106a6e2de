//===- HexadDialect.cpp - The hexad dialect -------------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "AssemblyFormat.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace hexad;

#include "hexad/Dialect/Hexad/IR/HexadDialect.cpp.inc"
#include "hexad/Dialect/Hexad/IR/HexadEnums.cpp.inc"
#include "hexad/Dialect/Hexad/IR/HexadInterfaces.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "hexad/Dialect/Hexad/IR/HexadTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "hexad/Dialect/Hexad/IR/HexadAttributes.cpp.inc"

/// An enum attribute as a bare keyword: `gelu` for `#hexad.activation<gelu>`.
template <typename EnumAttr>
static ParseResult parseKeyword(OpAsmParser &parser, EnumAttr &attribute) {
  using Enum = decltype(attribute.getValue());
  FailureOr<Enum> value = FieldParser<Enum>::parse(parser);
  if (failed(value))
    return failure();
  attribute = EnumAttr::get(parser.getContext(), *value);
  return success();
}

template <typename EnumAttr>
static void printKeyword(OpAsmPrinter &printer, Operation *,
                         EnumAttr attribute) {
  printer << stringifyEnum(attribute.getValue());
}

#define GET_OP_CLASSES
#include "hexad/Dialect/Hexad/IR/HexadOps.cpp.inc"

namespace {
/// Every op may be inlined: none depends on the function around it.
struct HexadInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void HexadDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "hexad/Dialect/Hexad/IR/HexadTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "hexad/Dialect/Hexad/IR/HexadAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "hexad/Dialect/Hexad/IR/HexadOps.cpp.inc"
      >();
  addInterfaces<HexadInlinerInterface>();
}

LogicalResult
hexad::detail::reifyRowsOfFirstOperand(Operation *op, OpBuilder &builder,
                                       ReifiedRankedShapedTypeDims &shapes) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  shapes.push_back(
      {tensor::getMixedSize(builder, op->getLoc(), op->getOperand(0), 0),
       builder.getIndexAttr(type.getDimSize(1))});
  return success();
}

/// Checks attributes of the dialect on an argument or a result of a function;
/// see the description of the dialect for what they mean.
static LogicalResult verifyBoundaryAttribute(Operation *op,
                                             NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == "hexad.name" && !isa<StringAttr>(attribute.getValue()))
    return op->emitError("boundary_c1: expected a string as hexad.name, found ")
           << attribute.getValue();
  if (name == "hexad.limit") {
    auto limit = dyn_cast<IntegerAttr>(attribute.getValue());
    if (!limit || !limit.getType().isInteger(64) || limit.getInt() <= 0)
      return op->emitError(
                 "boundary_c2: expected a positive i64 as hexad.limit, found ")
             << attribute.getValue();
  }
  if ((name == "hexad.optional" || name == "hexad.stacked") &&
      !isa<UnitAttr>(attribute.getValue()))
    return op->emitError("boundary_c3: expected ")
           << name << " to stand without a value, found "
           << attribute.getValue();
  return success();
}

LogicalResult HexadDialect::verifyOperationAttribute(Operation *op,
                                                     NamedAttribute attribute) {
  if (attribute.getName() == "hexad.position_limit") {
    auto limit = dyn_cast<IntegerAttr>(attribute.getValue());
    if (!isa<FunctionOpInterface>(op) || !limit ||
        !limit.getType().isInteger(64) || limit.getInt() <= 0)
      return op->emitError("boundary_c4: expected hexad.position_limit to be a "
                           "positive i64 on a function, found ")
             << attribute.getValue();
  }
  return success();
}

LogicalResult HexadDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                     unsigned,
                                                     NamedAttribute attribute) {
  return verifyBoundaryAttribute(op, attribute);
}

LogicalResult
HexadDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned,
                                          NamedAttribute attribute) {
  return verifyBoundaryAttribute(op, attribute);
}
