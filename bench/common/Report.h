//===- Report.h - What benchmarks print and how they rest -------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_BENCH_COMMON_REPORT_H
#define HEXAD_BENCH_COMMON_REPORT_H

#include "hexad/CodeGen/Target.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/JSON.h"
#include <string>

namespace hexad::bench {

/// Parses the program's options, those of `category`, of which alone the help
/// tells. Afterwards there are none: the linker inside of the compiler has
/// options of the same names. From here on the program ends with an error if
/// there is not enough memory.
void parseOptions(int argc, char **argv, llvm::cl::OptionCategory &category,
                  llvm::StringRef overview);

/// The target of a library's CPU. Fails if this machine cannot run its code.
llvm::Expected<Target> getRunnableTarget(llvm::StringRef cpu);

/// Runs `body`, then rests. Linux takes the CPU for 50 ms from a real-time
/// process that did not rest in a second: it rests here, between measurements.
void restAfter(llvm::function_ref<void()> body);

/// Median, quartiles and the largest one.
llvm::json::Object describe(llvm::ArrayRef<double> values);

/// `median (quarter … three quarters)`, in percent.
std::string formatShares(llvm::ArrayRef<double> shares);

} // namespace hexad::bench

#endif // HEXAD_BENCH_COMMON_REPORT_H
