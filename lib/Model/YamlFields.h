//===- YamlFields.h - Values under the keys of a mapping -------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each emits a located diagnostic if the value is not what it should be. An
// absent key leaves the value as it is.
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_LIB_MODEL_YAMLFIELDS_H
#define HEXAD_LIB_MODEL_YAMLFIELDS_H

#include "YamlTree.h"
#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "hexad/Model/Description.h"

namespace hexad {

mlir::LogicalResult readString(const YamlNode &node, std::string &text);
/// A name that C code can have.
mlir::LogicalResult readIdentifier(const YamlNode &node, std::string &name);
/// From 1 to `limit`.
mlir::LogicalResult readSize(const YamlNode &node, int64_t limit,
                             int64_t &size);

mlir::LogicalResult readSize(const YamlNode &mapping, llvm::StringRef key,
                             int64_t &size);
/// At least 0.
mlir::LogicalResult readNumber(const YamlNode &mapping, llvm::StringRef key,
                               double &number);
/// More than 0.
mlir::LogicalResult readPositive(const YamlNode &mapping, llvm::StringRef key,
                                 double &number);
mlir::LogicalResult readFlag(const YamlNode &mapping, llvm::StringRef key,
                             bool &flag);
// The same for a key whose absence counts.
mlir::LogicalResult readSize(const YamlNode &mapping, llvm::StringRef key,
                             std::optional<int64_t> &size);
mlir::LogicalResult readPositive(const YamlNode &mapping, llvm::StringRef key,
                                 std::optional<double> &number);

mlir::LogicalResult readActivation(const YamlNode &node,
                                   Activation &activation);

/// `[height, width]`, or one number for both.
mlir::LogicalResult readGridSize(const YamlNode &node, GridSize &size);

/// Checks that `mapping`, which messages call `what`, has `key`.
mlir::LogicalResult requireKey(const YamlNode &mapping, llvm::StringRef what,
                               llvm::StringRef key);

} // namespace hexad

#endif // HEXAD_LIB_MODEL_YAMLFIELDS_H
