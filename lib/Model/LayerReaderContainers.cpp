//===- LayerReaderContainers.cpp - Layers that are made of layers ---------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerReader.h"
#include "YamlFields.h"

using namespace mlir;
using namespace hexad;

using Kind = YamlNode::Kind;

LogicalResult LayerReader::read(const YamlEntry &entry, SumLayer &layer) {
  if (entry.value.kind != Kind::Sequence || entry.value.items.size() < 2)
    return emitExpected(entry.value, "a sequence of two or more terms");
  for (const YamlNode &item : entry.value.items) {
    if (failed(readLayer(item, layer.terms)))
      return failure();
    const Layer &term = layer.terms.back();
    if (auto *embedding = std::get_if<EmbeddingLayer>(&term.kind))
      termColumns = embedding->dim;
    else if (auto *positions = std::get_if<PositionsLayer>(&term.kind))
      termColumns = positions->dim;
    else if (auto *patches = std::get_if<PatchifyLayer>(&term.kind))
      termColumns = patches->dim;
    else
      return emitError(term.loc, "expected 'embedding', 'patchify' or "
                                 "'positions' as a term of a sum");
  }
  termColumns.reset();
  return success();
}

LogicalResult LayerReader::read(const YamlEntry &entry, ResidualLayer &layer) {
  return readLayers(entry.value, layer.layers);
}

LogicalResult LayerReader::read(const YamlEntry &entry, ParallelLayer &layer) {
  if (entry.value.kind != Kind::Sequence || entry.value.items.size() < 2)
    return emitExpected(entry.value, "a sequence of two or more branches");
  layer.isResidual = entry.key == "parallel";
  for (const YamlNode &branch : entry.value.items)
    if (failed(readLayers(branch, layer.branches.emplace_back())))
      return failure();
  return success();
}

LogicalResult LayerReader::readRepeat(const YamlNode &item,
                                      const YamlEntry &count,
                                      std::vector<Layer> &layers) {
  RepeatLayer repeat;
  if (isInRepeat)
    return emitError(count.keyLoc, "a repeat cannot stand inside another");
  const YamlEntry *period = item.find("period");
  if (failed(checkKeys(item, "repeat",
                       {"repeat", "first", period ? "period" : "layers"})) ||
      (!period && failed(requireKey(item, "repeat", "layers"))) ||
      failed(readSize(count.value, maxRepeat, repeat.count)))
    return failure();
  if (const YamlEntry *first = item.find("first")) {
    std::optional<int64_t> number = first->value.getInteger();
    if (!number || *number < 0 || *number >= maxRepeat)
      return emitExpected(first->value, "the number of a layer, from 0 to " +
                                            llvm::Twine(maxRepeat - 1));
    repeat.first = *number;
  }
  isInRepeat = true;
  // A repeat that goes on with the numbers of another has other kinds of the
  // same layers; so have the bodies of a period.
  llvm::StringSet<> namesBefore = layerNames;
  if (repeat.first == 0)
    namesOutsideRepeat = layerNames;
  else
    layerNames = namesOutsideRepeat;
  if (!period) {
    if (failed(readLayers(item.find("layers")->value,
                          repeat.period.emplace_back())))
      return failure();
  } else {
    const std::vector<YamlNode> &bodies = period->value.items;
    if (period->value.kind != Kind::Sequence || bodies.empty() ||
        static_cast<int64_t>(bodies.size()) > repeat.count)
      return emitExpected(period->value,
                          "a sequence of one or more sequences of layers, at "
                          "most as many as there are repeats");
    llvm::StringSet<> outerNames = layerNames, innerNames;
    for (const YamlNode &body : bodies) {
      layerNames = outerNames;
      if (failed(readLayers(body, repeat.period.emplace_back())))
        return failure();
      for (const auto &name : layerNames)
        innerNames.insert(name.getKey());
    }
    layerNames = std::move(innerNames);
  }
  for (const auto &name : namesBefore)
    layerNames.insert(name.getKey());
  isInRepeat = false;
  layers.push_back({count.keyLoc, std::move(repeat)});
  return success();
}
