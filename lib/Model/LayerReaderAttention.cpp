//===- LayerReaderAttention.cpp - Attention of YAML descriptions ----------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerReader.h"
#include "YamlFields.h"

using namespace mlir;
using namespace hexad;

static LogicalResult readScaling(const YamlNode &node, RopeScaling &scaling) {
  if (failed(
          checkKeys(node, "scaling",
                    {"kind", "factor", "low_frequency_factor",
                     "high_frequency_factor", "beta_fast", "beta_slow",
                     "attention_factor", "truncate", "original_positions"})) ||
      failed(requireKey(node, "scaling", "kind")) ||
      failed(requireKey(node, "scaling", "factor")))
    return failure();
  const YamlNode &kind = node.find("kind")->value;
  llvm::SmallVector<llvm::StringRef> keys = {"kind", "factor"};
  if (kind.isString() && kind.text == "linear") {
    scaling.kind = RopeScaling::Linear;
  } else if (kind.isString() && kind.text == "llama3") {
    scaling.kind = RopeScaling::Llama3;
    keys.append({"low_frequency_factor", "high_frequency_factor",
                 "original_positions"});
  } else if (kind.isString() && kind.text == "yarn") {
    scaling.kind = RopeScaling::Yarn;
    keys.append({"beta_fast", "beta_slow", "attention_factor", "truncate",
                 "original_positions"});
  } else {
    return emitExpected(kind, "linear, llama3 or yarn");
  }
  if (failed(checkKeys(node, "this kind of scaling", keys)) ||
      (scaling.kind != RopeScaling::Linear &&
       failed(requireKey(node, "scaling", "original_positions"))) ||
      failed(readPositive(node, "factor", scaling.factor)) ||
      failed(readPositive(node, "low_frequency_factor",
                          scaling.lowFrequencyFactor)) ||
      failed(readPositive(node, "high_frequency_factor",
                          scaling.highFrequencyFactor)) ||
      failed(readPositive(node, "beta_fast", scaling.betaFast)) ||
      failed(readPositive(node, "beta_slow", scaling.betaSlow)) ||
      failed(readPositive(node, "attention_factor", scaling.attentionFactor)) ||
      failed(readFlag(node, "truncate", scaling.truncate)) ||
      failed(readSize(node, "original_positions", scaling.originalPositions)))
    return failure();
  if (scaling.highFrequencyFactor <= scaling.lowFrequencyFactor)
    return emitError(node.loc, "expected high_frequency_factor to be more than "
                               "low_frequency_factor");
  return success();
}

LogicalResult LayerReader::readRope(const YamlNode &node,
                                    RopeDescription &rope) {
  if (failed(
          checkKeys(node, "rope", {"theta", "rotary", "pairing", "scaling"})) ||
      failed(readPositive(node, "theta", rope.theta)) ||
      failed(readSize(node, "rotary", rope.rotary)))
    return failure();
  if (const YamlEntry *pairing = node.find("pairing")) {
    std::optional<Pairing> found;
    if (pairing->value.isString())
      found = symbolizePairing(pairing->value.text);
    if (!found)
      return emitExpected(pairing->value, "half or interleaved");
    rope.pairing = *found;
  }
  const YamlEntry *scaling = node.find("scaling");
  return scaling ? readScaling(scaling->value, rope.scaling) : success();
}

static LogicalResult readQkNorm(const YamlNode &node, AttentionLayer &layer) {
  if (failed(checkKeys(node, "qk_norm", {"of", "eps", "unit_offset"})) ||
      failed(requireKey(node, "qk_norm", "of")) ||
      failed(requireKey(node, "qk_norm", "eps")) ||
      failed(readNumber(node, "eps", layer.qkNormEps)) ||
      failed(readFlag(node, "unit_offset", layer.qkNormUnitOffset)))
    return failure();
  const YamlNode &of = node.find("of")->value;
  if (!of.isString() || (of.text != "heads" && of.text != "projection"))
    return emitExpected(of, "heads or projection");
  layer.qkNorm = of.text == "heads" ? QkNorm::Heads : QkNorm::Projection;
  return success();
}

static LogicalResult readFused(const YamlNode &node, FusedLayout &layout) {
  if (!node.isString() || (node.text != "blocks" && node.text != "heads"))
    return emitExpected(node, "blocks or heads");
  layout = node.text == "heads" ? FusedLayout::Heads : FusedLayout::Blocks;
  return success();
}

LogicalResult LayerReader::readAttentionTensors(const YamlNode &names,
                                                AttentionLayer &layer) {
  struct Part {
    llvm::StringRef key;
    bool bias;
    TensorNames *names;
  };
  llvm::SmallVector<Part> parts;
  if (layer.fused == FusedLayout::None)
    parts.append({{"query", layer.bias, &layer.query},
                  {"key", layer.bias, &layer.key},
                  {"value", layer.bias, &layer.value}});
  else
    parts.push_back({"qkv", layer.bias, &layer.qkv});
  parts.push_back(
      {"output", layer.outputBias.value_or(layer.bias), &layer.output});
  if (layer.qkNorm != QkNorm::None)
    parts.append({{"query_norm", false, &layer.queryNorm},
                  {"key_norm", false, &layer.keyNorm}});
  llvm::SmallVector<llvm::StringRef> keys;
  for (const Part &part : parts)
    keys.push_back(part.key);
  if (failed(checkKeys(names, "tensors", keys)))
    return failure();
  for (const Part &part : parts)
    if (failed(requireKey(names, "tensors", part.key)) ||
        failed(readTensors(names, part.key, true, part.bias, *part.names)))
      return failure();
  return success();
}

LogicalResult LayerReader::read(const YamlEntry &entry, AttentionLayer &layer) {
  const YamlNode &fields = entry.value;
  if (failed(
          checkKeys(fields, entry.key,
                    {"name", "heads", "kv_heads", "head_dim", "scale", "bias",
                     "output_bias", "causal", "window", "softcap", "rope",
                     "qk_norm", "fused", "transposed", "tensors"})) ||
      failed(requireKey(fields, entry.key, "heads")) ||
      failed(readName(entry, layer.name)) ||
      failed(readSize(fields, "heads", layer.heads)) ||
      failed(readSize(fields, "kv_heads", layer.kvHeads)) ||
      failed(readSize(fields, "head_dim", layer.headDim)) ||
      failed(readFlag(fields, "bias", layer.bias)) ||
      failed(readFlag(fields, "causal", layer.causal)) ||
      failed(readSize(fields, "window", layer.window)) ||
      failed(readPositive(fields, "softcap", layer.softcap)) ||
      failed(readFlag(fields, "transposed", layer.transposed)))
    return failure();
  if (fields.find("scale") &&
      failed(readNumber(fields, "scale", layer.scale.emplace())))
    return failure();
  if (fields.find("output_bias") &&
      failed(readFlag(fields, "output_bias", layer.outputBias.emplace())))
    return failure();
  if (const YamlEntry *rope = fields.find("rope"))
    if (failed(readRope(rope->value, layer.rope.emplace())))
      return failure();
  if (const YamlEntry *norm = fields.find("qk_norm"))
    if (failed(readQkNorm(norm->value, layer)))
      return failure();
  if (const YamlEntry *fused = fields.find("fused"))
    if (failed(readFused(fused->value, layer.fused)))
      return failure();
  const YamlEntry *tensors = fields.find("tensors");
  return tensors ? readAttentionTensors(tensors->value, layer) : success();
}
