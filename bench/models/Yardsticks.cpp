//===- Yardsticks.cpp - What a model is compared with ---------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Yardsticks.h"
#include "common/Clock.h"
#include "common/FmaLoop.h"

using namespace hexad::bench;
using namespace llvm;

Expected<std::unique_ptr<Yardsticks>> Yardsticks::create(const Target &target) {
  auto kernel = PackedMatmul::create(512, 768, 768, target);
  if (!kernel)
    return kernel.takeError();
  std::unique_ptr<Yardsticks> yardsticks(
      new Yardsticks(target.vectorBits, std::move(*kernel)));
  yardsticks->measure(); // warms up
  return yardsticks;
}

Rates Yardsticks::measure() {
  constexpr int runs = 4;
  double loop = measureFmaLoop(vectorBits, /*milliseconds=*/4);
  double seconds = measureSeconds([&] {
    for (int i = 0; i < runs; ++i)
      kernel->run();
  });
  return {loop, runs * kernel->getOperations() / seconds};
}

Rates Yardsticks::measureAround(function_ref<void()> body) {
  Rates before = measure();
  body();
  Rates after = measure();
  return {(before.loop + after.loop) / 2, (before.kernel + after.kernel) / 2};
}
