//===- FloatRange.h - Attributes that become f32 ----------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attributes are f64, compiled code computes in f32: what is finite in an op
// must still be so there.
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_LIB_DIALECT_HEXAD_IR_FLOATRANGE_H
#define HEXAD_LIB_DIALECT_HEXAD_IR_FLOATRANGE_H

#include <cmath>
#include <limits>

namespace hexad {

inline bool isFiniteInF32(double value) {
  return std::abs(value) <= std::numeric_limits<float>::max();
}

/// Also its reciprocal is finite and positive.
inline bool isPositiveInF32(double value) {
  return value >= std::numeric_limits<float>::min() && isFiniteInF32(value);
}

} // namespace hexad

#endif // HEXAD_LIB_DIALECT_HEXAD_IR_FLOATRANGE_H
