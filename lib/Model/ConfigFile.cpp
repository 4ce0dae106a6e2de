//===- ConfigFile.cpp - config.json of a checkpoint folder ----------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConfigFile.h"
#include "TextFile.h"
#include "hexad/Model/Description.h"
#include "hexad/Model/Json.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace mlir;
using namespace hexad;

/// Far more than the names of any classes need.
static constexpr uint64_t maxBytes = 16 << 20;

/// Configurations are small and rather flat.
static constexpr unsigned maxDepth = 32;

/// Keys that the library which writes these files gives every model, and that
/// say nothing about what a forward pass computes.
static constexpr llvm::StringLiteral inertEverywhere[] = {
    "_attn_implementation",
    "_attn_implementation_autoset",
    "_commit_hash",
    "_name_or_path",
    "_num_labels",
    "bad_words_ids",
    "begin_suppress_tokens",
    "bos_token_id",
    "classifier_dropout",
    "decoder_start_token_id",
    "diversity_penalty",
    "do_sample",
    "dtype",
    "early_stopping",
    "encoder_no_repeat_ngram_size",
    "eos_token_id",
    "exponential_decay_length_penalty",
    "finetuning_task",
    "forced_bos_token_id",
    "forced_eos_token_id",
    "gradient_checkpointing",
    "initializer_range",
    "label2id",
    "language",
    "length_penalty",
    "max_length",
    "min_length",
    "model_max_length",
    "no_repeat_ngram_size",
    "num_beam_groups",
    "num_beams",
    "num_return_sequences",
    "output_attentions",
    "output_hidden_states",
    "output_past",
    "output_scores",
    "pad_token_id",
    "prefix",
    "problem_type",
    "remove_invalid_values",
    "repetition_penalty",
    "return_dict",
    "return_dict_in_generate",
    "sep_token_id",
    "suppress_tokens",
    "task_specific_params",
    "temperature",
    "tokenizer_class",
    "top_k",
    "top_p",
    "torch_dtype",
    "torchscript",
    "transformers_version",
    "typical_p",
    "use_cache"};

static constexpr std::pair<llvm::StringLiteral, Activation> activations[] = {
    {"gelu", Activation::Gelu},
    {"gelu_fast", Activation::GeluTanh},
    {"gelu_new", Activation::GeluTanh},
    {"gelu_python", Activation::Gelu},
    {"gelu_pytorch_tanh", Activation::GeluTanh},
    {"quick_gelu", Activation::QuickGelu},
    {"relu", Activation::Relu},
    {"sigmoid", Activation::Sigmoid},
    {"silu", Activation::Silu},
    {"swish", Activation::Silu},
    {"tanh", Activation::Tanh}};

/// A value as it stands in the file, shortened, for messages.
static std::string describe(const llvm::json::Value &value) {
  if (value.getAsObject())
    return "an object";
  if (value.getAsArray())
    return "an array";
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text.size() > 100 ? text.substr(0, 100) + "…" : text;
}

Location ConfigFile::getLocation(size_t offset) const {
  llvm::StringRef before = text.take_front(offset);
  size_t line = before.count('\n') + 1;
  size_t column = offset - (before.rfind('\n') + 1) + 1;
  return FileLineColLoc::get(context, path, line, column);
}

size_t ConfigFile::getOffset(llvm::StringRef key) const {
  auto found = offsets.find(prefix + key.str());
  if (found != offsets.end())
    return found->second;
  return prefix.empty() ? 0
                        : offsets.lookup(llvm::StringRef(prefix).drop_back());
}

Location ConfigFile::getLocation(llvm::StringRef key) const {
  return getLocation(getOffset(key));
}

FailureOr<ConfigFile> ConfigFile::open(llvm::StringRef path,
                                       llvm::SourceMgr &sources,
                                       MLIRContext *context) {
  std::optional<llvm::StringRef> text =
      openTextFile(path, maxBytes, sources, context);
  if (!text)
    return failure();
  ConfigFile config(path, *text, context);
  size_t errorOffset = 0;
  SmallVector<std::string> names;
  auto addKey = [&](unsigned depth, llvm::StringRef key, size_t offset) {
    names.resize(depth);
    names.back() = key.str();
    config.offsets.try_emplace(llvm::join(names, "."), offset);
  };
  if (llvm::Error error = scanJson(*text, maxDepth, addKey, &errorOffset))
    return emitError(config.getLocation(errorOffset),
                     llvm::toString(std::move(error)));
  llvm::Expected<llvm::json::Value> root = llvm::json::parse(*text);
  if (!root) {
    // "[line:column, byte=offset]: message"; the place has no other access.
    std::string message = llvm::toString(root.takeError());
    auto [place, rest] = llvm::StringRef(message).split("]: ");
    size_t offset = 0;
    llvm::StringRef digits = place.rsplit("byte=").second;
    if (digits.getAsInteger(10, offset) || offset > text->size())
      offset = 0;
    return emitError(config.getLocation(offset), "malformed JSON: ")
           << (rest.empty() ? llvm::StringRef(message) : rest);
  }
  if (!root->getAsObject())
    return emitError(config.getLocation(0), "expected an object, found ")
           << describe(*root);
  config.root = std::move(*root->getAsObject());
  return config;
}

