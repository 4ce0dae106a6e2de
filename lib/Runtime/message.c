/*===- message.c - Sentences about failures -------------------------*- C -*-===
 *
 * Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/
#include "runtime.h"
#include <stdarg.h>
#include <stdio.h>

hexad_status hexad_fail(hexad_message message, hexad_status status,
                        const char *format, ...) {
  if (message.text && message.size) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message.text, message.size, format, arguments);
    va_end(arguments);
  }
  return status;
}

const char *hexad_runtime_status_text(hexad_status status) {
  switch (status) {
  case HEXAD_OK:
    return "no error";
  case HEXAD_INVALID_ARGUMENT:
    return "an argument is invalid";
  case HEXAD_OUT_OF_MEMORY:
    return "not enough memory";
  case HEXAD_UNSUPPORTED_CPU:
    return "the library was compiled for another CPU";
  case HEXAD_WEIGHTS_NOT_FOUND:
    return "the weights file cannot be read";
  case HEXAD_WEIGHTS_MISMATCH:
    return "the weights file does not belong to the library";
  case HEXAD_CAPACITY_EXCEEDED:
    return "the call is larger than the capacity of the context or a session";
  case HEXAD_INPUT_OUT_OF_RANGE:
    return "an input has a value out of range";
  case HEXAD_MASK_WITH_HOLE:
    return "a row of the mask has a hole";
  case HEXAD_CONTEXT_BUSY:
    return "the context is in use by another call";
  case HEXAD_SYSTEM_ERROR:
    return "the operating system refused a request";
  case HEXAD_SESSION_BUSY:
    return "the session is in use by another call";
  case HEXAD_REWIND_TOO_FAR:
    return "the session no longer holds what that position needs";
  case HEXAD_STATE_MISMATCH:
    return "the saved state is damaged or belongs to another model";
  }
  return "unknown status";
}
