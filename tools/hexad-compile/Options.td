//===- Options.td - Command line of hexad-compile ----------*- tablegen -*-===//
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
def output : JoinedOrSeparate<["-"], "o">, MetaVarName<"DIR">,
    HelpText<"Folder for the files; with --compile-to a file (default: standard output)">;
defm name : Value<"name", "NAME", "Name of the model, begins all names in C (default: the input's own)">;
defm mcpu : Value<"mcpu", "CPU", "CPU to compile for: native (default), x86-64-v3, x86-64-v4, znver3, ...">;
defm outputs : Value<"outputs", "LIST", "Outputs beside the model's own: hidden, attention, loss, router_logits, with commas between">;
defm image_size : Value<"image-size", "HxW", "Height and width of images, e.g. 224x320, where positions can be resized (default: the model\'s own)">;
defm weights_type : Value<"weights-type", "TYPE", "What matrices are stored in: f32, bf16, f16, or stored (default), the type they have in the checkpoint">;
defm sanitize : Value<"sanitize", "CHECK", "Let the library check its accesses: address or thread, see below">;
defm emit : Value<"emit", "LIST", "Which files to write, see below">;
defm compile_to : Value<"compile-to", "PHASE", "Print the IR of a phase, see below, and stop">;
defm dump_phases : Value<"dump-phases", "DIR", "Write the IR after each phase to numbered files">;
