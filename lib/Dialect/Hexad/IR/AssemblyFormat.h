//===- AssemblyFormat.h - Custom parts of ops' texts ------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_LIB_DIALECT_HEXAD_IR_ASSEMBLYFORMAT_H
#define HEXAD_LIB_DIALECT_HEXAD_IR_ASSEMBLYFORMAT_H

#include "mlir/IR/OpImplementation.h"

namespace hexad {

/// `query, key, value, segments`, or `query, segments` of an attention without
/// keys of its own.
mlir::ParseResult parseAttentionOperands(
    mlir::OpAsmParser &parser, mlir::OpAsmParser::UnresolvedOperand &query,
    std::optional<mlir::OpAsmParser::UnresolvedOperand> &key,
    std::optional<mlir::OpAsmParser::UnresolvedOperand> &value,
    mlir::OpAsmParser::UnresolvedOperand &segments);
void printAttentionOperands(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                            mlir::Value query, mlir::Value key,
                            mlir::Value value, mlir::Value segments);

/// The types of query, key and value, or of the query alone.
mlir::ParseResult parseAttentionTypes(mlir::OpAsmParser &parser,
                                      mlir::Type &query, mlir::Type &key,
                                      mlir::Type &value);
void printAttentionTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                         mlir::Type query, mlir::Type key, mlir::Type value);

} // namespace hexad

#endif // HEXAD_LIB_DIALECT_HEXAD_IR_ASSEMBLYFORMAT_H
