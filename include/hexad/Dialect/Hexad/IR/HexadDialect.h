//===- HexadDialect.h - The hexad dialect -----------------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_DIALECT_HEXAD_IR_HEXADDIALECT_H
#define HEXAD_DIALECT_HEXAD_IR_HEXADDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "hexad/Dialect/Hexad/IR/HexadDialect.h.inc"
#include "hexad/Dialect/Hexad/IR/HexadEnums.h.inc"
#include "hexad/Dialect/Hexad/IR/HexadInterfaces.h.inc"

namespace hexad::detail {
/// Shapes of the one result of an op that has as many rows as the first operand
/// and a static number of columns.
llvm::LogicalResult
reifyRowsOfFirstOperand(mlir::Operation *op, mlir::OpBuilder &builder,
                        mlir::ReifiedRankedShapedTypeDims &shapes);

/// Whether a shape of rank 4 is that of a batch of images that can be addressed
/// in 32 bits each.
bool isImageShape(llvm::ArrayRef<int64_t> shape);
} // namespace hexad::detail

#define GET_TYPEDEF_CLASSES
#include "hexad/Dialect/Hexad/IR/HexadTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "hexad/Dialect/Hexad/IR/HexadAttributes.h.inc"

#define GET_OP_CLASSES
#include "hexad/Dialect/Hexad/IR/HexadOps.h.inc"

namespace hexad {
/// The op that takes a model's argument for labels; null if it is none.
LabelsOp getLabelsOp(mlir::Value argument);
} // namespace hexad

#endif // HEXAD_DIALECT_HEXAD_IR_HEXADDIALECT_H
