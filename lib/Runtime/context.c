/*===- context.c - Contexts: capacity, memory and workers -----------*- C -*-===
 *
 * Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/
#include "runtime.h"
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#define ALIGNMENT 64
#define MOST_THREADS 1024

/* Where the parts of a context lie in its memory. Offsets from an address that
 * is a multiple of ALIGNMENT; the context itself is at 0. */
typedef struct layout {
  hexad_capacity capacity;
  uint32_t threads;
  size_t pointers, workers, row_element, element_row, positions, segment_bounds,
      segment_first, segment_pages, selected_row, selected_element,
      tile_segment, tile_bounds, page_bounds, page_segment, labels, caches,
      pages, tokens, extended, arena;
  size_t arena_bytes;
  size_t total;
  int overflow;
} layout;

/* Appends an array; returns its offset. */
static size_t place(layout *layout, size_t count, size_t size) {
  size_t offset = layout->total, bytes;
  if (__builtin_mul_overflow(count, size, &bytes) ||
      __builtin_add_overflow(bytes, ALIGNMENT - 1, &bytes) ||
      __builtin_add_overflow(offset, bytes / ALIGNMENT * ALIGNMENT,
                             &layout->total))
    layout->overflow = 1;
  return offset;
}

/* The expression of abi.h's hexad_arena_size. */
static size_t arena_bytes(const hexad_arena_size *size, const int64_t *extents,
                          int *overflow) {
  int64_t total = size->constant, term;
  for (int i = 0; i < HEXAD_EXTENT_COUNT; ++i)
    if (__builtin_mul_overflow(size->per_extent[i], extents[i], &term) ||
        __builtin_add_overflow(total, term, &total))
      *overflow = 1;
  return (size_t)total;
}

static size_t granules(size_t count) {
  return (count + HEXAD_ROW_GRANULE - 1) / HEXAD_ROW_GRANULE *
         HEXAD_ROW_GRANULE;
}

/* Whether there is an input of labels. */
static int has_labels(const hexad_model_info *info) {
  for (int32_t i = 0; i < info->input_count; ++i)
    if (hexad_is_labels(&info->inputs[i]))
      return 1;
  return 0;
}

/* Whether there is an output of which rows are selected. */
static int has_selection(const hexad_model_info *info) {
  for (int32_t i = 0; i < info->output_count; ++i)
    if (info->outputs[i].kind == HEXAD_OUTPUT_SELECTED)
      return 1;
  return 0;
}

/* Caches of segments without a session lie in the same place, one after the
 * other: as large as the largest. Those that are read later in the call lie
 * behind, each in a place of its own. */
int64_t hexad_context_page_bytes(const hexad_model_info *info,
                                 int64_t *kept_at) {
  int64_t most = 0, kept = 0;
  for (int32_t i = 0; i < info->cache_count; ++i)
    if (info->caches[i].kept)
      kept += info->caches[i].page_bytes;
    else if (info->caches[i].page_bytes > most)
      most = info->caches[i].page_bytes;
  *kept_at = most;
  return most + kept;
}

