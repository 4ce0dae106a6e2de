//===- LayerReaderPlain.cpp - Layers without weights ----------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerReader.h"
#include "YamlFields.h"

using namespace mlir;
using namespace hexad;

LogicalResult LayerReader::read(const YamlEntry &entry, ScaleLayer &layer) {
  std::optional<double> factor = entry.value.getNumber();
  if (!factor)
    return emitExpected(entry.value, "a number");
  layer.factor = *factor;
  return success();
}

LogicalResult LayerReader::read(const YamlEntry &entry, SoftcapLayer &layer) {
  std::optional<double> cap = entry.value.getNumber();
  if (!cap || *cap <= 0)
    return emitExpected(entry.value, "a number above 0");
  layer.cap = *cap;
  return success();
}

LogicalResult LayerReader::read(const YamlEntry &entry, PoolLayer &layer) {
  // The kind, or a mapping of it and what it needs.
  const YamlNode *kind = &entry.value;
  const YamlEntry *skip = nullptr;
  if (entry.value.kind == YamlNode::Kind::Mapping) {
    if (failed(checkKeys(entry.value, entry.key, {"kind", "skip"})) ||
        failed(requireKey(entry.value, entry.key, "kind")))
      return failure();
    kind = &entry.value.find("kind")->value;
    skip = entry.value.find("skip");
  }
  std::optional<Pooling> pooling;
  if (kind->isString())
    pooling = symbolizePooling(kind->text);
  if (!pooling)
    return emitExpected(*kind, "first or mean");
  layer.kind = *pooling;
  if (!skip)
    return success();
  if (layer.kind != Pooling::Mean)
    return emitError(skip->keyLoc, "'skip' can only stand beside 'kind: mean'");
  return readSize(skip->value, maxDimension, layer.skip);
}

LogicalResult LayerReader::read(const YamlEntry &entry,
                                L2NormalizeLayer &layer) {
  return success(succeeded(checkKeys(entry.value, entry.key, {"eps"})) &&
                 succeeded(requireKey(entry.value, entry.key, "eps")) &&
                 succeeded(readNumber(entry.value, "eps", layer.eps)));
}

LogicalResult LayerReader::read(const YamlEntry &entry, SoftmaxLayer &) {
  return checkKeys(entry.value, entry.key, {});
}

LogicalResult LayerReader::read(const YamlEntry &entry, OutputLayer &layer) {
  return readIdentifier(entry.value, layer.name);
}
