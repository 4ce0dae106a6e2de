//===- hexad-run.cpp - Runs a compiled library on files -------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionPicture.h"
#include "Generation.h"
#include "Inputs.h"
#include "LoadedLibrary.h"
#include "Outputs.h"
#include "hexad/Driver/CommandLine.h"
#include "hexad/Driver/OptionTable.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include <cmath>

using namespace llvm;
using namespace llvm::opt;
using namespace hexad;

static const ToolDescription tool = {
    "hexad-run", "hexad run LIBRARY [options]",
    "Run a library that hexad compiled on inputs from files",
    R"(
Ids, labels and masks are int32 or int64 [batch, seq]; optional inputs may be left out.
Images are float32 [batch, channels, height, width].
The weights file is found beside the library.

  hexad run libbert.so --inputs in.safetensors --outputs out.safetensors

A library compiled with --outputs=attention can show what its layers look at:
--attention-map draws the map of one layer, keys across and queries down, of the
tokens of one batch row.

  hexad run libbert.so --inputs in.safetensors --attention-map map.svg --layer 2
  hexad run libbert.so --prompt-tokens 101,7592,102 --attention-map map.svg

Outputs of one number, as the loss, are printed.

Language models continue a prompt with --generate. Token ids go to standard
output while they are made: one line a step, one id for each batch row, '-' for a
row that has stopped. Tokens a second go to standard error. The file of --outputs
has `tokens`, int64 [batch, N]; -1 behind the end of a row that stopped.

  hexad run libllama.so --prompt-tokens 1,306,4658 --generate 20
  hexad run libllama.so --inputs in.safetensors --generate 20 --temperature 0.8
)"};

//===----------------------------------------------------------------------===//
// One call
//===----------------------------------------------------------------------===//

/// The names of --only; none without it.
static Expected<SmallVector<StringRef>>
getWanted(const LibraryInfo &info, const InputArgList &arguments) {
  SmallVector<StringRef> wanted;
  const Arg *argument = arguments.getLastArg(OPT_only);
  if (!argument)
    return wanted;
  StringRef(argument->getValue()).split(wanted, ',');
  for (StringRef name : wanted)
    if (none_of(info.outputs,
                [&](const OutputInfo &output) { return output.name == name; }))
      return createStringError(
          "the model has no output '" + name + "'; it has " +
          join(map_range(info.outputs,
                         [](const OutputInfo &output) { return output.name; }),
               ", "));
  return wanted;
}

/// A number from 0 on; none if the option is not there.
static Expected<std::optional<size_t>> getIndex(const InputArgList &arguments,
                                                OptionID option) {
  const Arg *argument = arguments.getLastArg(option);
  if (!argument)
    return std::nullopt;
  uint32_t number;
  if (StringRef(argument->getValue()).getAsInteger(10, number))
    return createStringError(
        "the option '" + argument->getSpelling().rtrim('=') +
        "' needs a number from 0 on, found '" + argument->getValue() + "'");
  return number;
}

static Expected<hexad_weights_memory>
getWeightsMemory(const InputArgList &arguments) {
  StringRef name = arguments.getLastArgValue(OPT_weights_memory, "map");
  if (name == "map")
    return HEXAD_MAP_WEIGHTS;
  if (name == "copy")
    return HEXAD_COPY_WEIGHTS;
  return createStringError(
      "the option '--weights-memory' needs 'map' or 'copy', found '" + name +
      "'");
}

/// None without --attention-map.
static Expected<std::optional<AttentionPicture>>
getPicture(const InputArgList &arguments, const LibraryInfo &info,
           const Inputs &inputs) {
  if (!arguments.hasArg(OPT_attention_map))
    return std::nullopt;
  PictureOptions options;
  options.path = arguments.getLastArgValue(OPT_attention_map);
  options.labels = arguments.getLastArgValue(OPT_token_labels);
  auto layer = getIndex(arguments, OPT_layer);
  if (!layer)
    return layer.takeError();
  auto head = getIndex(arguments, OPT_head);
  if (!head)
    return head.takeError();
  auto row = getIndex(arguments, OPT_batch_row);
  if (!row)
    return row.takeError();
  options.layer = *layer;
  options.head = *head;
  options.row = row->value_or(0);
  Expected<AttentionPicture> picture =
      AttentionPicture::create(options, info, inputs);
  if (!picture)
    return picture.takeError();
  return std::move(*picture);
}

