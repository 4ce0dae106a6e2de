//===- Header.cpp - The C header of a library -----------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layouts are those of include/hexad/Runtime/interface.h.
//
//===----------------------------------------------------------------------===//

#include "hexad/Driver/LibraryInfo.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace hexad;

// The parts that do not depend on the model's inputs and outputs. `@` stands
// for the prefix, `$` for it in capitals, `%` for the weights file (among
// sessions: for the output of logits).

static constexpr StringLiteral beforeExample = R"( *
 * Link with the library; it needs libc and libm, nothing else. Numbers are
 * 32-bit floats and integers, arrays are row-major.
 *
 *   @_model *model;
 *   @_context *context;
 *   @_context_options options = {0};
 *   @_arguments call = {0};
 *   options.max_segments = 8;
)";

static constexpr StringLiteral exampleCall =
    R"( *   if (@_model_create(NULL, &model) != $_OK) ...
 *   if (@_context_create(model, &options, &context) != $_OK) ...
 *   call.batch = 1;
)";

static constexpr StringLiteral beforeArguments =
    R"( *   if (@_forward(context, &call) != $_OK)
 *     puts(@_context_message(context));
 *   @_context_destroy(context);
 *   @_model_destroy(model);
 */
#ifndef $_H
#define $_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a function returns. Functions never print, exit or throw. */
typedef enum @_status {
  $_OK = 0,
  $_INVALID_ARGUMENT = 1,   /* e.g. a null that is not allowed */
  $_OUT_OF_MEMORY = 2,
  $_UNSUPPORTED_CPU = 3,    /* compiled for instructions that are not there */
  $_WEIGHTS_NOT_FOUND = 4,  /* the weights file cannot be read */
  $_WEIGHTS_MISMATCH = 5,   /* truncated, foreign, or of another build */
  $_CAPACITY_EXCEEDED = 6,  /* the call is larger than the context */
  $_INPUT_OUT_OF_RANGE = 7, /* an id, a label, or too long a sequence */
  $_MASK_WITH_HOLE = 8,     /* real, padding, real again in one row */
  $_CONTEXT_BUSY = 9,       /* another thread is in a call on the context */
  $_SYSTEM_ERROR = 10,      /* threads cannot be made */
  $_SESSION_BUSY = 11,      /* another call is using the session */
  $_REWIND_TOO_FAR = 12,    /* layers with a window have forgotten that */
  $_STATE_MISMATCH = 13     /* a saved state: damaged, foreign, or older */
} @_status;

/* A phrase about a status, never null. */
const char *@_status_text(@_status status);

/*===--- The model: code and weights, loaded once ---===*/

/* Immutable after its creation: any number of threads may make contexts from
 * one model at once. */
typedef struct @_model @_model;

/* Where the weights lie. Results are the same to the bit. */
typedef enum @_weights_memory {
  $_MAP_WEIGHTS = 0, /* The file is mapped: it is in memory once for all
                        processes, and reading begins with the first call */
  $_COPY_WEIGHTS = 1 /* The file is read into memory of the model's own, in huge
                        pages if the system has them. Takes time and memory,
                        and makes calls of few tokens, as decoding, faster.
                        The file is of no importance afterwards */
} @_weights_memory;

/* Set to zeros what is not of interest: `= {0}`. */
typedef struct @_model_options {
  /* The weights file. Null: `%` in the folder of this library. It must
   * not be changed while it is in use. */
  const char *weights_path;
  /* Receives a sentence about a failure, ending in 0; may be null. */
  char *message;
  size_t message_size; /* bytes */
  @_weights_memory weights_memory;
} @_model_options;

/* Checks the CPU, loads the weights and checks that they belong to this library.
 * `options` may be null. On failure *model is null. Errors: UNSUPPORTED_CPU,
 * WEIGHTS_NOT_FOUND, WEIGHTS_MISMATCH, OUT_OF_MEMORY, INVALID_ARGUMENT. */
@_status @_model_create(const @_model_options *options, @_model **model);

/* Destroy its contexts before. Null is ignored. */
void @_model_destroy(@_model *model);

/*===--- Contexts: scratch memory and threads ---===*/

/* What one call at a time runs on. Contexts are independent of each other. After
 * @_context_create no function allocates memory. */
typedef struct @_context @_context;

