//===- Inputs.cpp - A model's inputs, read from files ---------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs.h"
#include "Npy.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace hexad;

static constexpr StringLiteral positionsName = "position_ids";

Error Inputs::takeShape(StringRef name, const StoredTensor &tensor,
                        bool ofSegments) {
  if (tensor.type != StoredType::I32 && tensor.type != StoredType::I64)
    return createStringError("input '" + name + "' must be I32 or I64, found " +
                             getStoredTypeName(tensor.type));
  if (ofSegments) {
    if (tensor.shape.size() != 1)
      return createStringError("input '" + name +
                               "' must have the shape [batch], found " +
                               formatShape(tensor.shape));
    return Error::success();
  }
  if (tensor.shape.size() != 2)
    return createStringError("input '" + name +
                             "' must have the shape [batch, seq], found " +
                             formatShape(tensor.shape));
  return setShape(name, tensor.shape[0], tensor.shape[1]);
}

Error Inputs::setShape(StringRef name, size_t thisBatch, size_t thisSeq) {
  if (shapeFrom.empty()) {
    batch = thisBatch;
    seq = thisSeq;
    shapeFrom = name;
  } else if (batch != thisBatch || seq != thisSeq) {
    auto format = [](size_t rows, size_t columns) {
      return formatShape({int64_t(rows), int64_t(columns)});
    };
    return createStringError("input '" + name + "' has [batch, seq] " +
                             format(thisBatch, thisSeq) + ", but '" +
                             shapeFrom + "' has " + format(batch, seq));
  }
  return Error::success();
}

Error Inputs::takeImages(size_t index, const StoredTensor &tensor) {
  const InputInfo &input = info->inputs[index];
  if (!tensor.isFloat())
    return createStringError("input '" + input.name +
                             "' must be F32, F16 or BF16, found " +
                             getStoredTypeName(tensor.type));
  if (tensor.shape.size() != 4 || tensor.shape[1] != input.channels ||
      tensor.shape[2] != input.height || tensor.shape[3] != input.width)
    return createStringError(
        "input '" + input.name + "' must have the shape [batch, " +
        Twine(input.channels) + ", " + Twine(input.height) + ", " +
        Twine(input.width) + "], found " + formatShape(tensor.shape));
  if (Error error = setShape(input.name, tensor.shape[0], input.tokens))
    return error;
  pixels.resize(tensor.getElementCount());
  tensor.readFloats(0, pixels);
  return Error::success();
}

/// Takes one stored tensor as the input of its name.
Error Inputs::take(StringRef name, const StoredTensor &tensor, StringRef path) {
  auto fail = [&](const Twine &message) {
    return createStringError(path + ": " + message);
  };
  auto found = find_if(
      info->inputs, [&](const InputInfo &input) { return input.name == name; });
  bool isPositions = found == info->inputs.end() && name == positionsName;
  if (found == info->inputs.end() && !isPositions) {
    std::string known =
        join(map_range(info->inputs, [](const InputInfo &i) { return i.name; }),
             ", ");
    return fail("the model has no input '" + name + "'; it has " + known);
  }

  size_t index = found - info->inputs.begin();
  if (isPositions ? !positionsFrom.empty() : given[index])
    return fail("input '" + name + "' is given twice");
  if (!isPositions && found->kind == HEXAD_INPUT_IMAGE) {
    if (Error error = takeImages(index, tensor))
      return fail(toString(std::move(error)));
    given[index] = true;
    return Error::success();
  }
  bool ofSegments = !isPositions && found->kind == HEXAD_INPUT_SEGMENT_LABELS;
  if (Error error = takeShape(name, tensor, ofSegments))
    return fail(toString(std::move(error)));

  std::vector<int64_t> wide(tensor.getElementCount());
  tensor.readIntegers(0, wide);
  std::vector<int32_t> &narrow = isPositions ? positions : values[index];
  narrow.reserve(wide.size());
  for (auto [element, value] : enumerate(wide)) {
    if (value != int32_t(value)) {
      std::string place = ofSegments ? std::to_string(element)
                                     : std::to_string(element / seq) + ", " +
                                           std::to_string(element % seq);
      return fail(name + "[" + place + "] is " + Twine(value) +
                  ", which does not fit 32 bits");
    }
    narrow.push_back(value);
  }
  if (isPositions) {
    positionsFrom = path;
    return Error::success();
  }
  given[index] = true;
  if (found->kind == HEXAD_INPUT_MASK)
    mask = index;
  return Error::success();
}

