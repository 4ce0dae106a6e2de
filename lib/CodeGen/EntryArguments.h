//===- EntryArguments.h - Arguments in the ABI's form -----------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From the tiles phase on a function has the extents and pointers of
// hexad/Runtime/abi.h as arguments; `hexad.extent` and `hexad.pointer` say
// which is which.
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_LIB_CODEGEN_ENTRYARGUMENTS_H
#define HEXAD_LIB_CODEGEN_ENTRYARGUMENTS_H

#include "hexad/Runtime/abi.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace hexad {

/// The argument that is this extent of the call; null if there is none.
mlir::Value findExtent(mlir::func::FuncOp function, hexad_extent kind);

/// Which extent of the call a value is; none if it is no such argument.
std::optional<hexad_extent> getExtentKind(mlir::func::FuncOp function,
                                          mlir::Value value);

/// Adds an argument of `type` behind the others, which is this pointer of the
/// call.
mlir::Value addPointer(mlir::func::FuncOp function, hexad_pointer kind,
                       mlir::Type type);

} // namespace hexad

#endif // HEXAD_LIB_CODEGEN_ENTRYARGUMENTS_H
