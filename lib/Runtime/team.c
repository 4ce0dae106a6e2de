/*===- team.c - The barrier of the threads that run a call ----------*- C -*-===
 *
 * Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/
#include "runtime.h"
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

/* About 50 to 100 µs of looking before a thread sleeps: longer than the threads
 * of one call are apart, shorter than anybody would call burning a CPU. */
#define SPINS 2000

void hexad_team_init(hexad_team *team, uint32_t threads) {
  team->threads = threads;
  /* With fewer CPUs than threads, whoever looks keeps the others from arriving.
   */
  team->spins = threads <= hexad_cpu_count() ? SPINS : 0;
  team->arrived = 0;
  team->epoch = 0;
  team->sleepers = 0;
}

/* The last thread of an epoch has arrived: let the others go. */
static void advance(hexad_team *team) {
  __atomic_store_n(&team->arrived, 0, __ATOMIC_RELAXED);
  /* Sequentially consistent with `sleepers`: either the sleeper sees the new
   * epoch or it is seen here. */
  __atomic_add_fetch(&team->epoch, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&team->sleepers, __ATOMIC_SEQ_CST))
    syscall(SYS_futex, &team->epoch, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL,
            0);
}

void hexad_team_arrive(hexad_team *team, uint32_t count) {
  if (__atomic_add_fetch(&team->arrived, count, __ATOMIC_ACQ_REL) ==
      team->threads)
    advance(team);
}

void hexad_team_barrier(void *opaque) {
  hexad_team *team = opaque;
  if (team->threads == 1)
    return;
  /* Cannot advance before this thread has arrived. */
  uint32_t epoch = __atomic_load_n(&team->epoch, __ATOMIC_RELAXED);
  if (__atomic_add_fetch(&team->arrived, 1, __ATOMIC_ACQ_REL) ==
      team->threads) {
    advance(team);
    return;
  }
  for (uint32_t spin = 0; spin < team->spins; ++spin) {
    if (__atomic_load_n(&team->epoch, __ATOMIC_ACQUIRE) != epoch)
      return;
    __builtin_ia32_pause();
  }
  __atomic_add_fetch(&team->sleepers, 1, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(&team->epoch, __ATOMIC_SEQ_CST) == epoch)
    syscall(SYS_futex, &team->epoch, FUTEX_WAIT_PRIVATE, epoch, NULL, NULL, 0);
  __atomic_sub_fetch(&team->sleepers, 1, __ATOMIC_RELAXED);
}
