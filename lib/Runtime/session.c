/*===- session.c - What a model remembers of a sequence -------------*- C -*-===
 *
 * Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/
#include "runtime.h"
#include <string.h>
#include <sys/mman.h>

#define ALIGNMENT 64
#define DEFAULT_SLACK 512

static hexad_message own_message(hexad_session *session) {
  hexad_message message = {session->message, sizeof(session->message)};
  return message;
}

int64_t hexad_session_last_page(const hexad_model_info *info, size_t position) {
  return ((int64_t)position + info->page - 1) / info->page - 1;
}

int64_t hexad_session_needed_page(const hexad_model_info *info, int32_t window,
                                  size_t position) {
  int64_t first = window ? (int64_t)position - window + 1 : 0;
  return first > 0 ? first / info->page : 0;
}

/* Pages of one layer of a cache: all, or as many as the positions that
 * rewinding by `slack` needs can lie in. */
static size_t slot_count(const hexad_model_info *info, int32_t window,
                         size_t capacity, size_t slack) {
  size_t page = (size_t)info->page;
  size_t all = (capacity + page - 1) / page;
  if (!window)
    return all;
  size_t some = ((size_t)window - 1 + slack + page - 1) / page + 1;
  return some < all ? some : all;
}

/* What the options come to. Offsets from an address that is a multiple of
 * ALIGNMENT; the session itself is at 0, the array of its caches follows. */
typedef struct layout {
  size_t capacity, slack;
  size_t caches, pages; /* the first cache's; the others' lie behind */
  size_t total;
} layout;

