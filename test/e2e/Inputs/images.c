/* Calls a model of images with batches of several sizes, with 1, 3 and 5
 * threads. Inputs and outputs are as large as they must be and no larger, for
 * the address sanitizer. PIXELS is the number of floats of an image, MAPS that
 * of attention maps. */
#include "model.h"
#include <stdio.h>
#include <stdlib.h>

static int call(model_context *context, size_t batch) {
  size_t rows = batch * MODEL_TOKENS;
  float *pixels = malloc(batch * PIXELS * sizeof(float));
  for (size_t i = 0; i < batch * PIXELS; ++i)
    pixels[i] = (float)(i % 17) / 16 - 0.5f;
  model_arguments arguments = {0};
  arguments.batch = batch;
  arguments.pixel_values = pixels;
  arguments.last_hidden_state =
      malloc(rows * MODEL_LAST_HIDDEN_STATE_COLUMNS * sizeof(float));
  arguments.attention = malloc(MAPS * rows * MODEL_TOKENS * sizeof(float));
  model_status status = model_forward(context, &arguments);
  if (status != MODEL_OK)
    puts(model_context_message(context));
  free(pixels);
  free(arguments.last_hidden_state);
  free(arguments.attention);
  return status != MODEL_OK;
}

int main(void) {
  model_model *model;
  if (model_model_create(NULL, &model) != MODEL_OK)
    return 1;
  int failures = 0;
  for (size_t threads = 1; threads <= 5; threads += 2) {
    model_context_options options = {0};
    options.max_segments = 5;
    options.threads = threads;
    model_context *context;
    if (model_context_create(model, &options, &context) != MODEL_OK)
      return 1;
    for (size_t batch = 0; batch <= 5; ++batch)
      failures += call(context, batch);
    model_context_destroy(context);
  }
  model_model_destroy(model);
  puts(failures ? "failed" : "all calls succeeded");
  return failures != 0;
}
