//===- PackedMatmul.h - A matmul as compiled models do it -------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_BENCH_COMMON_PACKEDMATMUL_H
#define HEXAD_BENCH_COMMON_PACKEDMATMUL_H

#include "hexad/CodeGen/KernelJit.h"
#include <memory>
#include <vector>

namespace hexad::bench {

/// Random numbers in [-1, 1), the same ones in each run, aligned as a model's
/// weights and activations are: loads of vectors cross no cache line.
class RandomFloats {
public:
  explicit RandomFloats(int64_t count);
  float *data() { return aligned; }

private:
  std::vector<float> storage;
  float *aligned;
};

/// C = A · B as compiled models do it: for each block of rows one
/// hexad_kernel.matmul, lowered and compiled in process.
class PackedMatmul {
public:
  /// C is m × n, A is m × k; n is a multiple of the target's tile columns.
  static llvm::Expected<std::unique_ptr<PackedMatmul>>
  create(int64_t m, int64_t n, int64_t k, const Target &target);

  void run();
  double getOperations() const { return 2.0 * m * n * k; }

private:
  PackedMatmul(int64_t m, int64_t n, int64_t k, const Target &target,
               std::unique_ptr<KernelJit> jit);

  int64_t m, n, k, panelColumns;
  std::unique_ptr<KernelJit> jit;
  RandomFloats a, b, c;
};

} // namespace hexad::bench

#endif // HEXAD_BENCH_COMMON_PACKEDMATMUL_H
