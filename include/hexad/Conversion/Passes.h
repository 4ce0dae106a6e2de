//===- Passes.h - Between hexad and MLIR's dialects -------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_CONVERSION_PASSES_H
#define HEXAD_CONVERSION_PASSES_H

#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Pass/Pass.h"

namespace hexad {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "hexad/Conversion/Passes.h.inc"
} // namespace hexad

#endif // HEXAD_CONVERSION_PASSES_H
