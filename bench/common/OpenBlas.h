//===- OpenBlas.h - The matmul that others use ------------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_BENCH_COMMON_OPENBLAS_H
#define HEXAD_BENCH_COMMON_OPENBLAS_H

#include "llvm/Support/Error.h"
#include <cstdint>
#include <memory>
#include <string>

namespace hexad::bench {

/// The system's OpenBLAS (Debian: libopenblas0-pthread), on one thread.
class OpenBlas {
public:
  /// Fails with a sentence that says what to install. `core` names the kernels
  /// that it is to take; "auto": those of the CPU that it believes to run on,
  /// which is an older one if the version does not know this one. What the
  /// environment says of kernels and cache sizes does not count: it would make
  /// a slow rival without being seen.
  static llvm::Expected<std::unique_ptr<OpenBlas>> open(llvm::StringRef core);

  /// The name of the kernels that it took.
  const std::string &getCore() const { return core; }
  /// C = A · Bᵀ, row-major: A is m × k, B is n × k as linear layers store their
  /// weights, C is m × n.
  void multiply(int64_t m, int64_t n, int64_t k, const float *a, const float *b,
                float *c) const;

private:
  OpenBlas() = default;

  using Sgemm = void (*)(int order, int transposeA, int transposeB, int m,
                         int n, int k, float alpha, const float *a, int lda,
                         const float *b, int ldb, float beta, float *c,
                         int ldc);
  Sgemm sgemm = nullptr;
  std::string core;
};

} // namespace hexad::bench

#endif // HEXAD_BENCH_COMMON_OPENBLAS_H
