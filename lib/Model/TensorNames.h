//===- TensorNames.h - Which stored tensor a layer reads --------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_LIB_MODEL_TENSORNAMES_H
#define HEXAD_LIB_MODEL_TENSORNAMES_H

#include "hexad/Model/Description.h"

namespace hexad {

/// The layer of a name, and what its tensors' names begin with in checkpoints
/// of a family: `<stem>.weight` and `<stem>.bias`. `{i}` is the iteration of
/// the repeat, `{e}` the expert. A layer may have several stems; the first that
/// is stored counts.
struct NameStem {
  llvm::StringLiteral layer;
  llvm::StringLiteral stem;
  /// Whether a model with a head stores it behind the family's prefix.
  bool isInBase;
};

/// The names of a family's tensors.
struct FamilyNames {
  llvm::StringLiteral family;
  /// What a model with a head puts in front of the base model's names.
  llvm::StringLiteral prefix;
  llvm::ArrayRef<NameStem> stems;
  /// Globs of tensors, without the prefix, that checkpoints of the family hold
  /// though a model may not read them.
  llvm::ArrayRef<llvm::StringLiteral> leftovers;
};

/// Fills in the names that the description leaves open: of tied layers, and by
/// `family` (may be null) with a look at what `source` holds. Emits a
/// diagnostic if a layer's tensors are not known.
mlir::LogicalResult resolveTensorNames(Description &description,
                                       const FamilyNames *family,
                                       const TensorSource &source);

/// `stored` with `{i}` replaced by the iteration, `{e}` by the expert.
std::string expandTensorName(llvm::StringRef stored, int64_t iteration,
                             int64_t expert = 0);

/// Whether `name` matches `glob`, in which `*` stands for any characters.
bool matchesGlob(llvm::StringRef name, llvm::StringRef glob);

/// The tensors of `source` that no parameter of `module` reads.
std::vector<llvm::StringRef> findUnreadTensors(mlir::ModuleOp module,
                                               const TensorSource &source);

} // namespace hexad

#endif // HEXAD_LIB_MODEL_TENSORNAMES_H
