//===- ModelSizes.h - Operations and bytes of a checkpoint ------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_BENCH_MODELS_MODELSIZES_H
#define HEXAD_BENCH_MODELS_MODELSIZES_H

#include "ModelText.h"

namespace hexad::bench {

/// What a checkpoint's config.json says of how much a call has to do. Counted
/// are matrix products alone.
struct ModelSizes {
  int64_t layers, hidden;
  AttentionShape attention;
  /// Elements of the weight matrices that one token meets in one layer: of a
  /// mixture of experts those that are active.
  double layerWeights;
  /// Elements that a sequence's first or last token meets once: head, pooler,
  /// classifier.
  double headWeights;
  /// Elements that every token meets in front of the layers: the projection of
  /// patches.
  double inputWeights;

  /// Knows bert, vit, gpt2, llama and those of its form, mixtral, qwen3_moe.
  static llvm::Expected<ModelSizes> read(llvm::StringRef path);
  /// Fails if the library is plainly that of another checkpoint.
  llvm::Error checkFits(const LibraryInfo &info) const;

  /// Operations of the linear layers for one sequence.
  double countLinear(double tokens) const {
    return 2 * (tokens * (layers * layerWeights + inputWeights) + headWeights);
  }
  /// Operations of all products for one sequence.
  double countOperations(double tokens) const {
    return countLinear(tokens) + layers * attention.countOperations(tokens);
  }
  /// Bytes that one token of decode has to read: the weights that it meets, of
  /// `weightBytes` each, and keys and values of the positions so far, in f32.
  double countDecodeBytes(double positions, double weightBytes) const {
    double cache = 2.0 * layers * attention.getKeyColumns() * positions;
    return weightBytes * (layers * layerWeights + headWeights) +
           sizeof(float) * cache;
  }
};

} // namespace hexad::bench

#endif // HEXAD_BENCH_MODELS_MODELSIZES_H
