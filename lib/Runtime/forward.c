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

  int rectangle = arguments->batch != 0 && arguments->seq != 0;
  const int32_t *mask = NULL;
  for (int32_t i = 0; i < info->input_count; ++i) {
    const hexad_input_info *input = &info->inputs[i];
    if (!arguments->pointers[i] && !input->optional && rectangle)
      return hexad_fail(message, HEXAD_INVALID_ARGUMENT,
                        "%s is null but not optional", input->name);
    if (input->kind == HEXAD_INPUT_MASK)
      mask = arguments->pointers[i];
  }
  hexad_status status = hexad_door_open(
      info, &context->capacity, arguments->batch, arguments->seq, mask,
      &context->tables, context->extents, message);
  if (status != HEXAD_OK)
    return status;

  int64_t tokens = context->tables.segment_bounds[arguments->batch];
  for (int32_t i = 0; i < info->input_count; ++i) {
    const hexad_input_info *input = &info->inputs[i];
    if (input->kind != HEXAD_INPUT_IDS || !arguments->pointers[i])
      continue;
    status = hexad_door_check_ids(input, arguments->seq, arguments->pointers[i],
                                  tokens, &context->tables, message);
    if (status != HEXAD_OK)
      return status;
  }
  memcpy(context->pointers + HEXAD_POINTER_COUNT, arguments->pointers,
         (size_t)(info->input_count + info->output_count) * sizeof(void *));
  return HEXAD_OK;
}

hexad_status hexad_runtime_forward(hexad_context *context,
                                   const hexad_arguments *arguments) {
  if (!context)
    return HEXAD_INVALID_ARGUMENT;
  if (__atomic_exchange_n(&context->busy, 1, __ATOMIC_ACQUIRE))
    return HEXAD_CONTEXT_BUSY;
  hexad_status status;
  if (context->caller_threads && context->team.threads > 1) {
    hexad_message message = {context->message, sizeof(context->message)};
    status = hexad_fail(message, HEXAD_INVALID_ARGUMENT,
                        "the context was created for caller_threads: use "
                        "forward_on");
  } else {
    status = open_door(context, arguments);
    if (status == HEXAD_OK) {
      hexad_team_barrier(&context->team);
      hexad_run_entry(context, 0);
      hexad_team_barrier(&context->team);
    }
  }
  __atomic_store_n(&context->busy, 0, __ATOMIC_RELEASE);
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
