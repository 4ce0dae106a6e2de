//===- DescriptionReader.cpp - YAML descriptions --------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DescriptionReader.h"
#include "Family.h"
#include "TextFile.h"
#include "YamlTree.h"
#include "hexad/Model/Json.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace hexad;

using Kind = YamlNode::Kind;

namespace {

/// Reads the tree of a description, kind by kind.
class DescriptionReader {
public:
  explicit DescriptionReader(Description &description)
      : description(description) {}

  LogicalResult read(const YamlNode &root);

  const Family *family = nullptr;  ///< of `names`; null if not given
  std::vector<std::string> unused; ///< globs of tensors

private:
  // Fields of a mapping. An absent key leaves the value as it is.
  LogicalResult readString(const YamlNode &node, std::string &text);
  LogicalResult readSize(const YamlNode &node, int64_t limit, int64_t &size);
  LogicalResult readSize(const YamlNode &mapping, llvm::StringRef key,
                         int64_t &size);
  LogicalResult readNumber(const YamlNode &mapping, llvm::StringRef key,
                           double &number);
  LogicalResult readPositive(const YamlNode &mapping, llvm::StringRef key,
                             double &number);
  LogicalResult readFlag(const YamlNode &mapping, llvm::StringRef key,
                         bool &flag);
  // The same for a key whose absence counts.
  LogicalResult readSize(const YamlNode &mapping, llvm::StringRef key,
                         std::optional<int64_t> &size);
  LogicalResult readPositive(const YamlNode &mapping, llvm::StringRef key,
                             std::optional<double> &number);
  LogicalResult readIdentifier(const YamlNode &node, std::string &name);
  LogicalResult require(const YamlNode &mapping, llvm::StringRef what,
                        llvm::StringRef key);

  LogicalResult readInputs(const YamlNode &node);
  LogicalResult readInput(const YamlEntry &entry);
  LogicalResult readInputType(const YamlNode &node);
  LogicalResult readWeights(const YamlNode &node);

  LogicalResult readLayers(const YamlNode &node, std::vector<Layer> &layers);
  LogicalResult readLayer(const YamlNode &item, std::vector<Layer> &layers);

  LogicalResult read(const YamlEntry &entry, EmbeddingLayer &layer);
  LogicalResult read(const YamlEntry &entry, PositionsLayer &layer);
  LogicalResult read(const YamlEntry &entry, SumLayer &layer);
  LogicalResult read(const YamlEntry &entry, LayerNormLayer &layer);
  LogicalResult read(const YamlEntry &entry, RmsNormLayer &layer);
  LogicalResult read(const YamlEntry &entry, LinearLayer &layer);
  LogicalResult read(const YamlEntry &entry, GatedLayer &layer);
  LogicalResult read(const YamlEntry &entry, ScaleLayer &layer);
  LogicalResult read(const YamlEntry &entry, SoftcapLayer &layer);
  LogicalResult read(const YamlEntry &entry, ParallelLayer &layer);
  LogicalResult read(const YamlEntry &entry, AttentionLayer &layer);
  LogicalResult readRope(const YamlNode &node, RopeDescription &rope);
  LogicalResult readScaling(const YamlNode &node, RopeScaling &scaling);
  LogicalResult readQkNorm(const YamlNode &node, AttentionLayer &layer);
  LogicalResult readFused(const YamlNode &node, FusedLayout &layout);
  LogicalResult readAttentionTensors(const YamlNode &names,
                                     AttentionLayer &layer);
  LogicalResult readRepeat(const YamlNode &item, const YamlEntry &count,
                           std::vector<Layer> &layers);
  LogicalResult read(const YamlEntry &entry, PoolLayer &layer);
  LogicalResult read(const YamlEntry &entry, L2NormalizeLayer &layer);
  LogicalResult read(const YamlEntry &entry, SoftmaxLayer &layer);
  LogicalResult read(const YamlEntry &entry, OutputLayer &layer);
  LogicalResult read(const YamlEntry &entry, ResidualLayer &layer);

