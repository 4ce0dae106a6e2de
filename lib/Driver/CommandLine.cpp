//===- CommandLine.cpp - What all of Hexad's tools do with a command line -===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Driver/CommandLine.h"
#include "llvm/Option/Arg.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>

using namespace llvm;
using namespace hexad;

StringRef hexad::getVersion() { return "hexad " HEXAD_VERSION; }

static Error checkArguments(const opt::OptTable &table,
                            const opt::InputArgList &arguments,
                            unsigned unknown, unsigned missingIndex,
                            unsigned missingCount) {
  if (missingCount)
    return createStringError(Twine("the option '") +
                             arguments.getArgString(missingIndex) +
                             "' needs a value");
  for (const opt::Arg *argument : arguments.filtered(unknown)) {
    std::string spelling = argument->getAsString(arguments), nearest;
    std::string message = "unknown option '" + spelling + "'";
    if (table.findNearest(spelling, nearest) < 2)
      return createStringError(message + ", did you mean '" + nearest + "'?");
    return createStringError(message);
  }
  return Error::success();
}

/// What could not be written would end the process in the stream's destructor.
static Error flushStandardOutput() {
  outs().flush();
  if (!outs().has_error())
    return Error::success();
  std::error_code error = outs().error();
  outs().clear_error();
  return createStringError(error, "cannot write to standard output: %s",
                           error.message().c_str());
}

int hexad::runTool(const ToolDescription &tool, const opt::OptTable &table,
                   unsigned unknown, unsigned help, int argc, char **argv,
                   function_ref<Error(const opt::InputArgList &)> run) {
  // A write beyond a limit on file sizes shall be an error, not a signal.
  std::signal(SIGXFSZ, SIG_IGN);
  unsigned missingIndex, missingCount;
  opt::InputArgList arguments = table.ParseArgs(
      ArrayRef(argv + 1, argc ? argc - 1 : 0), missingIndex, missingCount);
  auto act = [&]() -> Error {
    if (arguments.hasArg(help)) {
      table.printHelp(outs(), tool.usage, tool.summary);
      outs() << tool.more;
    } else if (Error error = checkArguments(table, arguments, unknown,
                                            missingIndex, missingCount)) {
      return error;
    } else if (Error error = run(arguments)) {
      return error;
    }
    return flushStandardOutput();
  };
  Error error = act();
  if (!error)
    return 0;
  std::string message = toString(std::move(error));
  if (!message.empty())
    WithColor::error(errs(), tool.name) << message << "\n";
  return 1;
}

Expected<StringRef> hexad::getOnlyPositional(const opt::InputArgList &arguments,
                                             unsigned input, StringRef what) {
  std::vector<std::string> values = arguments.getAllArgValues(input);
  if (values.empty())
    return createStringError("no " + what + " is given; see --help");
  if (values.size() > 1)
    return createStringError("expected one " + what + ", found '" + values[0] +
                             "' and '" + values[1] + "'");
  return StringRef(arguments.getLastArg(input)->getValue());
}

Expected<unsigned> hexad::getNumber(const opt::InputArgList &arguments,
                                    unsigned option, unsigned absent) {
  const opt::Arg *argument = arguments.getLastArg(option);
  if (!argument)
    return absent;
  unsigned number;
  if (StringRef(argument->getValue()).getAsInteger(10, number) || number == 0)
    return createStringError(
        "the option '" + argument->getSpelling().rtrim('=') +
        "' needs a number from 1 on, found '" + argument->getValue() + "'");
  return number;
}
