/*===- encode.c - A user's program, from its start to the first output ------===
 *
 * Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * Built by measure.py with the header and library of a BERT that is compiled
 * with `--name model`. Prints what finish.h says.
 */
#include "finish.h"
#include "model.h"
#include <stdlib.h>

enum { tokens = 128 };

int main(void) {
  char message[256] = "";
  model_model *model = NULL;
  model_context *context = NULL;
  model_model_options options = {0, message, sizeof message};
  model_context_options sizes = {.max_tokens = tokens,
                                 .max_segments = 1,
                                 .threads = 1,
                                 .message = message,
                                 .message_size = sizeof message};
  if (model_model_create(&options, &model) ||
      model_context_create(model, &sizes, &context)) {
    fprintf(stderr, "encode: %s\n", message);
    return 1;
  }
  static int32_t ids[tokens];
  for (int i = 0; i < tokens; ++i)
    ids[i] = 1 + i * 7 % 100;
  float *pooled = malloc(MODEL_POOLER_OUTPUT_COLUMNS * sizeof *pooled);
  float *rows = malloc(tokens * MODEL_LAST_HIDDEN_STATE_COLUMNS * sizeof *rows);
  model_arguments arguments = {.batch = 1,
                               .seq = tokens,
                               .input_ids = ids,
                               .last_hidden_state = rows,
                               .pooler_output = pooled};
  double start = now();
  if (model_forward(context, &arguments)) {
    fprintf(stderr, "encode: %s\n", model_context_message(context));
    return 1;
  }
  finish(start, rows[0]);
  return 0;
}
