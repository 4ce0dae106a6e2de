//===- Generation.h - Tokens after a prompt ---------------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_TOOLS_HEXADRUN_GENERATION_H
#define HEXAD_TOOLS_HEXADRUN_GENERATION_H

#include "Inputs.h"
#include "LoadedLibrary.h"
#include "Sampling.h"

namespace hexad {

/// The tokens that each batch row begins with.
using Prompts = std::vector<std::vector<int32_t>>;

struct GenerationOptions {
  size_t newTokens = 0; ///< of each row, unless it stops before
  SamplingOptions sampling;
  std::vector<int32_t> stopTokens; ///< a row ends behind one of these
  size_t threads = 0;
};

struct Rate {
  size_t tokens = 0;
  double seconds = 0;
  double getTokensPerSecond() const {
    return seconds > 0 ? tokens / seconds : 0;
  }
};

struct Generated {
  std::vector<std::vector<int32_t>> rows; ///< what follows each prompt
  Rate prefill; ///< the prompts' tokens, the first new ones included
  Rate decode;  ///< the other new tokens
};

/// The real tokens of each row of `input_ids`.
llvm::Expected<Prompts> getPrompts(const LibraryInfo &info,
                                   const Inputs &inputs);

/// Extends a session for each prompt, all of them in the same calls.
/// `report` is called with each step's tokens, one for each row, -1 for a row
/// that has stopped.
llvm::Expected<Generated>
generate(LoadedLibrary &library, const Prompts &prompts,
         const GenerationOptions &options,
         llvm::function_ref<void(llvm::ArrayRef<int32_t>)> report);

/// Writes `tokens`, i64[batch, steps]; -1 behind the end of a row that stopped.
llvm::Error writeTokens(const Generated &generated, llvm::StringRef path);

} // namespace hexad

#endif // HEXAD_TOOLS_HEXADRUN_GENERATION_H
