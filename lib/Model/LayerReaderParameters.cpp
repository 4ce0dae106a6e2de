//===- LayerReaderParameters.cpp - Layers with weights --------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerReader.h"
#include "YamlFields.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace hexad;

LogicalResult LayerReader::read(const YamlEntry &entry, EmbeddingLayer &layer) {
  const YamlNode &fields = entry.value;
  layer.dim = termColumns.value_or(0);
  if (failed(checkKeys(fields, entry.key,
                       {"name", "input", "entries", "dim", "tensors"})) ||
      failed(requireKey(fields, entry.key, "input")) ||
      failed(requireKey(fields, entry.key, "entries")) ||
      failed(readName(entry, layer.name)) ||
      failed(readIdentifier(fields.find("input")->value, layer.input)) ||
      failed(readSize(fields, "entries", layer.entries)) ||
      failed(readSize(fields, "dim", layer.dim)) ||
      failed(readTensors(fields, "tensors", true, false, layer.tensors)))
    return failure();
  return layer.dim ? success() : requireKey(fields, entry.key, "dim");
}

LogicalResult LayerReader::read(const YamlEntry &entry, PositionsLayer &layer) {
  const YamlNode &fields = entry.value;
  layer.dim = termColumns.value_or(0);
  layer.entries = 0;
  const YamlEntry *grid = fields.find("grid");
  llvm::SmallVector<llvm::StringRef> keys = {"name", "dim", "tensors"};
  if (grid)
    keys.append({"grid", "antialias"});
  else
    keys.push_back("entries");
  if (failed(checkKeys(fields, entry.key, keys)) ||
      (!grid && failed(requireKey(fields, entry.key, "entries"))) ||
      (grid && failed(readGridSize(grid->value, layer.grid.emplace()))) ||
      failed(readName(entry, layer.name)) ||
      failed(readSize(fields, "entries", layer.entries)) ||
      failed(readSize(fields, "dim", layer.dim)) ||
      failed(readFlag(fields, "antialias", layer.antialias)) ||
      failed(readTensors(fields, "tensors", true, false, layer.tensors)))
    return failure();
  return layer.dim ? success() : requireKey(fields, entry.key, "dim");
}

LogicalResult LayerReader::read(const YamlEntry &entry, LayerNormLayer &layer) {
  const YamlNode &fields = entry.value;
  return success(succeeded(checkKeys(fields, entry.key,
                                     {"name", "eps", "bias", "tensors"})) &&
                 succeeded(requireKey(fields, entry.key, "eps")) &&
                 succeeded(readName(entry, layer.name)) &&
                 succeeded(readNumber(fields, "eps", layer.eps)) &&
                 succeeded(readFlag(fields, "bias", layer.bias)) &&
                 succeeded(readTensors(fields, "tensors", true, layer.bias,
                                       layer.tensors)));
}

LogicalResult LayerReader::read(const YamlEntry &entry, RmsNormLayer &layer) {
  const YamlNode &fields = entry.value;
  if (failed(checkKeys(fields, entry.key,
                       {"name", "eps", "unit_offset", "weight", "tensors"})) ||
      failed(requireKey(fields, entry.key, "eps")) ||
      failed(readName(entry, layer.name)) ||
      failed(readNumber(fields, "eps", layer.eps)) ||
      failed(readFlag(fields, "unit_offset", layer.unitOffset)) ||
      failed(readFlag(fields, "weight", layer.weight)))
    return failure();
  for (llvm::StringRef key : {"unit_offset", "tensors"})
    if (const YamlEntry *other = fields.find(key); other && !layer.weight)
      return emitError(other->keyLoc)
             << "'" << key << "' cannot stand beside 'weight: false'";
  return readTensors(fields, "tensors", true, false, layer.tensors);
}

LogicalResult LayerReader::read(const YamlEntry &entry, LinearLayer &layer) {
  const YamlNode &fields = entry.value;
  if (failed(checkKeys(fields, entry.key,
                       {"name", "out", "bias", "transposed", "tied",
                        "first_column", "tensors"})) ||
      failed(requireKey(fields, entry.key, "out")) ||
      failed(readName(entry, layer.name)) ||
      failed(readSize(fields, "out", layer.out)) ||
      failed(readFlag(fields, "bias", layer.bias)) ||
      failed(readFlag(fields, "transposed", layer.transposed)))
    return failure();
  if (const YamlEntry *first = fields.find("first_column")) {
    std::optional<int64_t> column = first->value.getInteger();
    if (!column || *column < 0 || *column > maxDimension)
      return emitExpected(first->value, "the number of a column, from 0");
    if (layer.transposed || fields.find("tied"))
      return emitError(first->keyLoc, "'first_column' cannot stand beside "
                                      "'transposed' or 'tied'");
    layer.firstColumn = *column;
  }
  const YamlEntry *tied = fields.find("tied");
  if (tied) {
    if (isInRepeat || layer.transposed)
      return emitError(tied->keyLoc, "'tied' cannot stand inside a repeat or "
                                     "beside 'transposed'");
    if (failed(readIdentifier(tied->value, layer.tied)))
      return failure();
  }
  return readTensors(fields, "tensors", !tied, layer.bias, layer.tensors);
}

