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

/// A config.json with the place of each key. Readers emit a diagnostic on
/// failure.
class ConfigFile {
public:
  /// `sources` receives the text and must outlive the result.
  static mlir::FailureOr<ConfigFile> open(llvm::StringRef path,
                                          llvm::SourceMgr &sources,
                                          mlir::MLIRContext *context);

  /// Checks that every key is in one of the lists, and the fixed ones' values.
  mlir::LogicalResult checkKeys(const ConfigKeys &keys) const;

  /// The value of a key that is there and not null.
  const llvm::json::Value *find(llvm::StringRef key) const;
  /// The place of a key; the beginning of the file if it is absent.
  mlir::Location getLocation(llvm::StringRef key) const;

  mlir::LogicalResult
  readString(llvm::StringRef key, std::string &text,
             std::optional<llvm::StringRef> byDefault = std::nullopt) const;
  /// An integer from 1 to `limit`.
  mlir::LogicalResult
  readSize(llvm::StringRef key, int64_t limit, int64_t &size,
           std::optional<int64_t> byDefault = std::nullopt) const;
  /// A finite number that is not negative.
  mlir::LogicalResult readNumber(llvm::StringRef key, double &number,
                                 double byDefault) const;
  mlir::LogicalResult readFlag(llvm::StringRef key, bool &flag,
                               bool byDefault) const;
  /// One of the activations that checkpoints name.
  mlir::LogicalResult readActivation(llvm::StringRef key,
                                     Activation &activation,
                                     llvm::StringRef byDefault) const;

private:
  ConfigFile(llvm::StringRef path, llvm::StringRef text,
             mlir::MLIRContext *context)
      : context(context), path(path), text(text) {}
  mlir::Location getLocation(size_t offset) const;
  mlir::InFlightDiagnostic expected(llvm::StringRef key,
                                    const llvm::Twine &what) const;

  mlir::MLIRContext *context;
  std::string path;
  llvm::StringRef text; ///< owned by the SourceMgr
  llvm::json::Object root;
  llvm::StringMap<size_t> offsets; ///< where each key stands
};

} // namespace hexad

#endif // HEXAD_LIB_MODEL_CONFIGFILE_H
