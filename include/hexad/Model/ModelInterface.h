//===- ModelInterface.h - What a module must look like ----------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_MODEL_MODELINTERFACE_H
#define HEXAD_MODEL_MODELINTERFACE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace hexad {

/// Checks that a module of phase `hexad` is a model: one public function, whose
/// arguments are one mask and rectangles of ids with limits, or images alone,
/// whose results are
/// rectangles of rows or pooled rows, all with names; and no ops but those that
/// readers build. Emits a diagnostic on failure.
mlir::LogicalResult verifyModelInterface(mlir::ModuleOp module);

/// The function of a model. Requires verifyModelInterface to have succeeded.
mlir::func::FuncOp getModelFunction(mlir::ModuleOp module);

} // namespace hexad

#endif // HEXAD_MODEL_MODELINTERFACE_H
