/*===- forward.c - Running a call on the team -----------------------*- C -*-===
 *
 * Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/
#include "runtime.h"
#include <string.h>
#include <xmmintrin.h>

/* Every exception masked, rounding to nearest, denormals flushed to zero and
 * read as zero: the mode that makes results equal on every thread. */
#define FLOATING_POINT_CONTROL 0x9fc0u

void hexad_run_entry(hexad_context *context, size_t thread) {
  unsigned int control = _mm_getcsr();
  _mm_setcsr(FLOATING_POINT_CONTROL);
  context->model->info->entry((int64_t)thread, context->extents,
                              context->pointers);
  _mm_setcsr(control);
}

void hexad_run_team(hexad_context *context) {
  hexad_team_barrier(&context->team);
  hexad_run_entry(context, 0);
  hexad_team_barrier(&context->team);
}

hexad_status hexad_context_begin(hexad_context *context, const char *on) {
  if (__atomic_exchange_n(&context->busy, 1, __ATOMIC_ACQUIRE))
    return HEXAD_CONTEXT_BUSY;
  if (!context->caller_threads || context->team.threads == 1)
    return HEXAD_OK;
  hexad_message message = {context->message, sizeof(context->message)};
  hexad_status status =
      hexad_fail(message, HEXAD_INVALID_ARGUMENT,
                 "the context was created for caller_threads: use %s", on);
  hexad_context_end(context);
  return status;
}

void hexad_context_end(hexad_context *context) {
  __atomic_store_n(&context->busy, 0, __ATOMIC_RELEASE);
}

/* Is there an output of this kind that the caller wants? */
static int wants(const hexad_model_info *info, const hexad_arguments *arguments,
                 enum hexad_output_kind kind) {
  void *const *outputs = arguments->pointers + info->input_count;
  for (int32_t i = 0; i < info->output_count; ++i)
    if (info->outputs[i].kind == (int32_t)kind && outputs[i])
      return 1;
  return 0;
}

/* Rows of maps whose queries are padding. */
static void clear_maps(const hexad_context *context,
                       const hexad_output_info *output, float *maps,
                       size_t batch, size_t seq) {
  const int32_t *element_row = context->tables.element_row;
  size_t heads = (size_t)output->columns;
  for (size_t map = 0; map < (size_t)output->count * batch * heads; ++map) {
    const int32_t *rows = element_row + map / heads % batch * seq;
    for (size_t s = 0; s < seq; ++s)
      if (rows[s] < 0)
        memset(maps + (map * seq + s) * seq, 0, seq * sizeof(float));
  }
}

/* Rows of padding in outputs of which compiled code writes the others. */
static void clear_padding(hexad_context *context,
                          const hexad_arguments *arguments) {
  const hexad_model_info *info = context->model->info;
  void *const *outputs = arguments->pointers + info->input_count;
  int64_t elements = context->extents[HEXAD_EXTENT_ELEMENTS];
  for (int32_t i = 0; i < info->output_count; ++i) {
    if (info->outputs[i].kind == HEXAD_OUTPUT_MAPS && outputs[i])
      /* Of images the caller need not say how many tokens they are. */
      clear_maps(context, &info->outputs[i], outputs[i], arguments->batch,
                 arguments->batch ? elements / (int64_t)arguments->batch : 0);
    if (info->outputs[i].kind != HEXAD_OUTPUT_SELECTED || !outputs[i])
      continue;
    size_t columns = (size_t)info->outputs[i].columns;
    for (int64_t element = 0; element < elements; ++element)
      if (context->tables.element_row[element] < 0)
        memset((float *)outputs[i] + (size_t)element * columns, 0,
               columns * sizeof(float));
  }
}

/* Segments without a session begin with empty caches in the context. They need
 * no layers: each attention is done with its pages before the next begins, and
 * only of the last layer of a cache a later one may read. */
