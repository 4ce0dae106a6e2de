//===- ReadLoop.cpp - The yardstick: reading memory -----------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "common/ReadLoop.h"
#include "common/Clock.h"
#include <immintrin.h>
#include <thread>

using namespace hexad::bench;

/// Sums `Streams` equal parts of `count` floats side by side, a cache line of
/// each at a time.
template <unsigned Streams>
__attribute__((target("avx2"))) static float sum(const float *data,
                                                 size_t count) {
  constexpr size_t line = 64 / sizeof(float);
  const size_t part = count / Streams / line * line;
  __m256 low[Streams], high[Streams];
  for (unsigned s = 0; s < Streams; ++s)
    low[s] = high[s] = _mm256_setzero_ps();
  for (size_t i = 0; i < part; i += line)
#pragma clang loop unroll(full)
    for (unsigned s = 0; s < Streams; ++s) {
      const float *at = data + s * part + i;
      low[s] = _mm256_add_ps(low[s], _mm256_loadu_ps(at));
      high[s] = _mm256_add_ps(high[s], _mm256_loadu_ps(at + line / 2));
    }
  float total = 0;
  for (unsigned s = 0; s < Streams; ++s) {
    float lanes[8];
    _mm256_storeu_ps(lanes, _mm256_add_ps(low[s], high[s]));
    for (float lane : lanes)
      total += lane;
  }
  return total;
}

ReadLoop::ReadLoop(unsigned threads, size_t bytes)
    : threads(threads), memory(bytes / sizeof(float), 1.0f) {
  double best = 0;
  for (unsigned candidate : {2, 4, 6}) {
    std::vector<double> rates;
    for (int round = 0; round < 3; ++round)
      rates.push_back(measure(candidate));
    if (median(rates) <= best)
      continue;
    best = median(rates);
    streams = candidate;
  }
}

double ReadLoop::measure(unsigned streams) {
  const size_t share = memory.size() / threads;
  auto read = [&](unsigned thread) {
    const float *data = memory.data() + thread * share;
    // Volatile: the sum is wanted.
    [[maybe_unused]] volatile float total = streams == 2 ? sum<2>(data, share)
                                            : streams == 4
                                                ? sum<4>(data, share)
                                                : sum<6>(data, share);
  };
  double seconds = measureSeconds([&] {
    std::vector<std::thread> others;
    for (unsigned thread = 1; thread < threads; ++thread)
      others.emplace_back(read, thread);
    read(0);
    for (std::thread &other : others)
      other.join();
  });
  return threads * share * sizeof(float) / seconds;
}