LogicalResult ConfigFile::openObject(llvm::StringRef key,
                                     std::optional<ConfigFile> &object) const {
  const llvm::json::Value *value = find(key);
  if (!value)
    return success();
  if (!value->getAsObject())
    return expected(key, "an object");
  object = *this;
  object->root = *value->getAsObject();
  object->prefix += key.str() + ".";
  return success();
}

LogicalResult ConfigFile::checkKeys(const ConfigKeys &keys) const {
  bool isModel = prefix.empty() || prefix == "text_config.";
  // In the order of the file, so that the first mistake is named first.
  std::vector<std::pair<size_t, llvm::StringRef>> order;
  for (const auto &entry : root)
    order.emplace_back(getOffset(entry.first), entry.first);
  llvm::sort(order);
  for (const auto &[offset, key] : order) {
    if (llvm::is_contained(keys.read, key) ||
        llvm::is_contained(keys.inert, key) ||
        (isModel && llvm::is_contained(inertEverywhere, key)))
      continue;
    const FixedKey *fixed =
        llvm::find_if(keys.mustEqual,
                      [&](const FixedKey &fixed) { return fixed.name == key; });
    if (fixed == keys.mustEqual.end())
      return emitError(getLocation(key), "unknown key ")
             << quoteName(prefix + key.str())
             << ": it may change what the model computes";
    const llvm::json::Value *value = find(key);
    if (value && *value != llvm::cantFail(llvm::json::parse(fixed->json)))
      return expected(key, fixed->json);
  }
  return success();
}

const llvm::json::Value *ConfigFile::find(llvm::StringRef key) const {
  const llvm::json::Value *value = root.get(key);
  return value && value->kind() != llvm::json::Value::Null ? value : nullptr;
}

InFlightDiagnostic ConfigFile::expected(llvm::StringRef key,
                                        const llvm::Twine &what) const {
  InFlightDiagnostic diagnostic = emitError(getLocation(key), "expected ")
                                  << prefix << key << " to be " << what;
  if (const llvm::json::Value *value = root.get(key))
    return std::move(diagnostic << ", found " << describe(*value));
  return std::move(diagnostic << ", but the key is missing");
}

LogicalResult
ConfigFile::readString(llvm::StringRef key, std::string &text,
                       std::optional<llvm::StringRef> byDefault) const {
  const llvm::json::Value *value = find(key);
  std::optional<llvm::StringRef> found =
      value ? value->getAsString() : byDefault;
  if (!found)
    return expected(key, "a string");
  text = found->str();
  return success();
}

LogicalResult ConfigFile::readInteger(llvm::StringRef key, int64_t least,
                                      int64_t limit, int64_t &value,
                                      std::optional<int64_t> byDefault) const {
  const llvm::json::Value *given = find(key);
  std::optional<int64_t> found = given ? given->getAsInteger() : byDefault;
  if (!found || *found < least || *found > limit)
    return expected(key, "an integer from " + llvm::Twine(least) + " to " +
                             llvm::Twine(limit));
  value = *found;
  return success();
}

LogicalResult ConfigFile::readNumber(llvm::StringRef key, double &number,
                                     double byDefault) const {
  const llvm::json::Value *value = find(key);
  std::optional<double> found = value ? value->getAsNumber() : byDefault;
  if (!found || !std::isfinite(*found) || *found < 0)
    return expected(key, "a number of at least 0");
  number = *found;
  return success();
}

LogicalResult ConfigFile::readPositive(llvm::StringRef key, double &number,
                                       std::optional<double> byDefault) const {
  const llvm::json::Value *value = find(key);
  std::optional<double> found = value ? value->getAsNumber() : byDefault;
  if (!found || !std::isfinite(*found) || *found <= 0)
    return expected(key, "a number of more than 0");
  number = *found;
  return success();
}

LogicalResult ConfigFile::readFlag(llvm::StringRef key, bool &flag,
                                   bool byDefault) const {
  const llvm::json::Value *value = find(key);
  std::optional<bool> found = value ? value->getAsBoolean() : byDefault;
  if (!found)
    return expected(key, "true or false");
  flag = *found;
  return success();
}

LogicalResult ConfigFile::readActivation(llvm::StringRef key,
                                         Activation &activation,
                                         llvm::StringRef byDefault) const {
  std::string name;
  if (failed(readString(key, name, byDefault)))
    return failure();
  std::string known;
  for (const auto &[spelling, meaning] : activations) {
    if (spelling == name) {
      activation = meaning;
      return success();
    }
    known += (known.empty() ? "" : ", ") + spelling.str();
  }
  return expected(key, "one of " + known);
}

/// Two labels are what no mention of labels means.
LogicalResult ConfigFile::readLabelCount(int64_t &count) const {
  const llvm::json::Value *labels = find("id2label");
  if (!labels)
    return readSize("num_labels", maxDimension, count, 2);
  const llvm::json::Object *names = labels->getAsObject();
  if (!names || names->empty())
    return emitError(getLocation("id2label"),
                     "expected id2label to be an object with at least one "
                     "label");
  count = names->size();
  return success();
}
