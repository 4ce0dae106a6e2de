//===- LibraryOptions.cpp - What the programs for libraries share ---------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LibraryOptions.h"
#include "common/Clock.h"

using namespace hexad;
using namespace hexad::bench;
using namespace llvm;

LibraryOptions::LibraryOptions(cl::OptionCategory &category)
    : libraryPath(cl::Positional, cl::Required, cl::desc("LIBRARY"),
                  cl::cat(category)),
      configPath("config", cl::Required, cl::value_desc("config.json"),
                 cl::desc("The checkpoint's sizes, to count with"),
                 cl::cat(category)),
      weightsMemory(
          "weights-memory", cl::desc("Where the weights lie"),
          cl::values(clEnumValN(HEXAD_MAP_WEIGHTS, "map", "In the page cache"),
                     clEnumValN(HEXAD_COPY_WEIGHTS, "copy",
                                "In huge pages of the model's own")),
          cl::init(HEXAD_MAP_WEIGHTS), cl::cat(category)),
      threads("thread-count", cl::desc("Measure calls of so many threads too"),
              cl::init(1), cl::cat(category)),
      rounds("rounds", cl::desc("Rounds of measurement"), cl::init(9),
             cl::cat(category)),
      asJson("json", cl::desc("Print JSON"), cl::cat(category)) {}

Error LibraryOptions::check() const {
  if (threads < 1 || rounds < 1)
    return createStringError("--thread-count and --rounds must be positive");
  return Error::success();
}

Expected<std::unique_ptr<LoadedLibrary>>
LibraryOptions::open(const ModelSizes &sizes, Table &table) const {
  std::unique_ptr<LoadedLibrary> library;
  Error error = Error::success();
  double seconds = measureSeconds([&] {
    auto opened = LoadedLibrary::open(libraryPath, weightsMemory);
    if (opened)
      library = std::move(*opened);
    else
      error = joinErrors(std::move(error), opened.takeError());
  });
  if (error)
    return error;
  const LibraryInfo &info = library->getInfo();
  if (Error error = sizes.checkFits(info))
    return error;
  table.addFact("library", info.name);
  table.addFact("cpu", info.cpu);
  table.addFact("vector_bits", int64_t(info.vectorBits));
  table.addFact("weights_type", info.weightsType);
  table.addFact("rounds", int64_t(rounds));
  table.addFact("load_milliseconds", seconds * 1e3);
  return library;
}