typedef struct @_context_options {
  size_t max_tokens;   /* most tokens of a call over all batch rows, without
                          padding; at least 1, or 0 in a model of images:
                          max_segments images */
  size_t max_segments; /* largest batch; at least 1 */
  size_t max_elements; /* largest batch * seq, padding included; 0: max_tokens */
  size_t max_logits;   /* most tokens of a call of which logits are wanted;
                          0: max_tokens. Matters to models with logits only */
  size_t threads;      /* threads of a call; 0: the CPUs this process may use.
                          Results do not depend on it, to the bit */
  int caller_threads;  /* not 0: make no threads, see @_forward_on */
  /* Where the context shall live: any address, at least @_context_size bytes,
   * valid until @_context_destroy. Null: the context allocates. */
  void *memory;
  size_t memory_size; /* bytes */
  /* Receives a sentence about a failure, ending in 0; may be null. */
  char *message;
  size_t message_size; /* bytes */
} @_context_options;

/* Bytes of memory that a context with these options needs. Errors:
 * INVALID_ARGUMENT, OUT_OF_MEMORY (more than can be addressed). */
@_status @_context_size(const @_model *model,
    const @_context_options *options, size_t *bytes);

/* On failure *context is null. Errors: INVALID_ARGUMENT, OUT_OF_MEMORY,
 * SYSTEM_ERROR. */
@_status @_context_create(const @_model *model,
    const @_context_options *options, @_context **context);

/* Ends the context's threads; no call may be running. Null is ignored. */
void @_context_destroy(@_context *context);

/* A sentence about the failure of the context's last call; empty if it
 * succeeded. Valid until the next call. */
const char *@_context_message(const @_context *context);

/*===--- A call ---===*/

)";

static constexpr StringLiteral arguments = R"(
/* Inputs and outputs: the caller's memory, read and written only during the
 * call. batch and seq may be 0. */
typedef struct @_arguments {
  size_t batch; /* sequences, or images */
)";

static constexpr StringLiteral afterArguments = R"(} @_arguments;

/* Runs the model on the context's threads and returns when the outputs are
 * written. The context stays usable after an error; outputs are then not
 * written. Errors: CAPACITY_EXCEEDED, INPUT_OUT_OF_RANGE, MASK_WITH_HOLE,
 * INVALID_ARGUMENT, CONTEXT_BUSY. */
@_status @_forward(@_context *context, const @_arguments *arguments);

/* The same on the caller's threads, for a context with `caller_threads`: each of
 * its `threads` threads calls this with a number of its own, 0 to threads - 1,
 * and the same arguments. All return the same status, when all are done; before,
 * nobody may begin another call or destroy the context. */
@_status @_forward_on(@_context *context, size_t thread,
    const @_arguments *arguments);
)";

static constexpr StringLiteral sessions = R"(
/*===--- Sessions: text that goes on ---===*/

/* Remembers the keys and values of the tokens so far. Generating text:
 *
 *   @_session *session;
 *   @_session_options how = {0};
 *   how.capacity = 2048;
 *   @_session_create(model, &how, &session);
 *   @_extend(context, session, prompt, n, $_LAST_LOGITS, logits);
 *   do {
 *     int32_t next = ...;   choose from the logits
 *     @_extend(context, session, &next, 1, $_LAST_LOGITS, logits);
 *   } while (...);
 *
 * Sessions are independent of contexts and of each other; one call at a time may
 * use a session. Extending by n tokens gives the same bits as n times one, as
 * any other cut, as being in any batch, and as @_forward. */
typedef struct @_session @_session;

typedef struct @_session_options {
  size_t capacity; /* most positions (tokens); at least 1 */
  size_t slack;    /* in layers with a window: positions that @_session_rewind
                      can go back; 0: 512. More tokens than that are appended in
                      several steps */
  /* Where the session shall live: any address, at least @_session_size bytes,
   * valid until @_session_destroy. Null: the session allocates. */
  void *memory;
  size_t memory_size; /* bytes */
  /* Receives a sentence about a failure, ending in 0; may be null. */
  char *message;
  size_t message_size; /* bytes */
} @_session_options;

/* Bytes of memory that a session with these options needs: all that it will ever
 * use. Errors: INVALID_ARGUMENT, OUT_OF_MEMORY (more than can be addressed). */
@_status @_session_size(const @_model *model,
    const @_session_options *options, size_t *bytes);

/* A session at position 0. On failure *session is null. Errors:
 * INVALID_ARGUMENT, OUT_OF_MEMORY. */
@_status @_session_create(const @_model *model,
    const @_session_options *options, @_session **session);

/* No call may be using it. Null is ignored. */
void @_session_destroy(@_session *session);

/* A sentence about the failure of the last function that worked on the session
 * alone; empty if it succeeded. */
const char *@_session_message(const @_session *session);

/* Tokens so far. */
size_t @_session_position(const @_session *session);

/* Forgets the tokens from `position` on. Errors: INVALID_ARGUMENT (in front),
 * REWIND_TOO_FAR (layers with a window no longer hold what that position sees),
 * SESSION_BUSY; the session is then as it was. */
@_status @_session_rewind(@_session *session, size_t position);

