//===- Generation.cpp - Tokens after a prompt -----------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Generation.h"
#include <chrono>

using namespace llvm;
using namespace hexad;

/// The runtime appends longer prompts in several steps, which bounds the
/// context's memory. Results do not depend on it.
static constexpr size_t mostTokensOfACall = 1024;

static const InputInfo *findTokenInput(const LibraryInfo &info) {
  auto found = find_if(info.inputs, [](const InputInfo &input) {
    return input.kind == HEXAD_INPUT_IDS;
  });
  return found == info.inputs.end() ? nullptr : &*found;
}

static const OutputInfo *findLogits(const LibraryInfo &info) {
  auto found = find_if(info.outputs, [](const OutputInfo &output) {
    return output.kind == HEXAD_OUTPUT_SELECTED;
  });
  return found == info.outputs.end() ? nullptr : &*found;
}

static Error makeNoLanguageModelError(const LibraryInfo &info) {
  return createStringError("the model '" + info.name +
                           "' keeps no sessions; --generate needs a language "
                           "model");
}

Expected<Prompts> hexad::getPrompts(const LibraryInfo &info,
                                    const Inputs &inputs) {
  const InputInfo *tokens = findTokenInput(info);
  if (info.caches.empty() || !tokens || !findLogits(info))
    return makeNoLanguageModelError(info);
  for (auto [index, input] : enumerate(info.inputs))
    if (input.kind == HEXAD_INPUT_IDS && &input != tokens && inputs.get(index))
      return createStringError("the input '" + input.name +
                               "' cannot be used with --generate");
  const std::vector<int32_t> *ids = inputs.get(tokens - info.inputs.data());
  Prompts prompts(inputs.batch);
  for (size_t row = 0; row < inputs.batch; ++row) {
    size_t end = 0; // behind the last real element
    for (size_t column = 0; column < inputs.seq; ++column) {
      size_t element = row * inputs.seq + column;
      if (!inputs.isReal(element))
        continue;
      if (!prompts[row].empty() && end != column)
        return createStringError("batch row " + Twine(row) +
                                 " of the mask has a hole");
      int32_t id = ids->at(element);
      if (id < 0 || id >= tokens->limit)
        return createStringError(Twine(tokens->name) + "[" + Twine(row) + ", " +
                                 Twine(column) + "] is " + Twine(id) +
                                 ", it must be at least 0 and less than " +
                                 Twine(tokens->limit));
      prompts[row].push_back(id);
      end = column + 1;
    }
  }
  return prompts;
}

namespace {

/// The state of one run.
class Generation {
public:
  Generation(LoadedLibrary &library, const Prompts &prompts,
             const GenerationOptions &options)
      : library(library), prompts(prompts), options(options) {}

  Error prepare();
  Expected<Generated> run(function_ref<void(ArrayRef<int32_t>)> report);

private:
  Error check() const;
  Error prefill();
  Error decode();
  Error extend(ArrayRef<hexad_extension> extensions, ArrayRef<size_t> rows,
               Rate &rate);

  LoadedLibrary &library;
  const Prompts &prompts;
  const GenerationOptions &options;
  std::unique_ptr<LoadedContext> context;
  std::vector<std::unique_ptr<LoadedSession>> sessions;
  std::vector<Sampler> samplers;
  size_t vocabulary = 0;
  std::vector<float> logits; ///< of one token of each row
  std::vector<int32_t> next; ///< of each row; -1: it has stopped
  Generated generated;
};

} // namespace

Error Generation::check() const {
  const LibraryInfo &info = library.getInfo();
  const InputInfo *tokens = findTokenInput(info);
  if (info.caches.empty() || !tokens || !findLogits(info))
    return makeNoLanguageModelError(info);
  if (prompts.empty())
    return createStringError("there is no prompt");
  for (auto [row, prompt] : enumerate(prompts)) {
    if (prompt.empty())
      return createStringError("the prompt of batch row " + Twine(row) +
                               " is empty");
    for (auto [index, id] : enumerate(prompt))
      if (id < 0 || id >= tokens->limit)
        return createStringError(
            "token " + Twine(index) + " of the prompt is " + Twine(id) +
            ", it must be at least 0 and less than " + Twine(tokens->limit));
    // The last new token needs no position.
    uint64_t positions = prompt.size() + uint64_t(options.newTokens) - 1;
    if (info.positionLimit && positions > uint64_t(info.positionLimit))
      return createStringError("the prompt of batch row " + Twine(row) +
                               " has " + Twine(prompt.size()) +
                               " tokens; with " + Twine(options.newTokens) +
                               " more that is beyond the model's " +
                               Twine(info.positionLimit) + " positions");
  }
  return Error::success();
}

