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
    HelpText<"Print shapes, tokens and times as JSON to standard output">;
defm generate : Value<"generate", "N", "Print N tokens that follow the inputs, see below">;
defm prompt_tokens : Value<"prompt-tokens", "IDS", "Instead of inputs from files: the ids of one batch row, with commas between">;
defm temperature : Value<"temperature", "T", "Draw tokens; less than 1: rather probable ones (default: the most probable one; 1 with --top-k or --top-p)">;
defm top_k : Value<"top-k", "K", "Draw among the K most probable tokens">;
defm top_p : Value<"top-p", "P", "Draw among the most probable tokens that have P (0 to 1) together">;
defm seed : Value<"seed", "S", "Of the random numbers (default 0): the same seed, the same tokens">;
defm stop_tokens : Value<"stop-tokens", "IDS", "End a row behind one of these tokens">;
defm inputs : Value<"inputs", "FILE.safetensors", "Read inputs from a file, by name">;
defm input : Value<"input", "NAME=FILE.npy", "Read one input from a file; may be repeated">;
defm only : Value<"only", "NAMES", "Compute these outputs alone, names with commas between">;
defm outputs : Value<"outputs", "FILE.safetensors", "Write all outputs to a file">;
defm attention_map : Value<"attention-map", "FILE.svg", "Draw an attention map, see below">;
defm layer : Value<"layer", "L", "With --attention-map: of layer L, counted from 0 (default: the last one)">;
defm head : Value<"head", "H", "With --attention-map: of head H, counted from 0 (default: the mean over all heads)">;
defm batch_row : Value<"batch-row", "N", "With --attention-map: of row N of the batch, counted from 0 (default: 0)">;
defm token_labels : Value<"token-labels", "FILE", "With --attention-map: what to write beside the tokens, one on each line (default: their numbers)">;
defm repeat : Value<"repeat", "N", "Run N times, for the times that --json prints">;
defm weights_memory : Value<"weights-memory", "map|copy", "Map the weights file, or copy it into huge pages: slower to load, faster with few tokens (default: map)">;
defm threads : Value<"threads", "N", "Threads to use (default: the CPUs this process may use)">;
