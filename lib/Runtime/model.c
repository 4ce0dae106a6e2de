/*===- model.c - Models: checks and weights, shared by contexts -----*- C -*-===
 *
 * Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/
#include "runtime.h"
#include <stdlib.h>

/* The features of `set` that a person would look for, e.g. in /proc/cpuinfo. */
static const char *feature_names(uint32_t set) {
  if (set & HEXAD_CPU_AVX512)
    return "AVX-512 (F, BW, CD, DQ, VL)";
  if (set & HEXAD_CPU_AVX2)
    return "AVX2";
  return set & HEXAD_CPU_FMA ? "FMA" : "F16C";
}

hexad_status hexad_runtime_model_create(const hexad_model_info *info,
                                        const hexad_model_options *options,
                                        hexad_model **model) {
  const hexad_model_options defaults = {0};
  if (!options)
    options = &defaults;
  hexad_message message = {options->message, options->message_size};
  hexad_fail(message, HEXAD_OK, "%s", "");
  if (!model)
    return hexad_fail(message, HEXAD_INVALID_ARGUMENT,
                      "the place for the model is null");
  *model = NULL;
  if (options->weights_memory != HEXAD_MAP_WEIGHTS &&
      options->weights_memory != HEXAD_COPY_WEIGHTS)
    return hexad_fail(
        message, HEXAD_INVALID_ARGUMENT,
        "weights_memory is %d; expected are %d (map the file) and "
        "%d (copy it)",
        (int)options->weights_memory, HEXAD_MAP_WEIGHTS, HEXAD_COPY_WEIGHTS);
  uint32_t missing = info->cpu_features & ~hexad_cpu_features();
  if (missing)
    return hexad_fail(message, HEXAD_UNSUPPORTED_CPU,
                      "the library '%s' needs %s, which this machine does not "
                      "have; compile it with another --mcpu",
                      info->name, feature_names(missing));
  hexad_model *made = malloc(sizeof(*made));
  if (!made)
    return hexad_fail(message, HEXAD_OUT_OF_MEMORY, "not enough memory");
  made->info = info;
  hexad_status status =
      hexad_weights_load(info, options->weights_path, options->weights_memory,
                         message, &made->weights);
  if (status != HEXAD_OK) {
    free(made);
    return status;
  }
  *model = made;
  return HEXAD_OK;
}

void hexad_runtime_model_destroy(hexad_model *model) {
  if (!model)
    return;
  hexad_weights_unload(&model->weights);
  free(model);
}
