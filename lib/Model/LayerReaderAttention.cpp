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
  if (failed(checkKeys(node, "scaling",
                       {"kind", "factor", "low_frequency_factor",
                        "high_frequency_factor", "beta_fast", "beta_slow",
                        "attention_factor", "truncate", "original_positions",
                        "share"})) ||
      failed(requireKey(node, "scaling", "kind")))
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
  } else if (kind.isString() && kind.text == "proportional") {
    scaling.kind = RopeScaling::Proportional;
    keys.push_back("share");
  } else {
    return emitExpected(kind, "linear, llama3, yarn or proportional");
  }
  if (failed(checkKeys(node, "this kind of scaling", keys)) ||
      (scaling.kind != RopeScaling::Proportional &&
       failed(requireKey(node, "scaling", "factor"))) ||
      (llvm::is_contained(keys, "original_positions") &&
       failed(requireKey(node, "scaling", "original_positions"))) ||
      failed(readPositive(node, "share", scaling.share)) ||
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
  if (scaling.share > 1)
    return emitExpected(node.find("share")->value, "a number of at most 1");
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

/// What is special about keys and values.
static LogicalResult readKeysAndValues(const YamlNode &fields,
                                       AttentionLayer &layer) {
  if (failed(readFlag(fields, "value_from_key", layer.valueFromKey)))
    return failure();
  if (const YamlEntry *norm = fields.find("value_norm"))
    if (failed(checkKeys(norm->value, "value_norm", {"eps"})) ||
        failed(requireKey(norm->value, "value_norm", "eps")) ||
        failed(readNumber(norm->value, "eps", layer.valueNormEps.emplace())))
      return failure();
  if (layer.valueFromKey && layer.fused != FusedLayout::None)
    return emitError(fields.find("value_from_key")->keyLoc,
                     "'value_from_key' cannot stand beside 'fused'");
  const YamlEntry *source = fields.find("keys_of");
  if (!source)
    return success();
  std::optional<int64_t> number = source->value.getInteger();
  if (!number || *number < 0 || *number >= maxRepeat)
    return emitExpected(source->value, "the number of a layer, from 0 to " +
                                           llvm::Twine(maxRepeat - 1));
  for (llvm::StringRef key : {"fused", "value_norm", "value_from_key"})
    if (const YamlEntry *other = fields.find(key))
      return emitError(other->keyLoc)
             << "'" << key << "' cannot stand beside 'keys_of'";
  layer.keysOf = number;
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
  if (layer.fused != FusedLayout::None)
    parts.push_back({"qkv", layer.bias, &layer.qkv});
  else
    parts.push_back({"query", layer.bias, &layer.query});
  if (layer.fused == FusedLayout::None && !layer.keysOf)
    parts.push_back({"key", layer.bias, &layer.key});
  if (layer.fused == FusedLayout::None && !layer.keysOf && !layer.valueFromKey)
    parts.push_back({"value", layer.bias, &layer.value});
  parts.push_back(
      {"output", layer.outputBias.value_or(layer.bias), &layer.output});
  if (layer.qkNorm != QkNorm::None)
    parts.push_back({"query_norm", false, &layer.queryNorm});
  if (layer.qkNorm != QkNorm::None && !layer.keysOf)
    parts.push_back({"key_norm", false, &layer.keyNorm});
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
  if (failed(checkKeys(fields, entry.key,
                       {"name", "heads", "kv_heads", "head_dim", "scale",
                        "bias", "output_bias", "causal", "window", "softcap",
                        "rope", "qk_norm", "value_norm", "value_from_key",
                        "keys_of", "fused", "transposed", "tensors"})) ||
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
  if (failed(readKeysAndValues(fields, layer)))
    return failure();
  const YamlEntry *tensors = fields.find("tensors");
  return tensors ? readAttentionTensors(tensors->value, layer) : success();
}
