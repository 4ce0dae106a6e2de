//===- BuilderMaps.cpp - Attention maps as an output ----------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModuleBuilder.h"

using namespace mlir;
using namespace hexad;

static int64_t getHeads(const Layer &layer) {
  return std::get<AttentionLayer>(layer.kind).heads;
}

LogicalResult ModuleBuilder::checkMaps() {
  const Layer *first = nullptr;
  const Layer *unlike = nullptr; // the first with another number of heads
  const Layer *reader = nullptr; // the first without keys of its own
  forEachMember(description.layers, maps.isMember, [&](const Layer &layer) {
    if (!first)
      first = &layer;
    if (!reader && std::get<AttentionLayer>(layer.kind).keysOf)
      reader = &layer;
    if (!unlike && getHeads(layer) != getHeads(*first))
      unlike = &layer;
  });
  if (!first)
    return emitError(getOutputsLoc(),
                     "output 'attention' needs a layer 'attention'");
  if (reader) {
    InFlightDiagnostic diagnostic = emitError(
        getOutputsLoc(), "output 'attention' needs layers with keys of their "
                         "own, found one that attends to those of another");
    diagnostic.attachNote(reader->loc) << "it is here";
    return diagnostic;
  }
  if (!unlike)
    return success();
  InFlightDiagnostic diagnostic =
      emitError(getOutputsLoc(),
                "output 'attention' needs layers of as many heads each, "
                "expected ")
      << getHeads(*first) << ", found " << getHeads(*unlike);
  diagnostic.attachNote(first->loc) << "the first is here";
  diagnostic.attachNote(unlike->loc) << "the other one is here";
  return diagnostic;
}

void ModuleBuilder::startMaps() {
  int64_t heads = 0;
  forEachMember(description.layers, maps.isMember,
                [&](const Layer &layer) { heads = getHeads(layer); });
  constexpr int64_t any = ShapedType::kDynamic;
  maps.members = EmptyMapsOp::create(
      builder, description.loc,
      RankedTensorType::get({countMembers(maps.isMember), any, heads, any, any},
                            f32),
      segments);
}

void ModuleBuilder::buildMap(AttentionOp attention) {
  Location loc = attention.getLoc();
  Value member = takeMember(loc, maps);
  maps.members = AttentionMapOp::create(
      builder, loc, maps.members.getType(), attention.getQuery(),
      attention.getKey(), segments, maps.members, member,
      attention.getHeadsAttr(), attention.getKvHeadsAttr(),
      attention.getHeadDimAttr(), attention.getScaleAttr(),
      builder.getDenseI64ArrayAttr({0, 0}), attention.getCausalAttr(),
      attention.getWindowAttr(), attention.getSoftcapAttr());
}
