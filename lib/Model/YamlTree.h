//===- YamlTree.h - A strict subset of YAML, with places --------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One document of mappings, sequences and scalars. No anchors, aliases, tags,
// block scalars or duplicate keys; `yes`, `010` and quoted numbers are strings.
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_LIB_MODEL_YAMLTREE_H
#define HEXAD_LIB_MODEL_YAMLTREE_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/StringExtras.h"
#include <optional>
#include <string>
#include <vector>

namespace hexad {

struct YamlEntry;

struct YamlNode {
  enum class Kind { Null, Scalar, Mapping, Sequence };

  explicit YamlNode(mlir::Location loc);

  mlir::Location loc;
  Kind kind = Kind::Null;
  std::string text;               ///< of a scalar
  bool isQuoted = false;          ///< of a scalar
  std::vector<YamlEntry> entries; ///< of a mapping
  std::vector<YamlNode> items;    ///< of a sequence

  /// Null if this is no mapping or has no such key.
  const YamlEntry *find(llvm::StringRef key) const;
  /// What stands there, for messages: "'text'", "a mapping", ….
  std::string describe() const;

  bool isString() const;
  std::optional<int64_t> getInteger() const;
  std::optional<double> getNumber() const;
  std::optional<bool> getFlag() const;
};

struct YamlEntry {
  std::string key;
  mlir::Location keyLoc;
  YamlNode value;
};

/// Reads the one document of `text`, which came from `path`. Emits one located
/// diagnostic on failure.
std::optional<YamlNode> readYaml(llvm::StringRef text, llvm::StringRef path,
                                 mlir::MLIRContext *context);

/// `error: expected <what>, found <node>` at the node.
mlir::InFlightDiagnostic emitExpected(const YamlNode &node,
                                      const llvm::Twine &what);

/// Checks that `node` is a mapping with no key but `keys`.
mlir::LogicalResult checkKeys(const YamlNode &node, llvm::StringRef what,
                              llvm::ArrayRef<llvm::StringRef> keys);

} // namespace hexad

#endif // HEXAD_LIB_MODEL_YAMLTREE_H
