/*===- door.c - From rectangles with a mask to rows and segments ----*- C -*-===
 *
 * Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/
#include "runtime.h"

static int64_t ceil_div(int64_t value, int64_t size) {
  return (value + size - 1) / size;
}

static int64_t round_up(int64_t value, int64_t size) {
  return ceil_div(value, size) * size;
}

size_t hexad_most_pieces(size_t tokens, size_t segments, size_t size) {
  /* Each segment can begin a piece with one row; the rows left over fill
   * pieces. */
  size_t begun = segments < tokens ? segments : tokens;
  return begun + (tokens - begun) / size;
}

/* The run of elements that are not 0: [*first, *first + result). -1 if there is
 * more than one; then *first is the element behind the hole. */
static int64_t find_run(const int32_t *mask, int64_t seq, int64_t *first) {
  int64_t begin = 0;
  while (begin < seq && mask[begin] == 0)
    ++begin;
  int64_t end = begin;
  while (end < seq && mask[end] != 0)
    ++end;
  for (int64_t i = end; i < seq; ++i)
    if (mask[i] != 0) {
      *first = i;
      return -1;
    }
  *first = begin;
  return end - begin;
}

/* Cuts the rows [begin, end) into pieces of `size`; returns how many. */
static int64_t cut(int64_t begin, int64_t end, int64_t size, int32_t *bounds) {
  int64_t count = 0;
  for (int64_t row = begin; row < end; row += size, ++count) {
    bounds[2 * count] = (int32_t)row;
    bounds[2 * count + 1] = (int32_t)(end - row < size ? end : row + size);
  }
  return count;
}

hexad_status hexad_door_open(const hexad_model_info *info,
                             const hexad_capacity *capacity, size_t batch,
                             size_t seq, const int32_t *mask,
                             const hexad_tables *tables, int64_t *extents,
                             hexad_message message) {
  size_t elements;
  if (batch > capacity->segments)
    return hexad_fail(message, HEXAD_CAPACITY_EXCEEDED,
                      "batch is %zu, the context was created for max_segments "
                      "= %zu",
                      batch, capacity->segments);
  if (__builtin_mul_overflow(batch, seq, &elements) ||
      elements > capacity->elements)
    return hexad_fail(message, HEXAD_CAPACITY_EXCEEDED,
                      "batch * seq is %zu * %zu, the context was created for "
                      "max_elements = %zu",
                      batch, seq, capacity->elements);

  int64_t rows = 0, query_tiles = 0, pages = 0;
  for (size_t segment = 0; segment < batch; ++segment) {
    size_t element = segment * seq;
    int64_t first = 0, length = (int64_t)seq;
    if (mask)
      length = find_run(mask + element, (int64_t)seq, &first);
    if (length < 0)
      return hexad_fail(message, HEXAD_MASK_WITH_HOLE,
                        "batch row %zu of the mask has a hole: element %lld is "
                        "real again after padding",
                        segment, (long long)first);
    if (info->position_limit && length > info->position_limit)
      return hexad_fail(message, HEXAD_INPUT_OUT_OF_RANGE,
                        "batch row %zu has %lld tokens, the model has "
                        "positions for %d",
                        segment, (long long)length, (int)info->position_limit);
    if ((size_t)(rows + length) > capacity->tokens)
      return hexad_fail(message, HEXAD_CAPACITY_EXCEEDED,
                        "batch rows 0 to %zu have %lld tokens, the context was "
                        "created for max_tokens = %zu",
                        segment, (long long)(rows + length), capacity->tokens);

    int32_t *element_row = tables->element_row + element;
    for (int64_t i = 0; i < first; ++i)
      element_row[i] = -1;
    for (int64_t i = 0; i < length; ++i) {
      element_row[first + i] = (int32_t)(rows + i);
      tables->row_element[rows + i] = (int32_t)((int64_t)element + first + i);
      tables->positions[rows + i] = (int32_t)i;
    }
    for (int64_t i = first + length; i < (int64_t)seq; ++i)
      element_row[i] = -1;

    tables->segment_bounds[segment] = (int32_t)rows;
    tables->segment_first[segment] = length ? (int32_t)rows : -1;
    tables->segment_pages[segment] = (int32_t)pages;
    pages +=
        cut(rows, rows + length, info->page, tables->page_bounds + 2 * pages);
    int64_t tiles = cut(rows, rows + length, info->query_tile,
                        tables->tile_bounds + 2 * query_tiles);
    for (int64_t i = 0; i < tiles; ++i)
      tables->tile_segment[query_tiles + i] = (int32_t)segment;
    query_tiles += tiles;
    rows += length;
  }

  int64_t row_room = round_up(rows, HEXAD_ROW_GRANULE);
  int64_t segment_room = round_up((int64_t)batch, HEXAD_ROW_GRANULE);
  for (int64_t row = rows; row < row_room; ++row) {
    tables->row_element[row] = -1;
    tables->positions[row] = 0;
  }
  for (int64_t segment = (int64_t)batch; segment < segment_room; ++segment) {
    tables->segment_bounds[segment] = (int32_t)rows;
    tables->segment_first[segment] = -1;
  }
  tables->segment_bounds[segment_room] = (int32_t)rows;
  tables->segment_pages[batch] = (int32_t)pages;

  extents[HEXAD_EXTENT_ROWS] = row_room;
  extents[HEXAD_EXTENT_STRIPS] = ceil_div(rows, info->tile_rows);
  extents[HEXAD_EXTENT_SEGMENTS] = (int64_t)batch;
  extents[HEXAD_EXTENT_SEGMENT_ROWS] = segment_room;
  extents[HEXAD_EXTENT_SEGMENT_STRIPS] =
      ceil_div((int64_t)batch, info->tile_rows);
  extents[HEXAD_EXTENT_QUERY_TILES] = query_tiles;
  extents[HEXAD_EXTENT_PAGES] = pages;
  extents[HEXAD_EXTENT_ELEMENTS] = (int64_t)elements;
  return HEXAD_OK;
}

hexad_status hexad_door_check_ids(const hexad_input_info *input, size_t seq,
                                  const int32_t *ids, int64_t tokens,
                                  const hexad_tables *tables,
                                  hexad_message message) {
  for (int64_t row = 0; row < tokens; ++row) {
    size_t element = (size_t)tables->row_element[row];
    int32_t id = ids[element];
    if (id < 0 || id >= input->limit)
      return hexad_fail(message, HEXAD_INPUT_OUT_OF_RANGE,
                        "%s[%zu, %zu] is %d, it must be at least 0 and less "
                        "than %lld",
                        input->name, element / seq, element % seq, (int)id,
                        (long long)input->limit);
  }
  return HEXAD_OK;
}