Error Generation::prepare() {
  if (Error error = check())
    return error;
  size_t total = 0;
  for (const std::vector<int32_t> &prompt : prompts)
    total += prompt.size();
  auto made = library.createDecodingContext(
      /*tokens=*/std::max(std::min(total, mostTokensOfACall), prompts.size()),
      /*sessions=*/prompts.size(), options.threads);
  if (!made)
    return made.takeError();
  context = std::move(*made);
  for (auto [row, prompt] : enumerate(prompts)) {
    auto session = library.createSession(prompt.size() + options.newTokens - 1);
    if (!session)
      return session.takeError();
    sessions.push_back(std::move(*session));
    samplers.emplace_back(options.sampling, row);
  }
  vocabulary = findLogits(library.getInfo())->columns;
  logits.resize(prompts.size() * vocabulary);
  next.resize(prompts.size());
  generated.rows.resize(prompts.size());
  return Error::success();
}

/// Appends to sessions and chooses the next token of `rows`, whose extensions
/// are those that want logits, in the same order.
Error Generation::extend(ArrayRef<hexad_extension> extensions,
                         ArrayRef<size_t> rows, Rate &rate) {
  auto begin = std::chrono::steady_clock::now();
  if (Error error = context->extend(extensions, logits.data()))
    return error;
  for (auto [index, row] : enumerate(rows))
    next[row] = samplers[row].next(
        ArrayRef(logits).slice(index * vocabulary, vocabulary));
  auto end = std::chrono::steady_clock::now();
  rate.seconds += std::chrono::duration<double>(end - begin).count();
  for (const hexad_extension &extension : extensions)
    rate.tokens += extension.count;
  return Error::success();
}

Error Generation::prefill() {
  std::vector<hexad_extension> extensions;
  std::vector<size_t> rows;
  for (auto [row, prompt] : enumerate(prompts)) {
    extensions.push_back({sessions[row]->get(), prompt.data(), prompt.size(),
                          HEXAD_LAST_LOGITS});
    rows.push_back(row);
  }
  return extend(extensions, rows, generated.prefill);
}

/// One more token of each row that goes on.
Error Generation::decode() {
  std::vector<hexad_extension> extensions;
  std::vector<size_t> rows;
  for (auto [row, token] : enumerate(next)) {
    if (token < 0)
      continue;
    extensions.push_back({sessions[row]->get(), &token, 1, HEXAD_LAST_LOGITS});
    rows.push_back(row);
  }
  return extend(extensions, rows, generated.decode);
}

Expected<Generated>
Generation::run(function_ref<void(ArrayRef<int32_t>)> report) {
  if (Error error = prefill())
    return std::move(error);
  for (size_t step = 1;; ++step) {
    report(next);
    for (auto [row, token] : enumerate(next)) {
      if (token < 0)
        continue;
      generated.rows[row].push_back(token);
      if (is_contained(options.stopTokens, token))
        token = -1;
    }
    if (step == options.newTokens ||
        all_of(next, [](int32_t token) { return token < 0; }))
      return std::move(generated);
    if (Error error = decode())
      return std::move(error);
  }
}

Expected<Generated>
hexad::generate(LoadedLibrary &library, const Prompts &prompts,
                const GenerationOptions &options,
                function_ref<void(ArrayRef<int32_t>)> report) {
  Generation generation(library, prompts, options);
  if (Error error = generation.prepare())
    return std::move(error);
  return generation.run(report);
}

Error hexad::writeTokens(const Generated &generated, StringRef path) {
  size_t steps = 0;
  for (const std::vector<int32_t> &row : generated.rows)
    steps = std::max(steps, row.size());
  std::vector<int64_t> tokens;
  for (const std::vector<int32_t> &row : generated.rows) {
    tokens.insert(tokens.end(), row.begin(), row.end());
    tokens.insert(tokens.end(), steps - row.size(), -1);
  }
  TensorToWrite tensor = {
      "tokens",
      StoredType::I64,
      {int64_t(generated.rows.size()), int64_t(steps)},
      ArrayRef(reinterpret_cast<const uint8_t *>(tokens.data()),
               tokens.size() * sizeof(int64_t))};
  return writeSafetensors(path, tensor);
}
