//===- PositionGrid.h - Learned positions, resized --------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_MODEL_POSITIONGRID_H
#define HEXAD_MODEL_POSITIONGRID_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <vector>

namespace hexad {

/// What `grid` of a hexad.parameter amounts to: each row as a weighted sum of
/// stored rows.
class PositionGrid {
public:
  /// `numbers` are kept, zeros, h, w, H, W.
  PositionGrid(llvm::ArrayRef<int64_t> numbers, bool antialias);

  int64_t getStoredRows() const { return kept + height * width; }
  int64_t getRows() const { return kept + zeros + newHeight * newWidth; }

  struct Term {
    int64_t row; ///< stored
    double weight;
  };
  /// The sum that row `row` is; no terms are zeros.
  std::vector<Term> getTerms(int64_t row) const;

private:
  int64_t kept, zeros, height, width, newHeight, newWidth;
  bool antialias;
};

} // namespace hexad

#endif // HEXAD_MODEL_POSITIONGRID_H