static size_t round_up(size_t bytes) {
  return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static hexad_status plan(const hexad_model_info *info,
                         const hexad_session_options *options,
                         hexad_message message, layout *layout) {
  if (!info->cache_count)
    return hexad_fail(message, HEXAD_INVALID_ARGUMENT,
                      "the model keeps nothing: it has no sessions");
  size_t most = info->position_limit ? (size_t)info->position_limit
                                     : (size_t)INT32_MAX - HEXAD_ROW_GRANULE;
  if (options->capacity == 0 || options->capacity > most)
    return hexad_fail(message, HEXAD_INVALID_ARGUMENT,
                      "capacity is %zu, it must be at least 1 and at most %zu",
                      options->capacity, most);
  layout->capacity = options->capacity;
  layout->slack = options->slack ? options->slack : DEFAULT_SLACK;
  if (layout->slack > layout->capacity)
    layout->slack = layout->capacity;
  layout->caches = round_up(sizeof(hexad_session));
  layout->pages = layout->caches + round_up((size_t)info->cache_count *
                                            sizeof(hexad_session_cache));
  layout->total = layout->pages;
  for (int32_t i = 0; i < info->cache_count; ++i) {
    const hexad_cache_info *cache = &info->caches[i];
    size_t bytes =
        slot_count(info, cache->window, layout->capacity, layout->slack);
    if (__builtin_mul_overflow(bytes, (size_t)cache->layers, &bytes) ||
        __builtin_mul_overflow(bytes, (size_t)cache->page_bytes, &bytes) ||
        __builtin_add_overflow(layout->total, bytes, &layout->total) ||
        layout->total > PTRDIFF_MAX - ALIGNMENT)
      return hexad_fail(message, HEXAD_OUT_OF_MEMORY,
                        "the capacity needs more memory than can be addressed");
  }
  return HEXAD_OK;
}

hexad_status hexad_runtime_session_size(const hexad_model *model,
                                        const hexad_session_options *options,
                                        size_t *bytes) {
  if (!model || !options || !bytes)
    return HEXAD_INVALID_ARGUMENT;
  hexad_message message = {options->message, options->message_size};
  hexad_fail(message, HEXAD_OK, "%s", "");
  layout layout;
  hexad_status status = plan(model->info, options, message, &layout);
  /* The caller's memory may begin anywhere. */
  *bytes = status == HEXAD_OK ? layout.total + ALIGNMENT - 1 : 0;
  return status;
}

/* A session in memory that has room for the layout; its contents are left as
 * they are where pages lie. */
static hexad_session *assemble(char *base, const layout *layout,
                               const hexad_model *model) {
  const hexad_model_info *info = model->info;
  hexad_session *session = (hexad_session *)base;
  memset(session, 0, sizeof(*session));
  session->model = model;
  session->capacity = layout->capacity;
  session->most_step = layout->capacity;
  session->caches = (hexad_session_cache *)(base + layout->caches);
  char *pages = base + layout->pages;
  for (int32_t i = 0; i < info->cache_count; ++i) {
    const hexad_cache_info *cache = &info->caches[i];
    size_t slots =
        slot_count(info, cache->window, layout->capacity, layout->slack);
    int64_t stride = cache->page_bytes * cache->layers;
    session->caches[i] = (hexad_session_cache){
        {(int64_t)(intptr_t)pages, (int64_t)slots, stride, cache->page_bytes},
        0};
    pages += (int64_t)slots * stride;
    if (slots < slot_count(info, 0, layout->capacity, 0))
      session->most_step = layout->slack;
  }
  return session;
}

hexad_status hexad_runtime_session_create(const hexad_model *model,
                                          const hexad_session_options *options,
                                          hexad_session **session) {
  if (!model || !options || !session)
    return HEXAD_INVALID_ARGUMENT;
  *session = NULL;
  hexad_message message = {options->message, options->message_size};
  hexad_fail(message, HEXAD_OK, "%s", "");
  layout layout;
  hexad_status status = plan(model->info, options, message, &layout);
  if (status != HEXAD_OK)
    return status;
  size_t needed = layout.total + ALIGNMENT - 1;
  if (options->memory && options->memory_size < needed)
    return hexad_fail(message, HEXAD_INVALID_ARGUMENT,
                      "memory_size is %zu, the session needs %zu bytes",
                      options->memory_size, needed);
  char *memory = options->memory ? options->memory : hexad_map_memory(needed);
  if (!memory)
    return hexad_fail(message, HEXAD_OUT_OF_MEMORY,
                      "not enough memory: the session needs %zu bytes", needed);
  uintptr_t address =
      ((uintptr_t)memory + ALIGNMENT - 1) & -(uintptr_t)ALIGNMENT;
  hexad_session *made = assemble((char *)address, &layout, model);
  if (!options->memory) {
    made->mapping = memory;
    made->mapping_bytes = needed;
  }
  *session = made;
  return HEXAD_OK;
}

void hexad_runtime_session_destroy(hexad_session *session) {
  if (session && session->mapping)
    munmap(session->mapping, session->mapping_bytes);
}

size_t hexad_runtime_session_position(const hexad_session *session) {
  return session ? session->position : 0;
}

const char *hexad_runtime_session_message(const hexad_session *session) {
  return session ? session->message : "";
}

int hexad_session_take(hexad_session *session) {
  return !__atomic_exchange_n(&session->busy, 1, __ATOMIC_ACQUIRE);
}

void hexad_session_release(hexad_session *session) {
  __atomic_store_n(&session->busy, 0, __ATOMIC_RELEASE);
}

void hexad_session_advance(hexad_session *session, size_t count) {
  const hexad_model_info *info = session->model->info;
  session->position += count;
  int64_t last = hexad_session_last_page(info, session->position);
  for (int32_t i = 0; i < info->cache_count; ++i) {
    hexad_session_cache *cache = &session->caches[i];
    int64_t first = last - cache->place.slots + 1;
    if (first > cache->held)
      cache->held = first;
  }
}

static hexad_status rewind_to(hexad_session *session, size_t position) {
  const hexad_model_info *info = session->model->info;
  if (position > session->position)
    return hexad_fail(own_message(session), HEXAD_INVALID_ARGUMENT,
                      "cannot rewind to %zu: the session is at position %zu",
                      position, session->position);
  /* From the beginning nothing is needed and everything is written anew. */
  for (int32_t i = 0; position && i < info->cache_count; ++i) {
    int32_t window = info->caches[i].window;
    if (hexad_session_needed_page(info, window, position) <
        session->caches[i].held)
      return hexad_fail(own_message(session), HEXAD_REWIND_TOO_FAR,
                        "cannot rewind from %zu to %zu: a layer with a window "
                        "of %d positions no longer holds what lies before; "
                        "create the session with more slack",
                        session->position, position, (int)window);
  }
  for (int32_t i = 0; !position && i < info->cache_count; ++i)
    session->caches[i].held = 0;
  session->position = position;
  return HEXAD_OK;
}

hexad_status hexad_runtime_session_rewind(hexad_session *session,
                                          size_t position) {
  if (!session)
    return HEXAD_INVALID_ARGUMENT;
  if (!hexad_session_take(session))
    return HEXAD_SESSION_BUSY;
  session->message[0] = '\0';
  hexad_status status = rewind_to(session, position);
  hexad_session_release(session);
  return status;
}

char *hexad_session_page(const hexad_session *session, int32_t cache,
                         int64_t page) {
  const hexad_cache_place *place = &session->caches[cache].place;
  return (char *)(intptr_t)(place->base +
                            page % place->slots * place->slot_stride);
}

int64_t hexad_session_first_page(const hexad_session *session, int32_t cache,
                                 size_t position, int64_t held) {
  int64_t last = hexad_session_last_page(session->model->info, position);
  int64_t first = last - session->caches[cache].place.slots + 1;
  return first > held ? first : held;
}

/* The destination is the caller's. */
static hexad_status copy(hexad_session *destination,
                         const hexad_session *source) {
  const hexad_model_info *info = source->model->info;
  if (source->position > destination->capacity)
    return hexad_fail(own_message(destination), HEXAD_CAPACITY_EXCEEDED,
                      "the source is at position %zu, the capacity of the "
                      "destination is %zu",
                      source->position, destination->capacity);
  int64_t last = hexad_session_last_page(info, source->position);
  for (int32_t i = 0; i < info->cache_count; ++i) {
    int64_t first = hexad_session_first_page(destination, i, source->position,
                                             source->caches[i].held);
    for (int64_t page = first; page <= last; ++page)
      memcpy(hexad_session_page(destination, i, page),
             hexad_session_page(source, i, page),
             (size_t)source->caches[i].place.slot_stride);
    destination->caches[i].held = first;
  }
  destination->position = source->position;
  return HEXAD_OK;
}

hexad_status hexad_runtime_session_fork(hexad_session *destination,
                                        hexad_session *source) {
  if (!destination || !source)
    return HEXAD_INVALID_ARGUMENT;
  if (!hexad_session_take(destination))
    return HEXAD_SESSION_BUSY;
  destination->message[0] = '\0';
  hexad_status status;
  if (destination == source)
    status = hexad_fail(own_message(destination), HEXAD_INVALID_ARGUMENT,
                        "source and destination are one session");
  else if (destination->model != source->model)
    status = hexad_fail(own_message(destination), HEXAD_INVALID_ARGUMENT,
                        "source and destination are sessions of two models");
  else if (!hexad_session_take(source))
    status = hexad_fail(own_message(destination), HEXAD_SESSION_BUSY,
                        "the source is in use by another call");
  else {
    status = copy(destination, source);
    hexad_session_release(source);
  }
  hexad_session_release(destination);
  return status;
}
