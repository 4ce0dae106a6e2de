//===- KernelOps.cpp - Verifiers and effects of hexad_kernel ops
//-----------------------------------------------------===//
//
// Part of the Hexad project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Dialect/Kernel/IR/KernelDialect.h"

using namespace mlir;

using namespace hexad::kernel;

#define GET_OP_CLASSES
#include "hexad/Dialect/Kernel/IR/KernelOps.cpp.inc"

/// Memrefs that are inputs are read; destinations are read and written (rows
/// and columns that an op does not cover keep their contents).
static void getKernelEffects(
    DestinationStyleOpInterface op,
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    effects.emplace_back(MemoryEffects::Read::get(), &operand,
                         SideEffects::DefaultResource::get());
    if (op.isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand,
                           SideEffects::DefaultResource::get());
  }
}

#define HEXAD_KERNEL_OP(OP)                                                    \
  void OP::getEffects(                                                         \
      SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>      \
          &effects) {                                                          \
    getKernelEffects(*this, effects);                                          \
  }                                                                            \
  LogicalResult OP::verify() { return success(); }
HEXAD_KERNEL_OP(MatmulOp)
HEXAD_KERNEL_OP(LayerNormOp)
HEXAD_KERNEL_OP(L2NormalizeOp)
HEXAD_KERNEL_OP(SoftmaxOp)
HEXAD_KERNEL_OP(ActivationOp)
HEXAD_KERNEL_OP(AddOp)
HEXAD_KERNEL_OP(GatherIndicesOp)
HEXAD_KERNEL_OP(GatherRowsOp)
HEXAD_KERNEL_OP(CopyRowsOp)
HEXAD_KERNEL_OP(MeanRowsOp)
HEXAD_KERNEL_OP(LoadQueriesOp)
HEXAD_KERNEL_OP(PackKeysOp)
HEXAD_KERNEL_OP(PackValuesOp)
HEXAD_KERNEL_OP(SoftmaxPageOp)
HEXAD_KERNEL_OP(StartPagesOp)
HEXAD_KERNEL_OP(FinishPagesOp)
#undef HEXAD_KERNEL_OP
