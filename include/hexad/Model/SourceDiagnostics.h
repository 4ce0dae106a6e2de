//===- SourceDiagnostics.h - Messages with lines of files -------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_MODEL_SOURCEDIAGNOSTICS_H
#define HEXAD_MODEL_SOURCEDIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"

namespace hexad {

/// Prints diagnostics to the standard error, each with the line of the file
/// that it is about, unless nobody could read that line: files that a program
/// wrote can be one line of megabytes.
class SourceDiagnostics : public mlir::SourceMgrDiagnosticHandler {
public:
  SourceDiagnostics(llvm::SourceMgr &sources, mlir::MLIRContext *context);

private:
  bool isLineReadable(mlir::Location loc) const;

  llvm::SourceMgr &sources;
};

/// The place of a diagnostic about ReadOptions: the option of the command line
/// that gave them, which stands where others have a file.
mlir::Location getOptionLoc(mlir::MLIRContext *context, llvm::StringRef option);

} // namespace hexad

#endif // HEXAD_MODEL_SOURCEDIAGNOSTICS_H