static hexad_status plan(const hexad_model *model,
                         const hexad_context_options *options,
                         hexad_message message, layout *layout) {
  /* Rows and elements are counted in int32_t by the compiled code. */
  const size_t most = (size_t)INT32_MAX - HEXAD_ROW_GRANULE;
  const hexad_model_info *info = model->info;
  memset(layout, 0, sizeof(*layout));
  hexad_capacity *capacity = &layout->capacity;
  capacity->tokens = options->max_tokens;
  capacity->segments = options->max_segments;
  if (capacity->tokens == 0 &&
      __builtin_mul_overflow(capacity->segments, hexad_image_tokens(info),
                             &capacity->tokens))
    capacity->tokens = SIZE_MAX; /* refused below */
  capacity->elements =
      options->max_elements ? options->max_elements : capacity->tokens;
  if (has_selection(info))
    capacity->selected =
        options->max_logits ? options->max_logits : capacity->tokens;
  size_t threads = options->threads ? options->threads : hexad_cpu_count();
  if (capacity->tokens == 0 || capacity->segments == 0)
    return hexad_fail(message, HEXAD_INVALID_ARGUMENT,
                      "max_tokens and max_segments must be at least 1");
  if (capacity->tokens > most || capacity->segments > most ||
      capacity->elements > most || capacity->selected > most)
    return hexad_fail(message, HEXAD_INVALID_ARGUMENT,
                      "max_tokens, max_segments, max_elements and max_logits "
                      "must be at most %zu",
                      most);
  if (threads > MOST_THREADS && options->threads)
    return hexad_fail(message, HEXAD_INVALID_ARGUMENT,
                      "threads is %zu, at most %d are possible", threads,
                      MOST_THREADS);
  layout->threads = (uint32_t)(threads < MOST_THREADS ? threads : MOST_THREADS);
  capacity->query_tiles = hexad_most_pieces(
      capacity->tokens, capacity->segments, (size_t)info->query_tile);
  capacity->pages =
      hexad_most_pages(info, capacity->tokens, capacity->segments);

  size_t rows = granules(capacity->tokens);
  size_t segment_rows = granules(capacity->segments);
  size_t selected_rows = granules(capacity->selected);
  size_t tile_rows = (size_t)info->tile_rows;
  const int64_t extents[HEXAD_EXTENT_COUNT] = {
      [HEXAD_EXTENT_THREADS] = layout->threads,
      [HEXAD_EXTENT_ROWS] = (int64_t)rows,
      [HEXAD_EXTENT_TOKENS] = (int64_t)capacity->tokens,
      [HEXAD_EXTENT_STRIPS] =
          (int64_t)((capacity->tokens + tile_rows - 1) / tile_rows),
      [HEXAD_EXTENT_SEGMENTS] = (int64_t)capacity->segments,
      [HEXAD_EXTENT_SEGMENT_ROWS] = (int64_t)segment_rows,
      [HEXAD_EXTENT_SEGMENT_STRIPS] =
          (int64_t)((capacity->segments + tile_rows - 1) / tile_rows),
      [HEXAD_EXTENT_SELECTED] = (int64_t)capacity->selected,
      [HEXAD_EXTENT_SELECTED_ROWS] = (int64_t)selected_rows,
      [HEXAD_EXTENT_SELECTED_STRIPS] =
          (int64_t)((capacity->selected + tile_rows - 1) / tile_rows),
      [HEXAD_EXTENT_QUERY_TILES] = (int64_t)capacity->query_tiles,
      [HEXAD_EXTENT_PAGES] = (int64_t)capacity->pages,
      [HEXAD_EXTENT_ELEMENTS] = (int64_t)capacity->elements};

  place(layout, 1, sizeof(hexad_context));
  layout->pointers =
      place(layout,
            (size_t)HEXAD_POINTER_COUNT + (size_t)info->input_count +
                (size_t)info->output_count,
            sizeof(void *));
  layout->workers = place(layout, layout->threads, sizeof(hexad_worker));
  layout->row_element = place(layout, rows, sizeof(int32_t));
  layout->element_row = place(layout, capacity->elements, sizeof(int32_t));
  layout->positions = place(layout, rows, sizeof(int32_t));
  layout->segment_bounds = place(layout, segment_rows + 1, sizeof(int32_t));
  layout->segment_first = place(layout, segment_rows, sizeof(int32_t));
  layout->segment_pages =
      place(layout, capacity->segments + 1, sizeof(int32_t));
  layout->selected_row = place(layout, selected_rows, sizeof(int32_t));
  layout->selected_element = place(layout, selected_rows, sizeof(int32_t));
  layout->tile_segment = place(layout, capacity->query_tiles, sizeof(int32_t));
  layout->tile_bounds =
      place(layout, capacity->query_tiles, 2 * sizeof(int32_t));
  layout->page_bounds = place(layout, capacity->pages, 2 * sizeof(int32_t));
  layout->page_segment = place(layout, capacity->pages, sizeof(int32_t));
  if (has_labels(info))
    layout->labels = place(layout, rows > segment_rows ? rows : segment_rows,
                           sizeof(int32_t));
  if (info->cache_count) {
    layout->caches =
        place(layout, capacity->segments,
              (size_t)info->cache_count * sizeof(hexad_cache_place));
    int64_t kept_at;
    layout->pages = place(layout, capacity->pages,
                          (size_t)hexad_context_page_bytes(info, &kept_at));
    layout->tokens = place(layout, capacity->tokens, sizeof(int32_t));
    layout->extended = place(layout, capacity->segments, sizeof(size_t));
  }
  layout->arena_bytes = arena_bytes(&info->arena, extents, &layout->overflow);
  layout->arena = place(layout, layout->arena_bytes, 1);
  if (layout->overflow || layout->total > PTRDIFF_MAX - ALIGNMENT)
    return hexad_fail(message, HEXAD_OUT_OF_MEMORY,
                      "the capacity needs more memory than can be addressed");
  return HEXAD_OK;
}

