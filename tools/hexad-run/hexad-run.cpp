//===- hexad-run.cpp - Runs a compiled library on files -------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoadedLibrary.h"
#include "Npy.h"
#include "hexad/Driver/CommandLine.h"
#include "hexad/Driver/OptionTable.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using namespace llvm::opt;
using namespace hexad;

static const ToolDescription tool = {
    "hexad-run", "hexad run LIBRARY [options]",
    "Run a library that hexad compiled on inputs from files",
    R"(
Ids and masks are int32 or int64 [batch, seq]; optional inputs may be left out.
The weights file is found beside the library.

  hexad run libbert.so --inputs in.safetensors --outputs out.safetensors
)"};

namespace {

/// The inputs of a call, narrowed, and the shape that they agree on.
struct Inputs {
  std::vector<std::vector<int32_t>> values; ///< one for each of the model's
  std::vector<bool> given;
  size_t batch = 0, seq = 0;
  std::string shapeFrom; ///< the input that the shape was first seen in
};

} // namespace

/// Takes one stored tensor as the input of its name.
static Error takeInput(const LibraryInfo &info, StringRef name,
                       const StoredTensor &tensor, StringRef path,
                       Inputs &inputs) {
  auto found = find_if(
      info.inputs, [&](const InputInfo &input) { return input.name == name; });
  if (found == info.inputs.end()) {
    std::string known =
        join(map_range(info.inputs, [](const InputInfo &i) { return i.name; }),
             ", ");
    return createStringError(path + ": the model has no input '" + name +
                             "'; it has " + known);
  }
  if (tensor.type != StoredType::I32 && tensor.type != StoredType::I64)
    return createStringError(path + ": input '" + name +
                             "' must be I32 or I64, found " +
                             getStoredTypeName(tensor.type));
  if (tensor.shape.size() != 2)
    return createStringError(path + ": input '" + name +
                             "' must have the shape [batch, seq], found " +
                             formatShape(tensor.shape));
  size_t index = found - info.inputs.begin();
  if (inputs.given[index])
    return createStringError(path + ": input '" + name + "' is given twice");
  size_t batch = tensor.shape[0], seq = tensor.shape[1];
  if (inputs.shapeFrom.empty()) {
    inputs.batch = batch;
    inputs.seq = seq;
    inputs.shapeFrom = name;
  } else if (inputs.batch != batch || inputs.seq != seq) {
    return createStringError(
        path + ": input '" + name + "' has the shape " +
        formatShape(tensor.shape) + ", but '" + inputs.shapeFrom + "' has " +
        formatShape({int64_t(inputs.batch), int64_t(inputs.seq)}));
  }

  std::vector<int64_t> wide(tensor.getElementCount());
  tensor.readIntegers(0, wide);
  std::vector<int32_t> &narrow = inputs.values[index];
  narrow.reserve(wide.size());
  for (auto [element, value] : enumerate(wide)) {
    if (value != int32_t(value))
      return createStringError(path + ": " + name + "[" + Twine(element / seq) +
                               ", " + Twine(element % seq) + "] is " +
                               Twine(value) + ", which does not fit 32 bits");
    narrow.push_back(value);
  }
  inputs.given[index] = true;
  return Error::success();
}

static Expected<Inputs> readInputs(const LibraryInfo &info,
                                   const opt::InputArgList &arguments) {
  Inputs inputs;
  inputs.values.resize(info.inputs.size());
  inputs.given.resize(info.inputs.size());
  for (StringRef path : arguments.getAllArgValues(OPT_inputs)) {
    auto file = SafetensorsFile::open(path);
    if (!file)
      return file.takeError();
    for (const StoredTensor &tensor : (*file)->getTensors())
      if (Error error = takeInput(info, tensor.name, tensor, path, inputs))
        return std::move(error);
  }
  for (StringRef argument : arguments.getAllArgValues(OPT_input)) {
    auto [name, path] = argument.split('=');
    if (name.empty() || path.empty())
      return createStringError("--input expects NAME=FILE.npy, found '" +
                               argument + "'");
    Expected<NpyArray> array = readNpy(path);
    if (!array)
      return array.takeError();
    if (Error error = takeInput(info, name, array->tensor, path, inputs))
      return std::move(error);
  }
  for (auto [index, input] : enumerate(info.inputs))
    if (!inputs.given[index] && !input.optional)
      return createStringError(
          "the input '" + input.name +
          "' is missing; give it with --inputs or --input");
  return inputs;
}

/// Tokens that are not padding.
static size_t countTokens(const LibraryInfo &info, const Inputs &inputs) {
  for (auto [index, input] : enumerate(info.inputs))
    if (input.kind == HEXAD_INPUT_MASK && inputs.given[index])
      return count_if(inputs.values[index], [](int32_t m) { return m != 0; });
  return inputs.batch * inputs.seq;
}

