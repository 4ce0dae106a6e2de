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
  HEXAD_SYSTEM_ERROR = 10
} hexad_status;

typedef struct hexad_model_options {
  const char *weights_path; /* null: the file beside the library */
  char *message; /* receives a sentence about a failure; may be null */
  size_t message_size;
} hexad_model_options;

typedef struct hexad_context_options {
  size_t max_tokens;   /* most tokens of a call, padding not counted */
  size_t max_segments; /* most batch rows of a call */
  size_t max_elements; /* most batch * seq of a call; 0: max_tokens */
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
  size_t seq;
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

const char *hexad_runtime_status_text(hexad_status status);

#ifdef __cplusplus
}
#endif

#endif /* HEXAD_RUNTIME_INTERFACE_H */
