//===- Report.cpp - What benchmarks print and how they rest ---------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "common/Report.h"
#include "common/Clock.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <cstdlib>
#include <new>
#include <thread>

using namespace hexad;
using namespace llvm;

static StringRef programPath;

/// Sizes are the user's: too large ones are an error of the command line and no
/// bug, of which LLVM's own handler speaks.
[[noreturn]] static void failOutOfMemory() {
  errs() << sys::path::filename(programPath) << ": not enough memory\n";
  std::_Exit(1);
}

void bench::parseOptions(int argc, char **argv, cl::OptionCategory &category,
                         StringRef overview) {
  programPath = argv[0];
  std::set_new_handler(failOutOfMemory);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, overview);
  SmallVector<cl::Option *> ours;
  for (const auto &[name, option] : cl::getRegisteredOptions())
    if (is_contained(option->Categories, &category))
      ours.push_back(option);
  for (cl::Option *option : ours)
    option->removeArgument();
}

Expected<Target> bench::getRunnableTarget(StringRef cpu) {
  Expected<Target> host = Target::get("native");
  if (!host || cpu == host->cpu)
    return host;
  Expected<Target> target = Target::get(cpu);
  if (target && (target->cpuFeatures & ~host->cpuFeatures) != 0)
    return createStringError("this machine cannot run code for " + cpu);
  return target;
}

void bench::restAfter(function_ref<void()> body) {
  double seconds = measureSeconds(body);
  std::this_thread::sleep_for(std::chrono::duration<double>(0.12 * seconds));
}

json::Object bench::describe(ArrayRef<double> values) {
  return json::Object{{"median", median(values)},
                      {"quarter", quantile(values, 0.25)},
                      {"three_quarters", quantile(values, 0.75)},
                      {"largest", *llvm::max_element(values)}};
}

std::string bench::formatShares(ArrayRef<double> shares) {
  std::string text;
  raw_string_ostream(text) << format(
      "%6.1f %% (%.1f … %.1f)", 100 * median(shares),
      100 * quantile(shares, 0.25), 100 * quantile(shares, 0.75));
  return text;
}
