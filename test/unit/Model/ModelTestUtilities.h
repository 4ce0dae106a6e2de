//===- ModelTestUtilities.h - Files and diagnostics for tests ---*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_TEST_UNIT_MODEL_MODELTESTUTILITIES_H
#define HEXAD_TEST_UNIT_MODEL_MODELTESTUTILITIES_H

#include "TemporaryFolder.h"
#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "hexad/Model/ModelReader.h"
#include "hexad/Model/Safetensors.h"
#include "hexad/Model/WeightFile.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "gtest/gtest.h"

namespace hexad {

/// Reads models and keeps the diagnostics.
class ModelTest : public ::testing::Test {
protected:
  ModelTest() {
    // One line for each: "line:column: severity: message".
    context.getDiagEngine().registerHandler([this](mlir::Diagnostic &d) {
      llvm::raw_string_ostream stream(diagnostics);
      if (auto loc = llvm::dyn_cast<mlir::FileLineColLoc>(d.getLocation()))
        stream << llvm::sys::path::filename(loc.getFilename().getValue()) << ':'
               << loc.getLine() << ':' << loc.getColumn() << ": ";
      else if (auto loc = llvm::dyn_cast<mlir::NameLoc>(d.getLocation()))
        stream << loc.getName().getValue() << ": ";
      bool isError = d.getSeverity() == mlir::DiagnosticSeverity::Error;
      stream << (isError ? "error: " : "warning: ") << d << "\n";
      errors += isError;
      return mlir::success();
    });
  }

  mlir::OwningOpRef<mlir::ModuleOp>
  read(llvm::StringRef path, llvm::ArrayRef<std::string> outputs = {}) {
    ReadOptions options;
    options.outputs.assign(outputs.begin(), outputs.end());
    llvm::SourceMgr sources;
    return readModel(path, options, sources, &context);
  }

  static std::string getGolden(llvm::StringRef name) {
    return (HEXAD_TEST_DIR "/golden/models/" + name).str();
  }

  static std::string print(mlir::ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module.print(stream);
    return text;
  }

  /// The weights of `module`, parameter behind parameter.
  static std::string writeWeights(mlir::ModuleOp module,
                                  llvm::StringRef folder) {
    TemporaryFolder target;
    mlir::Builder builder(module.getContext());
    int64_t offset = 0;
    for (auto parameter : module.getOps<ParameterOp>()) {
      parameter->setAttr("hexad.offset", builder.getI64IntegerAttr(offset));
      offset +=
          llvm::alignTo(parameter.getTensorType().getNumElements() * 4, 64);
    }
    std::string path = target.getPath("weights");
    EXPECT_TRUE(mlir::succeeded(writeWeightFile(module, folder, path)));
    auto buffer = llvm::MemoryBuffer::getFile(path);
    return buffer ? (*buffer)->getBuffer().str() : "";
  }

  /// `where` is "line:column", or empty if the test does not care.
  static std::string getPlace(llvm::StringRef file, llvm::StringRef where) {
    return (file + ":" + where + (where.empty() ? "" : ": error: ")).str();
  }

  /// Expects reading `path` to fail with one error, whose place begins with
  /// `where` and whose message contains `what`.
  void expectError(llvm::StringRef path, llvm::StringRef where,
                   llvm::StringRef what,
                   llvm::ArrayRef<std::string> outputs = {}) {
    diagnostics.clear();
    errors = 0;
    EXPECT_FALSE(read(path, outputs)) << "expected: " << what.str();
    EXPECT_EQ(errors, 1u) << diagnostics;
    EXPECT_TRUE(llvm::StringRef(diagnostics).starts_with(where))
        << "expected at " << where.str() << ": " << diagnostics;
    EXPECT_TRUE(llvm::StringRef(diagnostics).contains(what))
        << "expected '" << what.str() << "' in: " << diagnostics;
  }

  mlir::MLIRContext context;
  std::string diagnostics;
  unsigned errors = 0;
};

} // namespace hexad

#endif // HEXAD_TEST_UNIT_MODEL_MODELTESTUTILITIES_H
