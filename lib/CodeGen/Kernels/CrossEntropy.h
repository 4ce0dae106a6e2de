//===- CrossEntropy.h - The loop over tiles of classes ----------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_LIB_CODEGEN_KERNELS_CROSSENTROPY_H
#define HEXAD_LIB_CODEGEN_KERNELS_CROSSENTROPY_H

#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "hexad/Dialect/Kernel/IR/KernelDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace hexad {

/// Builds the code of one hexad.cross_entropy on a block of rows: a loop over
/// tiles of classes, whose logits are made in the loop or lie in memory.
class CrossEntropyLowering {
public:
  /// Classes of a tile. Part of what the op computes (docs/Spec.md, "Bits"):
  /// the same on every target, a multiple of every panel's columns.
  static constexpr int64_t tileClasses = 512;

  /// `classes` without padding, `rows` of at most `blockRows`.
  CrossEntropyLowering(mlir::ImplicitLocOpBuilder &builder, CrossEntropyOp op,
                       int64_t classes, mlir::OpFoldResult rows,
                       int64_t blockRows);

  /// Writes the losses to `destination`. `makeLogits` builds the logits of the
  /// tile that begins with class `first`.
  mlir::Value
  lower(mlir::Value destination,
        llvm::function_ref<mlir::Value(mlir::Value first)> makeLogits);

  /// The logits of a tile: `x` times the panels of its classes, into scratch
  /// memory of a tile. `bias` may be null.
  mlir::Value makeLogits(mlir::Value x, mlir::Value panels, mlir::Value bias,
                         mlir::Value first, kernel::TileAttr tile);
  /// The logits of a tile as a part of those of all classes.
  mlir::Value sliceLogits(mlir::Value logits, mlir::Value first);

private:
  mlir::Value makeScratch(int64_t columns);
  mlir::Value slice(mlir::Value source,
                    llvm::ArrayRef<mlir::OpFoldResult> offsets,
                    llvm::ArrayRef<mlir::OpFoldResult> sizes);
  /// How many of `all` columns the tile that begins with `first` has.
  mlir::Value getSize(mlir::Value first, int64_t all);
  mlir::Value getEnd();

  mlir::ImplicitLocOpBuilder &builder;
  mlir::Value labels;
  int64_t classes;
  mlir::OpFoldResult rows;
  int64_t blockRows;
};

} // namespace hexad

#endif // HEXAD_LIB_CODEGEN_KERNELS_CROSSENTROPY_H
