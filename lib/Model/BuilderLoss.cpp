//===- BuilderLoss.cpp - The loss of a model with logits ------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loss is that of the output `logits`. Its layers from the last linear one
// on are built twice: on the rows of which the caller wants logits, and on all
// for the loss, where logits exist a tile at a time only. So a call that wants
// the loss alone makes none.
//
//===----------------------------------------------------------------------===//

#include "ModuleBuilder.h"

using namespace mlir;
using namespace hexad;

static bool isLogits(const Layer &layer) {
  auto *output = std::get_if<OutputLayer>(&layer.kind);
  return output && output->name == "logits";
}

LogicalResult ModuleBuilder::findLoss() {
  const LinearLayer *last = nullptr;
  bool pools = false, attends = false, causal = true;
  for (const Layer &layer : description.layers) {
    if (isLogits(layer)) {
      loss.emplace();
      loss->pooled = pools;
      loss->shift = attends && causal && !pools;
      // A head on selected rows may have more layers in front of the last.
      loss->head = pools ? nullptr : head ? head : last;
      return success();
    }
    causal &= isCausal(layer, pools, attends);
    if (auto *linear = std::get_if<LinearLayer>(&layer.kind))
      last = linear;
  }
  return emitError(getOutputsLoc(),
                   "output 'loss' needs an output 'logits', which it compares "
                   "with labels");
}

/// The argument behind all others, and the rows of it.
void ModuleBuilder::buildLabels() {
  SmallVector<int64_t> shape(loss->pooled ? 1 : 2, ShapedType::kDynamic);
  unsigned index = function.getNumArguments();
  (void)function.insertArgument(
      index, RankedTensorType::get(shape, builder.getI32Type()),
      builder.getDictionaryAttr(
          {builder.getNamedAttr("hexad.name", builder.getStringAttr("labels")),
           builder.getNamedAttr("hexad.optional", builder.getUnitAttr())}),
      description.loc);
  loss->labels = LabelsOp::create(
      builder, description.loc,
      RankedTensorType::get({ShapedType::kDynamic}, builder.getI32Type()),
      function.getArgument(index), segments, loss->shift);
}

LogicalResult ModuleBuilder::buildLoss(Location loc, Activations logits) {
  if (loss->head) {
    Activations all{loss->input};
    bool isBehind = false;
    loss->isOpen = true;
    for (const Layer &layer : description.layers) {
      isBehind |= std::get_if<LinearLayer>(&layer.kind) == loss->head;
      if (isLogits(layer))
        break;
      if (!isBehind || std::holds_alternative<OutputLayer>(layer.kind))
        continue;
      FailureOr<Activations> next = buildLayer(layer, all);
      if (failed(next))
        return failure();
      all = *next;
    }
    loss->isOpen = false;
    logits = all;
  }
  int64_t classes = getColumns(logits.rows);
  function.setArgAttr(
      cast<BlockArgument>(loss->labels.getLabels()).getArgNumber(),
      "hexad.limit", builder.getI64IntegerAttr(classes));
  Value losses = CrossEntropyOp::create(builder, loc, getRowsType(1),
                                        logits.rows, loss->labels);
  loss->mean = MeanLossOp::create(builder, loc, RankedTensorType::get({}, f32),
                                  losses, loss->labels);
  return success();
}
