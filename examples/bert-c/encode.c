/*===- encode.c - A C program that uses a compiled BERT -------------*- C -*-===
 *
 * Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * Usage: encode SEQUENCE...
 *
 * A sequence is one argument: token ids with spaces between them, `7:1` for id
 *7 of token type 1. All sequences are encoded in one call. Prints the beginning
 *of each one's pooled vector, and its cosine with the first one's.
 */
#include "bert.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The width of pooler_output; see bert.h. */
enum { DIM = 60 };

static void fail(const char *what, const char *why) {
  fprintf(stderr, "encode: %s: %s\n", what, why);
  exit(1);
}

static void *allocate(size_t count, size_t size) {
  void *memory = calloc(count, size);
  if (!memory)
    fail("allocating", "out of memory");
  return memory;
}

/* Reads the tokens of one sequence and returns how many there are;
 * with null pointers it counts them. */
static size_t read_sequence(const char *text, int32_t *ids, int32_t *types,
                            int32_t *mask) {
  size_t count = 0;
  char *end;
  for (;; ++count) {
    long id = strtol(text, &end, 10), type = 0;
    if (end == text)
      break;
    if (*end == ':')
      type = strtol(end + 1, &end, 10);
    text = end;
    if (ids) {
      ids[count] = (int32_t)id;
      types[count] = (int32_t)type;
      mask[count] = 1;
    }
  }
  while (*text == ' ')
    ++text;
  if (*text)
    fail("not a token id", text);
  return count;
}

static float cosine(const float *a, const float *b) {
  float ab = 0, aa = 0, bb = 0;
  for (int i = 0; i < DIM; ++i) {
    ab += a[i] * b[i];
    aa += a[i] * a[i];
    bb += b[i] * b[i];
  }
  return ab / sqrtf(aa * bb);
}

int main(int argc, char **argv) {
  if (argc < 2)
    fail("usage", "encode SEQUENCE...");

  /* The batch is a rectangle: shorter sequences are padded, the mask says
   * where. */
  size_t batch = (size_t)argc - 1, seq = 0, tokens = 0;
  for (size_t row = 0; row < batch; ++row) {
    size_t length = read_sequence(argv[row + 1], NULL, NULL, NULL);
    tokens += length;
    seq = length > seq ? length : seq;
  }
  int32_t *ids = allocate(batch * seq + 1, sizeof *ids);
  int32_t *types = allocate(batch * seq + 1, sizeof *types);
  int32_t *mask = allocate(batch * seq + 1, sizeof *mask);
  float *pooled = allocate(batch * DIM, sizeof *pooled);
  for (size_t row = 0; row < batch; ++row)
    read_sequence(argv[row + 1], ids + row * seq, types + row * seq,
                  mask + row * seq);

  char message[256] = "";
  bert_model_options model_options = {0};
  model_options.message = message;
  model_options.message_size = sizeof message;
  bert_model *model;
  if (bert_model_create(&model_options, &model) != BERT_OK)
    fail("loading the model", message);

  bert_context_options options = {0};
  options.max_tokens = tokens + 1;
  options.max_segments = batch;
  options.max_elements = batch * seq + 1;
  options.message = message;
  options.message_size = sizeof message;
  bert_context *context;
  if (bert_context_create(model, &options, &context) != BERT_OK)
    fail("making a context", message);

  bert_arguments call = {0};
  call.batch = batch;
  call.seq = seq;
  call.input_ids = ids;
  call.token_type_ids = types;
  call.attention_mask = mask;
  call.pooler_output = pooled;
  if (bert_forward(context, &call) != BERT_OK)
    fail("encoding", bert_context_message(context));

  for (size_t row = 0; row < batch; ++row) {
    const float *vector = pooled + row * DIM;
    printf("sequence %zu: % .3f % .3f % .3f % .3f ...  cosine with the first: "
           "% .3f\n",
           row + 1, vector[0], vector[1], vector[2], vector[3],
           cosine(vector, pooled));
  }

  bert_context_destroy(context);
  bert_model_destroy(model);
  free(ids);
  free(types);
  free(mask);
  free(pooled);
  return 0;
}
