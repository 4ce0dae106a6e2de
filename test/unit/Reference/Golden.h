//===- Golden.h - Comparison with golden files ------------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_TEST_UNIT_REFERENCE_GOLDEN_H
#define HEXAD_TEST_UNIT_REFERENCE_GOLDEN_H

#include "hexad/Model/Safetensors.h"
#include "hexad/Reference/Tensor.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>

namespace hexad::reference {

/// A file under test/golden.
inline std::string goldenPath(llvm::StringRef name) {
  return (llvm::Twine(HEXAD_TEST_DIR "/golden/") + name).str();
}

inline std::unique_ptr<SafetensorsFile> openGolden(llvm::StringRef name) {
  llvm::Expected<std::unique_ptr<SafetensorsFile>> file =
      SafetensorsFile::open(goldenPath(name));
  if (!file) {
    ADD_FAILURE() << llvm::toString(file.takeError());
    return nullptr;
  }
  return std::move(*file);
}

inline llvm::json::Value parseGoldenJson(llvm::StringRef name) {
  auto buffer = llvm::MemoryBuffer::getFile(goldenPath(name));
  if (!buffer) {
    ADD_FAILURE() << name.str() << ": " << buffer.getError().message();
    return nullptr;
  }
  llvm::Expected<llvm::json::Value> value =
      llvm::json::parse((*buffer)->getBuffer());
  if (!value) {
    ADD_FAILURE() << name.str() << ": " << llvm::toString(value.takeError());
    return nullptr;
  }
  return std::move(*value);
}

inline FloatTensor readFloats(const StoredTensor &stored) {
  std::vector<float> floats(stored.getElementCount());
  stored.readFloats(0, floats);
  FloatTensor tensor;
  tensor.shape.assign(stored.shape.begin(), stored.shape.end());
  tensor.elements.assign(floats.begin(), floats.end());
  return tensor;
}

inline IntegerTensor readIntegers(const StoredTensor &stored) {
  IntegerTensor tensor(stored.shape);
  stored.readIntegers(0, tensor.elements);
  return tensor;
}

/// Expects `got` to be `want` before `want` was rounded.
///
/// Golden values were computed in float64 and rounded to float32 once. So ours
/// may differ by half the distance between `want` and its float32 neighbours,
/// and by what two float64 computations differ by (order of sums, another
/// libm): `noise` of the largest magnitude of the tensor. 10⁻¹² of it is 10⁵
/// times smaller than the float32 rounding of that largest value.
///
/// With a mask `[batch, seq]`, `got` is expected to be 0 where that is 0:
/// golden files hold values at padding that mean nothing.
inline void expectGolden(const FloatTensor &got, const StoredTensor &want,
                         double noise = 1e-12,
                         const IntegerTensor *mask = nullptr) {
  FloatTensor expected = readFloats(want);
  ASSERT_EQ(llvm::ArrayRef<int64_t>(got.shape).vec(),
            llvm::ArrayRef<int64_t>(expected.shape).vec())
      << want.name;
  double largest = 0;
  for (double element : expected.elements)
    if (std::isfinite(element))
      largest = std::max(largest, std::abs(element));
  for (size_t i = 0; i < expected.elements.size(); ++i) {
    double g = got.elements[i], w = expected.elements[i];
    if (mask && mask->elements[i / got.getColumns()] == 0) {
      ASSERT_EQ(g, 0) << want.name << " at " << i << ", which is padding";
      continue;
    }
    if (!std::isfinite(w)) {
      ASSERT_TRUE(std::isnan(w) ? std::isnan(g) : g == w)
          << want.name << " at " << i << ": got " << g << ", expected " << w;
      continue;
    }
    constexpr float infinity = std::numeric_limits<float>::infinity();
    double above = std::nextafter(static_cast<float>(w), infinity) - w;
    double below = w - std::nextafter(static_cast<float>(w), -infinity);
    double bound = std::max(above, below) / 2 + noise * largest;
    ASSERT_LE(std::abs(g - w), bound) // NaN fails
        << want.name << " at " << i << ": got " << g << ", expected " << w;
  }
}

} // namespace hexad::reference

#endif // HEXAD_TEST_UNIT_REFERENCE_GOLDEN_H
