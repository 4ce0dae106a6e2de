//===- GridSize.h - Rows and columns of a grid ------------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_MODEL_GRIDSIZE_H
#define HEXAD_MODEL_GRIDSIZE_H

#include <cstdint>

namespace hexad {

/// Numbers of rows and columns, of an image, a patch or a grid of patches.
struct GridSize {
  int64_t height, width;

  bool operator==(const GridSize &) const = default;
};

} // namespace hexad

#endif // HEXAD_MODEL_GRIDSIZE_H
