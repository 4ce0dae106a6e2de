/*===- extend.c - Appending tokens to sessions ----------------------*- C -*-===
 *
 * Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * A call is checked as a whole, then run in rounds of the compiled code. A
 * round takes from each extension, in order, as many tokens as there is room
 * for.
 */
#include "runtime.h"

static size_t min(size_t a, size_t b) { return a < b ? a : b; }

static hexad_message own_message(hexad_context *context) {
  hexad_message message = {context->message, sizeof(context->message)};
  return message;
}

/* The first input of this kind; null if there is none. */
static const hexad_input_info *find_ids(const hexad_model_info *info) {
  for (int32_t i = 0; i < info->input_count; ++i)
    if (info->inputs[i].kind == HEXAD_INPUT_IDS)
      return &info->inputs[i];
  return NULL;
}

/* Rows of logits that an extension asks for. */
static size_t logits_rows(const hexad_extension *extension) {
  switch (extension->logits) {
  case HEXAD_NO_LOGITS:
    return 0;
  case HEXAD_LAST_LOGITS:
    return 1;
  case HEXAD_ALL_LOGITS:
    return extension->count;
  }
  return 0;
}

static void release(const hexad_extension *extensions, size_t count) {
  for (size_t i = 0; i < count; ++i)
    hexad_session_release(extensions[i].session);
}

/* Takes the sessions of all extensions or none. */
static hexad_status take(hexad_context *context,
                         const hexad_extension *extensions, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    hexad_session *session = extensions[i].session;
    hexad_status status = HEXAD_OK;
    if (!session)
      status = hexad_fail(own_message(context), HEXAD_INVALID_ARGUMENT,
                          "the session of extension %zu is null", i);
    else if (session->model != context->model)
      status = hexad_fail(own_message(context), HEXAD_INVALID_ARGUMENT,
                          "the session of extension %zu and the context are of "
                          "two models",
                          i);
    else if (!hexad_session_take(session)) {
      size_t other = 0;
      while (other < i && extensions[other].session != session)
        ++other;
      status = other < i
                   ? hexad_fail(own_message(context), HEXAD_INVALID_ARGUMENT,
                                "extensions %zu and %zu have the same session",
                                other, i)
                   : hexad_fail(own_message(context), HEXAD_SESSION_BUSY,
                                "the session of extension %zu is in use by "
                                "another call",
                                i);
    }
    if (status != HEXAD_OK) {
      release(extensions, i);
      return status;
    }
  }
  return HEXAD_OK;
}

/* Is extension i, whose session is taken, as it must be? */
static hexad_status check(hexad_context *context,
                          const hexad_extension *extension, size_t i,
                          const float *logits) {
  hexad_message message = own_message(context);
  const hexad_session *session = extension->session;
  if (!extension->tokens && extension->count)
    return hexad_fail(message, HEXAD_INVALID_ARGUMENT,
                      "the tokens of extension %zu are null", i);
  if ((unsigned)extension->logits > HEXAD_ALL_LOGITS)
    return hexad_fail(message, HEXAD_INVALID_ARGUMENT,
                      "extension %zu asks for logits in an unknown way: %d", i,
                      (int)extension->logits);
  if (extension->logits == HEXAD_LAST_LOGITS && !extension->count)
    return hexad_fail(message, HEXAD_INVALID_ARGUMENT,
                      "extension %zu asks for the last of no logits", i);
  if (logits_rows(extension) && !logits)
    return hexad_fail(message, HEXAD_INVALID_ARGUMENT,
                      "extension %zu asks for logits, the place for them is "
                      "null",
                      i);
  if (logits_rows(extension) && !context->capacity.selected)
    return hexad_fail(message, HEXAD_INVALID_ARGUMENT,
                      "extension %zu asks for logits, the model has none", i);
  if (extension->count > session->capacity - session->position)
    return hexad_fail(message, HEXAD_CAPACITY_EXCEEDED,
                      "extension %zu has %zu tokens, its session is at "
                      "position %zu of a capacity of %zu",
                      i, extension->count, session->position,
                      session->capacity);
  const hexad_input_info *input = find_ids(context->model->info);
  for (size_t t = 0; t < extension->count; ++t) {
    int32_t token = extension->tokens[t];
    if (token < 0 || token >= input->limit)
      return hexad_fail(message, HEXAD_INPUT_OUT_OF_RANGE,
                        "token %zu of extension %zu is %d, it must be at least "
                        "0 and less than %lld",
                        t, i, (int)token, (long long)input->limit);
  }
  return HEXAD_OK;
}

/* Puts the arguments of the compiled code: ids come from the context, the only
 * output is that of selected rows. */
static void set_pointers(hexad_context *context, float *logits) {
  const hexad_model_info *info = context->model->info;
  const hexad_input_info *ids = find_ids(info);
  void **inputs = context->pointers + HEXAD_POINTER_COUNT;
  void **outputs = inputs + info->input_count;
  for (int32_t i = 0; i < info->input_count; ++i)
    inputs[i] = &info->inputs[i] == ids ? context->tokens : NULL;
  for (int32_t i = 0; i < info->output_count; ++i) {
    int selected = info->outputs[i].kind == HEXAD_OUTPUT_SELECTED;
    outputs[i] = selected ? logits : NULL;
    if (selected)
      logits = NULL;
  }
}

/* Writes the tables of the next round and the tokens of its rows. Without any
 * left, the call is done. */
