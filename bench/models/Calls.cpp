//===- Calls.cpp - Calls of a compiled model, to be timed -----------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Calls.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

using namespace hexad;
using namespace hexad::bench;
using namespace llvm;

/// More than anybody can measure, and few enough that no count of elements of
/// an output overflows.
static constexpr int64_t maxTokens = int64_t(1) << 24;

static Error checkPositions(const LibraryInfo &info, int64_t batch,
                            int64_t tokens) {
  if (batch < 1)
    return createStringError("a call has at least one sequence");
  if (tokens < 1)
    return createStringError("a call has at least one token");
  if (tokens > maxTokens || batch > maxTokens / tokens)
    return createStringError("a call has at most " + Twine(maxTokens) +
                             " tokens, not " + Twine(batch) + "x" +
                             Twine(tokens));
  if (info.positionLimit && tokens > info.positionLimit)
    return createStringError("the model has " + Twine(info.positionLimit) +
                             " positions, not " + Twine(tokens));
  return Error::success();
}

/// Ids without a pattern that a cache could profit from.
static int32_t getId(int64_t index, int64_t limit) {
  return index * 7919 % limit;
}

/// What an input of `batch` sequences of `tokens` tokens holds.
static std::vector<int32_t> makeInput(const InputInfo &input, int64_t batch,
                                      int64_t tokens) {
  std::vector<int32_t> values(batch * tokens, 1);
  switch (input.kind) {
  case HEXAD_INPUT_IMAGE:
    values.resize(batch * input.channels * input.height * input.width);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = bit_cast<int32_t>(float(getId(i, 255)) / 127.5f - 1.0f);
    break;
  case HEXAD_INPUT_IDS:
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = getId(i, input.limit);
    break;
  default: // A mask of ones, or labels.
    break;
  }
  return values;
}

static int64_t countRows(const OutputInfo &output, int64_t batch,
                         int64_t tokens) {
  switch (output.kind) {
  case HEXAD_OUTPUT_ROWS:
  case HEXAD_OUTPUT_SELECTED:
    return batch * tokens;
  case HEXAD_OUTPUT_MAPS:
    return batch * tokens * tokens;
  case HEXAD_OUTPUT_POOLED:
    return batch;
  default:
    return 1;
  }
}

Expected<std::unique_ptr<ForwardCall>>
ForwardCall::create(LoadedLibrary &library, int64_t batch, int64_t tokens,
                    unsigned threads) {
  const LibraryInfo &info = library.getInfo();
  if (int64_t ofImage = info.getImageTokens()) {
    if (tokens != 0 && tokens != ofImage)
      return createStringError("the model's images have " + Twine(ofImage) +
                               " tokens, not " + Twine(tokens));
    tokens = ofImage;
  }
  if (Error error = checkPositions(info, batch, tokens))
    return error;
  std::unique_ptr<ForwardCall> call(new ForwardCall(batch, tokens));
  for (const InputInfo &input : info.inputs)
    call->pointers.push_back(
        call->inputs.emplace_back(makeInput(input, batch, tokens)).data());
  for (const OutputInfo &output : info.outputs) {
    int64_t rows = countRows(output, batch, tokens);
    call->pointers.push_back(
        call->outputs.emplace_back(output.count * rows * output.columns)
            .data());
  }
  auto context = library.createContext(batch, tokens, batch * tokens, threads);
  if (!context)
    return context.takeError();
  call->context = std::move(*context);
  return call;
}

Error ForwardCall::run() { return context->forward(batch, tokens, pointers); }

Expected<std::unique_ptr<SessionCalls>>
SessionCalls::create(LoadedLibrary &library, unsigned promptTokens,
                     unsigned decodeTokens, unsigned threads) {
  const LibraryInfo &info = library.getInfo();
  if (info.caches.empty())
    return createStringError("the library '" + info.name +
                             "' keeps no sessions: not a language model");
  int64_t capacity = int64_t(promptTokens) + decodeTokens;
  if (Error error = checkPositions(info, /*batch=*/1, capacity))
    return error;
  std::unique_ptr<SessionCalls> calls(
      new SessionCalls(promptTokens, decodeTokens));
  auto output = find_if(info.outputs, [](const OutputInfo &output) {
    return output.kind == HEXAD_OUTPUT_SELECTED;
  });
  if (output != info.outputs.end())
    calls->logits.resize(output->columns);
  for (int64_t i = 0; i < capacity; ++i)
    calls->tokens.push_back(getId(i, info.inputs.front().limit));
  auto context =
      library.createDecodingContext(promptTokens, /*sessions=*/1, threads);
  if (!context)
    return context.takeError();
  calls->context = std::move(*context);
  auto session = library.createSession(capacity);
  if (!session)
    return session.takeError();
  calls->session = std::move(*session);
  return calls;
}

Error SessionCalls::prefill() {
  if (Error error = session->rewind(0))
    return error;
  return extend(0, promptTokens);
}

Error SessionCalls::decode() {
  if (Error error = session->rewind(promptTokens))
    return error;
  for (unsigned i = 0; i < decodeTokens; ++i)
    if (Error error = extend(promptTokens + i, 1))
      return error;
  return Error::success();
}

Error SessionCalls::extend(size_t first, size_t count) {
  hexad_extension extension = {session->get(), &tokens[first], count,
                               logits.empty() ? HEXAD_NO_LOGITS
                                              : HEXAD_LAST_LOGITS};
  return context->extend(extension, logits.data());
}
