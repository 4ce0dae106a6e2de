//===- ModelSizes.cpp - Operations and bytes of a checkpoint --------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelSizes.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace hexad;
using namespace hexad::bench;
using namespace llvm;

namespace {

/// The numbers of a config.json. What is missing is remembered: the first one
/// becomes the error.
class Config {
public:
  Config(const json::Object &object) : object(object) {}

  int64_t get(StringRef key) {
    if (std::optional<int64_t> value = object.getInteger(key);
        value && *value > 0)
      return *value;
    if (missing.empty())
      missing = key.str();
    return 1;
  }
  int64_t get(StringRef key, int64_t otherwise) const {
    return object.getInteger(key).value_or(otherwise);
  }
  StringRef getMissing() const { return missing; }

private:
  const json::Object &object;
  std::string missing;
};

} // namespace

static ModelSizes readEncoder(Config &config, StringRef family) {
  int64_t hidden = config.get("hidden_size");
  int64_t heads = config.get("num_attention_heads");
  ModelSizes sizes;
  sizes.hidden = hidden;
  sizes.layers = config.get("num_hidden_layers");
  sizes.attention = {heads, heads, hidden / heads,
                     /*isCausal=*/false};
  sizes.layerWeights =
      4.0 * hidden * hidden + 2.0 * hidden * config.get("intermediate_size");
  sizes.headWeights = double(hidden) * hidden;
  sizes.inputWeights = 0;
  if (family == "vit") {
    int64_t patch = config.get("patch_size");
    sizes.inputWeights =
        double(hidden) * config.get("num_channels") * patch * patch;
    sizes.headWeights = double(hidden) * config.get("num_labels", 0);
  }
  return sizes;
}

static ModelSizes readGpt2(Config &config) {
  int64_t hidden = config.get("n_embd");
  int64_t heads = config.get("n_head");
  ModelSizes sizes;
  sizes.hidden = hidden;
  sizes.layers = config.get("n_layer");
  sizes.attention = {heads, heads, hidden / heads, /*isCausal=*/true};
  sizes.layerWeights =
      4.0 * hidden * hidden + 2.0 * hidden * config.get("n_inner", 4 * hidden);
  sizes.headWeights = double(hidden) * config.get("vocab_size");
  sizes.inputWeights = 0;
  return sizes;
}

static ModelSizes readLlama(Config &config, StringRef family) {
  int64_t hidden = config.get("hidden_size");
  int64_t heads = config.get("num_attention_heads");
  ModelSizes sizes;
  sizes.hidden = hidden;
  sizes.layers = config.get("num_hidden_layers");
  sizes.attention = {heads, config.get("num_key_value_heads", heads),
                     config.get("head_dim", hidden / heads),
                     /*isCausal=*/true};
  double feedForward;
  if (family == "qwen3_moe")
    feedForward =
        config.get("num_experts") + 3.0 * config.get("num_experts_per_tok") *
                                        config.get("moe_intermediate_size");
  else if (family == "mixtral")
    feedForward = config.get("num_local_experts") +
                  3.0 * config.get("num_experts_per_tok") *
                      config.get("intermediate_size");
  else
    feedForward = 3.0 * config.get("intermediate_size");
  sizes.layerWeights =
      hidden * (2 * sizes.attention.getQueryColumns() +
                2 * sizes.attention.getKeyColumns() + feedForward);
  sizes.headWeights = double(hidden) * config.get("vocab_size");
  sizes.inputWeights = 0;
  return sizes;
}

Expected<ModelSizes> ModelSizes::read(StringRef path) {
  auto file = MemoryBuffer::getFile(path);
  if (!file)
    return createStringError("cannot read '" + path +
                             "': " + file.getError().message());
  Expected<json::Value> value = json::parse((*file)->getBuffer());
  if (!value)
    return createStringError("'" + path +
                             "' is no JSON: " + toString(value.takeError()));
  const json::Object *object = value->getAsObject();
  std::optional<StringRef> family =
      object ? object->getString("model_type") : std::nullopt;
  if (!family)
    return createStringError("'" + path + "' has no model_type");
  Config config(*object);
  ModelSizes sizes;
  if (*family == "bert" || *family == "vit")
    sizes = readEncoder(config, *family);
  else if (*family == "gpt2")
    sizes = readGpt2(config);
  else if (is_contained({"llama", "mistral", "mixtral", "olmo2", "qwen2",
                         "qwen3", "qwen3_moe"},
                        *family))
    sizes = readLlama(config, *family);
  else
    return createStringError("'" + path + "': operations of a model_type '" +
                             *family + "' cannot be counted");
  if (!config.getMissing().empty())
    return createStringError("'" + path + "': expected a positive number '" +
                             config.getMissing() + "'");
  return sizes;
}

Error ModelSizes::checkFits(const LibraryInfo &info) const {
  for (const OutputInfo &output : info.outputs) {
    if (output.kind != HEXAD_OUTPUT_ROWS)
      continue;
    if (output.name == "logits")
      return createStringError("the library's output 'logits' is of a head, "
                               "whose operations cannot be counted; expected "
                               "an encoder without one");
    if (output.columns != hidden)
      return createStringError("config.json has " + Twine(hidden) +
                               " hidden columns, the library's output '" +
                               output.name + "' has " + Twine(output.columns));
  }
  int64_t cached = 0;
  for (const hexad_cache_info &cache : info.caches)
    cached += cache.layers;
  if (!info.caches.empty() && cached != layers)
    return createStringError("config.json has " + Twine(layers) +
                             " layers, the library's caches have " +
                             Twine(cached));
  return Error::success();
}
