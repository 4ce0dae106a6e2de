/*===- decode.c - A user's program, from its start to the first logits ------===
 *
 * Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * Built by measure.py with the header and library of a language model that is
 * compiled with `--name model`. Prints what finish.h says.
 */
#include "finish.h"
#include "model.h"
#include <stdlib.h>

int main(void) {
  char message[256] = "";
  model_model *model = NULL;
  model_context *context = NULL;
  model_session *session = NULL;
  model_model_options options = {0, message, sizeof message};
  model_context_options sizes = {.max_tokens = 1,
                                 .max_segments = 1,
                                 .threads = 1,
                                 .message = message,
                                 .message_size = sizeof message};
  model_session_options room = {
      .capacity = 512, .message = message, .message_size = sizeof message};
  if (model_model_create(&options, &model) ||
      model_context_create(model, &sizes, &context) ||
      model_session_create(model, &room, &session)) {
    fprintf(stderr, "decode: %s\n", message);
    return 1;
  }
  const int32_t token = 1;
  float *logits = malloc(MODEL_LOGITS_COLUMNS * sizeof *logits);
  double start = now();
  if (model_extend(context, session, &token, 1, MODEL_LAST_LOGITS, logits)) {
    fprintf(stderr, "decode: %s\n", model_context_message(context));
    return 1;
  }
  finish(start, logits[0]);
  return 0;
}
