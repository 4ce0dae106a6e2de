/*===- memory.c - Memory of contexts and sessions -------------------*- C -*-===
 *
 * Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/
#include "runtime.h"
#include <sys/mman.h>

char *hexad_map_memory(size_t bytes) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return NULL;
  /* A hint: fewer TLB misses where the system has huge pages. */
  madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
}
