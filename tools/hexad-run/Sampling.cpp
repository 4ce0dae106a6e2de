//===- Sampling.cpp - Which token comes next ------------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sampling.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace llvm;
using namespace hexad;

int32_t hexad::findLargest(ArrayRef<float> logits) {
  size_t best = 0;
  for (size_t i = 1; i < logits.size(); ++i)
    if (logits[i] > logits[best] ||
        (std::isnan(logits[best]) && !std::isnan(logits[i])))
      best = i;
  return best;
}

static std::mt19937_64 makeRandom(uint64_t seed, uint32_t row) {
  std::seed_seq sequence = {uint32_t(seed), uint32_t(seed >> 32), row};
  return std::mt19937_64(sequence);
}

Sampler::Sampler(const SamplingOptions &options, uint32_t row)
    : options(options), random(makeRandom(options.seed, row)) {}

/// A total order: results do not depend on how a library sorts.
static auto getMoreProbable(ArrayRef<float> logits) {
  return [logits](int32_t a, int32_t b) {
    return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
  };
}

void Sampler::keepTopK(ArrayRef<float> logits) {
  if (options.topK == 0 || options.topK >= candidates.size())
    return;
  std::nth_element(candidates.begin(), candidates.begin() + options.topK,
                   candidates.end(), getMoreProbable(logits));
  candidates.resize(options.topK);
  llvm::sort(candidates);
}

void Sampler::keepTopP(ArrayRef<float> logits) {
  if (options.topP >= 1)
    return;
  auto sum = [&] {
    double total = 0;
    for (int32_t token : candidates)
      total += weights[token];
    return total;
  };
  // What is less probable than an equal share of 1 - p is never needed: all of
  // these together are less than 1 - p. It need not be sorted.
  const double total = sum();
  const double rare = (1 - options.topP) * total / candidates.size();
  erase_if(candidates, [&](int32_t token) { return weights[token] < rare; });
  llvm::sort(candidates, getMoreProbable(logits));
  double mass = 0;
  size_t kept = 0;
  while (kept < candidates.size() && (kept == 0 || mass < options.topP * total))
    mass += weights[candidates[kept++]];
  candidates.resize(kept);
}

int32_t Sampler::next(ArrayRef<float> logits) {
  const int32_t likeliest = findLargest(logits);
  if (options.temperature == 0)
    return likeliest;
  const double largest = logits[likeliest];
  weights.resize(logits.size());
  candidates.clear();
  for (auto [token, logit] : enumerate(logits)) {
    // Infinities of one sign are equal.
    double difference = logit == largest ? 0 : logit - largest;
    weights[token] = std::exp(difference / options.temperature);
    if (weights[token] > 0)
      candidates.push_back(token);
  }
  keepTopK(logits);
  keepTopP(logits);
  double total = 0;
  for (int32_t token : candidates)
    total += weights[token];
  // 53 bits; std::uniform_real_distribution differs between libraries.
  double point = double(random() >> 11) * 0x1p-53 * total;
  for (int32_t token : candidates) {
    point -= weights[token];
    if (point < 0)
      return token;
  }
  // Rounding, or nothing but NaN.
  return candidates.empty() ? likeliest : candidates.back();
}
