//===- Describe.h - What a module of hexad IR takes and gives ---*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_LIB_DRIVER_DESCRIBE_H
#define HEXAD_LIB_DRIVER_DESCRIBE_H

#include "hexad/Driver/LibraryInfo.h"
#include "mlir/IR/BuiltinOps.h"

namespace hexad {

/// Inputs, outputs, limits and the number of parameters of a model, from the
/// attributes of its function (docs/Architecture.md). Requires
/// verifyModelInterface to have succeeded. Fails if the names do not make
/// different C identifiers.
llvm::Expected<LibraryInfo> describeModel(mlir::ModuleOp module);

/// Counts the elements of all parameters, and of those that one token needs: of
/// experts those that it goes to. Says what most of them are stored in.
void countParameters(mlir::ModuleOp module, LibraryInfo &info);

} // namespace hexad

#endif // HEXAD_LIB_DRIVER_DESCRIBE_H
