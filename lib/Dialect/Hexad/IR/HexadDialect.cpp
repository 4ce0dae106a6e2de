//===- HexadDialect.cpp - The hexad dialect
//-----------------------------------------------------===//
//
// Part of the Hexad project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace hexad;

#include "hexad/Dialect/Hexad/IR/HexadDialect.cpp.inc"
#include "hexad/Dialect/Hexad/IR/HexadEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "hexad/Dialect/Hexad/IR/HexadTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "hexad/Dialect/Hexad/IR/HexadAttributes.cpp.inc"

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
