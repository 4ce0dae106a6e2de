//===- ConfigFile.h - config.json of a checkpoint folder --------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_LIB_MODEL_CONFIGFILE_H
#define HEXAD_LIB_MODEL_CONFIGFILE_H

#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/SourceMgr.h"
#include <optional>

namespace hexad {

/// A key whose value must be what the family's code assumes: `json`, or null,
/// or absent.
struct FixedKey {
  llvm::StringLiteral name;
  llvm::StringLiteral json;
};

/// What every key of a family's config.json means; a key in none of the lists
/// is an error.
struct ConfigKeys {
  llvm::ArrayRef<llvm::StringLiteral> read;
  llvm::ArrayRef<FixedKey> mustEqual;
  llvm::ArrayRef<llvm::StringLiteral> inert;
};

/// A config.json, or an object inside it, with the place of each key. Readers
/// emit a diagnostic on failure.
class ConfigFile {
public:
  /// `sources` receives the text and must outlive the result.
  static mlir::FailureOr<ConfigFile> open(llvm::StringRef path,
                                          llvm::SourceMgr &sources,
                                          mlir::MLIRContext *context);

  /// The object under a key; stays without a value if the key is absent or
  /// null.
  mlir::LogicalResult openObject(llvm::StringRef key,
                                 std::optional<ConfigFile> &object) const;

  /// Checks that every key is in one of the lists, and the fixed ones' values.
  mlir::LogicalResult checkKeys(const ConfigKeys &keys) const;

  /// Whether a key is there, be it null.
  bool contains(llvm::StringRef key) const { return root.get(key); }
  /// The value of a key that is there and not null.
  const llvm::json::Value *find(llvm::StringRef key) const;
  /// The place of a key; if it is absent that of the key whose object this is,
  /// or the beginning of the file.
  mlir::Location getLocation(llvm::StringRef key) const;

  mlir::LogicalResult
  readString(llvm::StringRef key, std::string &text,
             std::optional<llvm::StringRef> byDefault = std::nullopt) const;
  /// An integer from 1 to `limit`.
  mlir::LogicalResult
  readSize(llvm::StringRef key, int64_t limit, int64_t &size,
           std::optional<int64_t> byDefault = std::nullopt) const {
    return readInteger(key, 1, limit, size, byDefault);
  }
  mlir::LogicalResult
  readInteger(llvm::StringRef key, int64_t least, int64_t limit, int64_t &value,
              std::optional<int64_t> byDefault = std::nullopt) const;
  /// A finite number that is not negative.
  mlir::LogicalResult readNumber(llvm::StringRef key, double &number,
                                 double byDefault) const;
  /// A finite number that is more than 0.
  mlir::LogicalResult
  readPositive(llvm::StringRef key, double &number,
               std::optional<double> byDefault = std::nullopt) const;
  mlir::LogicalResult readFlag(llvm::StringRef key, bool &flag,
                               bool byDefault) const;
  /// One of the activations that checkpoints name.
  mlir::LogicalResult readActivation(llvm::StringRef key,
                                     Activation &activation,
                                     llvm::StringRef byDefault) const;

  /// The number of labels of a classifier, by `id2label` or `num_labels`.
  mlir::LogicalResult readLabelCount(int64_t &count) const;

  /// "expected KEY to be `what`, found …", at the place of the key.
  mlir::InFlightDiagnostic expected(llvm::StringRef key,
                                    const llvm::Twine &what) const;

private:
  ConfigFile(llvm::StringRef path, llvm::StringRef text,
             mlir::MLIRContext *context)
      : context(context), path(path), text(text) {}
  mlir::Location getLocation(size_t offset) const;
  size_t getOffset(llvm::StringRef key) const;

  mlir::MLIRContext *context;
  std::string path;
  llvm::StringRef text; ///< owned by the SourceMgr
  llvm::json::Object root;
  /// "a.b." for the object under the key b of the object under a.
  std::string prefix;
  llvm::StringMap<size_t> offsets; ///< where each key stands, by prefixed name
};

} // namespace hexad

#endif // HEXAD_LIB_MODEL_CONFIGFILE_H