static void warn(const Twine &message) {
  errs() << tool.name << ": warning: " << message << "\n";
}

/// A loss without labels is not a number.
static void warnOfMissingLabels(const LibraryInfo &info, const Inputs &inputs,
                                ArrayRef<Output> outputs) {
  auto scalar = find_if(outputs, [](const Output &output) {
    return output.info->kind == HEXAD_OUTPUT_SCALAR;
  });
  if (scalar == outputs.end())
    return;
  for (auto [index, input] : enumerate(info.inputs))
    if ((input.kind == HEXAD_INPUT_LABELS ||
         input.kind == HEXAD_INPUT_NEXT_LABELS ||
         input.kind == HEXAD_INPUT_SEGMENT_LABELS) &&
        !inputs.getPointer(index))
      warn("the output '" + scalar->info->name + "' is NaN, as the input '" +
           input.name +
           "' is not given; give it with --inputs or --input, or choose other "
           "outputs with --only");
}

static Error forward(LoadedLibrary &library, const Inputs &inputs,
                     unsigned threads, const InputArgList &arguments) {
  const LibraryInfo &info = library.getInfo();
  Expected<unsigned> repeat = getNumber(arguments, OPT_repeat, 1);
  if (!repeat)
    return repeat.takeError();
  auto picture = getPicture(arguments, info, inputs);
  if (!picture)
    return picture.takeError();
  Expected<SmallVector<StringRef>> wanted = getWanted(info, arguments);
  if (!wanted)
    return wanted.takeError();
  // The picture is drawn from an output.
  const OutputInfo *drawn =
      *picture ? &info.outputs[(*picture)->getOutput()] : nullptr;
  if (drawn && !wanted->empty())
    wanted->push_back(drawn->name);
  Expected<std::vector<Output>> outputs = makeOutputs(info, inputs, *wanted);
  if (!outputs)
    return outputs.takeError();
  warnOfMissingLabels(info, inputs, *outputs);

  std::vector<void *> pointers;
  for (size_t index = 0; index < info.inputs.size(); ++index) {
    // The library only reads it.
    pointers.push_back(const_cast<void *>(inputs.getPointer(index)));
  }
  pointers.resize(info.inputs.size() + info.outputs.size());
  for (Output &output : *outputs)
    pointers[info.inputs.size() + (output.info - info.outputs.data())] =
        output.values.get();
  std::vector<double> seconds;
  if (Error error =
          library.run(inputs.batch, inputs.seq, pointers, inputs.countTokens(),
                      threads, *repeat, seconds))
    return error;
  if (const Arg *argument = arguments.getLastArg(OPT_outputs))
    if (Error error = writeOutputs(*outputs, argument->getValue()))
      return error;
  for (const Output &output : *outputs)
    if (output.info == drawn)
      if (Error error =
              (*picture)->write(ArrayRef(output.values.get(), output.elements)))
        return error;
  if (arguments.hasArg(OPT_json)) {
    printSummary(info, inputs, *outputs, seconds, outs());
    return Error::success();
  }
  if (!printScalars(*outputs, outs()) &&
      !arguments.hasArg(OPT_outputs, OPT_attention_map))
    warn("the outputs are not written anywhere; --outputs, --attention-map and "
         "--json are ways to see them");
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Generation
//===----------------------------------------------------------------------===//

/// The ids of an option's value, with commas between.
static Expected<std::vector<int32_t>> getIds(const InputArgList &arguments,
                                             OptionID option) {
  std::vector<int32_t> ids;
  const Arg *argument = arguments.getLastArg(option);
  if (!argument)
    return ids;
  SmallVector<StringRef> parts;
  StringRef(argument->getValue()).split(parts, ',');
  for (StringRef part : parts) {
    int32_t id;
    if (part.trim().getAsInteger(10, id) || id < 0)
      return createStringError("the option '" +
                               argument->getSpelling().rtrim('=') +
                               "' needs ids with commas between, found '" +
                               argument->getValue() + "'");
    ids.push_back(id);
  }
  return ids;
}

static Expected<double> getReal(const InputArgList &arguments, OptionID option,
                                double least, double most, double absent) {
  const Arg *argument = arguments.getLastArg(option);
  if (!argument)
    return absent;
  double number;
  if (StringRef(argument->getValue()).getAsDouble(number) ||
      !(number >= least && number <= most && std::isfinite(number)))
    return createStringError(
        "the option '" + argument->getSpelling().rtrim('=') +
        "' needs a number from " + Twine(int(least)) +
        (std::isfinite(most) ? " to " + std::to_string(int(most)) : " on") +
        ", found '" + argument->getValue() + "'");
  return number;
}

static Expected<SamplingOptions>
getSamplingOptions(const InputArgList &arguments) {
  SamplingOptions options;
  bool draws = arguments.hasArg(OPT_temperature, OPT_top_k, OPT_top_p);
  Expected<double> temperature =
      getReal(arguments, OPT_temperature, 0, INFINITY, draws ? 1 : 0);
  if (!temperature)
    return temperature.takeError();
  Expected<unsigned> topK = getNumber(arguments, OPT_top_k, 0);
  if (!topK)
    return topK.takeError();
  Expected<double> topP = getReal(arguments, OPT_top_p, 0, 1, 1);
  if (!topP)
    return topP.takeError();
  options.temperature = *temperature;
  options.topK = *topK;
  options.topP = *topP;
  if (const Arg *argument = arguments.getLastArg(OPT_seed)) {
    if (StringRef(argument->getValue()).getAsInteger(10, options.seed))
      return createStringError("the option '--seed' needs a number from 0 on, "
                               "found '%s'",
                               argument->getValue());
    if (options.temperature == 0)
      return createStringError("--seed needs --temperature, --top-k or "
                               "--top-p: without them nothing is drawn");
  }
  return options;
}

/// Options that say nothing without --generate, or with it.
static Error checkCombination(const InputArgList &arguments) {
  bool generates = arguments.hasArg(OPT_generate);
  for (OptionID option :
       {OPT_temperature, OPT_top_k, OPT_top_p, OPT_seed, OPT_stop_tokens})
    if (const Arg *argument = arguments.getLastArg(option);
        argument && !generates)
      return createStringError("the option '" +
                               argument->getSpelling().rtrim('=') +
                               "' needs --generate");
  for (OptionID option : {OPT_layer, OPT_head, OPT_batch_row, OPT_token_labels})
    if (const Arg *argument = arguments.getLastArg(option);
        argument && !arguments.hasArg(OPT_attention_map))
      return createStringError("the option '" +
                               argument->getSpelling().rtrim('=') +
                               "' needs --attention-map");
  for (OptionID option : {OPT_repeat, OPT_only, OPT_attention_map})
    if (const Arg *argument = arguments.getLastArg(option);
        argument && generates)
      return createStringError("--generate and " +
                               argument->getSpelling().rtrim('=') +
                               " exclude each other");
  if (arguments.hasArg(OPT_prompt_tokens) &&
      arguments.hasArg(OPT_inputs, OPT_input))
    return createStringError(
        "--prompt-tokens and inputs from files exclude each other");
  const Arg *outputs = arguments.getLastArg(OPT_outputs);
  const Arg *map = arguments.getLastArg(OPT_attention_map);
  if (outputs && map && isSameFile(outputs->getValue(), map->getValue()))
    return createStringError("--outputs and --attention-map name the same file "
                             "'%s'",
                             map->getValue());
  return Error::success();
}

static void printStep(ArrayRef<int32_t> tokens) {
  interleave(
      tokens, outs(),
      [](int32_t token) {
        if (token < 0)
          outs() << '-';
        else
          outs() << token;
      },
      " ");
  outs() << "\n";
  outs().flush();
}

static void printRate(StringRef what, const Rate &rate) {
  if (rate.tokens)
    errs() << format("%s: %zu tokens in %.3f s, %.1f tokens/s\n",
                     what.str().c_str(), rate.tokens, rate.seconds,
                     rate.getTokensPerSecond());
}

static void printGenerated(const LibraryInfo &info,
                           const Generated &generated) {
  json::OStream json(outs(), /*IndentSize=*/2);
  auto printRate = [&](StringRef name, const Rate &rate) {
    json.attributeObject(name, [&] {
      json.attribute("tokens", int64_t(rate.tokens));
      json.attribute("seconds", rate.seconds);
      json.attribute("tokens_per_second", rate.getTokensPerSecond());
    });
  };
  json.object([&] {
    json.attribute("name", info.name);
    json.attributeArray("tokens", [&] {
      for (const std::vector<int32_t> &row : generated.rows)
        json.value(json::Array(row));
    });
    printRate("prefill", generated.prefill);
    printRate("decode", generated.decode);
  });
  outs() << "\n";
}

static Error generateTokens(LoadedLibrary &library, const Prompts &prompts,
                            const GenerationOptions &options,
                            const InputArgList &arguments) {
  bool asJson = arguments.hasArg(OPT_json);
  Expected<Generated> generated =
      generate(library, prompts, options, [&](ArrayRef<int32_t> tokens) {
        if (!asJson)
          printStep(tokens);
      });
  if (!generated)
    return generated.takeError();
  if (const Arg *argument = arguments.getLastArg(OPT_outputs))
    if (Error error = writeTokens(*generated, argument->getValue()))
      return error;
  if (asJson) {
    printGenerated(library.getInfo(), *generated);
  } else {
    printRate("prefill", generated->prefill);
    printRate("decode", generated->decode);
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

static Error run(const InputArgList &arguments) {
  Expected<StringRef> path = getOnlyPositional(arguments, OPT_INPUT, "library");
  if (!path)
    return path.takeError();
  if (Error error = checkCombination(arguments))
    return error;
  Expected<unsigned> threads = getNumber(arguments, OPT_threads, 0);
  if (!threads)
    return threads.takeError();
  Expected<unsigned> newTokens = getNumber(arguments, OPT_generate, 0);
  if (!newTokens)
    return newTokens.takeError();
  Expected<SamplingOptions> sampling = getSamplingOptions(arguments);
  if (!sampling)
    return sampling.takeError();
  auto stopTokens = getIds(arguments, OPT_stop_tokens);
  if (!stopTokens)
    return stopTokens.takeError();
  auto promptTokens = getIds(arguments, OPT_prompt_tokens);
  if (!promptTokens)
    return promptTokens.takeError();
  GenerationOptions options = {*newTokens, *sampling, std::move(*stopTokens),
                               *threads};
  Expected<hexad_weights_memory> weightsMemory = getWeightsMemory(arguments);
  if (!weightsMemory)
    return weightsMemory.takeError();

  auto library = LoadedLibrary::open(*path, *weightsMemory);
  if (!library)
    return library.takeError();
  bool hasPrompt = arguments.hasArg(OPT_prompt_tokens);
  if (hasPrompt && arguments.hasArg(OPT_generate))
    return generateTokens(**library, {*promptTokens}, options, arguments);
  const LibraryInfo &info = (*library)->getInfo();
  Expected<Inputs> inputs =
      hasPrompt ? Inputs::fromTokens(info, std::move(*promptTokens))
                : Inputs::read(info, arguments.getAllArgValues(OPT_inputs),
                               arguments.getAllArgValues(OPT_input));
  if (!inputs)
    return inputs.takeError();
  if (!arguments.hasArg(OPT_generate))
    return forward(**library, *inputs, *threads, arguments);
  Expected<Prompts> prompts = getPrompts(info, *inputs);
  if (!prompts)
    return prompts.takeError();
  return generateTokens(**library, *prompts, options, arguments);
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  ToolOptions table(OptionStrTable, OptionPrefixesTable, optionTable);
  return runTool(tool, table, OPT_UNKNOWN, OPT_help, argc, argv, run);
}
