//===- LayerReader.cpp - Layers of YAML descriptions ----------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerReader.h"
#include "YamlFields.h"
#include "hexad/Model/Json.h"

using namespace mlir;
using namespace hexad;

using Kind = YamlNode::Kind;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

LogicalResult LayerReader::readName(const YamlEntry &entry, std::string &name) {
  if (const YamlEntry *given = entry.value.find("name")) {
    if (failed(readIdentifier(given->value, name)))
      return failure();
    if (!layerNames.insert(name).second)
      return emitError(given->value.loc, "there are two layers of the name ")
             << quoteName(name);
    return success();
  }
  name = entry.key;
  for (int count = 2; !layerNames.insert(name).second; ++count)
    name = entry.key + "_" + std::to_string(count);
  return success();
}

LogicalResult LayerReader::readTensorName(const YamlNode &node,
                                          std::string &name,
                                          Iterations iterations) {
  if (failed(readString(node, name)))
    return failure();
  size_t placeholders = llvm::StringRef(name).count("{i}");
  if (isInRepeat && iterations == Iterations::Shared) {
    if (placeholders > 0)
      return emitExpected(node, "a name without {i}: all iterations read it");
  } else if (isInRepeat && placeholders == 0) {
    return emitExpected(node, "a name with {i}, the iteration of the repeat");
  }
  if (!isInRepeat && placeholders > 0)
    return emitExpected(node, "a name without {i} outside a repeat");
  if (isOfExpert)
    placeholders += llvm::StringRef(name).count("{e}");
  if (llvm::StringRef(name).count('{') > placeholders)
    return emitExpected(node, isOfExpert ? "no '{' but those of {i} and {e}"
                                         : "no '{' but that of {i}");
  return success();
}

LogicalResult LayerReader::readTensors(const YamlNode &mapping,
                                       llvm::StringRef key, bool weight,
                                       bool bias, TensorNames &names,
                                       Iterations iterations) {
  const YamlEntry *entry = mapping.find(key);
  if (!entry)
    return success();
  const YamlNode &node = entry->value;
  if (node.kind == Kind::Scalar) {
    std::string stem;
    if (failed(readTensorName(node, stem, iterations)))
      return failure();
    if (weight)
      names.weight = stem + ".weight";
    if (bias)
      names.bias = stem + ".bias";
    return success();
  }
  llvm::SmallVector<llvm::StringRef> keys;
  if (weight)
    keys.push_back("weight");
  if (bias)
    keys.push_back("bias");
  if (failed(checkKeys(node, key, keys)))
    return failure();
  const YamlEntry *weightEntry = node.find("weight");
  const YamlEntry *biasEntry = node.find("bias");
  if ((weightEntry &&
       failed(readTensorName(weightEntry->value, names.weight, iterations))) ||
      (biasEntry &&
       failed(readTensorName(biasEntry->value, names.bias, iterations))))
    return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

template <typename LayerType>
LogicalResult LayerReader::add(const YamlEntry &entry,
                               std::vector<Layer> &layers) {
  LayerType layer = LayerType();
  if (failed(read(entry, layer)))
    return failure();
  layers.push_back({entry.keyLoc, std::move(layer)});
  return success();
}

LogicalResult LayerReader::readLayer(const YamlNode &item,
                                     std::vector<Layer> &layers) {
  if (item.kind != Kind::Mapping || item.entries.empty())
    return emitExpected(item, "a layer: a mapping of its kind to its fields");
  if (++layerCount > maxLayers)
    return emitError(item.loc, "expected at most ")
           << maxLayers << " layers, found another";
  // A repeat is the one layer of two keys.
  if (const YamlEntry *count = item.find("repeat"))
    return readRepeat(item, *count, layers);
  if (item.entries.size() > 1)
    return emitError(item.entries[1].keyLoc,
                     "expected one key for each layer, found ")
           << quoteName(item.entries[1].key) << " beside "
           << quoteName(item.entries[0].key);

  struct Word {
    llvm::StringLiteral kind;
    LogicalResult (LayerReader::*add)(const YamlEntry &, std::vector<Layer> &);
  };
  static constexpr Word words[] = {
      {"embedding", &LayerReader::add<EmbeddingLayer>},
      {"positions", &LayerReader::add<PositionsLayer>},
      {"patchify", &LayerReader::add<PatchifyLayer>},
      {"sum", &LayerReader::add<SumLayer>},
      {"layer_norm", &LayerReader::add<LayerNormLayer>},
      {"rms_norm", &LayerReader::add<RmsNormLayer>},
      {"linear", &LayerReader::add<LinearLayer>},
      {"gated", &LayerReader::add<GatedLayer>},
      {"swiglu", &LayerReader::add<GatedLayer>},
      {"geglu", &LayerReader::add<GatedLayer>},
      {"geglu_tanh", &LayerReader::add<GatedLayer>},
      {"scale", &LayerReader::add<ScaleLayer>},
      {"scale_columns", &LayerReader::add<ScaleColumnsLayer>},
      {"softcap", &LayerReader::add<SoftcapLayer>},
      {"moe", &LayerReader::add<MoeLayer>},
      {"attention", &LayerReader::add<AttentionLayer>},
      {"per_layer_input", &LayerReader::add<PerLayerInputLayer>},
      {"pool", &LayerReader::add<PoolLayer>},
      {"l2_normalize", &LayerReader::add<L2NormalizeLayer>},
      {"softmax", &LayerReader::add<SoftmaxLayer>},
      {"output", &LayerReader::add<OutputLayer>},
      {"residual", &LayerReader::add<ResidualLayer>},
      {"parallel", &LayerReader::add<ParallelLayer>},
      {"branches", &LayerReader::add<ParallelLayer>},
  };
  const YamlEntry &entry = item.entries.front();
  for (const Word &word : words)
    if (entry.key == word.kind)
      return (this->*word.add)(entry, layers);
  if (std::optional<Activation> activation = symbolizeActivation(entry.key)) {
    layers.push_back({entry.keyLoc, ActivationLayer{*activation}});
    return checkKeys(entry.value, entry.key, {});
  }
  InFlightDiagnostic diagnostic = emitError(entry.keyLoc, "unknown layer ")
                                  << quoteName(entry.key)
                                  << "; expected one of ";
  for (const Word &word : words)
    diagnostic << word.kind << ", ";
  diagnostic << "repeat";
  for (unsigned i = 0; i <= getMaxEnumValForActivation(); ++i)
    if (std::optional<Activation> activation = symbolizeActivation(i))
      diagnostic << ", " << stringifyActivation(*activation);
  return diagnostic;
}

LogicalResult LayerReader::readLayers(const YamlNode &node,
                                      std::vector<Layer> &layers) {
  if (node.kind != Kind::Sequence || node.items.empty())
    return emitExpected(node, "a sequence of layers");
  for (const YamlNode &item : node.items)
    if (failed(readLayer(item, layers)))
      return failure();
  return success();
}