hexad_status hexad_runtime_context_size(const hexad_model *model,
                                        const hexad_context_options *options,
                                        size_t *bytes) {
  if (!model || !options || !bytes)
    return HEXAD_INVALID_ARGUMENT;
  hexad_message message = {options->message, options->message_size};
  hexad_fail(message, HEXAD_OK, "%s", "");
  layout layout;
  hexad_status status = plan(model, options, message, &layout);
  /* The caller's memory may begin anywhere. */
  *bytes = status == HEXAD_OK ? layout.total + ALIGNMENT - 1 : 0;
  return status;
}

static void *work(void *argument) {
  const hexad_worker *self = argument;
  hexad_context *context = self->context;
  for (;;) {
    hexad_team_barrier(&context->team);
    if (__atomic_load_n(&context->stop, __ATOMIC_RELAXED))
      return NULL;
    hexad_run_entry(context, self->thread);
    hexad_team_barrier(&context->team);
  }
}

/* Lets the workers leave; `missing` of the team's threads do not exist. */
static void stop_workers(hexad_context *context, uint32_t missing) {
  __atomic_store_n(&context->stop, 1, __ATOMIC_RELAXED);
  hexad_team_arrive(&context->team, 1 + missing);
  for (size_t i = 0; i < context->worker_count; ++i)
    pthread_join(context->workers[i].handle, NULL);
}

