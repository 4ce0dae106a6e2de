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
#include "hexad/Conversion/Passes.h"
#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "hexad/Dialect/Hexad/IR/TilingInterfaceImpl.h"
#include "hexad/Dialect/Hexad/Transforms/Passes.h"
#include "hexad/Dialect/Kernel/IR/KernelDialect.h"
#include "hexad/Pipelines/Pipelines.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/Transform/Transforms/Passes.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Transforms/Passes.h"

namespace hexad {

/// The only place where dialects and their external models are registered.
inline void registerAllDialects(mlir::DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<HexadDialect, kernel::KernelDialect>();
  registerTilingInterfaceExternalModels(registry);
  registerBufferizableOpInterfaceExternalModels(registry);
}

/// The only place where passes and pipelines are registered: Hexad's own, and
/// of MLIR's those that the phases use, that clean up after any pass, or that
/// apply an op's interfaces. All of them would bury Hexad's in `hexad-opt
/// --help`.
inline void registerAllPasses() {
  mlir::registerTransformsPasses();
  mlir::bufferization::registerOneShotBufferizePass();
  mlir::memref::registerExpandStridedMetadataPass();
  mlir::memref::registerResolveRankedShapeTypeResultDimsPass();
  mlir::registerArithToLLVMConversionPass();
  mlir::registerConvertControlFlowToLLVMPass();
  mlir::registerConvertFuncToLLVMPass();
  mlir::registerConvertIndexToLLVMPass();
  mlir::registerConvertMathToLLVMPass();
  mlir::registerConvertVectorToLLVMPass();
  mlir::registerFinalizeMemRefToLLVMConversionPass();
  mlir::registerLowerAffinePass();
  mlir::registerReconcileUnrealizedCastsPass();
  mlir::registerSCFToControlFlowPass();
  mlir::registerUBToLLVMConversionPass();
  mlir::transform::registerInterpreterPass();
  registerCodeGenPasses();
  registerConversionPasses();
  registerHexadTransformsPasses();
  registerPipelines();
}

} // namespace hexad

#endif // HEXAD_INITALL_H
