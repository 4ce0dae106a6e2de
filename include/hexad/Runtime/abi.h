/*===- abi.h - What compiled code and the carried runtime agree on --*- C -*-===
 *
 * Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * Read by the compiler (C++) and by the runtime (C99) that is linked into every
 * library: the only place that knows the layout of a call.
 */
#ifndef HEXAD_RUNTIME_ABI_H
#define HEXAD_RUNTIME_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HEXAD_ABI_VERSION 3u

/* Row arrays (activations, ids, positions, …) have a capacity that is a
 * multiple of this many rows: of every register tile's rows and of 16. */
#define HEXAD_ROW_GRANULE 48

/* Sizes that a call fixes; the index arguments of a compiled entry function. */
enum hexad_extent {
  HEXAD_EXTENT_THREADS,         /* threads of the team */
  HEXAD_EXTENT_ROWS,            /* tokens, rounded up to HEXAD_ROW_GRANULE */
  HEXAD_EXTENT_TOKENS,          /* tokens: rows that are real */
  HEXAD_EXTENT_STRIPS,          /* ceil(tokens / tile_rows) */
  HEXAD_EXTENT_SEGMENTS,        /* batch */
  HEXAD_EXTENT_SEGMENT_ROWS,    /* batch, rounded up to HEXAD_ROW_GRANULE */
  HEXAD_EXTENT_SEGMENT_STRIPS,  /* ceil(batch / tile_rows) */
  HEXAD_EXTENT_SELECTED,        /* rows of which results are wanted */
  HEXAD_EXTENT_SELECTED_ROWS,   /* the same, rounded up to HEXAD_ROW_GRANULE */
  HEXAD_EXTENT_SELECTED_STRIPS, /* ceil(selected / tile_rows) */
  HEXAD_EXTENT_QUERY_TILES, /* sum over segments of ceil(length / query_tile) */
  HEXAD_EXTENT_PAGES,       /* pages that the call's rows lie in, summed over
                               segments */
  HEXAD_EXTENT_ELEMENTS,    /* batch * seq */
  HEXAD_EXTENT_COUNT
};

/* Pointers that a call fixes, before the model's own inputs and outputs. */
enum hexad_pointer {
  HEXAD_POINTER_ARENA,       /* scratch, 64-byte aligned */
  HEXAD_POINTER_WEIGHTS,     /* the loaded weights, 64-byte aligned */
  HEXAD_POINTER_TEAM,        /* for hexad_team_barrier */
  HEXAD_POINTER_CACHES,      /* hexad_cache_place[SEGMENTS * caches], the caches
                                of a segment side by side */
  HEXAD_POINTER_ROW_ELEMENT, /* i32[ROWS]: element of the rectangle, -1 behind
                                the last row */
  HEXAD_POINTER_ELEMENT_ROW, /* i32[ELEMENTS]: row, -1 at padding */
  HEXAD_POINTER_POSITIONS,   /* i32[ROWS]: position in the segment (in the
                                session, if it has one), 0 behind the last row
                              */
  HEXAD_POINTER_SEGMENT_BOUNDS, /* i32[SEGMENT_ROWS + 1]: first row; behind:
                                   number of rows */
  HEXAD_POINTER_SEGMENT_FIRST,  /* i32[SEGMENT_ROWS]: first row, -1 if empty or
                                   behind */
  HEXAD_POINTER_SEGMENT_PAGES,  /* i32[SEGMENTS + 1]: first page; then number of
                                   pages */
  HEXAD_POINTER_SELECTED_ROW, /* i32[SELECTED_ROWS]: row, -1 behind the last */
  HEXAD_POINTER_SELECTED_ELEMENT, /* i32[SELECTED_ROWS]: row of the output that
                                     it becomes */
  HEXAD_POINTER_TILE_SEGMENT, /* i32[QUERY_TILES]: segment of a query tile */
  HEXAD_POINTER_TILE_BOUNDS,  /* i32[2 * QUERY_TILES]: first row, row behind the
                                 last */
  HEXAD_POINTER_PAGE_BOUNDS,  /* i32[2 * PAGES]: first row, row behind the last:
                                 rows whose positions lie in one page */
  HEXAD_POINTER_PAGE_SEGMENT, /* i32[PAGES]: the segment of these rows */
  HEXAD_POINTER_LABELS,       /* i32[ROWS], or i32[SEGMENT_ROWS] for labels of
                                 segments: the row's label, HEXAD_NO_LABEL if it has
                                 none. In a model with an input of labels */
  HEXAD_POINTER_COUNT /* then inputs, then outputs, in order of declaration */
};

/* Where one cache of one segment's session lies: the page that holds position p
 * of layer l begins at
 *   base + (p / page % slots) * slot_stride + l * layer_stride.
 * The keys of all heads come first in a page, then their values; their layout
 * is the compiled code's own. Strides are in bytes and multiples of 64. */
typedef struct hexad_cache_place {
  int64_t base; /* an address */
  int64_t slots;
  int64_t slot_stride;
  int64_t layer_stride;
} hexad_cache_place;

/* The compiled model: runs on every thread of the team, thread = 0 … THREADS-1.
 */
