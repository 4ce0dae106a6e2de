//===- Pipelines.cpp - The phases of compilation --------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Pipelines/Pipelines.h"
#include "hexad/CodeGen/Passes.h"
#include "hexad/Dialect/Hexad/Transforms/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace hexad;

namespace {
struct PhaseInfo {
  Phase phase;
  StringLiteral name;
  StringLiteral description;
};
constexpr PhaseInfo phases[] = {
    {Phase::Hexad, "hexad",
     "the model as ops on rows of tokens, weights as symbols"},
    {Phase::Rows, "rows",
     "projections fused, row-local ops grouped into blocks of rows"},
    {Phase::Tiles, "tiles",
     "loops over threads, blocks of rows, query tiles and pages"},
    {Phase::Kernels, "kernels",
     "micro-kernels in place of ops, weights in panels"},
    {Phase::Buffers, "buffers",
     "memory instead of values: one arena, one weights file"},
    {Phase::Team, "team",
     "every thread runs the whole function, with barriers"},
    {Phase::LLVM, "llvm", "the LLVM dialect, with the ABI's entry function"},
};
} // namespace

static const PhaseInfo &getInfo(Phase phase) {
  return phases[static_cast<size_t>(phase)];
}

StringRef hexad::getPhaseName(Phase phase) { return getInfo(phase).name; }

StringRef hexad::getPhaseDescription(Phase phase) {
  return getInfo(phase).description;
}

std::optional<Phase> hexad::parsePhase(StringRef name) {
  for (const PhaseInfo &info : phases)
    if (info.name == name)
      return info.phase;
  return std::nullopt;
}

ArrayRef<Phase> hexad::getAllPhases() {
  static constexpr Phase all[] = {Phase::Hexad,   Phase::Rows,    Phase::Tiles,
                                  Phase::Kernels, Phase::Buffers, Phase::Team,
                                  Phase::LLVM};
  return all;
}

static void addCleanup(OpPassManager &manager) {
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
}

static void addRows(OpPassManager &manager) {
  manager.addPass(createCheckModelPass());
  addCleanup(manager); // Later passes make something of every result.
  manager.addPass(createFuseProjectionsPass());
  manager.addPass(createLowerPatchifyPass());
  manager.addNestedPass<func::FuncOp>(createFormRowsPass());
}

static void addTiles(OpPassManager &manager, const Target &target) {
  TilePassOptions options;
  options.tileRows = target.tileRows;
  options.tileColumns = target.tileColumns;
  options.blockRows = target.blockRows;
  options.queryTile = target.queryTile;
  options.page = target.page;
  manager.addPass(createTilePass(options));
  addCleanup(manager);
}

static void addKernels(OpPassManager &manager, const Target &target) {
  LowerToKernelsPassOptions options;
  options.tileRows = target.tileRows;
  options.tileColumns = target.tileColumns;
  options.blockRows = target.blockRows;
  manager.addPass(createLowerToKernelsPass(options));
  addCleanup(manager);
}

static void addBuffers(OpPassManager &manager) {
  bufferization::OneShotBufferizePassOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  manager.addPass(bufferization::createOneShotBufferizePass(options));
  addCleanup(manager);
  addCleanup(manager); // Copies of a buffer to itself fold once CSE has run.
  manager.addNestedPass<func::FuncOp>(createLowerCopiesPass());
  manager.addPass(createPlanMemoryPass());
}

static void addTeam(OpPassManager &manager) {
  manager.addNestedPass<func::FuncOp>(createSplitColumnsPass());
  manager.addNestedPass<func::FuncOp>(createFormTeamPass());
  addCleanup(manager);
}

static void addLLVM(OpPassManager &manager) {
  manager.addPass(createKernelToVectorPass());
  manager.addPass(createLowerBarriersPass());
  manager.addPass(createLowerPagesPass());
  manager.addPass(createLowerEntryPass());
  manager.addPass(memref::createExpandStridedMetadataPass());
  manager.addPass(createLowerAffinePass());
  addCleanup(manager);
  manager.addPass(createLoopInvariantCodeMotionPass());
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(createConvertVectorToLLVMPass());
  manager.addPass(createConvertMathToLLVMPass());
  manager.addPass(createFinalizeMemRefToLLVMConversionPass());
  manager.addPass(createConvertFuncToLLVMPass());
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertIndexToLLVMPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createUBToLLVMConversionPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
  addCleanup(manager);
}

void hexad::addPhase(OpPassManager &manager, Phase phase,
                     const Target &target) {
  switch (phase) {
  case Phase::Hexad:
    return;
  case Phase::Rows:
    return addRows(manager);
  case Phase::Tiles:
    return addTiles(manager, target);
  case Phase::Kernels:
    return addKernels(manager, target);
  case Phase::Buffers:
    return addBuffers(manager);
  case Phase::Team:
    return addTeam(manager);
  case Phase::LLVM:
    return addLLVM(manager);
  }
}

namespace {
struct PhaseOptions : PassPipelineOptions<PhaseOptions> {
  Option<std::string> mcpu{*this, "mcpu",
                           llvm::cl::desc("CPU to compile for: native, "
                                          "x86-64-v3, x86-64-v4, znver3, …"),
                           llvm::cl::init("native")};
};
} // namespace

void hexad::registerPipelines() {
  for (const PhaseInfo &info : phases) {
    if (info.phase == Phase::Hexad)
      continue;
    std::string name = ("hexad-to-" + info.name).str();
    registerPassPipeline(
        name, info.description,
        [phase = info.phase](
            OpPassManager &manager, StringRef text,
            function_ref<LogicalResult(const Twine &)> error) -> LogicalResult {
          PhaseOptions options;
          if (failed(options.parseFromString(text)))
            return failure();
          llvm::Expected<Target> target = Target::get(options.mcpu);
          if (!target)
            return error(llvm::toString(target.takeError()));
          for (Phase step : getAllPhases())
            if (step <= phase)
              addPhase(manager, step, *target);
          return success();
        },
        [](function_ref<void(const mlir::detail::PassOptions &)> visit) {
          visit(PhaseOptions());
        });
  }
}
