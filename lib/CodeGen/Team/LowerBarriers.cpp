//===- LowerBarriers.cpp - Barriers to calls of the runtime ---------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../EntryArguments.h"
#include "hexad/CodeGen/Passes.h"
#include "hexad/Dialect/Kernel/IR/KernelDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace hexad;

namespace hexad {
#define GEN_PASS_DEF_LOWERBARRIERSPASS
#include "hexad/CodeGen/Passes.h.inc"
} // namespace hexad

namespace {
struct LowerBarriersPass
    : hexad::impl::LowerBarriersPassBase<LowerBarriersPass> {
  using LowerBarriersPassBase::LowerBarriersPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    OpBuilder builder(module.getBodyRegion());
    Type pointer = LLVM::LLVMPointerType::get(&getContext());
    auto barrier = LLVM::LLVMFuncOp::create(
        builder, module.getLoc(), "hexad_team_barrier",
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(&getContext()),
                                    {pointer}));
    barrier.setVisibility_(LLVM::Visibility::Hidden);
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isPrivate())
        continue; // Code that several kernels share: no barriers in there.
      Value team = addPointer(function, HEXAD_POINTER_TEAM, pointer);
      function.walk([&](kernel::BarrierOp op) {
        builder.setInsertionPoint(op);
        LLVM::CallOp::create(builder, op.getLoc(), barrier, team);
        op.erase();
      });
    }
  }
};
} // namespace
