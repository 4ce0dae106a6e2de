//===- hexad.cpp - The program of which the others are verbs --------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// `hexad compile …` is `hexad-compile …`, found beside this program: one
// program for each verb, so that `run` need not load what `compile` needs.
//
//===----------------------------------------------------------------------===//

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>

namespace {
struct Verb {
  const char *name, *usage, *summary;
};
constexpr Verb verbs[] = {
    {"compile", "INPUT -o DIR [--outputs=hidden,attention,loss,router_logits]",
     "compile a model of text or images to a native library"},
    {"run", "LIBRARY --inputs FILE --outputs FILE",
     "run a compiled library on tokens, images and labels from files: outputs, "
     "loss,\n      pictures of attention maps, generated text"}};
} // namespace

static void printHelp(FILE *file) {
  std::fputs("Hexad compiles transformers to native CPU libraries.\n\n"
             "USAGE: hexad VERB ...\n\nVERBS:\n",
             file);
  for (const Verb &verb : verbs)
    std::fprintf(file, "  hexad %s %s\n      %s\n", verb.name, verb.usage,
                 verb.summary);
  std::fputs("  hexad --version\n      print the version\n", file);
  std::fputs("\n`hexad VERB --help` says more about each. A first try:\n\n"
             "  hexad compile bert-checkpoint/ -o build --name bert\n"
             "  hexad run build/libbert.so --inputs in.safetensors "
             "--outputs out.safetensors\n\n"
             "gives build/libbert.so, bert.h and bert.weights, and the model's "
             "outputs. Language models\ncontinue a prompt of token ids:\n\n"
             "  hexad run build/libgpt2.so --prompt-tokens 464,3290 --generate "
             "20\n",
             file);
}

/// The folder of this program, with a slash at the end.
static std::string findOwnFolder() {
  char path[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  if (length <= 0 || length == sizeof(path))
    return "";
  std::string folder(path, length);
  return folder.substr(0, folder.rfind('/') + 1);
}

int main(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "";
  if (!std::strcmp(name, "--help") || !std::strcmp(name, "-h") ||
      !std::strcmp(name, "help")) {
    printHelp(stdout);
    return std::fflush(stdout) == 0 ? 0 : 1;
  }
  if (!std::strcmp(name, "--version")) {
    std::puts("hexad " HEXAD_VERSION);
    return std::fflush(stdout) == 0 ? 0 : 1;
  }
  if (argc < 2) {
    printHelp(stderr);
    return 1;
  }
  for (const Verb &verb : verbs) {
    if (std::strcmp(name, verb.name))
      continue;
    std::string program = findOwnFolder() + "hexad-" + verb.name;
    argv[1] = program.data();
    execv(program.c_str(), argv + 1);
    std::fprintf(stderr, "hexad: error: cannot run '%s': %s\n", program.c_str(),
                 std::strerror(errno));
    return 1;
  }
  std::fprintf(stderr,
               "hexad: error: unknown verb '%s'; `hexad --help` lists "
               "them\n",
               name);
  return 1;
}
