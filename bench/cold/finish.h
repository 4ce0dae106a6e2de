/*===- finish.h - When a program had its first output -----------------------===
 *
 * Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/
#ifndef HEXAD_BENCH_COLD_FINISH_H
#define HEXAD_BENCH_COLD_FINISH_H

#include <stdio.h>
#include <time.h>

/* Seconds of the clock that measure.py reads too. */
static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

/* Prints when the first output was there, how long the call took that began at
 * `start`, and one of its numbers. */
static void finish(double start, float first) {
  double end = now();
  printf("%.9f %.9f %g\n", end, end - start, first);
}

#endif /* HEXAD_BENCH_COLD_FINISH_H */