static void place_caches(hexad_context *context) {
  const hexad_model_info *info = context->model->info;
  hexad_cache_place *place = context->tables.caches;
  int64_t first_kept, bytes = hexad_context_page_bytes(info, &first_kept);
  for (int64_t i = 0; i < context->extents[HEXAD_EXTENT_SEGMENTS]; ++i) {
    int64_t base = (int64_t)(intptr_t)context->pages +
                   context->tables.segment_pages[i] * bytes;
    int64_t kept = base + first_kept;
    for (int32_t c = 0; c < info->cache_count; ++c, ++place) {
      const hexad_cache_info *cache = &info->caches[c];
      *place =
          (hexad_cache_place){cache->kept ? kept : base, INT64_MAX, bytes, 0};
      if (cache->kept)
        kept += cache->page_bytes;
    }
  }
}

/* Checks the arguments and prepares the tables: what one thread does before all
 * run. */
static hexad_status open_door(hexad_context *context,
                              const hexad_arguments *arguments) {
  const hexad_model_info *info = context->model->info;
  hexad_message message = {context->message, sizeof(context->message)};
  context->message[0] = '\0';
  if (!arguments)
    return hexad_fail(message, HEXAD_INVALID_ARGUMENT,
                      "the arguments are null");

  size_t seq = arguments->seq, image_tokens = hexad_image_tokens(info);
  if (image_tokens && seq && seq != image_tokens)
    return hexad_fail(message, HEXAD_INVALID_ARGUMENT,
                      "seq is %zu, an image has %zu tokens", seq, image_tokens);
  if (image_tokens)
    seq = image_tokens;
  int rectangle = arguments->batch != 0 && seq != 0;
  const int32_t *mask = NULL;
  for (int32_t i = 0; i < info->input_count; ++i) {
    const hexad_input_info *input = &info->inputs[i];
    if (!arguments->pointers[i] && !input->optional && rectangle)
      return hexad_fail(message, HEXAD_INVALID_ARGUMENT,
                        "%s is null but not optional", input->name);
    if (input->kind == HEXAD_INPUT_MASK)
      mask = arguments->pointers[i];
  }
  hexad_status status =
      hexad_door_open(info, &context->capacity, arguments->batch, seq, mask,
                      wants(info, arguments, HEXAD_OUTPUT_SELECTED),
                      &context->tables, context->extents, message);
  if (status != HEXAD_OK)
    return status;

  int64_t tokens = context->tables.segment_bounds[arguments->batch];
  for (int32_t i = 0; i < info->input_count; ++i) {
    const hexad_input_info *input = &info->inputs[i];
    if (!arguments->pointers[i])
      continue;
    if (input->kind == HEXAD_INPUT_IDS)
      status = hexad_door_check_ids(input, seq, arguments->pointers[i], tokens,
                                    &context->tables, message);
    else if (hexad_is_labels(input))
      status = hexad_door_take_labels(
          input, arguments->batch, seq, arguments->pointers[i],
          wants(info, arguments, HEXAD_OUTPUT_SCALAR), &context->tables,
          message);
    if (status != HEXAD_OK)
      return status;
  }
  clear_padding(context, arguments);
  place_caches(context);
  memcpy(context->pointers + HEXAD_POINTER_COUNT, arguments->pointers,
         (size_t)(info->input_count + info->output_count) * sizeof(void *));
  return HEXAD_OK;
}

hexad_status hexad_runtime_forward(hexad_context *context,
                                   const hexad_arguments *arguments) {
  if (!context)
    return HEXAD_INVALID_ARGUMENT;
  hexad_status status = hexad_context_begin(context, "forward_on");
  if (status != HEXAD_OK)
    return status;
  status = open_door(context, arguments);
  if (status == HEXAD_OK)
    hexad_run_team(context);
  hexad_context_end(context);
  return status;
}

hexad_status hexad_runtime_forward_on(hexad_context *context, size_t thread,
                                      const hexad_arguments *arguments) {
  if (!context || !context->caller_threads || thread >= context->team.threads)
    return HEXAD_INVALID_ARGUMENT;
  if (thread == 0)
    context->status = open_door(context, arguments);
  hexad_team_barrier(&context->team);
  hexad_status status = context->status;
  if (status == HEXAD_OK)
    hexad_run_entry(context, thread);
  /* Nobody returns before all outputs are written and all have read the status.
   */
  hexad_team_barrier(&context->team);
  return status;
}

const char *hexad_runtime_context_message(const hexad_context *context) {
  return context ? context->message : "";
}
