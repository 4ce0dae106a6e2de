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

/*===--- memory.c
 * ----------------------------------------------------------===*/

/* Zeros from the operating system; null if there are none. */
char *hexad_map_memory(size_t bytes);

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
  void *mapping; /* of the file, or of a copy of it */
  size_t bytes;
  const void *data; /* the first parameter */
} hexad_weights;

/* Loads the weights of `info`, read-only, from `path`, or from the file beside
 * the library that holds `info`. */
hexad_status hexad_weights_load(const hexad_model_info *info, const char *path,
                                hexad_weights_memory memory,
                                hexad_message message, hexad_weights *weights);
void hexad_weights_unload(hexad_weights *weights);

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

/*===--- tables.c
 * -----------------------------------------------------------===*/

/* The sizes that a context was made for. */
typedef struct hexad_capacity {
  size_t tokens, segments, elements, selected, query_tiles, pages;
} hexad_capacity;

/* The tables of enum hexad_pointer, each with room for the capacity. */
typedef struct hexad_tables {
  int32_t *row_element, *element_row, *positions, *segment_bounds,
      *segment_first, *segment_pages, *selected_row, *selected_element,
      *tile_segment, *tile_bounds, *page_bounds, *page_segment;
  int32_t *labels; /* null: the model has no input of labels */
  hexad_cache_place *caches;
} hexad_tables;

/* What has been written to the tables of a call so far. */
typedef struct hexad_table_writer {
  const hexad_model_info *info;
  const hexad_tables *tables;
  int64_t rows, segments, query_tiles, pages, selected;
} hexad_table_writer;

void hexad_tables_begin(hexad_table_writer *writer,
                        const hexad_model_info *info,
                        const hexad_tables *tables);

/* Adds a segment of `length` rows. The first is element `element` of the call's
 * inputs and stands at `position`; the others follow it. */
void hexad_tables_add_segment(hexad_table_writer *writer, int64_t element,
                              int64_t length, int64_t position);

/* Results of this row are wanted, as row `element` of the output. */
void hexad_tables_select(hexad_table_writer *writer, int64_t row,
                         int64_t element);

/* Fills what lies behind the last row and all extents but that of threads. */
void hexad_tables_end(const hexad_table_writer *writer, int64_t elements,
                      int64_t *extents);

/* Most query tiles of `size` rows that `tokens` rows in at most `segments`
 * segments can make. */
size_t hexad_most_pieces(size_t tokens, size_t segments, size_t size);

/* Bytes of a page of all caches of a segment without a session; those of the
 * caches that are kept begin at `kept_at`, in order. */
int64_t hexad_context_page_bytes(const hexad_model_info *info,
                                 int64_t *kept_at);

/* Most pages that these rows can lie in. Segments of a model with caches begin
 * anywhere in a page. */
size_t hexad_most_pages(const hexad_model_info *info, size_t tokens,
                        size_t segments);

/*===--- door.c
 * ------------------------------------------------------------===*/

/* Fills tables and extents for a rectangle. `mask` may be null: everything is
 * real. With `selects` results of every row are wanted. The extent of threads
 * and the places of caches are left alone. */
hexad_status hexad_door_open(const hexad_model_info *info,
                             const hexad_capacity *capacity, size_t batch,
                             size_t seq, const int32_t *mask, int selects,
                             const hexad_tables *tables, int64_t *extents,
                             hexad_message message);

/* Rows that each image becomes; 0 if the model has no input of images. */
size_t hexad_image_tokens(const hexad_model_info *info);

/* Are the real elements of an input in [0, limit)? */
hexad_status hexad_door_check_ids(const hexad_input_info *input, size_t seq,
                                  const int32_t *ids, int64_t tokens,
                                  const hexad_tables *tables,
                                  hexad_message message);

/* Is this an input of labels? */
int hexad_is_labels(const hexad_input_info *input);

/* Gives each row its label, if `wanted`. Are those of rows that have one in
 * [0, limit), or HEXAD_NO_LABEL? */
hexad_status hexad_door_take_labels(const hexad_input_info *input, size_t batch,
                                    size_t seq, const int32_t *labels,
                                    int wanted, const hexad_tables *tables,
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
  char *pages;      /* of segments that have no session */
  int32_t *tokens;  /* the ids of `extend`, one behind the other */
  size_t *extended; /* tokens of each extension that are done */
  int more;         /* another round of `extend` follows */
  int caller_threads;
  int stop;            /* workers leave at the next call */
  int busy;            /* a call is running */
  hexad_status status; /* of the call that is running */
  void *mapping;       /* what the context allocated itself; or null */
  size_t mapping_bytes;
  char message[HEXAD_MESSAGE_SIZE];
};

/* Begins a call: fails if another one is running, or if it must come from the
 * caller's own threads. */
hexad_status hexad_context_begin(hexad_context *context, const char *on);
void hexad_context_end(hexad_context *context);

/* Runs the compiled code as `thread` of the team, under the floating-point
 * control that it was compiled for. */
void hexad_run_entry(hexad_context *context, size_t thread);

/* The same on the team that the context made, the caller being thread 0. */
void hexad_run_team(hexad_context *context);

/*===--- session.c
 * ---------------------------------------------------------===*/

/* A cache of one session. */
typedef struct hexad_session_cache {
  hexad_cache_place place;
  int64_t held; /* the first page that has not been overwritten */
} hexad_session_cache;

struct hexad_session {
  const hexad_model *model;
  size_t capacity;
  size_t position;
  size_t most_step; /* tokens that one round may append */
  int busy;         /* a call is using it */
  hexad_session_cache *caches;
  void *mapping; /* what the session allocated itself; or null */
  size_t mapping_bytes;
  char message[HEXAD_MESSAGE_SIZE];
};

/* Takes the session for a call; 0 if another one has it. */
int hexad_session_take(hexad_session *session);
void hexad_session_release(hexad_session *session);

/* Notes that `count` positions behind the last one have been written. */
void hexad_session_advance(hexad_session *session, size_t count);

/* The page of the last of `position` positions; -1 if there is none. */
int64_t hexad_session_last_page(const hexad_model_info *info, size_t position);

/* The first page that a token at `position` looks at. */
int64_t hexad_session_needed_page(const hexad_model_info *info, int32_t window,
                                  size_t position);

/* The first page that a session can hold of `position` positions, of which the
 * pages from `held` on are there. */
int64_t hexad_session_first_page(const hexad_session *session, int32_t cache,
                                 size_t position, int64_t held);

/* Where a page of all layers lies; it has slot_stride bytes. */
char *hexad_session_page(const hexad_session *session, int32_t cache,
                         int64_t page);

#ifdef __cplusplus
}
#endif

#endif /* HEXAD_LIB_RUNTIME_RUNTIME_H */
