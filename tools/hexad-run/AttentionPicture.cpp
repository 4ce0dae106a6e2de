//===- AttentionPicture.cpp - Which attention map is drawn ----------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionPicture.h"
#include "hexad/Model/Files.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace hexad;

static Error checkBelow(StringRef option, size_t number, size_t count,
                        StringRef what) {
  if (number < count)
    return Error::success();
  return createStringError("the option '" + option +
                           "' needs a number from 0 to " + Twine(count - 1) +
                           ", " + what + ", found " + Twine(number));
}

Expected<AttentionPicture>
AttentionPicture::create(const PictureOptions &options, const LibraryInfo &info,
                         const Inputs &inputs) {
  AttentionPicture picture(options, info);
  picture.output = find_if(info.outputs,
                           [](const OutputInfo &output) {
                             return output.kind == HEXAD_OUTPUT_MAPS;
                           }) -
                   info.outputs.begin();
  if (picture.output == info.outputs.size())
    return createStringError("the library gives no attention maps; compile the "
                             "model with --outputs=attention");
  const OutputInfo &output = info.outputs[picture.output];
  size_t layers = output.count;
  picture.layer = options.layer.value_or(layers - 1);
  if (Error error =
          checkBelow("--layer", picture.layer, layers, "the model's layers"))
    return std::move(error);
  if (options.head)
    if (Error error = checkBelow("--head", *options.head, output.columns,
                                 "the heads of a layer"))
      return std::move(error);
  picture.batch = inputs.batch;
  picture.seq = inputs.seq;
  if (inputs.batch == 0)
    return createStringError("there is no batch row to draw a map of");
  if (Error error = checkBelow("--batch-row", options.row, inputs.batch,
                               "the rows of the batch"))
    return std::move(error);
  for (size_t s = 0; s < inputs.seq; ++s)
    if (inputs.isReal(options.row * inputs.seq + s))
      picture.tokens.push_back(s);
  // Its picture would be tens of megabytes, of cells smaller than a pixel.
  constexpr size_t most = 2048;
  if (picture.tokens.size() > most)
    return createStringError("a map of " + Twine(picture.tokens.size()) +
                             " tokens cannot be drawn, at most " + Twine(most) +
                             " are possible");
  if (!options.labels.empty())
    if (Error error = picture.readLabels())
      return std::move(error);
  return picture;
}

Error AttentionPicture::readLabels() {
  auto text = readRegularFile(options.labels);
  if (!text)
    return createStringError("cannot read '" + options.labels +
                             "': " + toString(text.takeError()));
  StringRef rest = (*text)->getBuffer();
  // An empty line is a label; the end of the last line begins no other.
  while (!rest.empty()) {
    auto [line, behind] = rest.split('\n');
    labels.push_back(line.rtrim('\r').str());
    rest = behind;
  }
  if (labels.size() != tokens.size())
    return createStringError("expected a line for each of the " +
                             Twine(tokens.size()) + " tokens of batch row " +
                             Twine(options.row) + " in '" + options.labels +
                             "', found " + Twine(labels.size()));
  return Error::success();
}

HeatMap AttentionPicture::select(ArrayRef<float> values) const {
  size_t heads = info->outputs[output].columns;
  size_t first = options.head.value_or(0), count = options.head ? 1 : heads;
  HeatMap map;
  map.title = info->name + ": layer " + std::to_string(layer) +
              (options.head ? ", head " + std::to_string(*options.head)
                            : ", mean of " + std::to_string(heads) + " heads");
  map.size = tokens.size();
  map.labels = labels;
  size_t firstMap = (layer * batch + options.row) * heads + first;
  for (size_t s : tokens)
    for (size_t t : tokens) {
      double sum = 0;
      for (size_t i = 0; i < count; ++i)
        sum += values[((firstMap + i) * seq + s) * seq + t];
      map.values.push_back(static_cast<float>(sum / count));
    }
  return map;
}

Error AttentionPicture::write(ArrayRef<float> values) const {
  std::string text = drawHeatMap(select(values));
  return writeOutputFile(options.path,
                         [&](raw_ostream &stream) { stream << text; });
}
