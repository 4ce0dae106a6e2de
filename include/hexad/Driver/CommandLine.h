//===- CommandLine.h - What all of Hexad's tools do with a command line ---===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Options are tables of llvm/Option: llvm/Support/CommandLine.h would offer
// hundreds of LLVM's own.
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_DRIVER_COMMANDLINE_H
#define HEXAD_DRIVER_COMMANDLINE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Support/Error.h"

namespace hexad {

/// A table of options from an Options.td.
class ToolOptions : public llvm::opt::GenericOptTable {
public:
  ToolOptions(const llvm::StringTable &strings,
              llvm::ArrayRef<llvm::StringTable::Offset> prefixes,
              llvm::ArrayRef<Info> options)
      : GenericOptTable(strings, prefixes, options) {}
};

struct ToolDescription {
  const char *name;    ///< of the program, begins its messages
  const char *usage;   ///< "hexad run LIBRARY [options]"
  const char *summary; ///< one line
  const char *more;    ///< paragraphs behind the options, with an example
};

/// Version of Hexad, as it stands in what is compiled.
llvm::StringRef getVersion();

/// Parses the command line and calls `run`. Prints the help for `help`, and one
/// message to standard error for an error of `run` or of the command line (with
/// the nearest option to an unknown one). Returns the exit code: 0 or 1. An
/// error without text means that messages have been printed.
int runTool(
    const ToolDescription &tool, const llvm::opt::OptTable &table,
    unsigned unknown, unsigned help, int argc, char **argv,
    llvm::function_ref<llvm::Error(const llvm::opt::InputArgList &)> run);

/// The one argument that is not an option; `what` says what it is.
llvm::Expected<llvm::StringRef>
getOnlyPositional(const llvm::opt::InputArgList &arguments, unsigned input,
                  llvm::StringRef what);

/// The number of an option, `absent` if it is not given.
llvm::Expected<unsigned> getNumber(const llvm::opt::InputArgList &arguments,
                                   unsigned option, unsigned absent);

} // namespace hexad

#endif // HEXAD_DRIVER_COMMANDLINE_H
