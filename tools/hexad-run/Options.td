//===- Options.td - Command line of hexad-run --------------*- tablegen -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

include "llvm/Option/OptParser.td"

// --name=value and --name value.
multiclass Value<string name, string metavar, string help> {
  def NAME : Joined<["--"], name # "=">, HelpText<help>, MetaVarName<metavar>;
  def : Separate<["--"], name>, Alias<!cast<Joined>(NAME)>;
}

def help : Flag<["--"], "help">, HelpText<"Print this text">;
def : Flag<["-"], "h">, Alias<help>;
def json : Flag<["--"], "json">,
    HelpText<"Print shapes and times as JSON to standard output">;
defm inputs : Value<"inputs", "FILE.safetensors", "Read inputs from a file, by name">;
defm input : Value<"input", "NAME=FILE.npy", "Read one input from a file; may be repeated">;
defm outputs : Value<"outputs", "FILE.safetensors", "Write all outputs to a file">;
defm repeat : Value<"repeat", "N", "Run N times, for the times that --json prints">;
defm threads : Value<"threads", "N", "Threads to use (default: the CPUs this process may use)">;
