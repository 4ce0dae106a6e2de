//===- FmaLoop.h - The yardstick: FMAs on registers -------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_BENCH_COMMON_FMALOOP_H
#define HEXAD_BENCH_COMMON_FMALOOP_H

#include <cstdint>

namespace hexad::bench {

/// Floating-point operations a second that one core reaches at this moment with
/// FMAs on registers of `vectorBits` bits (256 or 512) and nothing else. Takes
/// about `milliseconds` at 200 GFLOP/s.
double measureFmaLoop(int64_t vectorBits, double milliseconds = 0.5);

} // namespace hexad::bench

#endif // HEXAD_BENCH_COMMON_FMALOOP_H
