//===- Outputs.h - A call's outputs -----------------------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_TOOLS_HEXADRUN_OUTPUTS_H
#define HEXAD_TOOLS_HEXADRUN_OUTPUTS_H

#include "Inputs.h"
#include <memory>

namespace hexad {

/// A stacked output is `count` tensors `name.0 …`, stored one behind the other.
struct Output {
  const OutputInfo *info;
  llvm::SmallVector<int64_t, 4> shape; ///< without the stack's dimension
  size_t elements;
  std::unique_ptr<float[], decltype(&std::free)> values;
};

/// Memory for the outputs of these names; for all, if there are no names. Fails
/// if they would be too large.
llvm::Expected<std::vector<Output>>
makeOutputs(const LibraryInfo &info, const Inputs &inputs,
            llvm::ArrayRef<llvm::StringRef> wanted);

llvm::Error writeOutputs(llvm::ArrayRef<Output> outputs, llvm::StringRef path);

/// Outputs of one number, a line each: `loss: 4.84`. How many there are.
size_t printScalars(llvm::ArrayRef<Output> outputs, llvm::raw_ostream &os);

/// What was run, how long each time took, shapes of outputs and their scalars,
/// as JSON.
void printSummary(const LibraryInfo &info, const Inputs &inputs,
                  llvm::ArrayRef<Output> outputs,
                  llvm::ArrayRef<double> seconds, llvm::raw_ostream &os);

/// Whether both paths lead to one file, which may not be there yet.
bool isSameFile(llvm::StringRef a, llvm::StringRef b);

} // namespace hexad

#endif // HEXAD_TOOLS_HEXADRUN_OUTPUTS_H
