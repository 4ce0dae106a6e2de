//===- KernelTest.h - Kernels on every target -------------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_TEST_UNIT_CODEGEN_KERNELTEST_H
#define HEXAD_TEST_UNIT_CODEGEN_KERNELTEST_H

#include "hexad/CodeGen/KernelJit.h"
#include "hexad/Model/HalfFloats.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace hexad::test {

/// Rows in the middle of a larger storage: what a kernel writes beside them is
/// seen when whole storages are compared.
template <typename Element> class Matrix {
public:
  Matrix(int64_t rows, int64_t columns, int64_t stride, Element fill = 0)
      : rows(rows), columns(columns), stride(stride),
        storage(2 * margin + rows * stride, fill) {}
  Matrix(int64_t rows, int64_t columns) : Matrix(rows, columns, columns) {}

  Element &at(int64_t row, int64_t column) {
    return storage[margin + row * stride + column];
  }
  Element at(int64_t row, int64_t column) const {
    return storage[margin + row * stride + column];
  }

  Buffer<Element, 2> buffer() {
    Buffer<Element, 2> result(storage.data(), {rows, columns});
    result.offset = margin;
    result.strides = {stride, 1};
    return result;
  }
  /// The first row alone.
  Buffer<Element, 1> row() {
    Buffer<Element, 1> result(storage.data(), {columns});
    result.offset = margin;
    return result;
  }

  /// The type of `buffer()` in MLIR; all but the rows is static.
  std::string type(const std::string &element = "f32") const {
    return "memref<?x" + std::to_string(columns) + "x" + element +
           ", strided<[" + std::to_string(stride) + ", 1], offset: ?>>";
  }

  /// Elements in front of the rows and behind them.
  static constexpr int64_t margin = 37;

  int64_t rows, columns, stride;
  std::vector<Element> storage;
};

using Floats = Matrix<float>;
using Integers = Matrix<int32_t>;
/// Of bf16 or f16.
using Halves = Matrix<uint16_t>;

/// The type of `Floats::row()` in MLIR.
inline std::string vectorType(int64_t columns) {
  return "memref<" + std::to_string(columns) + "xf32, strided<[1], offset: ?>>";
}
/// The type of `Integers::row()` in MLIR.
inline std::string indicesType() {
  return "memref<?xi32, strided<[1], offset: ?>>";
}

/// `func.func @name(arguments) { op }`, to be called.
inline std::string makeFunction(llvm::StringRef name, llvm::StringRef arguments,
                                llvm::StringRef op) {
  return ("func.func @" + name + "(" + arguments +
          ") attributes {llvm.emit_c_interface} {\n  " + op + "\n  return\n}\n")
      .str();
}

enum class Data { Random, Large, WithZeros, WithInfinities, WithNaN };
inline const Data allData[] = {Data::Random, Data::Large, Data::WithZeros,
                               Data::WithInfinities, Data::WithNaN};

/// Fills the whole storage, padding and margins too.
inline void fill(Floats &matrix, std::mt19937 &random, Data data) {
  std::normal_distribution<float> normal;
  std::uniform_int_distribution<int> die(0, 19);
  for (float &x : matrix.storage) {
    x = normal(random);
    int number = die(random);
    if (data == Data::Large)
      x *= 1e4f;
    else if (data == Data::WithZeros && number < 10)
      x = number < 5 ? 0.0f : -0.0f;
    else if (data == Data::WithInfinities && number < 2)
      x = number == 0 ? INFINITY : -INFINITY;
    else if (data == Data::WithNaN && number == 0)
      x = NAN;
  }
}

/// Rounds a matrix to `element`, bf16 or f16, and gives it in that type.
inline Halves narrow(Floats &matrix, const std::string &element) {
  Halves halves(matrix.rows, matrix.columns, matrix.stride);
  for (auto [value, half] : llvm::zip_equal(matrix.storage, halves.storage)) {
    bool isBF16 = element == "bf16";
    half = isBF16 ? narrowToBF16(value) : narrowToF16(value);
    value = isBF16 ? widenBF16(half) : widenF16(half);
  }
  return halves;
}

/// Equal to the bit, but for which NaN it is.
inline bool isSame(float lhs, float rhs) {
  return std::memcmp(&lhs, &rhs, sizeof lhs) == 0 ||
         (std::isnan(lhs) && std::isnan(rhs));
}

/// Compares whole storages.
inline void expectSame(const Floats &actual, const Floats &expected,
                       const std::string &what) {
  ASSERT_EQ(actual.storage.size(), expected.storage.size());
  int differences = 0;
  for (size_t i = 0; i < actual.storage.size() && differences < 5; ++i) {
    if (isSame(actual.storage[i], expected.storage[i]))
      continue;
    ++differences;
    int64_t place = int64_t(i) - Floats::margin;
    ADD_FAILURE() << what << ": row " << place / actual.stride << " column "
                  << place % actual.stride << " is " << actual.storage[i]
                  << ", expected " << expected.storage[i];
  }
}

/// A test that runs for each width of registers; skipped where the machine does
/// not have them.
class KernelTest : public ::testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    target = llvm::cantFail(Target::get(GetParam()));
    Target host = llvm::cantFail(Target::get("native"));
    if ((target.cpuFeatures & ~host.cpuFeatures) != 0)
      GTEST_SKIP() << "this machine does not have the registers of "
                   << target.cpu;
  }

  std::unique_ptr<KernelJit> compile(const std::string &source) {
    auto jit = KernelJit::create(source, target);
    if (jit)
      return std::move(*jit);
    ADD_FAILURE() << llvm::toString(jit.takeError()) << "\n" << source;
    return nullptr;
  }

  Target target;
  std::mt19937 random{1};
};

#define HEXAD_INSTANTIATE_KERNEL_TEST(SUITE)                                   \
  INSTANTIATE_TEST_SUITE_P(                                                    \
      Targets, SUITE, ::testing::Values("x86-64-v3", "x86-64-v4"),             \
      [](const auto &info) {                                                   \
        return info.param == std::string("x86-64-v3") ? "AVX2" : "AVX512";     \
      })

} // namespace hexad::test

#endif // HEXAD_TEST_UNIT_CODEGEN_KERNELTEST_H
