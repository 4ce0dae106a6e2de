//===- Clock.h - Durations and their medians --------------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_BENCH_COMMON_CLOCK_H
#define HEXAD_BENCH_COMMON_CLOCK_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <vector>

namespace hexad::bench {

/// Seconds that one call of `body` takes.
double measureSeconds(llvm::function_ref<void()> body);

/// The middle one of some values, of which there is at least one.
double median(std::vector<double> values);

/// The value at `share` (0 … 1) of the sorted values.
double quantile(std::vector<double> values, double share);

} // namespace hexad::bench

#endif // HEXAD_BENCH_COMMON_CLOCK_H