/// Padding has no position: what stands there does not count.
Error Inputs::checkPositions() const {
  if (positionsFrom.empty())
    return Error::success();
  for (size_t row = 0; row < batch; ++row) {
    int32_t expected = 0;
    for (size_t column = 0; column < seq; ++column) {
      size_t element = row * seq + column;
      if (!isReal(element))
        continue;
      if (positions[element] != expected)
        return createStringError(Twine(positionsFrom) + ": " + positionsName +
                                 "[" + Twine(row) + ", " + Twine(column) +
                                 "] is " + Twine(positions[element]) +
                                 ", but the model counts the real elements of "
                                 "a row from 0 and has " +
                                 Twine(expected) + " there");
      ++expected;
    }
  }
  return Error::success();
}

/// The input that --prompt-tokens gives: the first one of ids.
static size_t findTokens(const LibraryInfo &info) {
  return find_if(info.inputs,
                 [](const InputInfo &input) {
                   return input.kind == HEXAD_INPUT_IDS;
                 }) -
         info.inputs.begin();
}

Error Inputs::checkMissing() const {
  for (auto [index, input] : enumerate(info->inputs))
    if (!given[index] && !input.optional)
      return createStringError(
          "the input '" + input.name + "' is missing; give it with --inputs" +
          (index == findTokens(*info) ? ", --input or --prompt-tokens"
                                      : " or --input"));
  return Error::success();
}

Expected<Inputs> Inputs::fromTokens(const LibraryInfo &info,
                                    std::vector<int32_t> tokens) {
  size_t index = findTokens(info);
  if (index == info.inputs.size())
    return createStringError("the model '" + info.name +
                             "' has no input of token ids; --prompt-tokens "
                             "needs one");
  Inputs inputs(info);
  inputs.batch = 1;
  inputs.seq = tokens.size();
  inputs.values[index] = std::move(tokens);
  inputs.given[index] = true;
  if (Error error = inputs.checkMissing())
    return std::move(error);
  return inputs;
}

Expected<Inputs> Inputs::read(const LibraryInfo &info,
                              ArrayRef<std::string> files,
                              ArrayRef<std::string> arrays) {
  Inputs inputs(info);
  for (StringRef path : files) {
    auto file = SafetensorsFile::open(path);
    if (!file)
      return file.takeError();
    for (const StoredTensor &tensor : (*file)->getTensors())
      if (Error error = inputs.take(tensor.name, tensor, path))
        return std::move(error);
  }
  for (StringRef argument : arrays) {
    auto [name, path] = argument.split('=');
    if (name.empty() || path.empty())
      return createStringError("--input expects NAME=FILE.npy, found '" +
                               argument + "'");
    Expected<NpyArray> array = readNpy(path);
    if (!array)
      return createStringError("input '" + name +
                               "': " + toString(array.takeError()));
    if (Error error = inputs.take(name, array->tensor, path))
      return std::move(error);
  }
  if (Error error = inputs.checkMissing())
    return std::move(error);
  // Labels may have been read before the batch was known.
  for (auto [index, input] : enumerate(info.inputs))
    if (input.kind == HEXAD_INPUT_SEGMENT_LABELS && inputs.given[index] &&
        inputs.values[index].size() != inputs.batch)
      return createStringError("input '" + input.name + "' has " +
                               Twine(inputs.values[index].size()) +
                               " elements, expected one for each of " +
                               Twine(inputs.batch) + " batch rows");
  if (Error error = inputs.checkPositions())
    return std::move(error);
  return inputs;
}

size_t Inputs::countTokens() const {
  if (!mask)
    return batch * seq;
  return count_if(*get(*mask), [](int32_t value) { return value != 0; });
}
