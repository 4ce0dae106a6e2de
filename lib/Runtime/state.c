/*===- state.c - Saving and loading sessions ------------------------*- C -*-===
 *
 * Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * A saved state is a header, one entry for each cache, then for each cache the
 * pages from the entry's first to the position's, all layers of a page side by
 * side. Buffers have any alignment.
 */
#include "runtime.h"
#include <string.h>

#define MAGIC "HEXADSES"
#define VERSION 1u

typedef struct state_header {
  char magic[8];
  uint32_t version;
  int32_t caches;
  uint64_t checksum; /* of everything else */
  uint64_t bytes;    /* of everything */
  uint64_t fingerprint;
  int32_t page;
  int32_t tile_rows; /* the layout of pages differs between targets */
  uint64_t position;
} state_header;

typedef struct state_cache {
  int64_t page_bytes;
  int32_t layers;
  int32_t window;
  int64_t first; /* page */
} state_cache;

/* Continues a checksum. Each step maps words one to one, so that no single
 * damaged word goes unnoticed. */
static uint64_t add_to_checksum(uint64_t sum, const void *data, size_t bytes) {
  const char *from = data;
  for (; bytes; from += 8) {
    uint64_t word = 0;
    size_t size = bytes < 8 ? bytes : 8;
    memcpy(&word, from, size);
    sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    sum ^= sum >> 29;
    bytes -= size;
  }
  return sum;
}

/* Of a whole state; what stands for the checksum itself does not count. */
static uint64_t checksum_of(const char *state, size_t bytes) {
  state_header header;
  memcpy(&header, state, sizeof(header));
  header.checksum = 0;
  uint64_t sum = add_to_checksum(0, &header, sizeof(header));
  return add_to_checksum(sum, state + sizeof(header), bytes - sizeof(header));
}

static hexad_message own_message(hexad_session *session) {
  hexad_message message = {session->message, sizeof(session->message)};
  return message;
}

/* Everything but the checksum. */
static state_header describe(const hexad_session *session) {
  const hexad_model_info *info = session->model->info;
  state_header header = {.version = VERSION,
                         .caches = info->cache_count,
                         .fingerprint = info->fingerprint,
                         .page = info->page,
                         .tile_rows = info->tile_rows,
                         .position = session->position};
  memcpy(header.magic, MAGIC, sizeof(header.magic));
  size_t bytes = sizeof(header);
  int64_t last = hexad_session_last_page(info, session->position);
  for (int32_t i = 0; i < info->cache_count; ++i)
    bytes +=
        sizeof(state_cache) + (size_t)((last + 1 - session->caches[i].held) *
                                       session->caches[i].place.slot_stride);
  header.bytes = bytes;
  return header;
}

hexad_status hexad_runtime_session_saved_size(hexad_session *session,
                                              size_t *bytes) {
  if (!session || !bytes)
    return HEXAD_INVALID_ARGUMENT;
  *bytes = 0;
  if (!hexad_session_take(session))
    return HEXAD_SESSION_BUSY;
  *bytes = describe(session).bytes;
  hexad_session_release(session);
  return HEXAD_OK;
}

static hexad_status save(hexad_session *session, char *buffer, size_t size) {
  const hexad_model_info *info = session->model->info;
  state_header header = describe(session);
  if (!buffer || size < header.bytes)
    return hexad_fail(own_message(session), HEXAD_INVALID_ARGUMENT,
                      "the buffer is null or has %zu bytes, the state needs "
                      "%zu",
                      size, (size_t)header.bytes);
  char *to = buffer + sizeof(header);
  for (int32_t i = 0; i < info->cache_count; ++i) {
    const hexad_cache_info *cache = &info->caches[i];
    state_cache entry = {cache->page_bytes, cache->layers, cache->window,
                         session->caches[i].held};
    memcpy(to, &entry, sizeof(entry));
    to += sizeof(entry);
  }
  int64_t last = hexad_session_last_page(info, session->position);
  for (int32_t i = 0; i < info->cache_count; ++i) {
    size_t bytes = (size_t)session->caches[i].place.slot_stride;
    for (int64_t page = session->caches[i].held; page <= last; ++page) {
      memcpy(to, hexad_session_page(session, i, page), bytes);
      to += bytes;
    }
  }
  memcpy(buffer, &header, sizeof(header));
  header.checksum = checksum_of(buffer, header.bytes);
  memcpy(buffer, &header, sizeof(header));
  return HEXAD_OK;
}

hexad_status hexad_runtime_session_save(hexad_session *session, void *buffer,
                                        size_t size) {
  if (!session)
    return HEXAD_INVALID_ARGUMENT;
  if (!hexad_session_take(session))
    return HEXAD_SESSION_BUSY;
  session->message[0] = '\0';
  hexad_status status = save(session, buffer, size);
  hexad_session_release(session);
  return status;
}

/* Is this a whole state that the session's model has saved? Nothing in the
 * buffer is believed before. */
