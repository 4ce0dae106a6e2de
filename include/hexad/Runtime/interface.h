/*===- interface.h - What a library's header declares, unprefixed ---*- C -*-===
 *
 * Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * The header that the compiler writes for a model declares these types and
 * functions under the model's own prefix (lib/Driver/Header.cpp); the layouts
 * are the same. Used by the runtime and by programs that open any library, such
 * as `hexad run`.
 */
#ifndef HEXAD_RUNTIME_INTERFACE_H
#define HEXAD_RUNTIME_INTERFACE_H

#include "hexad/Runtime/abi.h"
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hexad_model hexad_model;
typedef struct hexad_context hexad_context;
typedef struct hexad_session hexad_session;

typedef enum hexad_status {
  HEXAD_OK = 0,
  HEXAD_INVALID_ARGUMENT = 1,
  HEXAD_OUT_OF_MEMORY = 2,
  HEXAD_UNSUPPORTED_CPU = 3,
  HEXAD_WEIGHTS_NOT_FOUND = 4,
  HEXAD_WEIGHTS_MISMATCH = 5,
  HEXAD_CAPACITY_EXCEEDED = 6,
  HEXAD_INPUT_OUT_OF_RANGE = 7,
  HEXAD_MASK_WITH_HOLE = 8,
  HEXAD_CONTEXT_BUSY = 9,
  HEXAD_SYSTEM_ERROR = 10,
  HEXAD_SESSION_BUSY = 11,
  HEXAD_REWIND_TOO_FAR = 12,
  HEXAD_STATE_MISMATCH = 13
} hexad_status;

/* Where the weights lie. */
typedef enum hexad_weights_memory {
  HEXAD_MAP_WEIGHTS = 0, /* in the page cache, shared by all processes */
  HEXAD_COPY_WEIGHTS = 1 /* in memory of the model's own, in huge pages */
} hexad_weights_memory;

typedef struct hexad_model_options {
  const char *weights_path; /* null: the file beside the library */
  char *message; /* receives a sentence about a failure; may be null */
  size_t message_size;
  hexad_weights_memory weights_memory;
} hexad_model_options;

typedef struct hexad_context_options {
  size_t max_tokens;   /* most tokens of a call, padding not counted; 0 in a
                          model of images: max_segments images */
  size_t max_segments; /* most batch rows of a call */
  size_t max_elements; /* most batch * seq of a call; 0: max_tokens */
  size_t max_logits;   /* most rows of logits of a call; 0: max_tokens */
  size_t threads;      /* 0: the CPUs that the process may use */
  int caller_threads;  /* not 0: no threads are made, see forward_on */
  void *memory;        /* null: the context allocates */
  size_t memory_size;
  char *message; /* receives a sentence about a failure; may be null */
  size_t message_size;
} hexad_context_options;

/* A call's arguments. The compiler writes one struct for each model, with a
 * named pointer for each input and output; this is how they look without the
 * names: first the inputs, then the outputs, in order of declaration. */
typedef struct hexad_arguments {
  size_t batch;
  size_t seq; /* in a model of images: the tokens of one, or 0 */
  void *pointers[];
} hexad_arguments;

hexad_status hexad_runtime_model_create(const hexad_model_info *info,
                                        const hexad_model_options *options,
                                        hexad_model **model);
void hexad_runtime_model_destroy(hexad_model *model);

hexad_status hexad_runtime_context_size(const hexad_model *model,
                                        const hexad_context_options *options,
                                        size_t *bytes);
hexad_status hexad_runtime_context_create(const hexad_model *model,
                                          const hexad_context_options *options,
                                          hexad_context **context);
void hexad_runtime_context_destroy(hexad_context *context);
const char *hexad_runtime_context_message(const hexad_context *context);

hexad_status hexad_runtime_forward(hexad_context *context,
                                   const hexad_arguments *arguments);
hexad_status hexad_runtime_forward_on(hexad_context *context, size_t thread,
                                      const hexad_arguments *arguments);

typedef struct hexad_session_options {
  size_t capacity; /* most positions */
  size_t slack;    /* positions that rewind can go back in layers with a window;
                      0: 512 */
  void *memory;    /* null: the session allocates */
  size_t memory_size;
  char *message; /* receives a sentence about a failure; may be null */
  size_t message_size;
} hexad_session_options;

hexad_status hexad_runtime_session_size(const hexad_model *model,
                                        const hexad_session_options *options,
                                        size_t *bytes);
hexad_status hexad_runtime_session_create(const hexad_model *model,
                                          const hexad_session_options *options,
                                          hexad_session **session);
void hexad_runtime_session_destroy(hexad_session *session);
size_t hexad_runtime_session_position(const hexad_session *session);
hexad_status hexad_runtime_session_rewind(hexad_session *session,
                                          size_t position);
hexad_status hexad_runtime_session_fork(hexad_session *destination,
                                        hexad_session *source);
hexad_status hexad_runtime_session_saved_size(hexad_session *session,
                                              size_t *bytes);
hexad_status hexad_runtime_session_save(hexad_session *session, void *buffer,
                                        size_t size);
hexad_status hexad_runtime_session_load(hexad_session *session,
                                        const void *buffer, size_t size);
const char *hexad_runtime_session_message(const hexad_session *session);

/* Of which tokens of an extension the logits are wanted. */
typedef enum hexad_logits_of {
  HEXAD_NO_LOGITS = 0,
  HEXAD_LAST_LOGITS = 1,
  HEXAD_ALL_LOGITS = 2
} hexad_logits_of;

typedef struct hexad_extension {
  hexad_session *session;
  const int32_t *tokens;
  size_t count;
  hexad_logits_of logits;
} hexad_extension;

hexad_status hexad_runtime_extend(hexad_context *context,
                                  hexad_session *session, const int32_t *tokens,
                                  size_t count, hexad_logits_of which,
                                  float *logits);
hexad_status hexad_runtime_extend_batch(hexad_context *context,
                                        const hexad_extension *extensions,
                                        size_t count, float *logits);
hexad_status hexad_runtime_extend_on(hexad_context *context, size_t thread,
                                     const hexad_extension *extensions,
                                     size_t count, float *logits);

const char *hexad_runtime_status_text(hexad_status status);

#ifdef __cplusplus
}
#endif

#endif /* HEXAD_RUNTIME_INTERFACE_H */