/// A stacked output is `count` tensors `name.0 …`, stored one behind the other.
struct Output {
  const OutputInfo *info;
  SmallVector<int64_t, 4> shape; ///< without the stack's dimension
  size_t elements;
  std::unique_ptr<float[], decltype(&std::free)> values;
};

static Expected<std::vector<Output>> makeOutputs(const LibraryInfo &info,
                                                 const Inputs &inputs) {
  std::vector<Output> outputs;
  for (const OutputInfo &output : info.outputs) {
    SmallVector<int64_t, 4> shape = {int64_t(inputs.batch)};
    if (output.kind == HEXAD_OUTPUT_ROWS)
      shape.push_back(inputs.seq);
    shape.push_back(output.columns);
    std::optional<int64_t> elements = output.count;
    for (int64_t dim : shape)
      if (elements)
        elements = checkedMul(*elements, dim);
    // Far more than any machine's memory, less than what overflows.
    if (!elements || *elements > int64_t(1) << 44)
      return createStringError("the output '" + output.name +
                               "' would be too large");
    // Null if a batch is too large for this machine; a vector would abort.
    auto *values =
        static_cast<float *>(std::calloc(*elements + 1, sizeof(float)));
    if (!values)
      return createStringError("not enough memory for the output '" +
                               output.name + "'");
    outputs.push_back(
        {&output, shape, static_cast<size_t>(*elements), {values, std::free}});
  }
  return outputs;
}

static Error writeOutputs(ArrayRef<Output> outputs, StringRef path) {
  std::vector<TensorToWrite> tensors;
  for (const Output &output : outputs) {
    ArrayRef<uint8_t> bytes(
        reinterpret_cast<const uint8_t *>(output.values.get()),
        output.elements * sizeof(float));
    const size_t size = bytes.size() / output.info->count;
    for (int64_t i = 0; i < output.info->count; ++i) {
      std::string name = output.info->name;
      if (output.info->stacked)
        name += "." + std::to_string(i);
      tensors.push_back(
          {name, StoredType::F32, output.shape, bytes.slice(i * size, size)});
    }
  }
  return writeSafetensors(path, tensors);
}

static void printSummary(const LibraryInfo &info, const Inputs &inputs,
                         ArrayRef<Output> outputs, ArrayRef<double> seconds) {
  json::OStream json(outs(), /*IndentSize=*/2);
  json.object([&] {
    json.attribute("name", info.name);
    json.attribute("batch", int64_t(inputs.batch));
    json.attribute("seq", int64_t(inputs.seq));
    json.attribute("tokens", int64_t(countTokens(info, inputs)));
    json.attributeArray("seconds", [&] {
      for (double time : seconds)
        json.value(time);
    });
    json.attributeObject("outputs", [&] {
      for (const Output &output : outputs) {
        json::Array shape;
        if (output.info->stacked)
          shape.push_back(output.info->count);
        for (int64_t dim : output.shape)
          shape.push_back(dim);
        json.attribute(output.info->name, std::move(shape));
      }
    });
  });
  outs() << "\n";
}

static Error run(const opt::InputArgList &arguments) {
  Expected<StringRef> path = getOnlyPositional(arguments, OPT_INPUT, "library");
  if (!path)
    return path.takeError();
  Expected<unsigned> threads = getNumber(arguments, OPT_threads, 0);
  if (!threads)
    return threads.takeError();
  Expected<unsigned> repeat = getNumber(arguments, OPT_repeat, 1);
  if (!repeat)
    return repeat.takeError();
  auto library = LoadedLibrary::open(*path);
  if (!library)
    return library.takeError();
  const LibraryInfo &info = (*library)->getInfo();
  Expected<Inputs> inputs = readInputs(info, arguments);
  if (!inputs)
    return inputs.takeError();
  Expected<std::vector<Output>> outputs = makeOutputs(info, *inputs);
  if (!outputs)
    return outputs.takeError();

  std::vector<void *> pointers;
  for (auto [index, values] : enumerate(inputs->values))
    pointers.push_back(inputs->given[index] ? values.data() : nullptr);
  for (Output &output : *outputs)
    pointers.push_back(output.values.get());
  std::vector<double> seconds;
  if (Error error = (*library)->run(inputs->batch, inputs->seq, pointers,
                                    countTokens(info, *inputs), *threads,
                                    *repeat, seconds))
    return error;
  if (const opt::Arg *argument = arguments.getLastArg(OPT_outputs))
    if (Error error = writeOutputs(*outputs, argument->getValue()))
      return error;
  if (arguments.hasArg(OPT_json))
    printSummary(info, *inputs, *outputs, seconds);
  return Error::success();
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  ToolOptions table(OptionStrTable, OptionPrefixesTable, optionTable);
  return runTool(tool, table, OPT_UNKNOWN, OPT_help, argc, argv, run);
}
