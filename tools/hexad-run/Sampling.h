//===- Sampling.h - Which token comes next ----------------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_TOOLS_HEXADRUN_SAMPLING_H
#define HEXAD_TOOLS_HEXADRUN_SAMPLING_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <random>
#include <vector>

namespace hexad {

struct SamplingOptions {
  double temperature = 0; ///< divides the logits; 0: the largest one is taken
  unsigned topK = 0;      ///< only so many of the most probable; 0: all
  double topP = 1; ///< only the most probable that make up this much together
  uint64_t seed = 0;
};

/// The index of the largest element, the first of equals; NaN counts as less
/// than everything. `logits` is not empty.
int32_t findLargest(llvm::ArrayRef<float> logits);

/// Chooses tokens of one sequence. The same options, row and logits give the
/// same tokens, whatever other rows there are.
class Sampler {
public:
  Sampler(const SamplingOptions &options, uint32_t row);

  /// `logits` is not empty and always of one size.
  int32_t next(llvm::ArrayRef<float> logits);

private:
  void keepTopK(llvm::ArrayRef<float> logits);
  void keepTopP(llvm::ArrayRef<float> logits);

  SamplingOptions options;
  std::mt19937_64 random;
  std::vector<double> weights;     ///< softmax without its denominator
  std::vector<int32_t> candidates; ///< tokens that can still be chosen
};

} // namespace hexad

#endif // HEXAD_TOOLS_HEXADRUN_SAMPLING_H