static void begin_round(hexad_context *context,
                        const hexad_extension *extensions, size_t count) {
  const hexad_model_info *info = context->model->info;
  const hexad_capacity *capacity = &context->capacity;
  const hexad_tables *tables = &context->tables;
  size_t room = min(capacity->tokens, capacity->elements);
  size_t selected_room = capacity->selected;
  size_t output_row = 0; /* the extension's first */
  hexad_table_writer writer;
  hexad_tables_begin(&writer, info, tables);
  for (size_t i = 0; i < count; ++i) {
    const hexad_extension *extension = &extensions[i];
    const hexad_session *session = extension->session;
    size_t done = context->extended[i], left = extension->count - done;
    size_t step = min(min(left, session->most_step), room);
    if (extension->logits == HEXAD_ALL_LOGITS)
      step = min(step, selected_room);
    /* The last row waits until there is room for its logits. */
    if (extension->logits == HEXAD_LAST_LOGITS && step && step == left &&
        !selected_room)
      --step;

    int64_t row = writer.rows;
    for (size_t t = 0; t < step; ++t) {
      context->tokens[row + (int64_t)t] = extension->tokens[done + t];
      tables->element_row[row + (int64_t)t] = (int32_t)(row + (int64_t)t);
      int last = done + t + 1 == extension->count;
      if (extension->logits == HEXAD_ALL_LOGITS)
        hexad_tables_select(&writer, row + (int64_t)t,
                            (int64_t)(output_row + done + t));
      else if (extension->logits == HEXAD_LAST_LOGITS && last)
        hexad_tables_select(&writer, row + (int64_t)t, (int64_t)output_row);
    }
    hexad_tables_add_segment(&writer, row, (int64_t)step,
                             (int64_t)session->position);
    for (int32_t c = 0; c < info->cache_count; ++c)
      tables->caches[i * (size_t)info->cache_count + (size_t)c] =
          session->caches[c].place;
    output_row += logits_rows(extension);
    room -= step;
    selected_room = capacity->selected - (size_t)writer.selected;
  }
  hexad_tables_end(&writer, writer.rows, context->extents);
  context->more = writer.rows != 0;
  if (!context->more)
    release(extensions, count);
}

/* Positions advance by what the round has appended. */
static void end_round(hexad_context *context, const hexad_extension *extensions,
                      size_t count) {
  const int32_t *bounds = context->tables.segment_bounds;
  for (size_t i = 0; i < count; ++i) {
    size_t step = (size_t)(bounds[i + 1] - bounds[i]);
    context->extended[i] += step;
    if (step)
      hexad_session_advance(extensions[i].session, step);
  }
}

/* Checks everything, takes the sessions and prepares the first round. A failure
 * changes nothing. */
static hexad_status begin(hexad_context *context,
                          const hexad_extension *extensions, size_t count,
                          float *logits) {
  hexad_message message = own_message(context);
  context->message[0] = '\0';
  context->more = 0;
  if (!context->model->info->cache_count)
    return hexad_fail(message, HEXAD_INVALID_ARGUMENT,
                      "the model keeps nothing: it has no sessions");
  if (!extensions && count)
    return hexad_fail(message, HEXAD_INVALID_ARGUMENT,
                      "the extensions are null");
  if (count > context->capacity.segments)
    return hexad_fail(message, HEXAD_CAPACITY_EXCEEDED,
                      "there are %zu extensions, the context was created for "
                      "max_segments = %zu",
                      count, context->capacity.segments);
  hexad_status status = take(context, extensions, count);
  if (status != HEXAD_OK)
    return status;
  size_t rows = 0;
  for (size_t i = 0; status == HEXAD_OK && i < count; ++i) {
    status = check(context, &extensions[i], i, logits);
    /* Each is at most a session's capacity: no overflow. */
    rows += logits_rows(&extensions[i]);
    if (status == HEXAD_OK && rows > INT32_MAX)
      status = hexad_fail(message, HEXAD_CAPACITY_EXCEEDED,
                          "more rows of logits are wanted than can be counted");
    context->extended[i] = 0;
  }
  if (status != HEXAD_OK) {
    release(extensions, count);
    return status;
  }
  set_pointers(context, logits);
  begin_round(context, extensions, count);
  return HEXAD_OK;
}

hexad_status hexad_runtime_extend_batch(hexad_context *context,
                                        const hexad_extension *extensions,
                                        size_t count, float *logits) {
  if (!context)
    return HEXAD_INVALID_ARGUMENT;
  hexad_status status = hexad_context_begin(context, "extend_on");
  if (status != HEXAD_OK)
    return status;
  status = begin(context, extensions, count, logits);
  while (context->more) {
    hexad_run_team(context);
    end_round(context, extensions, count);
    begin_round(context, extensions, count);
  }
  hexad_context_end(context);
  return status;
}

hexad_status hexad_runtime_extend(hexad_context *context,
                                  hexad_session *session, const int32_t *tokens,
                                  size_t count, hexad_logits_of which,
                                  float *logits) {
  const hexad_extension extension = {session, tokens, count, which};
  return hexad_runtime_extend_batch(context, &extension, 1, logits);
}

hexad_status hexad_runtime_extend_on(hexad_context *context, size_t thread,
                                     const hexad_extension *extensions,
                                     size_t count, float *logits) {
  if (!context || !context->caller_threads || thread >= context->team.threads)
    return HEXAD_INVALID_ARGUMENT;
  if (thread == 0)
    context->status = begin(context, extensions, count, logits);
  for (;;) {
    hexad_team_barrier(&context->team);
    if (!context->more)
      break;
    hexad_run_entry(context, thread);
    hexad_team_barrier(&context->team);
    if (thread == 0) {
      end_round(context, extensions, count);
      begin_round(context, extensions, count);
    }
  }
  hexad_status status = context->status;
  /* Nobody returns before all have read the status. */
  hexad_team_barrier(&context->team);
  return status;
}
