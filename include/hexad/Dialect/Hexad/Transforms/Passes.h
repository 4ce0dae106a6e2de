//===- Passes.h - hexad to hexad --------------------------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_DIALECT_HEXAD_TRANSFORMS_PASSES_H
#define HEXAD_DIALECT_HEXAD_TRANSFORMS_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace hexad {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "hexad/Dialect/Hexad/Transforms/Passes.h.inc"
} // namespace hexad

#endif // HEXAD_DIALECT_HEXAD_TRANSFORMS_PASSES_H
