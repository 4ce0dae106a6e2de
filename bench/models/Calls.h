//===- Calls.h - Calls of a compiled model, to be timed ---------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_BENCH_MODELS_CALLS_H
#define HEXAD_BENCH_MODELS_CALLS_H

#include "LoadedLibrary.h"
#include <vector>

namespace hexad::bench {

/// One call of `forward` on `batch` sequences of `tokens` tokens (or images),
/// none of which is padding, in a context of its own. The library must outlive
/// it.
class ForwardCall {
public:
  /// Fails if the model has fewer positions, or images of another number of
  /// tokens (0: as many as an image has).
  static llvm::Expected<std::unique_ptr<ForwardCall>>
  create(LoadedLibrary &library, int64_t batch, int64_t tokens,
         unsigned threads);

  llvm::Error run();
  int64_t getBatch() const { return batch; }
  int64_t getTokens() const { return tokens; }

private:
  ForwardCall(int64_t batch, int64_t tokens) : batch(batch), tokens(tokens) {}

  int64_t batch, tokens;
  std::vector<std::vector<int32_t>> inputs; ///< or the bits of pixels
  std::vector<std::vector<float>> outputs;
  std::vector<void *> pointers;
  std::unique_ptr<LoadedContext> context;
};

/// One session of a language model: a prompt, and tokens behind it.
class SessionCalls {
public:
  /// Fails if the library has no sessions, or too few positions.
  static llvm::Expected<std::unique_ptr<SessionCalls>>
  create(LoadedLibrary &library, unsigned promptTokens, unsigned decodeTokens,
         unsigned threads);

  /// The whole prompt, from the start.
  llvm::Error prefill();
  /// Token by token, behind a prefill.
  llvm::Error decode();

private:
  SessionCalls(unsigned promptTokens, unsigned decodeTokens)
      : promptTokens(promptTokens), decodeTokens(decodeTokens) {}
  llvm::Error extend(size_t first, size_t count);

  unsigned promptTokens, decodeTokens;
  std::vector<int32_t> tokens;
  std::vector<float> logits;
  std::unique_ptr<LoadedContext> context;
  std::unique_ptr<LoadedSession> session;
};

} // namespace hexad::bench

#endif // HEXAD_BENCH_MODELS_CALLS_H
