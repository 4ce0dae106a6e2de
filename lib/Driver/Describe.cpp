//===- Describe.cpp - What a module of hexad IR takes and gives -----------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Describe.h"
#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "hexad/Dialect/Hexad/IR/RowDomain.h"
#include "hexad/Model/ModelInterface.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace hexad;

static InputInfo describeInput(func::FuncOp function, unsigned index) {
  InputInfo input;
  input.name = function.getArgAttrOfType<StringAttr>(index, "hexad.name").str();
  input.optional = !!function.getArgAttr(index, "hexad.optional");
  auto type = cast<RankedTensorType>(function.getArgumentTypes()[index]);
  if (type.getRank() == 4) {
    input.kind = HEXAD_INPUT_IMAGE;
    input.channels = type.getDimSize(1);
    input.height = type.getDimSize(2);
    input.width = type.getDimSize(3);
    for (auto segments : function.getOps<ImageSegmentsOp>())
      input.tokens = segments.getLength();
  } else if (auto limit =
                 function.getArgAttrOfType<IntegerAttr>(index, "hexad.limit"))
    input.limit = limit.getInt();
  else
    input.kind = HEXAD_INPUT_MASK;
  if (LabelsOp labels = getLabelsOp(function.getArgument(index)))
    input.kind = labels.isOfSegments() ? HEXAD_INPUT_SEGMENT_LABELS
                 : labels.getShift()   ? HEXAD_INPUT_NEXT_LABELS
                                       : HEXAD_INPUT_LABELS;
  return input;
}

static OutputInfo describeOutput(func::FuncOp function, unsigned index) {
  OutputInfo output;
  output.name =
      function.getResultAttrOfType<StringAttr>(index, "hexad.name").str();
  output.stacked = !!function.getResultAttr(index, "hexad.stacked");
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(function.getResultTypes()[index]).getShape();
  if (shape.empty()) {
    output.kind = HEXAD_OUTPUT_SCALAR;
    output.columns = 1;
    return output;
  }
  if (!output.stacked && shape.size() == 2)
    output.kind = HEXAD_OUTPUT_POOLED;
  Value value = function.getBody().front().getTerminator()->getOperand(index);
  if (auto unpack = value.getDefiningOp<UnpackRowsOp>())
    if (getRowDomain(unpack.getRows()) == RowDomain::Selected)
      output.kind = HEXAD_OUTPUT_SELECTED;
  if (output.stacked)
    output.count = shape.front();
  output.columns = shape.back();
  if (shape.size() == 5) {
    output.kind = HEXAD_OUTPUT_MAPS;
    output.columns = shape[2];
  }
  return output;
}

llvm::Expected<LibraryInfo> hexad::describeModel(ModuleOp module) {
  func::FuncOp function = getModelFunction(module);
  LibraryInfo info;
  info.name = module.getSymName().value_or("").str();
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    info.inputs.push_back(describeInput(function, index));
  for (unsigned index = 0; index < function.getNumResults(); ++index)
    info.outputs.push_back(describeOutput(function, index));
  if (auto limit = function->getAttrOfType<IntegerAttr>("hexad.position_limit"))
    info.positionLimit = std::min<int64_t>(limit.getInt(), INT32_MAX);
  // How large a page is, tiling decides.
  llvm::StringSet<> kept; // caches whose keys are read by other attention
  module.walk([&](AttentionOp op) {
    if (!op.getKey())
      kept.insert(*op.getCache());
  });
  for (auto cache : module.getOps<CacheOp>())
    info.caches.push_back({/*page_bytes=*/0,
                           static_cast<int32_t>(cache.getLayerCount()),
                           static_cast<int32_t>(cache.getWindow().value_or(0)),
                           kept.contains(cache.getSymName())});
  countParameters(module, info);
  if (llvm::Error error = assignIdentifiers(info))
    return std::move(error);
  return info;
}
