//===- HalfFloats.h - f32 and the types of 16 bits --------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Widening is exact. Narrowing rounds to the nearest, of two to the even one; a
// number beyond the largest one becomes infinite. What was widened becomes what
// it was, the payload of a NaN included; any NaN stays one.
//
// Without branches, so that loops over many elements become vector code.
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_MODEL_HALFFLOATS_H
#define HEXAD_MODEL_HALFFLOATS_H

#include "llvm/ADT/bit.h"
#include <cstdint>

namespace hexad {

inline float widenBF16(uint16_t bits) {
  return llvm::bit_cast<float>(uint32_t(bits) << 16);
}

inline uint16_t narrowToBF16(float value) {
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  uint32_t high = bits >> 16;
  // Bit 6 is set where the payload's upper bits are all 0: it would be
  // infinity.
  uint32_t nan = high | uint32_t((high & 0x7f) == 0) << 6;
  uint32_t rounded = (bits + 0x7fff + (high & 1)) >> 16;
  return (bits & 0x7fffffff) > 0x7f800000 ? nan : rounded;
}

inline float widenF16(uint16_t half) {
  uint32_t sign = uint32_t(half & 0x8000) << 16;
  uint32_t magnitude = half & 0x7fff;
  uint32_t special = sign | 0x7f800000 | (magnitude & 0x3ff) << 13;
  uint32_t normal = sign | ((magnitude << 13) + (112u << 23));
  uint32_t subnormal =
      sign | llvm::bit_cast<uint32_t>(static_cast<float>(int32_t(magnitude)) *
                                      0x1p-24f);
  uint32_t bits = magnitude >= 0x7c00 ? special : normal;
  return llvm::bit_cast<float>(magnitude < 0x400 ? subnormal : bits);
}

inline uint16_t narrowToF16(float value) {
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  uint32_t sign = bits >> 16 & 0x8000;
  uint32_t magnitude = bits & 0x7fffffff;
  uint32_t payload = magnitude >> 13 & 0x3ff;
  uint32_t nan = 0x7c00 | payload | uint32_t(payload == 0) << 9;
  uint32_t normal =
      (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
  // The last bit of 0.5 is that of the smallest f16: the addition rounds.
  uint32_t subnormal =
      llvm::bit_cast<uint32_t>(llvm::bit_cast<float>(magnitude) + 0.5f) -
      llvm::bit_cast<uint32_t>(0.5f);
  uint32_t half = magnitude < 0x38800000 ? subnormal : normal;
  half = magnitude >= 0x477ff000 ? 0x7c00 : half;
  return sign | (magnitude > 0x7f800000 ? nan : half);
}

} // namespace hexad

#endif // HEXAD_MODEL_HALFFLOATS_H
