/*===- chat.c - A C program that talks with a language model --------*- C -*-===
 *
 * Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * Usage: chat [--most N] [--capacity N] [--stop ID] [--temperature T] [--seed
 *S]
 *
 * Reads turns from standard input, a line of token ids each, and answers each
 * one on standard output: an id a line, then an empty line. An answer ends
 * behind the id of --stop or after --most ids. The session remembers all turns:
 * only what is new is computed.
 */
#include "lm.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VOCABULARY = LM_LOGITS_COLUMNS };

typedef struct chat {
  lm_context *context;
  lm_session *session;
  size_t capacity;
  size_t most;        /* ids of an answer */
  long stop;          /* -1: none */
  double temperature; /* 0: always the most probable id */
  unsigned long long random;
  float *logits;
  int32_t *tokens; /* what has not been appended yet */
  size_t count;
} chat;

static void fail(const char *what, const char *why) {
  fprintf(stderr, "chat: %s: %s\n", what, why);
  exit(1);
}

static void *allocate(size_t count, size_t size) {
  void *memory = calloc(count, size);
  if (!memory)
    fail("allocating", "out of memory");
  return memory;
}

/* A number in [0, 1): xorshift64*. */
static double draw(chat *chat) {
  chat->random ^= chat->random >> 12;
  chat->random ^= chat->random << 25;
  chat->random ^= chat->random >> 27;
  return (double)((chat->random * 2685821657736338717ull) >> 11) / 0x1p53;
}

static int32_t choose(chat *chat) {
  const float *logits = chat->logits;
  int32_t best = 0;
  for (int32_t i = 1; i < VOCABULARY; ++i)
    if (logits[i] > logits[best])
      best = i;
  if (chat->temperature == 0)
    return best;
  double total = 0;
  for (int32_t i = 0; i < VOCABULARY; ++i)
    total += exp((logits[i] - logits[best]) / chat->temperature);
  double point = draw(chat) * total;
  for (int32_t i = 0; i < VOCABULARY; ++i) {
    point -= exp((logits[i] - logits[best]) / chat->temperature);
    if (point < 0)
      return i;
  }
  return best;
}

/* Appends the ids of a line to those that wait. */
static void read_ids(chat *chat, const char *line) {
  char *end;
  for (;; line = end) {
    long id = strtol(line, &end, 10);
    if (end == line)
      break;
    if (chat->count == chat->capacity)
      fail("reading", "the turn is longer than --capacity");
    if (id < 0 || id > INT32_MAX)
      fail("reading", "an id is negative or too large");
    chat->tokens[chat->count++] = (int32_t)id;
  }
  if (line[strspn(line, " \t\r\n")])
    fail("not a token id", line);
}

static void answer(chat *chat) {
  for (size_t made = 0; made < chat->most; ++made) {
    if (lm_extend(chat->context, chat->session, chat->tokens, chat->count,
                  LM_LAST_LOGITS, chat->logits) != LM_OK)
      fail("answering", lm_context_message(chat->context));
    /* Waits for the next call, which can be the next turn's. */
    chat->tokens[0] = choose(chat);
    chat->count = 1;
    printf("%d\n", (int)chat->tokens[0]);
    fflush(stdout);
    if (chat->tokens[0] == chat->stop)
      break;
  }
  puts("");
  fflush(stdout);
}

/* A line of any length; null at the end. */
static char *read_line(void) {
  size_t size = 256, length = 0;
  char *line = allocate(size, 1);
  while (fgets(line + length, (int)(size - length), stdin)) {
    length += strlen(line + length);
    if (length && line[length - 1] == '\n')
      return line;
    if (length + 1 == size) {
      line = realloc(line, size *= 2);
      if (!line)
        fail("reading", "out of memory");
    }
  }
  if (length)
    return line;
  free(line);
  return NULL;
}

static double read_number(const char *option, const char *text) {
  char *end;
  double number = text ? strtod(text, &end) : 0;
  if (!text || end == text || *end || !(number >= 0))
    fail(option, "needs a number");
  return number;
}

int main(int argc, char **argv) {
  chat chat = {0};
  chat.most = 200;
  chat.capacity = 2048;
  chat.stop = -1;
  unsigned long long seed = 0;
  for (int i = 1; i < argc; i += 2) {
    double number = read_number(argv[i], argv[i + 1]);
    if (!strcmp(argv[i], "--most"))
      chat.most = (size_t)number;
    else if (!strcmp(argv[i], "--capacity"))
      chat.capacity = (size_t)number;
    else if (!strcmp(argv[i], "--stop"))
      chat.stop = (long)number;
    else if (!strcmp(argv[i], "--temperature"))
      chat.temperature = number;
    else if (!strcmp(argv[i], "--seed"))
      seed = (unsigned long long)number;
    else
      fail("unknown option", argv[i]);
  }
  /* Not 0, which xorshift would stay at. */
  chat.random = seed * 2 + 0x9e3779b97f4a7c15ull;
  chat.logits = allocate(VOCABULARY, sizeof *chat.logits);
  chat.tokens = allocate(chat.capacity + 1, sizeof *chat.tokens);

  char message[256] = "";
  lm_model_options model_options = {0};
  model_options.message = message;
  model_options.message_size = sizeof message;
  lm_model *model;
  if (lm_model_create(&model_options, &model) != LM_OK)
    fail("loading the model", message);

  lm_context_options options = {0};
  options.max_tokens = 256; /* longer turns are appended in several steps */
  options.max_segments = 1;
  options.max_logits = 1;
  options.message = message;
  options.message_size = sizeof message;
  if (lm_context_create(model, &options, &chat.context) != LM_OK)
    fail("making a context", message);

  lm_session_options session_options = {0};
  session_options.capacity = chat.capacity;
  session_options.message = message;
  session_options.message_size = sizeof message;
  if (lm_session_create(model, &session_options, &chat.session) != LM_OK)
    fail("making a session", message);

  char *line;
  while ((line = read_line())) {
    read_ids(&chat, line);
    free(line);
    if (chat.count)
      answer(&chat);
  }

  lm_session_destroy(chat.session);
  lm_context_destroy(chat.context);
  lm_model_destroy(model);
  free(chat.logits);
  free(chat.tokens);
  return 0;
}