typedef void (*hexad_entry_function)(int64_t thread, const int64_t *extents,
                                     void *const *pointers);

/* Called by compiled code; defined by the runtime. */
void hexad_team_barrier(void *team);

enum hexad_input_kind {
  HEXAD_INPUT_MASK, /* i32[batch, seq]; null: everything is real */
  HEXAD_INPUT_IDS,  /* i32[batch, seq], each in [0, limit) where the mask is not
                       0; null: zeros */
  HEXAD_INPUT_IMAGE, /* f32[batch, channels, height, width]. Each is a segment
                        of `tokens` rows, which is what seq is */
  /* Labels, HEXAD_NO_LABEL or in [0, limit); null: no row has one. A model has
   * one input of these kinds at most. */
  HEXAD_INPUT_LABELS,        /* i32[batch, seq]: of the row itself */
  HEXAD_INPUT_NEXT_LABELS,   /* i32[batch, seq]: of the row in front */
  HEXAD_INPUT_SEGMENT_LABELS /* i32[batch] */
};

/* The label of a row that has none: it takes no part in the loss. */
#define HEXAD_NO_LABEL (-100)

typedef struct hexad_input_info {
  const char *name;
  int32_t kind;     /* enum hexad_input_kind */
  int32_t optional; /* may be null */
  int64_t limit;    /* of ids and labels */
  /* Of HEXAD_INPUT_IMAGE. A model has one at most, and then no mask. */
  int64_t channels, height, width, tokens;
} hexad_input_info;

enum hexad_output_kind {
  HEXAD_OUTPUT_ROWS,     /* f32[count,] batch, seq, columns */
  HEXAD_OUTPUT_POOLED,   /* f32[batch, columns] */
  HEXAD_OUTPUT_SELECTED, /* f32[batch, seq, columns] of `forward`, f32[selected,
                            columns] of `extend`; compiled code writes the
                            selected rows only */
  HEXAD_OUTPUT_SCALAR,   /* one f32, of `forward` */
  HEXAD_OUTPUT_MAPS      /* f32[count, batch, columns, seq, seq]: columns are
                            heads; compiled code writes the maps' rows of real
                            elements only */
};

typedef struct hexad_output_info {
  const char *name;
  int32_t kind;    /* enum hexad_output_kind */
  int32_t stacked; /* a leading dimension of `count`: one for each layer and the
                      embedding */
  int64_t count;   /* 1 if not stacked */
  int64_t columns;
} hexad_output_info;

/* CPU features that the code was compiled for and the runtime checks at create.
 */
enum hexad_cpu_feature {
  HEXAD_CPU_AVX2 = 1 << 0,
  HEXAD_CPU_FMA = 1 << 1,
  HEXAD_CPU_AVX512 = 1 << 2, /* F, BW, DQ, VL, CD */
  HEXAD_CPU_F16C = 1 << 3
};

/* Bytes of the arena: constant + Σ per-extent coefficient · extent. */
typedef struct hexad_arena_size {
  int64_t constant;
  int64_t per_extent[HEXAD_EXTENT_COUNT];
} hexad_arena_size;

/* A hexad.cache: keys and values that sessions keep. */
typedef struct hexad_cache_info {
  int64_t page_bytes; /* of one page of one layer, a multiple of 64 */
  int32_t layers;
  int32_t window; /* positions that are of use; 0: all */
  int64_t
      kept; /* not 0: other attention reads its last layer, later in a call */
} hexad_cache_info;

/* One for each library, emitted by the compiler as constant data. */
typedef struct hexad_model_info {
  uint32_t abi_version;
  uint32_t cpu_features; /* enum hexad_cpu_feature, or-ed */
  const char *name;
  const char *weights_file; /* file name, looked for beside the library */
  uint64_t weights_bytes;   /* whole file */
  uint64_t fingerprint; /* of the weights file's contents; stands in its header
                           too */
  int32_t tile_rows;
  int32_t query_tile;
  int32_t page;
  int32_t position_limit; /* longest segment that the model has positions for;
                             0: no limit */
  int32_t input_count;
  int32_t output_count;
  int32_t cache_count; /* 0: the model keeps nothing, there are no sessions */
  const hexad_cache_info *caches;
  const hexad_input_info *inputs;
  const hexad_output_info *outputs;
  hexad_arena_size arena;
  hexad_entry_function entry;
} hexad_model_info;

/* The weights file: this header, zeros up to HEXAD_WEIGHTS_ALIGNMENT, then each
 * parameter at its offset (a multiple of 64, counted from the start of the
 * data). */
#define HEXAD_WEIGHTS_MAGIC "HEXADWTS"
#define HEXAD_WEIGHTS_VERSION 1u
#define HEXAD_WEIGHTS_ALIGNMENT 4096

typedef struct hexad_weights_header {
  char magic[8];
  uint32_t version;
  uint32_t data_offset; /* HEXAD_WEIGHTS_ALIGNMENT */
  uint64_t file_bytes;
  uint64_t fingerprint;
} hexad_weights_header;

#ifdef __cplusplus
}
#endif

#endif /* HEXAD_RUNTIME_ABI_H */
