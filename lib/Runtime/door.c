/*===- door.c - From rectangles with a mask to rows and segments ----*- C -*-===
 *
 * Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/
#include "runtime.h"

/* The run of elements that are not 0: [*first, *first + result). -1 if there is
 * more than one; then *first is the element behind the hole. */
static int64_t find_run(const int32_t *mask, int64_t seq, int64_t *first) {
  int64_t begin = 0;
  while (begin < seq && mask[begin] == 0)
    ++begin;
  int64_t end = begin;
  while (end < seq && mask[end] != 0)
    ++end;
  for (int64_t i = end; i < seq; ++i)
    if (mask[i] != 0) {
      *first = i;
      return -1;
    }
  *first = begin;
  return end - begin;
}

hexad_status hexad_door_open(const hexad_model_info *info,
                             const hexad_capacity *capacity, size_t batch,
                             size_t seq, const int32_t *mask, int selects,
                             const hexad_tables *tables, int64_t *extents,
                             hexad_message message) {
  size_t elements;
  if (batch > capacity->segments)
    return hexad_fail(message, HEXAD_CAPACITY_EXCEEDED,
                      "batch is %zu, the context was created for max_segments "
                      "= %zu",
                      batch, capacity->segments);
  if (__builtin_mul_overflow(batch, seq, &elements) ||
      elements > capacity->elements)
    return hexad_fail(message, HEXAD_CAPACITY_EXCEEDED,
                      "batch * seq is %zu * %zu, the context was created for "
                      "max_elements = %zu",
                      batch, seq, capacity->elements);

  hexad_table_writer writer;
  hexad_tables_begin(&writer, info, tables);
  for (size_t segment = 0; segment < batch; ++segment) {
    size_t element = segment * seq;
    int64_t first = 0, length = (int64_t)seq;
    if (mask)
      length = find_run(mask + element, (int64_t)seq, &first);
    if (length < 0)
      return hexad_fail(message, HEXAD_MASK_WITH_HOLE,
                        "batch row %zu of the mask has a hole: element %lld is "
                        "real again after padding",
                        segment, (long long)first);
    if (info->position_limit && length > info->position_limit)
      return hexad_fail(message, HEXAD_INPUT_OUT_OF_RANGE,
                        "batch row %zu has %lld tokens, the model has "
                        "positions for %d",
                        segment, (long long)length, (int)info->position_limit);
    int64_t rows = writer.rows + length;
    if ((size_t)rows > capacity->tokens)
      return hexad_fail(message, HEXAD_CAPACITY_EXCEEDED,
                        "batch rows 0 to %zu have %lld tokens, the context was "
                        "created for max_tokens = %zu",
                        segment, (long long)rows, capacity->tokens);
    if (selects && (size_t)rows > capacity->selected)
      return hexad_fail(message, HEXAD_CAPACITY_EXCEEDED,
                        "batch rows 0 to %zu have %lld tokens of which results "
                        "are wanted, the context was created for max_logits = "
                        "%zu",
                        segment, (long long)rows, capacity->selected);

    int32_t *element_row = tables->element_row + element;
    for (int64_t i = 0; i < (int64_t)seq; ++i)
      element_row[i] = -1;
    for (int64_t i = first; i < first + length; ++i) {
      int64_t row = writer.rows + i - first;
      element_row[i] = (int32_t)row;
      if (selects)
        hexad_tables_select(&writer, row, (int64_t)element + i);
    }
    hexad_tables_add_segment(&writer, (int64_t)element + first, length, 0);
  }
  hexad_tables_end(&writer, (int64_t)elements, extents);
  return HEXAD_OK;
}

size_t hexad_image_tokens(const hexad_model_info *info) {
  for (int32_t i = 0; i < info->input_count; ++i)
    if (info->inputs[i].kind == HEXAD_INPUT_IMAGE)
      return (size_t)info->inputs[i].tokens;
  return 0;
}

hexad_status hexad_door_check_ids(const hexad_input_info *input, size_t seq,
                                  const int32_t *ids, int64_t tokens,
                                  const hexad_tables *tables,
                                  hexad_message message) {
  for (int64_t row = 0; row < tokens; ++row) {
    size_t element = (size_t)tables->row_element[row];
    int32_t id = ids[element];
    if (id < 0 || id >= input->limit)
      return hexad_fail(message, HEXAD_INPUT_OUT_OF_RANGE,
                        "%s[%zu, %zu] is %d, it must be at least 0 and less "
                        "than %lld",
                        input->name, element / seq, element % seq, (int)id,
                        (long long)input->limit);
  }
  return HEXAD_OK;
}

int hexad_is_labels(const hexad_input_info *input) {
  return input->kind == HEXAD_INPUT_LABELS ||
         input->kind == HEXAD_INPUT_NEXT_LABELS ||
         input->kind == HEXAD_INPUT_SEGMENT_LABELS;
}

static int is_label(const hexad_input_info *input, int32_t label) {
  return label == HEXAD_NO_LABEL || (label >= 0 && label < input->limit);
}

static hexad_status take_segment_labels(const hexad_input_info *input,
                                        size_t batch, const int32_t *labels,
                                        int wanted, const hexad_tables *tables,
                                        hexad_message message) {
  for (size_t segment = 0; segment < batch; ++segment) {
    if (tables->segment_first[segment] < 0)
      continue;
    if (!is_label(input, labels[segment]))
      return hexad_fail(message, HEXAD_INPUT_OUT_OF_RANGE,
                        "%s[%zu] is %d, it must be %d (no label), or at least "
                        "0 and less than %lld",
                        input->name, segment, (int)labels[segment],
                        HEXAD_NO_LABEL, (long long)input->limit);
    if (wanted)
      tables->labels[segment] = labels[segment];
  }
  return HEXAD_OK;
}

hexad_status hexad_door_take_labels(const hexad_input_info *input, size_t batch,
                                    size_t seq, const int32_t *labels,
                                    int wanted, const hexad_tables *tables,
                                    hexad_message message) {
  if (input->kind == HEXAD_INPUT_SEGMENT_LABELS)
    return take_segment_labels(input, batch, labels, wanted, tables, message);
  /* A segment's first label has no row in front that could have it. */
  int shift = input->kind == HEXAD_INPUT_NEXT_LABELS;
  for (size_t segment = 0; segment < batch; ++segment) {
    int64_t end = tables->segment_bounds[segment + 1];
    for (int64_t row = tables->segment_bounds[segment] + shift; row < end;
         ++row) {
      size_t element = (size_t)tables->row_element[row];
      int32_t label = labels[element];
      if (!is_label(input, label))
        return hexad_fail(message, HEXAD_INPUT_OUT_OF_RANGE,
                          "%s[%zu, %zu] is %d, it must be %d (no label), or at "
                          "least 0 and less than %lld",
                          input->name, element / seq, element % seq, (int)label,
                          HEXAD_NO_LABEL, (long long)input->limit);
      if (wanted)
        tables->labels[row - shift] = label;
    }
  }
  return HEXAD_OK;
}
