//===- Describe.cpp - What a module of hexad IR takes and gives -*- C++ -*-===//
//
// Part of the Hexad project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Describe.h"
#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace hexad;

/// The module's only function that can be called from outside.
static FailureOr<func::FuncOp> findEntry(ModuleOp module) {
  func::FuncOp entry;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isPrivate())
      continue;
    if (entry)
      return function.emitError(
                 "a model has one public function, found a second"),
             failure();
    entry = function;
  }
  if (!entry)
    return module.emitError("the model has no public function"), failure();
  if (entry.isExternal())
    return entry.emitError("the model's function has no body"), failure();
  return entry;
}

static FailureOr<InputInfo> describeInput(func::FuncOp function,
                                          unsigned index) {
  Location loc = function.getArgument(index).getLoc();
  InputInfo input;
  auto name = function.getArgAttrOfType<StringAttr>(index, "hexad.name");
  if (!name || name.empty())
    return emitError(loc) << "input " << index << " has no `hexad.name`",
           failure();
  input.name = name.str();
  Value argument = function.getArgument(index);
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  if (!type || type.getRank() != 2 || !type.getElementType().isInteger(32) ||
      type.getNumDynamicDims() != 2)
    return emitError(loc) << "input '" << input.name
                          << "' must be a tensor<?x?xi32>, found "
                          << argument.getType(),
           failure();
  bool isMask = llvm::any_of(argument.getUsers(), [&](Operation *user) {
    auto segments = dyn_cast<SegmentsOp>(user);
    return segments && segments.getMask() == argument;
  });
  input.kind = isMask ? HEXAD_INPUT_MASK : HEXAD_INPUT_IDS;
  input.optional = !!function.getArgAttr(index, "hexad.optional");
  auto limit = function.getArgAttrOfType<IntegerAttr>(index, "hexad.limit");
  if (limit)
    input.limit = limit.getInt();
  if (!isMask && (!limit || input.limit <= 0))
    return emitError(loc) << "input '" << input.name
                          << "' needs a positive `hexad.limit`",
           failure();
  return input;
}

static FailureOr<OutputInfo> describeOutput(func::FuncOp function,
                                            unsigned index) {
  OutputInfo output;
  auto name = function.getResultAttrOfType<StringAttr>(index, "hexad.name");
  if (!name || name.empty())
    return function.emitError() << "output " << index << " has no `hexad.name`",
           failure();
  output.name = name.str();
  output.stacked = !!function.getResultAttr(index, "hexad.stacked");
  auto type = dyn_cast<RankedTensorType>(function.getResultTypes()[index]);
  int64_t rows = output.stacked ? 4 : 3;
  if (!type || !type.getElementType().isF32() ||
      (type.getRank() != rows && (output.stacked || type.getRank() != 2)) ||
      type.isDynamicDim(type.getRank() - 1) ||
      (output.stacked && type.isDynamicDim(0)))
    return function.emitError()
               << "output '" << output.name << "' must be a "
               << (output.stacked ? "tensor<Lx?x?xDxf32>"
                                  : "tensor<?x?xDxf32> or tensor<?xDxf32>")
               << ", found " << function.getResultTypes()[index],
           failure();
  output.kind =
      type.getRank() == rows ? HEXAD_OUTPUT_ROWS : HEXAD_OUTPUT_POOLED;
  output.count = output.stacked ? type.getDimSize(0) : 1;
  output.columns = type.getDimSize(type.getRank() - 1);
  return output;
}

FailureOr<LibraryInfo> hexad::describeModel(ModuleOp module) {
  FailureOr<func::FuncOp> function = findEntry(module);
  if (failed(function))
    return failure();
  LibraryInfo info;
  info.name = module.getSymName().value_or("").str();
  unsigned masks = 0;
  for (unsigned index = 0; index < function->getNumArguments(); ++index) {
    FailureOr<InputInfo> input = describeInput(*function, index);
    if (failed(input))
      return failure();
    masks += input->kind == HEXAD_INPUT_MASK;
    info.inputs.push_back(std::move(*input));
  }
  if (masks != 1)
    return function->emitError(
               "expected one input that `hexad.segments` reads, found ")
               << masks,
           failure();
  for (unsigned index = 0; index < function->getNumResults(); ++index) {
    FailureOr<OutputInfo> output = describeOutput(*function, index);
    if (failed(output))
      return failure();
    info.outputs.push_back(std::move(*output));
  }
  if (info.outputs.empty())
    return function->emitError("the model has no output"), failure();
  if (auto limit =
          (*function)->getAttrOfType<IntegerAttr>("hexad.position_limit")) {
    info.positionLimit = limit.getInt();
    if (info.positionLimit <= 0 || info.positionLimit > INT32_MAX)
      return function->emitError("`hexad.position_limit` must be positive"),
             failure();
  }
  for (auto parameter : module.getOps<ParameterOp>())
    info.parameterCount += parameter.getTensorType().getNumElements();
  if (llvm::Error error = assignIdentifiers(info))
    return function->emitError(llvm::toString(std::move(error))), failure();
  return info;
}