/// The activation that a kind of gated layer is named for.
static std::optional<Activation> getGate(llvm::StringRef kind) {
  return llvm::StringSwitch<std::optional<Activation>>(kind)
      .Case("swiglu", Activation::Silu)
      .Case("geglu", Activation::Gelu)
      .Case("geglu_tanh", Activation::GeluTanh)
      .Default(std::nullopt);
}

LogicalResult LayerReader::read(const YamlEntry &entry, GatedLayer &layer) {
  const YamlNode &fields = entry.value;
  llvm::SmallVector<llvm::StringRef> keys = {"name", "hidden", "bias", "fused",
                                             "tensors"};
  std::optional<Activation> gate = getGate(entry.key);
  if (!gate)
    keys.push_back("activation");
  if (failed(checkKeys(fields, entry.key, keys)) ||
      failed(requireKey(fields, entry.key, "hidden")) ||
      failed(readName(entry, layer.name)) ||
      failed(readSize(fields, "hidden", layer.hidden)) ||
      failed(readFlag(fields, "bias", layer.bias)) ||
      failed(readFlag(fields, "fused", layer.fused)))
    return failure();
  if (!gate) {
    if (failed(requireKey(fields, entry.key, "activation")))
      return failure();
    if (failed(
            readActivation(fields.find("activation")->value, layer.activation)))
      return failure();
  } else {
    layer.activation = *gate;
  }
  const YamlEntry *tensors = fields.find("tensors");
  if (!tensors)
    return success();
  const YamlNode &names = tensors->value;
  llvm::SmallVector<std::pair<llvm::StringRef, TensorNames *>> parts = {
      {"gate", &layer.gate}, {"up", &layer.up}, {"down", &layer.down}};
  if (layer.fused)
    parts = {{"gate_up", &layer.gateUp}, {"down", &layer.down}};
  if (failed(checkKeys(names, "tensors",
                       llvm::to_vector(llvm::make_first_range(parts)))))
    return failure();
  for (auto [key, part] : parts)
    if (failed(requireKey(names, "tensors", key)) ||
        failed(readTensors(names, key, true, layer.bias, *part)))
      return failure();
  return success();
}

LogicalResult LayerReader::read(const YamlEntry &entry,
                                ScaleColumnsLayer &layer) {
  const YamlNode &fields = entry.value;
  if (failed(checkKeys(fields, entry.key, {"name", "scalar", "tensors"})) ||
      failed(readName(entry, layer.name)) ||
      failed(readFlag(fields, "scalar", layer.isScalar)))
    return failure();
  const YamlEntry *tensors = fields.find("tensors");
  return tensors ? readTensorName(tensors->value, layer.tensors.weight)
                 : success();
}

LogicalResult LayerReader::read(const YamlEntry &entry,
                                PerLayerInputLayer &layer) {
  const YamlNode &fields = entry.value;
  if (failed(checkKeys(fields, entry.key,
                       {"name", "input", "entries", "size", "activation", "eps",
                        "tensors"})))
    return failure();
  for (llvm::StringRef key : {"input", "entries", "size", "activation", "eps"})
    if (failed(requireKey(fields, entry.key, key)))
      return failure();
  if (failed(readName(entry, layer.name)) ||
      failed(readIdentifier(fields.find("input")->value, layer.input)) ||
      failed(readSize(fields, "entries", layer.entries)) ||
      failed(readSize(fields, "size", layer.size)) ||
      failed(readNumber(fields, "eps", layer.eps)) ||
      failed(
          readActivation(fields.find("activation")->value, layer.activation)))
    return failure();
  const YamlEntry *tensors = fields.find("tensors");
  if (!tensors)
    return success();
  struct Part {
    llvm::StringLiteral key;
    TensorNames *names;
    Iterations iterations;
  } parts[] = {{"gate", &layer.gate, Iterations::Own},
               {"projection", &layer.projection, Iterations::Own},
               {"table", &layer.table, Iterations::Shared},
               {"context", &layer.context, Iterations::Shared},
               {"norm", &layer.norm, Iterations::Shared}};
  const YamlNode &names = tensors->value;
  if (failed(checkKeys(names, "tensors",
                       {"gate", "projection", "table", "context", "norm"})))
    return failure();
  for (const Part &part : parts)
    if (failed(requireKey(names, "tensors", part.key)) ||
        failed(readTensors(names, part.key, /*weight=*/true, /*bias=*/false,
                           *part.names, part.iterations)))
      return failure();
  return success();
}
