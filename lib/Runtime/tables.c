/*===- tables.c - What compiled code knows of a call's rows ---------*- C -*-===
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

size_t hexad_most_pages(const hexad_model_info *info, size_t tokens,
                        size_t segments) {
  /* Where a segment begins inside a page its first rows are a piece. */
  if (info->cache_count)
    segments = segments > tokens / 2 ? tokens : 2 * segments;
  return hexad_most_pieces(tokens, segments, (size_t)info->page);
}

size_t hexad_most_pieces(size_t tokens, size_t segments, size_t size) {
  /* Each segment can begin a piece with one row; the rows left over fill
   * pieces. */
  size_t begun = segments < tokens ? segments : tokens;
  return begun + (tokens - begun) / size;
}

void hexad_tables_begin(hexad_table_writer *writer,
                        const hexad_model_info *info,
                        const hexad_tables *tables) {
  *writer = (hexad_table_writer){.info = info, .tables = tables};
}

/* Cuts the rows [begin, end) into pieces of `size`, the first of which begins
 * `offset` rows in front of them; returns how many. */
static int64_t cut(int64_t begin, int64_t end, int64_t offset, int64_t size,
                   int32_t *bounds) {
  int64_t count = 0;
  for (int64_t row = begin; row < end; ++count) {
    int64_t next = row + size - offset;
    offset = 0;
    bounds[2 * count] = (int32_t)row;
    bounds[2 * count + 1] = (int32_t)(next < end ? next : end);
    row = next;
  }
  return count;
}

static void fill(int32_t *table, int64_t count, int64_t value) {
  for (int64_t i = 0; i < count; ++i)
    table[i] = (int32_t)value;
}

void hexad_tables_add_segment(hexad_table_writer *writer, int64_t element,
                              int64_t length, int64_t position) {
  const hexad_tables *tables = writer->tables;
  int64_t segment = writer->segments++, rows = writer->rows;
  for (int64_t i = 0; i < length; ++i) {
    tables->row_element[rows + i] = (int32_t)(element + i);
    tables->positions[rows + i] = (int32_t)(position + i);
  }
  tables->segment_bounds[segment] = (int32_t)rows;
  tables->segment_first[segment] = length ? (int32_t)rows : -1;
  tables->segment_pages[segment] = (int32_t)writer->pages;

  int64_t page = writer->info->page;
  int64_t pages = cut(rows, rows + length, position % page, page,
                      tables->page_bounds + 2 * writer->pages);
  fill(tables->page_segment + writer->pages, pages, segment);
  writer->pages += pages;
  int64_t tiles = cut(rows, rows + length, 0, writer->info->query_tile,
                      tables->tile_bounds + 2 * writer->query_tiles);
  fill(tables->tile_segment + writer->query_tiles, tiles, segment);
  writer->query_tiles += tiles;
  writer->rows += length;
}

void hexad_tables_select(hexad_table_writer *writer, int64_t row,
                         int64_t element) {
  const hexad_tables *tables = writer->tables;
  tables->selected_row[writer->selected] = (int32_t)row;
  tables->selected_element[writer->selected] = (int32_t)element;
  ++writer->selected;
}

void hexad_tables_end(const hexad_table_writer *writer, int64_t elements,
                      int64_t *extents) {
  const hexad_tables *tables = writer->tables;
  int64_t rows = writer->rows, segments = writer->segments;
  int64_t selected = writer->selected;
  int64_t row_room = round_up(rows, HEXAD_ROW_GRANULE);
  int64_t segment_room = round_up(segments, HEXAD_ROW_GRANULE);
  int64_t selected_room = round_up(selected, HEXAD_ROW_GRANULE);
  fill(tables->row_element + rows, row_room - rows, -1);
  fill(tables->positions + rows, row_room - rows, 0);
  fill(tables->segment_bounds + segments, segment_room - segments + 1, rows);
  fill(tables->segment_first + segments, segment_room - segments, -1);
  fill(tables->selected_row + selected, selected_room - selected, -1);
  fill(tables->selected_element + selected, selected_room - selected, -1);
  tables->segment_pages[segments] = (int32_t)writer->pages;
  /* Until the door gives them one. */
  if (tables->labels)
    fill(tables->labels, row_room > segment_room ? row_room : segment_room,
         HEXAD_NO_LABEL);

  int64_t tile_rows = writer->info->tile_rows;
  extents[HEXAD_EXTENT_ROWS] = row_room;
  extents[HEXAD_EXTENT_TOKENS] = rows;
  extents[HEXAD_EXTENT_STRIPS] = ceil_div(rows, tile_rows);
  extents[HEXAD_EXTENT_SEGMENTS] = segments;
  extents[HEXAD_EXTENT_SEGMENT_ROWS] = segment_room;
  extents[HEXAD_EXTENT_SEGMENT_STRIPS] = ceil_div(segments, tile_rows);
  extents[HEXAD_EXTENT_SELECTED] = selected;
  extents[HEXAD_EXTENT_SELECTED_ROWS] = selected_room;
  extents[HEXAD_EXTENT_SELECTED_STRIPS] = ceil_div(selected, tile_rows);
  extents[HEXAD_EXTENT_QUERY_TILES] = writer->query_tiles;
  extents[HEXAD_EXTENT_PAGES] = writer->pages;
  extents[HEXAD_EXTENT_ELEMENTS] = elements;
}
