//===- Strip.h - A few rows times a few panels ------------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What all ways of a matmul are made of: the loop over k of some rows and
// panels, with their sums in registers.
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_LIB_CODEGEN_VECTOR_STRIP_H
#define HEXAD_LIB_CODEGEN_VECTOR_STRIP_H

#include "Lowering.h"

namespace hexad::kernel {

/// Some rows times one panel, or several side by side.
struct Strip {
  mlir::Value a;      ///< `[M, >= K]`
  mlir::Value panels; ///< `[P, K, NR]`, of f32 or widened to it
  /// Numbers of the rows and of the panels.
  llvm::SmallVector<mlir::Value> rows, numbers;
  /// Which of the strips of its panel this is, and how many columns each
  /// fetches of the next panel for each k; null: it fetches none.
  mlir::Value strip, fetched;

  /// `count` rows from `row` on, `panelCount` panels from `panel` on.
  static Strip get(VectorBuilder &b, mlir::Value a, mlir::Value panels,
                   mlir::Value row, int64_t count, mlir::Value panel,
                   int64_t panelCount = 1);
};

/// The most columns that a strip can fetch of the next panel for each k without
/// gaps.
int64_t getMostFetchedColumns(mlir::Value panels);

int64_t getElementBytes(mlir::Value buffer);

/// `s = sum over k of a[m, k] * panel[k, n]` for a strip: rows x panels x
/// vectors values.
llvm::SmallVector<mlir::Value> accumulate(VectorBuilder &b, const Strip &strip);

/// Keeps values from row `first` of `sums` on.
void keepSums(VectorBuilder &b, mlir::ValueRange values, mlir::Value sums,
              mlir::Value first);

/// What a call of a strip's function is about.
struct StripCall {
  mlir::Value a, panels;
  mlir::Value row, panel;   ///< the first ones
  int64_t rows, panelCount; ///< how many
  mlir::Value sums, first;  ///< where the sums are kept: a row for each panel
  /// As in `Strip`; several panels fetch themselves what they read next.
  mlir::Value strip, fetched;
};

/// Computes and keeps the sums of a strip in a function that all matmuls of the
/// module call: it takes their depths and strides as they come.
void callStrip(VectorBuilder &b, const StripCall &call);

} // namespace hexad::kernel

#endif // HEXAD_LIB_CODEGEN_VECTOR_STRIP_H
