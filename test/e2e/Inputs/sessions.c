/* Two threads, each with a context and sessions of its own, from one model;
 * each session is extended whole, in pieces and as part of a batch. The memory
 * of sessions and logits is as large as it must be and no larger, for the
 * address sanitizer; nothing is shared but the model, for the thread sanitizer.
 */
#include "model.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 140, COLUMNS = MODEL_LOGITS_COLUMNS };

static model_model *model;

static model_session *make_session(void **memory) {
  model_session_options options = {0};
  options.capacity = COUNT;
  if (model_session_size(model, &options, &options.memory_size) != MODEL_OK)
    exit(1);
  options.memory = *memory = malloc(options.memory_size);
  model_session *session;
  if (model_session_create(model, &options, &session) != MODEL_OK)
    exit(1);
  return session;
}

#ifdef LOSS
/* The loss alone, of tokens and of none; its context has no room for logits. */
static int call_forward(model_context *context, const int32_t *tokens) {
  float *losses = malloc(2 * sizeof(float));
  int32_t *labels = malloc(COUNT * sizeof(int32_t));
  memcpy(labels, tokens, COUNT * sizeof(int32_t));
  labels[0] = -5; /* nobody looks at it */
  model_arguments call = {0};
  call.batch = 2;
  call.seq = COUNT / 2;
  call.input_ids = tokens;
  call.labels = labels;
  int failed = 0;
  for (int i = 0; i < 2; ++i) {
    call.loss = losses + i;
    failed |= model_forward(context, &call) != MODEL_OK;
  }
  failed |= !(losses[0] > 1 && losses[0] == losses[1]);
  call.labels = NULL;
  failed |= model_forward(context, &call) != MODEL_OK || losses[1] == losses[1];
  labels[COUNT - 1] = 127;
  call.labels = labels;
  failed |= model_forward(context, &call) != MODEL_INPUT_OUT_OF_RANGE;
  free(losses);
  free(labels);
  return failed;
}
#endif

static void *work(void *failures) {
  model_context_options options = {0};
  options.max_tokens = COUNT + 1;
  options.max_segments = 2;
  options.max_logits = 2;
  options.threads = 2;
  model_context *context;
  if (model_context_create(model, &options, &context) != MODEL_OK)
    exit(1);
  int32_t *tokens = malloc(COUNT * sizeof(int32_t));
  for (int i = 0; i < COUNT; ++i)
    tokens[i] = i * 7 % 100;
  float *whole = malloc(COLUMNS * sizeof(float));
  float *pieces = malloc(2 * COLUMNS * sizeof(float));
  void *memory, *other_memory;
  model_session *session = make_session(&memory);
  model_session *other = make_session(&other_memory);

  int *failed = failures;
#ifdef LOSS
  *failed |= call_forward(context, tokens);
#endif
  *failed |= model_extend(context, session, tokens, COUNT, MODEL_LAST_LOGITS,
                          whole) != MODEL_OK;
  *failed |= model_session_rewind(session, 3) != MODEL_OK;
  *failed |= model_extend(context, session, tokens + 3, COUNT - 4,
                          MODEL_NO_LOGITS, NULL) != MODEL_OK;
  model_extension batch[2] = {
      {session, tokens + COUNT - 1, 1, MODEL_LAST_LOGITS},
      {other, tokens, COUNT, MODEL_LAST_LOGITS}};
  *failed |= model_extend_batch(context, batch, 2, pieces) != MODEL_OK;
  *failed |= memcmp(whole, pieces, COLUMNS * sizeof(float)) != 0;
  *failed |= memcmp(whole, pieces + COLUMNS, COLUMNS * sizeof(float)) != 0;
  *failed |= model_extend(context, session, tokens, 1, MODEL_LAST_LOGITS,
                          whole) != MODEL_CAPACITY_EXCEEDED;

  model_session_destroy(session);
  model_session_destroy(other);
  model_context_destroy(context);
  free(memory);
  free(other_memory);
  free(tokens);
  free(whole);
  free(pieces);
  return NULL;
}

int main(void) {
  if (model_model_create(NULL, &model) != MODEL_OK)
    return 1;
  pthread_t thread;
  int failures[2] = {0, 0};
  if (pthread_create(&thread, NULL, work, &failures[0]))
    return 1;
  work(&failures[1]);
  pthread_join(thread, NULL);
  model_model_destroy(model);
  puts(failures[0] || failures[1] ? "failed" : "all calls succeeded");
  return failures[0] || failures[1];
}
