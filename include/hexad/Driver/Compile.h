//===- Compile.h - A model becomes a library --------------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_DRIVER_COMPILE_H
#define HEXAD_DRIVER_COMPILE_H

#include "hexad/Driver/Sanitizer.h"
#include "hexad/Driver/StagedFiles.h"
#include "hexad/Model/GridSize.h"
#include "hexad/Model/WeightsType.h"
#include "hexad/Pipelines/Pipelines.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <functional>
#include <optional>
#include <string>

namespace hexad {

/// What the driver can write.
enum class Product { Library, Header, Weights, LLVM, Assembly, Object };

/// The product's name in `--emit`.
llvm::StringRef getProductName(Product product);
/// One line about the file.
llvm::StringRef getProductDescription(Product product);
std::optional<Product> parseProduct(llvm::StringRef name);
llvm::ArrayRef<Product> getAllProducts();

struct CompileOptions {
  std::string input;     ///< description, checkpoint folder or .mlir
  std::string outputDir; ///< made if it is not there
  std::string name;      ///< of the model; empty: its own
  std::string cpu = "native";
  llvm::SmallVector<std::string> outputs;        ///< beside the model's own
  std::optional<GridSize> imageSize;             ///< if not the model's own
  WeightsType weightsType = WeightsType::Stored; ///< of matrices
  llvm::SmallVector<Product> products = {Product::Header, Product::Weights,
                                         Product::Library};
  /// What checks the library's accesses.
  Sanitizer sanitizer = Sanitizer::None;
  /// Print the IR of this phase to `phaseFile` and write nothing else.
  std::optional<Phase> compileTo;
  std::string phaseFile = "-";
  /// Folder that receives the IR after each phase; empty: none.
  std::string dumpPhasesDir;
  /// Called with what is being done and how much of it (0 … 1, or less than 0
  /// if that is not known).
  std::function<void(llvm::StringRef, double)> progress;
};

struct CompileResult {
  std::vector<StagedFile> files;
  int64_t parameterCount = 0, activeParameterCount = 0;
  std::string cpu;
  std::string weightsType; ///< of most elements
};

/// Compiles. On failure one or more messages have been printed to standard
/// error, those without a location beginning with `tool`, and no file has been
/// written.
llvm::LogicalResult compileModel(const CompileOptions &options,
                                 CompileResult &result,
                                 llvm::StringRef tool = "hexad-compile");

} // namespace hexad

#endif // HEXAD_DRIVER_COMPILE_H
