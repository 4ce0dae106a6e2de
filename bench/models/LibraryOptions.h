//===- LibraryOptions.h - What the programs for libraries share -*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_BENCH_MODELS_LIBRARYOPTIONS_H
#define HEXAD_BENCH_MODELS_LIBRARYOPTIONS_H

#include "LoadedLibrary.h"
#include "ModelSizes.h"
#include "common/Table.h"
#include "llvm/Support/CommandLine.h"

namespace hexad::bench {

/// Options of a program that measures a compiled library.
struct LibraryOptions {
  explicit LibraryOptions(llvm::cl::OptionCategory &category);

  /// Fails unless threads and rounds are positive.
  llvm::Error check() const;
  /// Opens the library; says in `table` how long that took, and what holds for
  /// all that is measured. Fails if `sizes` are of another model.
  llvm::Expected<std::unique_ptr<LoadedLibrary>> open(const ModelSizes &sizes,
                                                      Table &table) const;

  llvm::cl::opt<std::string> libraryPath, configPath;
  llvm::cl::opt<hexad_weights_memory> weightsMemory;
  llvm::cl::opt<unsigned> threads;
  llvm::cl::opt<int> rounds;
  llvm::cl::opt<bool> asJson;
};

} // namespace hexad::bench

#endif // HEXAD_BENCH_MODELS_LIBRARYOPTIONS_H