/* Makes the destination a copy of the source; they are independent afterwards.
 * Errors: CAPACITY_EXCEEDED, INVALID_ARGUMENT, SESSION_BUSY; the destination is
 * then as it was. */
@_status @_session_fork(@_session *destination, @_session *source);

/* The state as bytes: for this library on any machine, not for another build of
 * the model. Errors: INVALID_ARGUMENT (the buffer is too small), SESSION_BUSY. */
@_status @_session_saved_size(@_session *session, size_t *bytes);
@_status @_session_save(@_session *session, void *buffer, size_t size);

/* The session goes on where the saved one was. Errors: STATE_MISMATCH,
 * CAPACITY_EXCEEDED, SESSION_BUSY; the session is then as it was. */
@_status @_session_load(@_session *session, const void *buffer, size_t size);

/* Which tokens of an extension logits are wanted of: a row of
 * $_%_COLUMNS floats each. */
typedef enum @_logits_of {
  $_NO_LOGITS = 0,
  $_LAST_LOGITS = 1, /* one row: what follows the last token */
  $_ALL_LOGITS = 2   /* `count` rows */
} @_logits_of;

/* Appends `count` tokens: prefill, a part of it, one step of decoding, or the
 * check of guessed tokens (then @_session_rewind). `logits` may be null if none
 * are wanted; count may be 0. Errors: CAPACITY_EXCEEDED (of the session),
 * INPUT_OUT_OF_RANGE, INVALID_ARGUMENT, CONTEXT_BUSY, SESSION_BUSY, found before
 * anything is changed; see @_context_message. More tokens than the context's
 * max_tokens are appended in several steps. */
@_status @_extend(@_context *context, @_session *session,
    const int32_t *tokens, size_t count, @_logits_of which, float *logits);

/* One session's part of a batch. */
typedef struct @_extension {
  @_session *session;
  const int32_t *tokens;
  size_t count;
  @_logits_of logits;
} @_extension;

/* Extends several sessions at once, at most max_segments of the context: their
 * tokens share the reading of the weights. Rows of logits stand one behind the
 * other in the order of the extensions. Errors as of @_extend; if there is one
 * no session is changed. */
@_status @_extend_batch(@_context *context,
    const @_extension *extensions, size_t count, float *logits);

/* The same on the caller's threads, as @_forward_on. */
@_status @_extend_on(@_context *context, size_t thread,
    const @_extension *extensions, size_t count, float *logits);
)";

static constexpr StringLiteral end = R"(
#ifdef __cplusplus
}
#endif

#endif /* $_H */
)";

/// Text in a comment cannot end it.
static std::string escapeComment(StringRef text) {
  std::string result;
  for (char c : text) {
    if (c == '/' && !result.empty() && result.back() == '*')
      result += ' ';
    result += isPrint(c) ? c : '?';
  }
  return result;
}

static void writeLabels(raw_ostream &os, const InputInfo &input) {
  bool ofSegments = input.kind == HEXAD_INPUT_SEGMENT_LABELS;
  os << "  /* int32 [batch" << (ofSegments ? "" : ", seq")
     << "]: what the loss compares the logits with, at least 0 and less\n   * "
        "than "
     << input.limit << ", or " << HEXAD_NO_LABEL << ": no label.";
  if (input.kind == HEXAD_INPUT_NEXT_LABELS)
    os << " Logits are compared with the label of\n   * the next element; the "
          "first real one of a batch row is not looked at.";
  if (!ofSegments)
    os << " Not read\n   * at padding.";
  os << (ofSegments ? " Null:\n   * no labels." : " Null: no labels.")
     << " */\n  const int32_t *" << input.field << ";\n";
}

static void writeInput(raw_ostream &os, const InputInfo &input) {
  if (input.kind == HEXAD_INPUT_IMAGE) {
    os << "  /* float [batch, " << input.channels << ", " << input.height
       << ", " << input.width
       << "]: channels, rows and columns of pixels, normalized as\n   * in "
          "training. */\n  const float *"
       << input.field << ";\n";
    return;
  }
  if (input.kind == HEXAD_INPUT_LABELS ||
      input.kind == HEXAD_INPUT_NEXT_LABELS ||
      input.kind == HEXAD_INPUT_SEGMENT_LABELS)
    return writeLabels(os, input);
  os << "  /* int32 [batch, seq]";
  if (input.kind == HEXAD_INPUT_MASK)
    os << ": 0 where an element is padding, else not 0. The real elements of "
          "a\n"
          "   * batch row are consecutive; padding lies before or behind them.";
  else
    os << ", each at least 0 and less than " << input.limit
       << "; not read at\n   * padding.";
  if (input.optional)
    os << (input.kind == HEXAD_INPUT_MASK ? " Null: there is\n   * no padding."
                                          : " Null: zeros.");
  os << " */\n  const int32_t *" << input.field << ";\n";
}

