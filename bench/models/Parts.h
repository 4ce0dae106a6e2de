//===- Parts.h - Parts of models, compiled alone ----------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_BENCH_MODELS_PARTS_H
#define HEXAD_BENCH_MODELS_PARTS_H

#include "ModelText.h"

namespace hexad::bench {

/// `times` attentions, one behind the other: each one's result is the next
/// one's queries; keys and values, which are the same rows, stay. There are no
/// projections; what comes in is copied from tables once, and the last result
/// once to the caller, which is little beside several attentions.
/// `isCached`: the library has sessions, with keys and values for each time.
llvm::Expected<std::unique_ptr<LoadedLibrary>>
compileAttention(const AttentionShape &shape, int64_t times, bool isCached,
                 llvm::StringRef cpu);

enum class BlockKind {
  Gpt2, ///< layer norms, biases, GELU
  Llama ///< RMS norms, rotary embedding, gated SiLU
};

/// Sizes of one block of a model.
struct BlockShape {
  BlockKind kind;
  AttentionShape attention;
  int64_t hidden, intermediate;

  /// Columns and inner size of each of its matrix products; projections of one
  /// input are one product.
  struct Product {
    int64_t n, k;
  };
  llvm::SmallVector<Product> getProducts() const;
};

/// `times` blocks, one behind the other, of the same weights.
llvm::Expected<std::unique_ptr<LoadedLibrary>>
compileBlock(const BlockShape &shape, int64_t times, llvm::StringRef cpu);

} // namespace hexad::bench

#endif // HEXAD_BENCH_MODELS_PARTS_H
