//===- FmaLoop.cpp - The yardstick: FMAs on registers ---------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "common/FmaLoop.h"
#include "common/Clock.h"

// 12 independent chains hide the latency of two FMAs a cycle.
#define HEXAD_FMA_LOOP(BITS, REGISTER)                                         \
  static void runFma##BITS(int64_t iterations) {                               \
    asm volatile("1:\n"                                                        \
                 ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11\n"                         \
                 "vfmadd231ps %%" REGISTER "14, %%" REGISTER "15, %%" REGISTER \
                 "\\n\n"                                                       \
                 ".endr\n"                                                     \
                 "dec %0\n"                                                    \
                 "jnz 1b\n"                                                    \
                 "vzeroupper\n"                                                \
                 : "+r"(iterations)                                            \
                 :                                                             \
                 : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",       \
                   "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",  \
                   "xmm13", "xmm14", "xmm15");                                 \
  }
HEXAD_FMA_LOOP(256, "ymm")
HEXAD_FMA_LOOP(512, "zmm")
#undef HEXAD_FMA_LOOP

double hexad::bench::measureFmaLoop(int64_t vectorBits, double milliseconds) {
  double operationsOfIteration = 2.0 * 12 * (vectorBits / 32);
  auto iterations =
      static_cast<int64_t>(milliseconds * 200e6 / operationsOfIteration) + 1;
  double seconds = measureSeconds([&] {
    vectorBits == 512 ? runFma512(iterations) : runFma256(iterations);
  });
  return operationsOfIteration * iterations / seconds;
}
