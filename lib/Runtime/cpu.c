/*===- cpu.c - What this machine can do -----------------------------*- C -*-===
 *
 * Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/
#include "runtime.h"
#include <cpuid.h>
#include <sched.h>

/* What the operating system saves on a context switch (XCR0). */
static uint64_t saved_state(void) {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t)high << 32 | low;
}

uint32_t hexad_cpu_features(void) {
  enum {
    OSXSAVE_AND_AVX = 1 << 27 | 1 << 28, /* leaf 1, ecx */
    FMA = 1 << 12,                       /* leaf 1, ecx */
    F16C = 1 << 29,                      /* leaf 1, ecx */
    AVX2 = 1 << 5,                       /* leaf 7, ebx */
    AVX512F = 1 << 16,                   /* leaf 7, ebx */
    AVX512DQ = 1 << 17,                  /* leaf 7, ebx */
    AVX512CD = 1 << 28,                  /* leaf 7, ebx */
    AVX512BW = 1 << 30,                  /* leaf 7, ebx */
    YMM_STATE = 1 << 1 | 1 << 2,         /* XCR0: xmm, ymm */
    ZMM_STATE = 1 << 5 | 1 << 6 | 1 << 7 /* XCR0: masks, zmm */
  };
  const uint32_t avx512vl = UINT32_C(1) << 31; /* leaf 7, ebx */
  uint32_t eax, ebx, ecx, edx, features = 0;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) ||
      (ecx & OSXSAVE_AND_AVX) != OSXSAVE_AND_AVX)
    return 0;
  uint64_t state = saved_state();
  if ((state & YMM_STATE) != YMM_STATE)
    return 0;
  if (ecx & FMA)
    features |= HEXAD_CPU_FMA;
  if (ecx & F16C)
    features |= HEXAD_CPU_F16C;
  if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx))
    return features;
  if (ebx & AVX2)
    features |= HEXAD_CPU_AVX2;
  const uint32_t avx512 = avx512vl | AVX512F | AVX512DQ | AVX512CD | AVX512BW;
  if ((state & ZMM_STATE) == ZMM_STATE && (ebx & avx512) == avx512)
    features |= HEXAD_CPU_AVX512;
  return features;
}

size_t hexad_cpu_count(void) {
  cpu_set_t set;
  /* Fails on a machine with more CPUs than the set holds; its size is then a
   * fair answer. */
  if (sched_getaffinity(0, sizeof(set), &set) != 0)
    return CPU_SETSIZE;
  int count = CPU_COUNT(&set);
  return count > 0 ? (size_t)count : 1;
}
