//===- Clock.cpp - Durations and their medians ----------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "common/Clock.h"
#include "llvm/ADT/STLExtras.h"
#include <chrono>

double hexad::bench::measureSeconds(llvm::function_ref<void()> body) {
  auto start = std::chrono::steady_clock::now();
  body();
  std::chrono::duration<double> elapsed =
      std::chrono::steady_clock::now() - start;
  return elapsed.count();
}

double hexad::bench::quantile(std::vector<double> values, double share) {
  llvm::sort(values);
  return values[static_cast<size_t>(share * (values.size() - 1) + 0.5)];
}

double hexad::bench::median(std::vector<double> values) {
  return quantile(std::move(values), 0.5);
}