  /// Reads `name` or makes one of the kind: `linear`, `linear_2`, ….
  LogicalResult readName(const YamlEntry &entry, std::string &name);
  /// Reads `tensors`, which is a stem or a mapping of `weight` and `bias`.
  LogicalResult readTensors(const YamlNode &mapping, llvm::StringRef key,
                            bool weight, bool bias, TensorNames &names);
  LogicalResult readTensorName(const YamlNode &node, std::string &name);

  Description &description;
  llvm::StringSet<> layerNames;
  bool isInRepeat = false;
  std::optional<int64_t> termColumns; ///< of the first term of a sum
};

} // namespace

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

LogicalResult DescriptionReader::readString(const YamlNode &node,
                                            std::string &text) {
  if (!node.isString() || node.text.empty())
    return emitExpected(node, "a string");
  text = node.text;
  return success();
}

LogicalResult DescriptionReader::readSize(const YamlNode &node, int64_t limit,
                                          int64_t &size) {
  std::optional<int64_t> found = node.getInteger();
  if (!found || *found < 1 || *found > limit)
    return emitExpected(node, "an integer from 1 to " + llvm::Twine(limit));
  size = *found;
  return success();
}

LogicalResult DescriptionReader::readSize(const YamlNode &mapping,
                                          llvm::StringRef key, int64_t &size) {
  const YamlEntry *entry = mapping.find(key);
  return entry ? readSize(entry->value, maxDimension, size) : success();
}

LogicalResult DescriptionReader::readNumber(const YamlNode &mapping,
                                            llvm::StringRef key,
                                            double &number) {
  const YamlEntry *entry = mapping.find(key);
  if (!entry)
    return success();
  std::optional<double> found = entry->value.getNumber();
  if (!found || *found < 0)
    return emitExpected(entry->value, "a number of at least 0");
  number = *found;
  return success();
}

LogicalResult DescriptionReader::readPositive(const YamlNode &mapping,
                                              llvm::StringRef key,
                                              double &number) {
  const YamlEntry *entry = mapping.find(key);
  if (!entry)
    return success();
  std::optional<double> found = entry->value.getNumber();
  if (!found || *found <= 0)
    return emitExpected(entry->value, "a number above 0");
  number = *found;
  return success();
}

LogicalResult DescriptionReader::readSize(const YamlNode &mapping,
                                          llvm::StringRef key,
                                          std::optional<int64_t> &size) {
  return mapping.find(key) ? readSize(mapping, key, size.emplace()) : success();
}

LogicalResult DescriptionReader::readPositive(const YamlNode &mapping,
                                              llvm::StringRef key,
                                              std::optional<double> &number) {
  return mapping.find(key) ? readPositive(mapping, key, number.emplace())
                           : success();
}

LogicalResult DescriptionReader::readFlag(const YamlNode &mapping,
                                          llvm::StringRef key, bool &flag) {
  const YamlEntry *entry = mapping.find(key);
  if (!entry)
    return success();
  std::optional<bool> found = entry->value.getFlag();
  if (!found)
    return emitExpected(entry->value, "true or false");
  flag = *found;
  return success();
}

LogicalResult DescriptionReader::readIdentifier(const YamlNode &node,
                                                std::string &name) {
  if (!node.isString() || !isIdentifier(node.text))
    return emitExpected(node, "a name of letters, digits and '_' that begins "
                              "with a letter and is no word of C");
  name = node.text;
  return success();
}

LogicalResult DescriptionReader::require(const YamlNode &mapping,
                                         llvm::StringRef what,
                                         llvm::StringRef key) {
  if (mapping.find(key))
    return success();
  return emitError(mapping.loc, what) << " needs the key '" << key << "'";
}

//===----------------------------------------------------------------------===//
// Inputs and weights
//===----------------------------------------------------------------------===//

LogicalResult DescriptionReader::readInputType(const YamlNode &node) {
  std::string type = node.text;
  llvm::erase(type, ' ');
  if (!node.isString() || type != "i32[batch,seq]")
    return emitExpected(node, "the type \"i32[batch, seq]\"");
  return success();
}

