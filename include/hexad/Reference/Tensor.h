//===- Tensor.h - Values of the reference interpreter -----------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_REFERENCE_TENSOR_H
#define HEXAD_REFERENCE_TENSOR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"
#include <cassert>
#include <cstdint>
#include <optional>
#include <vector>

namespace hexad::reference {

/// A dense tensor in row-major order.
template <typename Element> struct Tensor {
  llvm::SmallVector<int64_t, 4> shape;
  std::vector<Element> elements;

  Tensor() = default;
  /// A tensor whose elements are all `value`.
  explicit Tensor(llvm::ArrayRef<int64_t> shape, Element value = 0)
      : shape(shape) {
    int64_t count = 1;
    for (int64_t size : shape)
      count *= size;
    elements.assign(count, value);
  }

  int64_t getRows() const { return shape.front(); }
  int64_t getColumns() const { return shape.back(); }

  /// Row `row` of a matrix.
  llvm::ArrayRef<Element> getRow(int64_t row) const {
    assert(shape.size() == 2 && row >= 0 && row < getRows());
    return llvm::ArrayRef(elements).slice(row * getColumns(), getColumns());
  }
  llvm::MutableArrayRef<Element> getRow(int64_t row) {
    assert(shape.size() == 2 && row >= 0 && row < getRows());
    return llvm::MutableArrayRef(elements).slice(row * getColumns(),
                                                 getColumns());
  }
};

/// f32 in the IR, computed in double precision.
using FloatTensor = Tensor<double>;
/// Integers of any width and indices.
using IntegerTensor = Tensor<int64_t>;

/// The most elements that a tensor of the interpreter may have: 4 GiB.
inline constexpr int64_t maxElements = int64_t(1) << 29;

/// How many elements a tensor of `shape` has; none if a size is negative or
/// there are more than `maxElements`.
inline std::optional<int64_t> countElements(llvm::ArrayRef<int64_t> shape) {
  // Zeros first: a shape with one has no elements, however large the others.
  int64_t count = 1;
  for (int64_t size : shape)
    if (size < 0)
      return std::nullopt;
  if (llvm::is_contained(shape, 0))
    return 0;
  for (int64_t size : shape)
    if (llvm::MulOverflow(count, size, count) || count > maxElements)
      return std::nullopt;
  return count;
}

/// The value of type `!hexad.segments`: which rows form a sequence.
struct Segments {
  /// Sizes of the rectangle that the table was made from.
  int64_t batch = 0, seq = 0;
  /// For each segment (one for each batch row) its first row and its length.
  std::vector<int64_t> first, length;
  /// For each element of the rectangle the row that holds it, -1 at padding.
  std::vector<int64_t> elementRow;

  int64_t getSegmentCount() const { return first.size(); }
  /// The number of rows of all segments.
  int64_t getRows() const {
    return first.empty() ? 0 : first.back() + length.back();
  }
};

} // namespace hexad::reference

#endif // HEXAD_REFERENCE_TENSOR_H
