//===- ParameterCounts.cpp - Parameters of a model, and active ones -------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Describe.h"
#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace hexad;

/// Whether an index inside the region of `op` depends on the expert's number.
static bool dependsOnExpert(Value index, ExpertsOp op) {
  if (index == op.getExpert())
    return true;
  Operation *definition = index.getDefiningOp();
  return definition && op->isAncestor(definition) &&
         llvm::any_of(definition->getOperands(), [&](Value operand) {
           return dependsOnExpert(operand, op);
         });
}

void hexad::countParameters(ModuleOp module, LibraryInfo &info) {
  SymbolTable symbols(module);
  // Of experts' parameters the share of those that one row goes to.
  llvm::DenseMap<ParameterOp, int64_t> active;
  module.walk([&](ExpertsOp op) {
    int64_t count = op.getCount(), chosen = std::min(op.getTopK(), count);
    op.walk([&](LoadOp load) {
      if (!load.getLayer() || !dependsOnExpert(load.getLayer(), op))
        return;
      auto parameter = symbols.lookup<ParameterOp>(load.getParameter());
      int64_t elements = parameter.getTensorType().getNumElements();
      int64_t &share = active[parameter];
      share = std::max(share, elements / count * chosen);
    });
  });
  // Few types: a map that keeps their order.
  llvm::MapVector<Type, int64_t> stored;
  for (auto parameter : module.getOps<ParameterOp>()) {
    int64_t elements = parameter.getTensorType().getNumElements();
    info.parameterCount += elements;
    stored[parameter.getStoredElementType()] += elements;
    auto share = active.find(parameter);
    info.activeParameterCount +=
        share == active.end() ? elements : share->second;
  }
  if (stored.empty())
    return;
  auto most = llvm::max_element(stored, llvm::less_second());
  llvm::raw_string_ostream(info.weightsType = "") << most->first;
}