LogicalResult DescriptionReader::readInput(const YamlEntry &entry) {
  InputDescription input{entry.key, entry.keyLoc};
  if (!isIdentifier(entry.key))
    return emitError(entry.keyLoc,
                     "expected a name of letters, digits and '_' that begins "
                     "with a letter and is no word of C, found ")
           << quoteName(entry.key);
  const YamlNode &value = entry.value;
  if (value.kind != Kind::Mapping) {
    description.inputs.push_back(input);
    return readInputType(value);
  }
  if (failed(checkKeys(value, "an input", {"type", "mask", "optional"})) ||
      failed(require(value, "an input", "type")) ||
      failed(readInputType(value.find("type")->value)) ||
      failed(readFlag(value, "mask", input.isMask)) ||
      failed(readFlag(value, "optional", input.optional)))
    return failure();
  description.inputs.push_back(input);
  return success();
}

LogicalResult DescriptionReader::readInputs(const YamlNode &node) {
  if (node.kind != Kind::Mapping || node.entries.empty())
    return emitExpected(node, "a mapping of names to types");
  for (const YamlEntry &entry : node.entries)
    if (failed(readInput(entry)))
      return failure();
  return success();
}

LogicalResult DescriptionReader::readWeights(const YamlNode &node) {
  if (failed(checkKeys(node, "weights", {"file", "names", "unused"})) ||
      failed(require(node, "weights", "file")) ||
      failed(readString(node.find("file")->value, description.weightsFile)))
    return failure();
  if (const YamlEntry *names = node.find("names")) {
    std::string known;
    for (const Family *candidate : getFamilies()) {
      if (names->value.isString() &&
          candidate->names.family == names->value.text)
        family = candidate;
      known += (known.empty() ? "" : ", ") + candidate->names.family.str();
    }
    if (!family)
      return emitExpected(names->value, "one of " + known);
  }
  const YamlEntry *globs = node.find("unused");
  if (!globs)
    return success();
  if (globs->value.kind != Kind::Sequence)
    return emitExpected(globs->value, "a sequence of tensors' names");
  for (const YamlNode &item : globs->value.items)
    if (failed(readString(item, unused.emplace_back())))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Names of layers and tensors
//===----------------------------------------------------------------------===//

LogicalResult DescriptionReader::readName(const YamlEntry &entry,
                                          std::string &name) {
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

LogicalResult DescriptionReader::readTensorName(const YamlNode &node,
                                                std::string &name) {
  if (failed(readString(node, name)))
    return failure();
  size_t placeholders = llvm::StringRef(name).count("{i}");
  if (isInRepeat && placeholders == 0)
    return emitExpected(node, "a name with {i}, the iteration of the repeat");
  if (!isInRepeat && placeholders > 0)
    return emitExpected(node, "a name without {i} outside a repeat");
  if (llvm::StringRef(name).count('{') > placeholders)
    return emitExpected(node, "no '{' but that of {i}");
  return success();
}

LogicalResult DescriptionReader::readTensors(const YamlNode &mapping,
                                             llvm::StringRef key, bool weight,
                                             bool bias, TensorNames &names) {
  const YamlEntry *entry = mapping.find(key);
  if (!entry)
    return success();
  const YamlNode &node = entry->value;
  if (node.kind == Kind::Scalar) {
    std::string stem;
    if (failed(readTensorName(node, stem)))
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
       failed(readTensorName(weightEntry->value, names.weight))) ||
      (biasEntry && failed(readTensorName(biasEntry->value, names.bias))))
    return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

LogicalResult DescriptionReader::read(const YamlEntry &entry,
                                      EmbeddingLayer &layer) {
  const YamlNode &fields = entry.value;
  layer.dim = termColumns.value_or(0);
  if (failed(checkKeys(fields, entry.key,
                       {"name", "input", "entries", "dim", "tensors"})) ||
      failed(require(fields, entry.key, "input")) ||
      failed(require(fields, entry.key, "entries")) ||
      failed(readName(entry, layer.name)) ||
      failed(readIdentifier(fields.find("input")->value, layer.input)) ||
      failed(readSize(fields, "entries", layer.entries)) ||
      failed(readSize(fields, "dim", layer.dim)) ||
      failed(readTensors(fields, "tensors", true, false, layer.tensors)))
    return failure();
  return layer.dim ? success() : require(fields, entry.key, "dim");
}

LogicalResult DescriptionReader::read(const YamlEntry &entry,
                                      PositionsLayer &layer) {
  const YamlNode &fields = entry.value;
  layer.dim = termColumns.value_or(0);
  if (failed(checkKeys(fields, entry.key,
                       {"name", "entries", "dim", "tensors"})) ||
      failed(require(fields, entry.key, "entries")) ||
      failed(readName(entry, layer.name)) ||
      failed(readSize(fields, "entries", layer.entries)) ||
      failed(readSize(fields, "dim", layer.dim)) ||
      failed(readTensors(fields, "tensors", true, false, layer.tensors)))
    return failure();
  return layer.dim ? success() : require(fields, entry.key, "dim");
}

LogicalResult DescriptionReader::read(const YamlEntry &entry, SumLayer &layer) {
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
    else
      return emitError(term.loc, "expected 'embedding' or 'positions' as a "
                                 "term of a sum");
  }
  termColumns.reset();
  return success();
}

LogicalResult DescriptionReader::read(const YamlEntry &entry,
                                      LayerNormLayer &layer) {
  const YamlNode &fields = entry.value;
  return success(succeeded(checkKeys(fields, entry.key,
                                     {"name", "eps", "bias", "tensors"})) &&
                 succeeded(require(fields, entry.key, "eps")) &&
                 succeeded(readName(entry, layer.name)) &&
                 succeeded(readNumber(fields, "eps", layer.eps)) &&
                 succeeded(readFlag(fields, "bias", layer.bias)) &&
                 succeeded(readTensors(fields, "tensors", true, layer.bias,
                                       layer.tensors)));
}

LogicalResult DescriptionReader::read(const YamlEntry &entry,
                                      LinearLayer &layer) {
  const YamlNode &fields = entry.value;
  if (failed(checkKeys(
          fields, entry.key,
          {"name", "out", "bias", "transposed", "tied", "tensors"})) ||
      failed(require(fields, entry.key, "out")) ||
      failed(readName(entry, layer.name)) ||
      failed(readSize(fields, "out", layer.out)) ||
      failed(readFlag(fields, "bias", layer.bias)) ||
      failed(readFlag(fields, "transposed", layer.transposed)))
    return failure();
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

LogicalResult DescriptionReader::read(const YamlEntry &entry,
                                      RmsNormLayer &layer) {
  const YamlNode &fields = entry.value;
  return success(
      succeeded(checkKeys(fields, entry.key,
                          {"name", "eps", "unit_offset", "tensors"})) &&
      succeeded(require(fields, entry.key, "eps")) &&
      succeeded(readName(entry, layer.name)) &&
      succeeded(readNumber(fields, "eps", layer.eps)) &&
      succeeded(readFlag(fields, "unit_offset", layer.unitOffset)) &&
      succeeded(readTensors(fields, "tensors", true, false, layer.tensors)));
}

/// The activation that a kind of gated layer is named for.
static std::optional<Activation> getGate(llvm::StringRef kind) {
  return llvm::StringSwitch<std::optional<Activation>>(kind)
      .Case("swiglu", Activation::Silu)
      .Case("geglu", Activation::Gelu)
      .Case("geglu_tanh", Activation::GeluTanh)
      .Default(std::nullopt);
}

LogicalResult DescriptionReader::read(const YamlEntry &entry,
                                      GatedLayer &layer) {
  const YamlNode &fields = entry.value;
  llvm::SmallVector<llvm::StringRef> keys = {"name", "hidden", "bias",
                                             "tensors"};
  std::optional<Activation> gate = getGate(entry.key);
  if (!gate)
    keys.push_back("activation");
  if (failed(checkKeys(fields, entry.key, keys)) ||
      failed(require(fields, entry.key, "hidden")) ||
      failed(readName(entry, layer.name)) ||
      failed(readSize(fields, "hidden", layer.hidden)) ||
      failed(readFlag(fields, "bias", layer.bias)))
    return failure();
  if (!gate) {
    if (failed(require(fields, entry.key, "activation")))
      return failure();
    const YamlNode &word = fields.find("activation")->value;
    if (word.isString())
      gate = symbolizeActivation(word.text);
    if (!gate)
      return emitExpected(word, "an activation");
  }
  layer.activation = *gate;
  const YamlEntry *tensors = fields.find("tensors");
  if (!tensors)
    return success();
  const YamlNode &names = tensors->value;
  if (failed(checkKeys(names, "tensors", {"gate", "up", "down"})))
    return failure();
  std::pair<llvm::StringRef, TensorNames *> parts[] = {
      {"gate", &layer.gate}, {"up", &layer.up}, {"down", &layer.down}};
  for (auto [key, part] : parts)
    if (failed(require(names, "tensors", key)) ||
        failed(readTensors(names, key, true, layer.bias, *part)))
      return failure();
  return success();
}

LogicalResult DescriptionReader::read(const YamlEntry &entry,
                                      ScaleLayer &layer) {
  std::optional<double> factor = entry.value.getNumber();
  if (!factor)
    return emitExpected(entry.value, "a number");
  layer.factor = *factor;
  return success();
}

LogicalResult DescriptionReader::read(const YamlEntry &entry,
                                      SoftcapLayer &layer) {
  std::optional<double> cap = entry.value.getNumber();
  if (!cap || *cap <= 0)
    return emitExpected(entry.value, "a number above 0");
  layer.cap = *cap;
  return success();
}

LogicalResult DescriptionReader::read(const YamlEntry &entry,
                                      ParallelLayer &layer) {
  if (entry.value.kind != Kind::Sequence || entry.value.items.size() < 2)
    return emitExpected(entry.value, "a sequence of two or more branches");
  for (const YamlNode &branch : entry.value.items)
    if (failed(readLayers(branch, layer.branches.emplace_back())))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

LogicalResult DescriptionReader::readScaling(const YamlNode &node,
                                             RopeScaling &scaling) {
  if (failed(
          checkKeys(node, "scaling",
                    {"kind", "factor", "low_frequency_factor",
                     "high_frequency_factor", "beta_fast", "beta_slow",
                     "attention_factor", "truncate", "original_positions"})) ||
      failed(require(node, "scaling", "kind")) ||
      failed(require(node, "scaling", "factor")))
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
       failed(require(node, "scaling", "original_positions"))) ||
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

LogicalResult DescriptionReader::readRope(const YamlNode &node,
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

LogicalResult DescriptionReader::readQkNorm(const YamlNode &node,
                                            AttentionLayer &layer) {
  if (failed(checkKeys(node, "qk_norm", {"of", "eps", "unit_offset"})) ||
      failed(require(node, "qk_norm", "of")) ||
      failed(require(node, "qk_norm", "eps")) ||
      failed(readNumber(node, "eps", layer.qkNormEps)) ||
      failed(readFlag(node, "unit_offset", layer.qkNormUnitOffset)))
    return failure();
  const YamlNode &of = node.find("of")->value;
  if (!of.isString() || (of.text != "heads" && of.text != "projection"))
    return emitExpected(of, "heads or projection");
  layer.qkNorm = of.text == "heads" ? QkNorm::Heads : QkNorm::Projection;
  return success();
}

LogicalResult DescriptionReader::readFused(const YamlNode &node,
                                           FusedLayout &layout) {
  if (!node.isString() || (node.text != "blocks" && node.text != "heads"))
    return emitExpected(node, "blocks or heads");
  layout = node.text == "heads" ? FusedLayout::Heads : FusedLayout::Blocks;
  return success();
}

LogicalResult DescriptionReader::readAttentionTensors(const YamlNode &names,
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
    if (failed(require(names, "tensors", part.key)) ||
        failed(readTensors(names, part.key, true, part.bias, *part.names)))
      return failure();
  return success();
}

LogicalResult DescriptionReader::read(const YamlEntry &entry,
                                      AttentionLayer &layer) {
  const YamlNode &fields = entry.value;
  if (failed(
          checkKeys(fields, entry.key,
                    {"name", "heads", "kv_heads", "head_dim", "scale", "bias",
                     "output_bias", "causal", "window", "softcap", "rope",
                     "qk_norm", "fused", "transposed", "tensors"})) ||
      failed(require(fields, entry.key, "heads")) ||
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

//===----------------------------------------------------------------------===//
// Other layers
//===----------------------------------------------------------------------===//

LogicalResult DescriptionReader::read(const YamlEntry &entry,
                                      PoolLayer &layer) {
  std::optional<Pooling> kind;
  if (entry.value.isString())
    kind = symbolizePooling(entry.value.text);
  if (!kind)
    return emitExpected(entry.value, "first or mean");
  layer.kind = *kind;
  return success();
}

LogicalResult DescriptionReader::read(const YamlEntry &entry,
                                      L2NormalizeLayer &layer) {
  return success(succeeded(checkKeys(entry.value, entry.key, {"eps"})) &&
                 succeeded(require(entry.value, entry.key, "eps")) &&
                 succeeded(readNumber(entry.value, "eps", layer.eps)));
}

LogicalResult DescriptionReader::read(const YamlEntry &entry, SoftmaxLayer &) {
  return checkKeys(entry.value, entry.key, {});
}

LogicalResult DescriptionReader::read(const YamlEntry &entry,
                                      OutputLayer &layer) {
  return readIdentifier(entry.value, layer.name);
}

LogicalResult DescriptionReader::read(const YamlEntry &entry,
                                      ResidualLayer &layer) {
  return readLayers(entry.value, layer.layers);
}

LogicalResult DescriptionReader::readRepeat(const YamlNode &item,
                                            const YamlEntry &count,
                                            std::vector<Layer> &layers) {
  RepeatLayer repeat;
  if (isInRepeat)
    return emitError(count.keyLoc, "a repeat cannot stand inside another");
  const YamlEntry *period = item.find("period");
  if (failed(checkKeys(item, "repeat",
                       {"repeat", period ? "period" : "layers"})) ||
      (!period && failed(require(item, "repeat", "layers"))) ||
      failed(readSize(count.value, maxRepeat, repeat.count)))
    return failure();
  isInRepeat = true;
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
    // Each is another kind of the same layer: they have the same names.
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
  isInRepeat = false;
  layers.push_back({count.keyLoc, std::move(repeat)});
  return success();
}

LogicalResult DescriptionReader::readLayer(const YamlNode &item,
                                           std::vector<Layer> &layers) {
  if (item.kind != Kind::Mapping || item.entries.empty())
    return emitExpected(item, "a layer: a mapping of its kind to its fields");
  // A repeat is the one layer of two keys.
  if (const YamlEntry *count = item.find("repeat"))
    return readRepeat(item, *count, layers);
  if (item.entries.size() > 1)
    return emitError(item.entries[1].keyLoc,
                     "expected one key for each layer, found ")
           << quoteName(item.entries[1].key) << " beside "
           << quoteName(item.entries[0].key);

  const YamlEntry &entry = item.entries.front();
  auto add = [&](auto layer) -> LogicalResult {
    if (failed(read(entry, layer)))
      return failure();
    layers.push_back({entry.keyLoc, std::move(layer)});
    return success();
  };
  if (entry.key == "embedding")
    return add(EmbeddingLayer());
  if (entry.key == "positions")
    return add(PositionsLayer());
  if (entry.key == "sum")
    return add(SumLayer());
  if (entry.key == "layer_norm")
    return add(LayerNormLayer());
  if (entry.key == "rms_norm")
    return add(RmsNormLayer());
  if (entry.key == "linear")
    return add(LinearLayer());
  if (entry.key == "gated" || getGate(entry.key))
    return add(GatedLayer());
  if (entry.key == "scale")
    return add(ScaleLayer());
  if (entry.key == "softcap")
    return add(SoftcapLayer());
  if (entry.key == "parallel")
    return add(ParallelLayer());
  if (entry.key == "attention")
    return add(AttentionLayer());
  if (entry.key == "pool")
    return add(PoolLayer());
  if (entry.key == "l2_normalize")
    return add(L2NormalizeLayer());
  if (entry.key == "softmax")
    return add(SoftmaxLayer());
  if (entry.key == "output")
    return add(OutputLayer());
  if (entry.key == "residual")
    return add(ResidualLayer());
  if (std::optional<Activation> activation = symbolizeActivation(entry.key)) {
    layers.push_back({entry.keyLoc, ActivationLayer{*activation}});
    return checkKeys(entry.value, entry.key, {});
  }
  InFlightDiagnostic diagnostic =
      emitError(entry.keyLoc, "unknown layer ")
      << quoteName(entry.key)
      << "; expected one of embedding, positions, sum, layer_norm, rms_norm, "
         "linear, gated, swiglu, geglu, geglu_tanh, scale, softcap, attention, "
         "pool, l2_normalize, softmax, output, residual, parallel, repeat";
  for (unsigned i = 0; i <= getMaxEnumValForActivation(); ++i)
    if (std::optional<Activation> activation = symbolizeActivation(i))
      diagnostic << ", " << stringifyActivation(*activation);
  return diagnostic;
}

LogicalResult DescriptionReader::readLayers(const YamlNode &node,
                                            std::vector<Layer> &layers) {
  if (node.kind != Kind::Sequence || node.items.empty())
    return emitExpected(node, "a sequence of layers");
  for (const YamlNode &item : node.items)
    if (failed(readLayer(item, layers)))
      return failure();
  return success();
}

LogicalResult DescriptionReader::read(const YamlNode &root) {
  constexpr llvm::StringLiteral what = "a model's description";
  if (failed(checkKeys(
          root, what,
          {"name", "inputs", "weights", "layers", "hidden_after_norm"})))
    return failure();
  for (llvm::StringRef key : {"name", "inputs", "weights", "layers"})
    if (failed(require(root, what, key)))
      return failure();
  description.loc = root.find("name")->keyLoc;
  return success(
      succeeded(readIdentifier(root.find("name")->value, description.name)) &&
      succeeded(readInputs(root.find("inputs")->value)) &&
      succeeded(readWeights(root.find("weights")->value)) &&
      succeeded(
          readFlag(root, "hidden_after_norm", description.hiddenAfterNorm)) &&
      succeeded(readLayers(root.find("layers")->value, description.layers)));
}

/// A tensor that nothing reads is a layer that was forgotten.
static LogicalResult checkUnreadTensors(ModuleOp module,
                                        const TensorSource &source,
                                        llvm::ArrayRef<std::string> unused,
                                        Location loc) {
  for (llvm::StringRef name : findUnreadTensors(module, source))
    if (llvm::none_of(unused, [&](llvm::StringRef glob) {
          return matchesGlob(name, glob);
        }))
      return emitError(loc, "no layer reads the stored tensor ")
             << quoteName(name) << "; name it under 'unused' if this is meant";
  return success();
}

OwningOpRef<ModuleOp> hexad::readDescription(llvm::StringRef path,
                                             const ReadOptions &options,
                                             TensorSources &tensors,
                                             llvm::SourceMgr &sources,
                                             MLIRContext *context) {
  std::optional<llvm::StringRef> text = openTextFile(path, sources, context);
  if (!text)
    return nullptr;
  std::optional<YamlNode> root = readYaml(*text, path, context);
  if (!root)
    return nullptr;
  Description description{"", root->loc, {}, {}, {}};
  DescriptionReader reader(description);
  if (failed(reader.read(*root)))
    return nullptr;
  Location weightsLoc = root->find("weights")->value.find("file")->value.loc;
  llvm::Expected<const TensorSource *> source =
      tensors.get(description.weightsFile);
  if (!source) {
    emitError(weightsLoc, llvm::toString(source.takeError()));
    return nullptr;
  }
  const FamilyNames *names = reader.family ? &reader.family->names : nullptr;
  if (failed(resolveTensorNames(description, names, **source)))
    return nullptr;
  OwningOpRef<ModuleOp> module =
      buildModule(description, options.outputs, context);
  if (!module || failed(verifyParameterSources(*module, tensors)) ||
      failed(checkUnreadTensors(*module, **source, reader.unused, weightsLoc)))
    return nullptr;
  return module;
}