static hexad_status check(hexad_session *session, const char *buffer,
                          size_t size, state_header *header) {
  const hexad_model_info *info = session->model->info;
  hexad_message message = own_message(session);
  if (size < sizeof(*header))
    return hexad_fail(message, HEXAD_STATE_MISMATCH,
                      "the state is truncated: it has %zu bytes, less than its "
                      "header",
                      size);
  memcpy(header, buffer, sizeof(*header));
  if (memcmp(header->magic, MAGIC, sizeof(header->magic)) != 0)
    return hexad_fail(message, HEXAD_STATE_MISMATCH,
                      "the buffer does not hold the state of a session");
  if (header->version != VERSION)
    return hexad_fail(message, HEXAD_STATE_MISMATCH,
                      "the state has format version %u, this library reads "
                      "version %u",
                      header->version, VERSION);
  if (header->fingerprint != info->fingerprint || header->page != info->page ||
      header->tile_rows != info->tile_rows ||
      header->caches != info->cache_count)
    return hexad_fail(message, HEXAD_STATE_MISMATCH,
                      "the state was saved by another model or another build "
                      "of it: its fingerprint is %016llx, expected is %016llx",
                      (unsigned long long)header->fingerprint,
                      (unsigned long long)info->fingerprint);
  if (header->bytes > size)
    return hexad_fail(message, HEXAD_STATE_MISMATCH,
                      "the state is truncated: it has %zu bytes and should "
                      "have %llu",
                      size, (unsigned long long)header->bytes);
  size_t entries = (size_t)info->cache_count * sizeof(state_cache);
  if (header->bytes < sizeof(*header) + entries ||
      checksum_of(buffer, header->bytes) != header->checksum)
    return hexad_fail(message, HEXAD_STATE_MISMATCH, "the state is damaged");
  if (header->position > session->capacity)
    return hexad_fail(message, HEXAD_CAPACITY_EXCEEDED,
                      "the state is at position %llu, the capacity of the "
                      "session is %zu",
                      (unsigned long long)header->position, session->capacity);

  uint64_t bytes = sizeof(*header) + entries;
  int64_t last = hexad_session_last_page(info, header->position);
  for (int32_t i = 0; i < info->cache_count; ++i) {
    const hexad_cache_info *cache = &info->caches[i];
    state_cache entry;
    memcpy(&entry, buffer + sizeof(*header) + (size_t)i * sizeof(entry),
           sizeof(entry));
    if (entry.page_bytes != cache->page_bytes ||
        entry.layers != cache->layers || entry.window != cache->window)
      return hexad_fail(message, HEXAD_STATE_MISMATCH,
                        "cache %d of the state has another shape than that of "
                        "the model",
                        (int)i);
    if (entry.first < 0 || entry.first > last + 1 ||
        (header->position &&
         entry.first >
             hexad_session_needed_page(info, cache->window, header->position)))
      return hexad_fail(message, HEXAD_STATE_MISMATCH, "the state is damaged");
    bytes += (uint64_t)(last + 1 - entry.first) *
             (uint64_t)session->caches[i].place.slot_stride;
  }
  if (bytes != header->bytes)
    return hexad_fail(message, HEXAD_STATE_MISMATCH, "the state is damaged");
  return HEXAD_OK;
}

static hexad_status load(hexad_session *session, const char *buffer,
                         size_t size) {
  const hexad_model_info *info = session->model->info;
  state_header header;
  if (!buffer)
    return hexad_fail(own_message(session), HEXAD_INVALID_ARGUMENT,
                      "the buffer is null");
  hexad_status status = check(session, buffer, size, &header);
  if (status != HEXAD_OK)
    return status;
  const char *entries = buffer + sizeof(header);
  const char *from = entries + (size_t)info->cache_count * sizeof(state_cache);
  int64_t last = hexad_session_last_page(info, header.position);
  for (int32_t i = 0; i < info->cache_count; ++i) {
    hexad_session_cache *cache = &session->caches[i];
    size_t bytes = (size_t)cache->place.slot_stride;
    state_cache entry;
    memcpy(&entry, entries + (size_t)i * sizeof(entry), sizeof(entry));
    cache->held =
        hexad_session_first_page(session, i, header.position, entry.first);
    for (int64_t page = entry.first; page <= last; ++page) {
      if (page >= cache->held)
        memcpy(hexad_session_page(session, i, page), from, bytes);
      from += bytes;
    }
  }
  session->position = header.position;
  return HEXAD_OK;
}

hexad_status hexad_runtime_session_load(hexad_session *session,
                                        const void *buffer, size_t size) {
  if (!session)
    return HEXAD_INVALID_ARGUMENT;
  if (!hexad_session_take(session))
    return HEXAD_SESSION_BUSY;
  session->message[0] = '\0';
  hexad_status status = load(session, buffer, size);
  hexad_session_release(session);
  return status;
}