static void writeOutput(raw_ostream &os, const LibraryInfo &info,
                        const OutputInfo &output) {
  if (output.kind == HEXAD_OUTPUT_SCALAR) {
    os << "  /* float: the mean cross-entropy over the elements that have a "
          "label; NaN if\n   * none has. Wanted alone, it needs no logits: a "
          "max_logits of 1 will do. Null:\n   * not wanted. */\n  float *"
       << output.field << ";\n";
    return;
  }
  int64_t tokens = info.getImageTokens();
  std::string seq = tokens ? std::to_string(tokens) : "seq";
  if (output.kind == HEXAD_OUTPUT_MAPS) {
    os << "  /* float [" << output.count << ", batch, " << output.columns
       << ", " << seq << ", " << seq
       << "]: for each layer and head the probabilities that\n   * "
          "attention gives the elements of a batch row (last), seen from each "
          "of them;\n   * 0 at padding. `extend` gives none. Null: not wanted. "
          "*/\n  float *"
       << output.field << ";\n";
    return;
  }
  os << "  /* float [";
  if (output.stacked)
    os << output.count << ", ";
  os << "batch, " << (output.kind == HEXAD_OUTPUT_POOLED ? "" : seq + ", ")
     << output.columns << "]";
  if (output.stacked)
    os << ": what enters the first layer, then what leaves\n   * each layer";
  os << (output.kind == HEXAD_OUTPUT_POOLED ? "; one row for each batch row."
         : tokens                           ? "; tokens in order."
                                            : "; 0 at padding.")
     << " Null:\n   * not wanted. */\n  float *" << output.field << ";\n";
}

static std::string getColumnsMacro(const LibraryInfo &info,
                                   const OutputInfo &output) {
  return StringRef(info.prefix).upper() + "_" +
         StringRef(output.field).upper() +
         (output.kind == HEXAD_OUTPUT_MAPS ? "_HEADS" : "_COLUMNS");
}

std::string hexad::generateHeader(const LibraryInfo &info) {
  std::string text;
  raw_string_ostream os(text);
  // Writes text of our own, with names put in.
  std::string named = info.weightsFile;
  auto write = [&](StringRef pattern) {
    for (char c : pattern) {
      if (c == '@')
        os << info.prefix;
      else if (c == '$')
        os << StringRef(info.prefix).upper();
      else if (c == '%')
        os << named;
      else
        os << c;
    }
  };
  os << "/* " << info.getHeaderFile() << " - the model '"
     << escapeComment(info.name) << "' as a C library\n *\n * Made by "
     << info.toolVersion << " for " << info.cpu << ": " << info.getLibraryFile()
     << ", " << info.weightsFile << " and this file\n * belong together. "
     << info.parameterCount << " parameters";
  if (info.activeParameterCount != info.parameterCount)
    os << ", " << info.activeParameterCount << " active per token";
  if (info.positionLimit)
    os << ", sequences of at most " << info.positionLimit << " tokens";
  os << ".\n";
  int64_t imageTokens = info.getImageTokens();
  write(beforeExample);
  if (!imageTokens)
    os << " *   options.max_tokens = 512;\n";
  write(exampleCall);
  if (!imageTokens)
    os << " *   call.seq = 7;\n";
  for (const InputInfo &input : info.inputs)
    if (!input.optional)
      os << " *   call." << input.field << " = ...;\n";
  if (!info.outputs.empty())
    os << " *   call." << info.outputs.front().field << " = ...;\n";
  write(beforeArguments);
  for (const OutputInfo &output : info.outputs)
    if (output.kind != HEXAD_OUTPUT_SCALAR)
      os << (output.kind == HEXAD_OUTPUT_MAPS ? "/* Heads of `"
                                              : "/* Floats in a row of `")
         << output.field << "`. */\n#define " << getColumnsMacro(info, output)
         << " " << output.columns << "\n";
  if (imageTokens)
    write("/* Tokens of an image. */\n#define $_TOKENS " +
          std::to_string(imageTokens) + "\n");
  write(arguments);
  if (imageTokens)
    write("  size_t seq;   /* $_TOKENS, or 0 */\n");
  else
    write("  size_t seq;   /* elements of each, padding included */\n");
  for (const InputInfo &input : info.inputs)
    writeInput(os, input);
  for (const OutputInfo &output : info.outputs)
    writeOutput(os, info, output);
  write(afterArguments);
  if (!info.caches.empty()) {
    for (const OutputInfo &output : info.outputs)
      if (output.kind == HEXAD_OUTPUT_SELECTED)
        named = StringRef(output.field).upper();
    write(sessions);
  }
  write(end);
  return text;
}
