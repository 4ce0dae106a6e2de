//===- LayerReaderExperts.cpp - Mixtures of experts -----------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerReader.h"
#include "YamlFields.h"

using namespace mlir;
using namespace hexad;

LogicalResult LayerReader::readRouter(const YamlNode &node,
                                      RouterDescription &router) {
  if (failed(checkKeys(node, "router",
                       {"top_k", "score", "renormalize", "scaling", "groups",
                        "top_groups", "bias", "selection_bias", "expert_scale",
                        "reported", "layers"})) ||
      failed(requireKey(node, "router", "top_k")) ||
      failed(readSize(node, "top_k", router.topK)) ||
      failed(readFlag(node, "renormalize", router.renormalize)) ||
      failed(readPositive(node, "scaling", router.scaling)) ||
      failed(readSize(node, "groups", router.groups)) ||
      failed(readSize(node, "top_groups", router.topGroups)) ||
      failed(readFlag(node, "bias", router.bias)) ||
      failed(readFlag(node, "selection_bias", router.selectionBias)) ||
      failed(readFlag(node, "expert_scale", router.expertScale)))
    return failure();
  if (const YamlEntry *score = node.find("score")) {
    std::optional<RouterScore> found;
    if (score->value.isString())
      found = symbolizeRouterScore(score->value.text);
    if (!found)
      return emitExpected(score->value, "softmax or sigmoid");
    router.score = *found;
  }
  if (const YamlEntry *reported = node.find("reported")) {
    const YamlNode &word = reported->value;
    if (!word.isString() || (word.text != "logits" && word.text != "softmax"))
      return emitExpected(word, "logits or softmax");
    router.reported = word.text == "logits" ? ReportedScores::Logits
                                            : ReportedScores::Softmax;
  }
  const YamlEntry *layers = node.find("layers");
  return layers ? readLayers(layers->value, router.input) : success();
}

static LogicalResult readShared(const YamlNode &node, SharedExpert &shared) {
  return success(succeeded(checkKeys(node, "shared", {"hidden", "gated"})) &&
                 succeeded(requireKey(node, "shared", "hidden")) &&
                 succeeded(readSize(node, "hidden", shared.hidden)) &&
                 succeeded(readFlag(node, "gated", shared.gated)));
}

LogicalResult LayerReader::readExpertTensors(const YamlNode &names,
                                             MoeLayer &layer) {
  struct Part {
    llvm::StringRef key;
    bool bias, isOfExpert;
    TensorNames *names;
  };
  RouterDescription &router = layer.router;
  llvm::SmallVector<Part> parts = {
      {"router", router.bias, false, &router.linear}};
  if (router.selectionBias)
    parts.push_back({"selection_bias", false, false, &router.selection});
  if (router.expertScale)
    parts.push_back({"expert_scale", false, false, &router.scale});
  if (layer.layout == GateLayout::Separate)
    parts.append({{"gate", layer.bias, true, &layer.gate},
                  {"up", layer.bias, true, &layer.up}});
  else
    parts.push_back({"gate_up", layer.bias, true, &layer.gateUp});
  parts.push_back({"down", layer.bias, true, &layer.down});
  if (layer.shared) {
    parts.append({{"shared_gate", false, false, &layer.shared->gate},
                  {"shared_up", false, false, &layer.shared->up},
                  {"shared_down", false, false, &layer.shared->down}});
    if (layer.shared->gated)
      parts.push_back({"shared_router", false, false, &layer.shared->router});
  }
  llvm::SmallVector<llvm::StringRef> keys;
  for (const Part &part : parts)
    keys.push_back(part.key);
  if (failed(checkKeys(names, "tensors", keys)))
    return failure();
  for (const Part &part : parts) {
    isOfExpert = part.isOfExpert;
    if (failed(requireKey(names, "tensors", part.key)) ||
        failed(readTensors(names, part.key, true, part.bias, *part.names)))
      return failure();
  }
  isOfExpert = false;
  return success();
}

LogicalResult LayerReader::read(const YamlEntry &entry, MoeLayer &layer) {
  const YamlNode &fields = entry.value;
  if (failed(checkKeys(fields, entry.key,
                       {"name", "experts", "hidden", "activation", "router",
                        "limit", "unit_offset", "bias", "fused", "transposed",
                        "layers", "shared", "tensors"})))
    return failure();
  for (llvm::StringRef key : {"experts", "hidden", "activation", "router"})
    if (failed(requireKey(fields, entry.key, key)))
      return failure();
  if (failed(readName(entry, layer.name)) ||
      failed(
          readSize(fields.find("experts")->value, maxExperts, layer.experts)) ||
      failed(readSize(fields, "hidden", layer.hidden)) ||
      failed(
          readActivation(fields.find("activation")->value, layer.activation)) ||
      failed(readRouter(fields.find("router")->value, layer.router)) ||
      failed(readPositive(fields, "limit", layer.limit)) ||
      failed(readFlag(fields, "unit_offset", layer.unitOffset)) ||
      failed(readFlag(fields, "bias", layer.bias)) ||
      failed(readFlag(fields, "transposed", layer.transposed)))
    return failure();
  const YamlEntry *tensors = fields.find("tensors");
  if (tensors)
    layer.layout = GateLayout::Separate;
  if (const YamlEntry *fused = fields.find("fused")) {
    const YamlNode &word = fused->value;
    if (!word.isString() ||
        (word.text != "blocks" && word.text != "interleaved"))
      return emitExpected(word, "blocks or interleaved");
    layer.layout =
        word.text == "blocks" ? GateLayout::Blocks : GateLayout::Interleaved;
  }
  if (const YamlEntry *layers = fields.find("layers"))
    if (failed(readLayers(layers->value, layer.input)))
      return failure();
  if (const YamlEntry *shared = fields.find("shared"))
    if (failed(readShared(shared->value, layer.shared.emplace())))
      return failure();
  return tensors ? readExpertTensors(tensors->value, layer) : success();
}
