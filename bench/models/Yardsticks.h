//===- Yardsticks.h - What a model is compared with -------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_BENCH_MODELS_YARDSTICKS_H
#define HEXAD_BENCH_MODELS_YARDSTICKS_H

#include "common/PackedMatmul.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace hexad::bench {

/// What one core reaches at a moment, in operations a second.
struct Rates {
  double loop;   ///< the FMA loop
  double kernel; ///< the packed matmul of 512 x 768 x 768
};

/// The bare kernel and the FMA loop.
class Yardsticks {
public:
  static llvm::Expected<std::unique_ptr<Yardsticks>>
  create(const Target &target);

  /// At this moment.
  Rates measure();
  /// What they reach just before and just after `body`, in the mean.
  Rates measureAround(llvm::function_ref<void()> body);

private:
  Yardsticks(int64_t vectorBits, std::unique_ptr<PackedMatmul> kernel)
      : vectorBits(vectorBits), kernel(std::move(kernel)) {}

  int64_t vectorBits;
  std::unique_ptr<PackedMatmul> kernel;
};

} // namespace hexad::bench

#endif // HEXAD_BENCH_MODELS_YARDSTICKS_H
