//===- InitAll.h - Registration of every dialect and pass -------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_INITALL_H
#define HEXAD_INITALL_H

#include "hexad/CodeGen/Bufferize.h"
#include "hexad/CodeGen/Passes.h"
#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "hexad/Dialect/Hexad/IR/TilingInterfaceImpl.h"
#include "hexad/Dialect/Hexad/Transforms/Passes.h"
#include "hexad/Dialect/Kernel/IR/KernelDialect.h"
#include "hexad/Pipelines/Pipelines.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"

namespace hexad {

/// The only place where dialects and their external models are registered.
inline void registerAllDialects(mlir::DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<HexadDialect, kernel::KernelDialect>();
  registerTilingInterfaceExternalModels(registry);
  registerBufferizableOpInterfaceExternalModels(registry);
}

/// The only place where passes and pipelines are registered.
inline void registerAllPasses() {
  mlir::registerAllPasses();
  registerCodeGenPasses();
  registerHexadTransformsPasses();
  registerPipelines();
}

} // namespace hexad

#endif // HEXAD_INITALL_H
