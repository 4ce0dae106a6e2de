//===- hexad-compile.cpp - A model becomes a library ----------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Driver/CommandLine.h"
#include "hexad/Driver/Compile.h"
#include "hexad/Driver/OptionTable.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Process.h"

using namespace llvm;
using namespace llvm::opt;
using namespace hexad;

/// What stands behind the options in the help.
static std::string getHelpText() {
  std::string text = R"(
INPUT is a YAML description (.yaml, .yml), a Hugging Face checkpoint folder
(config.json and model.safetensors), or a .mlir file as --compile-to=hexad
prints it.

  hexad compile bert-checkpoint/ -o build --name bert
  hexad compile my-model.yaml -o build --mcpu=x86-64-v4 --outputs=hidden
  hexad compile my-model.yaml --compile-to=tiles

PHASES:
)";
  for (Phase phase : getAllPhases())
    text += formatv("  {0,-10} {1}\n", getPhaseName(phase),
                    getPhaseDescription(phase));
  text += "\nFILES for --emit (default: library, header, weights):\n";
  for (Product product : getAllProducts())
    text += formatv("  {0,-10} {1}\n", getProductName(product),
                    getProductDescription(product));
  text += R"(
SANITIZERS: a library compiled with --sanitize=address or --sanitize=thread finds
accesses outside of buffers, or races of threads, its own and those of the
program's use of it. It is slow, and belongs to a program that was built with
the same sanitizer; `hexad run` cannot load it:

  hexad compile my-model.yaml -o checked --name m --sanitize=thread
  clang -fsanitize=thread -Ichecked main.c checked/libm.so -Wl,-rpath,checked
)";
  return text;
}

/// Names separated by commas, over all occurrences of an option.
static SmallVector<StringRef> getNames(const InputArgList &arguments,
                                       OptionID option) {
  SmallVector<StringRef> names;
  for (const Arg *argument : arguments.filtered(option))
    StringRef(argument->getValue())
        .split(names, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  return names;
}

template <typename Range, typename GetName>
static Error makeUnknownError(StringRef what, StringRef name,
                              const Range &known, GetName getName) {
  return createStringError("unknown " + what + " '" + name + "', expected " +
                           join(map_range(known, getName), ", "));
}

static Expected<CompileOptions> getOptions(const InputArgList &arguments) {
  CompileOptions options;
  Expected<StringRef> input = getOnlyPositional(arguments, OPT_INPUT, "input");
  if (!input)
    return input.takeError();
  options.input = input->str();
  options.name = arguments.getLastArgValue(OPT_name).str();
  options.cpu = arguments.getLastArgValue(OPT_mcpu, "native").str();
  options.dumpPhasesDir = arguments.getLastArgValue(OPT_dump_phases).str();
  for (StringRef output : getNames(arguments, OPT_outputs))
    options.outputs.push_back(output.str());
  if (const Arg *argument = arguments.getLastArg(OPT_image_size)) {
    auto [height, width] = StringRef(argument->getValue()).split('x');
    GridSize size;
    if (height.getAsInteger(10, size.height) ||
        width.getAsInteger(10, size.width) || size.height < 1 ||
        size.height > INT32_MAX || size.width < 1 || size.width > INT32_MAX)
      return createStringError("expected --image-size=HEIGHTxWIDTH in pixels, "
                               "found '" +
                               StringRef(argument->getValue()) + "'");
    options.imageSize = size;
  }
  if (arguments.hasArg(OPT_emit)) {
    options.products.clear();
    for (StringRef name : getNames(arguments, OPT_emit)) {
      std::optional<Product> product = parseProduct(name);
      if (!product)
        return makeUnknownError("file in --emit", name, getAllProducts(),
                                getProductName);
      options.products.push_back(*product);
    }
    if (options.products.empty())
      return createStringError("--emit names no file");
  }
  if (const Arg *argument = arguments.getLastArg(OPT_sanitize)) {
    std::optional<Sanitizer> sanitizer = parseSanitizer(argument->getValue());
    if (!sanitizer)
      return makeUnknownError("sanitizer", argument->getValue(),
                              getAllSanitizers(), getSanitizerName);
    options.sanitizer = *sanitizer;
  }
  if (const Arg *argument = arguments.getLastArg(OPT_weights_type)) {
    std::optional<WeightsType> type = parseWeightsType(argument->getValue());
    if (!type)
      return makeUnknownError("type in --weights-type", argument->getValue(),
                              getAllWeightsTypes(), getWeightsTypeName);
    options.weightsType = *type;
  }
  StringRef output = arguments.getLastArgValue(OPT_output);
  if (const Arg *argument = arguments.getLastArg(OPT_compile_to)) {
    options.compileTo = parsePhase(argument->getValue());
    if (!options.compileTo)
      return makeUnknownError("phase", argument->getValue(), getAllPhases(),
                              getPhaseName);
    if (arguments.hasArg(OPT_emit))
      return createStringError("--compile-to and --emit exclude each other");
    options.phaseFile = output.empty() ? "-" : output.str();
  } else if (output.empty()) {
    return createStringError("no output folder is given; add -o DIR");
  }
  options.outputDir = output.str();
  return options;
}

/// One line on a terminal that says what is being done.
static void showProgress(StringRef what, double done) {
  errs() << "\r\033[K" << what;
  if (done >= 0)
    errs() << formatv(" {0,3}%", int(done * 100));
  errs().flush();
}

static std::string formatBytes(uint64_t bytes) {
  if (bytes < 10000)
    return formatv("{0} B", bytes);
  if (bytes < 10000000)
    return formatv("{0} kB", bytes / 1000);
  return formatv("{0} MB", bytes / 1000000);
}

static Error run(const InputArgList &arguments) {
  Expected<CompileOptions> options = getOptions(arguments);
  if (!options)
    return options.takeError();
  bool onTerminal = sys::Process::StandardErrIsDisplayed();
  if (onTerminal) {
    options->progress = [shown = 0u](StringRef what, double done) mutable {
      // A weights file of gigabytes reports often.
      unsigned percent = done < 0 ? 200 : unsigned(done * 100);
      if (percent == 200 || percent != shown)
        showProgress(what, done);
      shown = percent;
    };
  }
  CompileResult result;
  LogicalResult compiled = compileModel(*options, result);
  if (onTerminal)
    errs() << "\r\033[K";
  if (failed(compiled))
    return createStringError("");
  if (sys::Process::StandardOutIsDisplayed() && !result.files.empty()) {
    outs() << result.parameterCount << " parameters, ";
    if (result.activeParameterCount != result.parameterCount)
      outs() << result.activeParameterCount << " active per token, ";
    outs() << "most in " << result.weightsType << ", compiled for "
           << result.cpu << "\n";
    for (const StagedFile &file : result.files)
      outs() << formatv("  {0}  {1}\n", file.path, formatBytes(file.bytes));
  }
  return Error::success();
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  ToolOptions table(OptionStrTable, OptionPrefixesTable, optionTable);
  std::string more = getHelpText();
  ToolDescription tool = {
      "hexad-compile", "hexad compile INPUT -o DIR [options]",
      "Compile a transformer to a native library", more.c_str()};
  return runTool(tool, table, OPT_UNKNOWN, OPT_help, argc, argv, run);
}
