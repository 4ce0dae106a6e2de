/* Runs the calls that matter on a compiled model, with 1, 3 and 5 threads. The
 * memory of contexts, inputs and outputs is as large as it must be and no
 * larger, for the address sanitizer. */
#include "model.h"
#include <stdio.h>
#include <stdlib.h>

static float *make_output(size_t count) {
  return malloc(count * sizeof(float));
}

static int call(model_context *context, size_t batch, size_t seq) {
  size_t elements = batch * seq;
  int32_t *ids = malloc(elements * sizeof(int32_t));
  int32_t *mask = malloc(elements * sizeof(int32_t));
  for (size_t i = 0; i < elements; ++i) {
    /* Row r ends r elements early, every fifth is empty. */
    size_t row = i / seq;
    ids[i] = (int32_t)(i % 2);
    mask[i] = i % seq + row < seq && row % 5 != 4;
  }
  model_arguments arguments = {0};
  arguments.batch = batch;
  arguments.seq = seq;
  arguments.input_ids = ids;
  arguments.attention_mask = mask;
  arguments.token_type_ids = ids;
  arguments.last_hidden_state = make_output(elements * 60);
  arguments.pooler_output = make_output(batch * 60);
#ifdef HIDDEN
  arguments.hidden = make_output(HIDDEN * elements * 60);
#endif
#ifdef MAPS
  arguments.attention = make_output(MAPS * elements * seq);
#endif
  model_status status = model_forward(context, &arguments);
  if (status != MODEL_OK)
    puts(model_context_message(context));
  free(ids);
  free(mask);
  free(arguments.last_hidden_state);
  free(arguments.pooler_output);
#ifdef HIDDEN
  free(arguments.hidden);
#endif
#ifdef MAPS
  free(arguments.attention);
#endif
  return status != MODEL_OK;
}

int main(int argc, char **argv) {
  static const size_t shapes[][2] = {{1, 1}, {4, 70}, {50, 2}, {1, 130},
                                     {3, 0}, {2, 61}, {0, 5}};
  char message[256] = "";
  model_model_options model_options = {argc > 1 ? argv[1] : NULL, message,
                                       sizeof(message), MODEL_MAP_WEIGHTS};
#ifdef COPY_WEIGHTS
  model_options.weights_memory = MODEL_COPY_WEIGHTS;
#endif
  model_model *model;
  if (model_model_create(&model_options, &model) != MODEL_OK) {
    puts(message);
    return 1;
  }
  int failures = 0;
  for (size_t threads = 1; threads <= 5; threads += 2) {
    model_context_options options = {0};
    options.max_tokens = 280;
    options.max_segments = 50;
    options.threads = threads;
    options.message = message;
    options.message_size = sizeof(message);
    if (model_context_size(model, &options, &options.memory_size) != MODEL_OK)
      return 1;
    options.memory = malloc(options.memory_size);
    model_context *context;
    if (model_context_create(model, &options, &context) != MODEL_OK) {
      puts(message);
      return 1;
    }
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); ++i)
      failures += call(context, shapes[i][0], shapes[i][1]);
    model_context_destroy(context);
    free(options.memory);
  }
  model_model_destroy(model);
  puts(failures ? "failed" : "all calls succeeded");
  return failures != 0;
}