/* Makes the threads 1 … threads - 1 of the team. */
static int start_workers(hexad_context *context) {
  if (context->caller_threads || context->team.threads == 1)
    return 0;
  /* Signals are for the program's own threads. */
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = 0;
  for (uint32_t thread = 1; thread < context->team.threads; ++thread) {
    hexad_worker *worker = &context->workers[context->worker_count];
    worker->context = context;
    worker->thread = thread;
    error = pthread_create(&worker->handle, NULL, work, worker);
    if (error)
      break;
    ++context->worker_count;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (error)
    stop_workers(context,
                 context->team.threads - 1 - (uint32_t)context->worker_count);
  return error;
}

/* A context in memory that is zero and has room for the layout. */
static hexad_context *assemble(char *base, const layout *layout,
                               const hexad_model *model,
                               const hexad_context_options *options) {
  hexad_context *context = (hexad_context *)base;
  context->model = model;
  context->capacity = layout->capacity;
  context->caller_threads = options->caller_threads != 0;
  hexad_team_init(&context->team, layout->threads);
  context->workers = (hexad_worker *)(base + layout->workers);
  context->pointers = (void **)(base + layout->pointers);

  hexad_tables *tables = &context->tables;
  tables->row_element = (int32_t *)(base + layout->row_element);
  tables->element_row = (int32_t *)(base + layout->element_row);
  tables->positions = (int32_t *)(base + layout->positions);
  tables->segment_bounds = (int32_t *)(base + layout->segment_bounds);
  tables->segment_first = (int32_t *)(base + layout->segment_first);
  tables->segment_pages = (int32_t *)(base + layout->segment_pages);
  tables->selected_row = (int32_t *)(base + layout->selected_row);
  tables->selected_element = (int32_t *)(base + layout->selected_element);
  tables->tile_segment = (int32_t *)(base + layout->tile_segment);
  tables->tile_bounds = (int32_t *)(base + layout->tile_bounds);
  tables->page_bounds = (int32_t *)(base + layout->page_bounds);
  tables->page_segment = (int32_t *)(base + layout->page_segment);
  if (has_labels(model->info))
    tables->labels = (int32_t *)(base + layout->labels);
  if (model->info->cache_count) {
    tables->caches = (hexad_cache_place *)(base + layout->caches);
    context->pages = base + layout->pages;
    context->tokens = (int32_t *)(base + layout->tokens);
    context->extended = (size_t *)(base + layout->extended);
  }

  context->extents[HEXAD_EXTENT_THREADS] = layout->threads;
  void **pointers = context->pointers;
  pointers[HEXAD_POINTER_ARENA] = base + layout->arena;
  /* Compiled code only reads them. */
  pointers[HEXAD_POINTER_WEIGHTS] = (void *)(uintptr_t)model->weights.data;
  pointers[HEXAD_POINTER_TEAM] = &context->team;
  pointers[HEXAD_POINTER_ROW_ELEMENT] = tables->row_element;
  pointers[HEXAD_POINTER_ELEMENT_ROW] = tables->element_row;
  pointers[HEXAD_POINTER_POSITIONS] = tables->positions;
  pointers[HEXAD_POINTER_SEGMENT_BOUNDS] = tables->segment_bounds;
  pointers[HEXAD_POINTER_SEGMENT_FIRST] = tables->segment_first;
  pointers[HEXAD_POINTER_SEGMENT_PAGES] = tables->segment_pages;
  pointers[HEXAD_POINTER_CACHES] = tables->caches;
  pointers[HEXAD_POINTER_SELECTED_ROW] = tables->selected_row;
  pointers[HEXAD_POINTER_SELECTED_ELEMENT] = tables->selected_element;
  pointers[HEXAD_POINTER_TILE_SEGMENT] = tables->tile_segment;
  pointers[HEXAD_POINTER_TILE_BOUNDS] = tables->tile_bounds;
  pointers[HEXAD_POINTER_PAGE_BOUNDS] = tables->page_bounds;
  pointers[HEXAD_POINTER_PAGE_SEGMENT] = tables->page_segment;
  pointers[HEXAD_POINTER_LABELS] = tables->labels;
  return context;
}

hexad_status hexad_runtime_context_create(const hexad_model *model,
                                          const hexad_context_options *options,
                                          hexad_context **context) {
  if (!model || !options || !context)
    return HEXAD_INVALID_ARGUMENT;
  *context = NULL;
  hexad_message message = {options->message, options->message_size};
  hexad_fail(message, HEXAD_OK, "%s", "");
  layout layout;
  hexad_status status = plan(model, options, message, &layout);
  if (status != HEXAD_OK)
    return status;

  size_t needed = layout.total + ALIGNMENT - 1;
  char *memory = options->memory;
  if (memory) {
    if (options->memory_size < needed)
      return hexad_fail(message, HEXAD_INVALID_ARGUMENT,
                        "memory_size is %zu, the context needs %zu bytes",
                        options->memory_size, needed);
    memset(memory, 0, needed);
  } else {
    memory = hexad_map_memory(needed);
    if (!memory)
      return hexad_fail(message, HEXAD_OUT_OF_MEMORY,
                        "not enough memory: the context needs %zu bytes",
                        needed);
  }
  uintptr_t address =
      ((uintptr_t)memory + ALIGNMENT - 1) & -(uintptr_t)ALIGNMENT;
  hexad_context *made = assemble((char *)address, &layout, model, options);
  if (!options->memory) {
    made->mapping = memory;
    made->mapping_bytes = needed;
  }
  int error = start_workers(made);
  if (error) {
    if (made->mapping)
      munmap(memory, needed);
    return hexad_fail(message, HEXAD_SYSTEM_ERROR,
                      "cannot make %u threads: error %d", layout.threads,
                      error);
  }
  *context = made;
  return HEXAD_OK;
}

void hexad_runtime_context_destroy(hexad_context *context) {
  if (!context)
    return;
  if (context->worker_count)
    stop_workers(context, 0);
  if (context->mapping)
    munmap(context->mapping, context->mapping_bytes);
}
