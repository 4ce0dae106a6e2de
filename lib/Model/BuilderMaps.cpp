//===- BuilderMaps.cpp - Attention maps as an output ----------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModuleBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace hexad;

namespace {
/// The attention layers of a part of a model.
struct Attentions {
  int64_t count = 0;
  const Layer *first = nullptr;
  const Layer *unlike = nullptr; ///< the first with another number of heads
  const Layer *reader = nullptr; ///< the first without keys of its own

  void add(llvm::ArrayRef<Layer> layers) {
    // Only looks.
    auto *mutableLayers = const_cast<Layer *>(layers.data());
    forEachLayer({mutableLayers, layers.size()}, [&](Layer &layer, int64_t) {
      auto *attention = std::get_if<AttentionLayer>(&layer.kind);
      if (!attention)
        return;
      ++count;
      if (!first)
        first = &layer;
      if (!reader && attention->keysOf)
        reader = &layer;
      if (!unlike &&
          attention->heads != std::get<AttentionLayer>(first->kind).heads)
        unlike = &layer;
    });
  }
};
} // namespace

int64_t
ModuleBuilder::countAttentions(llvm::ArrayRef<std::vector<Layer>> period) {
  Attentions attentions;
  for (const std::vector<Layer> &body : period)
    attentions.add(body);
  return attentions.count;
}

LogicalResult ModuleBuilder::checkMaps() {
  Attentions attentions;
  attentions.add(description.layers);
  if (!attentions.first)
    return emitError(getOutputsLoc(),
                     "output 'attention' needs a layer 'attention'");
  if (attentions.reader) {
    InFlightDiagnostic diagnostic = emitError(
        getOutputsLoc(), "output 'attention' needs layers with keys of their "
                         "own, found one that attends to those of another");
    diagnostic.attachNote(attentions.reader->loc) << "it is here";
    return diagnostic;
  }
  int64_t heads = std::get<AttentionLayer>(attentions.first->kind).heads;
  if (!attentions.unlike)
    return success();
  InFlightDiagnostic diagnostic =
      emitError(getOutputsLoc(),
                "output 'attention' needs layers of as many heads each, "
                "expected ")
      << heads << ", found "
      << std::get<AttentionLayer>(attentions.unlike->kind).heads;
  diagnostic.attachNote(attentions.first->loc) << "the first is here";
  diagnostic.attachNote(attentions.unlike->loc) << "the other one is here";
  return diagnostic;
}

void ModuleBuilder::startMaps() {
  Attentions attentions;
  attentions.add(description.layers);
  int64_t heads = std::get<AttentionLayer>(attentions.first->kind).heads;
  // A repeat has its period once for each iteration, and a part of it behind.
  int64_t count = 0;
  for (const Layer &layer : description.layers) {
    auto *repeat = std::get_if<RepeatLayer>(&layer.kind);
    if (!repeat) {
      Attentions here;
      here.add(layer);
      count += here.count;
      continue;
    }
    llvm::ArrayRef period(repeat->period);
    count += repeat->count / period.size() * countAttentions(period) +
             countAttentions(period.take_front(repeat->count % period.size()));
  }
  constexpr int64_t any = ShapedType::kDynamic;
  maps = EmptyMapsOp::create(
      builder, description.loc,
      RankedTensorType::get({count, any, heads, any, any}, f32), segments);
}

Value ModuleBuilder::getFirstMap(Location loc, Value iteration,
                                 int64_t perIteration) {
  // Sums are what hexad-check-model can follow.
  Value first = iteration;
  for (int64_t i = 1; i < perIteration; ++i)
    first = arith::AddIOp::create(builder, loc, first, iteration);
  return first;
}

void ModuleBuilder::buildMap(AttentionOp attention) {
  Location loc = attention.getLoc();
  Value member = firstMap;
  if (nextMap != 0 || !member) {
    Value offset = arith::ConstantIndexOp::create(builder, loc, nextMap);
    member =
        member ? arith::AddIOp::create(builder, loc, member, offset).getResult()
               : offset;
  }
  ++nextMap;
  maps = AttentionMapOp::create(
      builder, loc, maps.getType(), attention.getQuery(), attention.getKey(),
      segments, maps, member, attention.getHeadsAttr(),
      attention.getKvHeadsAttr(), attention.getHeadDimAttr(),
      attention.getScaleAttr(), builder.getDenseI64ArrayAttr({0, 0}),
      attention.getCausalAttr(), attention.getWindowAttr(),
      attention.getSoftcapAttr());
}
