/*===- runtime.h - Inside the carried runtime -----------------------*- C -*-===
 *
 * Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/
#ifndef HEXAD_LIB_RUNTIME_RUNTIME_H
#define HEXAD_LIB_RUNTIME_RUNTIME_H

#include "hexad/Runtime/interface.h"
#include <pthread.h>

#ifdef __cplusplus
extern "C" {
#endif

/*===--- message.c
 * ---------------------------------------------------------===*/

/* Where a failure is explained: the caller's buffer or the context's own. */
typedef struct hexad_message {
  char *text; /* may be null */
  size_t size;
} hexad_message;

/* Writes a sentence and returns `status`, for `return hexad_fail(…)`. */
hexad_status hexad_fail(hexad_message message, hexad_status status,
                        const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*===--- cpu.c
 * -------------------------------------------------------------===*/

/* enum hexad_cpu_feature of this machine, or-ed: what the CPU has and the
 * operating system saves on a context switch. */
uint32_t hexad_cpu_features(void);

/* CPUs that the process may run on, at least 1. */
size_t hexad_cpu_count(void);

/*===--- weights.c
 * ---------------------------------------------------------===*/

typedef struct hexad_weights {
  void *mapping;
  size_t bytes;
  const void *data; /* the first parameter */
} hexad_weights;

/* Maps the weights of `info` read-only from `path`, or from the file beside the
 * library that holds `info`. */
hexad_status hexad_weights_map(const hexad_model_info *info, const char *path,
                               hexad_message message, hexad_weights *weights);
void hexad_weights_unmap(hexad_weights *weights);

struct hexad_model {
  const hexad_model_info *info;
  hexad_weights weights;
};

/*===--- team.c
 * ------------------------------------------------------------===*/

/* A barrier for a fixed number of threads: the last one to arrive advances the
 * epoch. Each field that all threads write has a cache line of its own. */
typedef struct hexad_team {
  uint32_t threads;
  uint32_t spins; /* looks at the epoch before sleeping */
  uint32_t arrived __attribute__((aligned(64)));
  uint32_t epoch __attribute__((aligned(64)));
  uint32_t sleepers;
} hexad_team;

void hexad_team_init(hexad_team *team, uint32_t threads);

/* Arrives for `count` threads at once without waiting: for threads that do not
 * exist. */
void hexad_team_arrive(hexad_team *team, uint32_t count);

/*===--- door.c
 * ------------------------------------------------------------===*/

/* The sizes that a context was made for. */
typedef struct hexad_capacity {
  size_t tokens, segments, elements, query_tiles, pages;
} hexad_capacity;

/* The tables of enum hexad_pointer, each with room for the capacity. */
typedef struct hexad_tables {
  int32_t *row_element, *element_row, *positions, *segment_bounds,
      *segment_first, *segment_pages, *tile_segment, *tile_bounds, *page_bounds;
} hexad_tables;

/* Most query tiles or pages of `size` rows that `tokens` rows in at most
 * `segments` segments can make. */
size_t hexad_most_pieces(size_t tokens, size_t segments, size_t size);

/* Fills tables and extents for a rectangle. `mask` may be null: everything is
 * real. The extent of threads is left alone. */
hexad_status hexad_door_open(const hexad_model_info *info,
                             const hexad_capacity *capacity, size_t batch,
                             size_t seq, const int32_t *mask,
                             const hexad_tables *tables, int64_t *extents,
                             hexad_message message);

/* Are the real elements of an input in [0, limit)? */
hexad_status hexad_door_check_ids(const hexad_input_info *input, size_t seq,
                                  const int32_t *ids, int64_t tokens,
                                  const hexad_tables *tables,
                                  hexad_message message);

/*===--- context.c, forward.c
 * ----------------------------------------------===*/

#define HEXAD_MESSAGE_SIZE 512

/* A thread of the team that the context made. */
typedef struct hexad_worker {
  pthread_t handle;
  hexad_context *context;
  size_t thread;
} hexad_worker;

struct hexad_context {
  const hexad_model *model;
  hexad_team team;
  hexad_capacity capacity;
  hexad_tables tables;
  int64_t extents[HEXAD_EXTENT_COUNT];
  void **pointers; /* enum hexad_pointer, then inputs and outputs */
  hexad_worker *workers;
  size_t worker_count;
  int caller_threads;
  int stop;            /* workers leave at the next call */
  int busy;            /* a call is running */
  hexad_status status; /* of the call that is running */
  void *mapping;       /* what the context allocated itself; or null */
  size_t mapping_bytes;
  char message[HEXAD_MESSAGE_SIZE];
};

/* Runs the compiled code as `thread` of the team, under the floating-point
 * control that it was compiled for. */
void hexad_run_entry(hexad_context *context, size_t thread);

#ifdef __cplusplus
}
#endif

#endif /* HEXAD_LIB_RUNTIME_RUNTIME_H */
