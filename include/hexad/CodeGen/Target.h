//===- Target.h - The table of target facts ---------------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_CODEGEN_TARGET_H
#define HEXAD_CODEGEN_TARGET_H

#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>

namespace hexad {

/// What code generation needs to know of a CPU, and the decisions that follow
/// from it. The only place in the compiler that knows instruction sets.
struct Target {
  std::string cpu;      ///< LLVM's name, e.g. "znver3", "x86-64-v4"
  std::string features; ///< LLVM's feature string, e.g. "+avx2,+fma"
  uint32_t cpuFeatures; ///< enum hexad_cpu_feature, or-ed: checked at run time
  bool hasF16C;         ///< converts f16
  int64_t vectorBits;   ///< register width to use: 256 or 512
  int64_t l1Bytes, l2Bytes;
  int64_t tileRows, tileColumns; ///< register tile of a matmul (CODEGEN's rule)
  int64_t blockRows;  ///< most rows of a row block, a multiple of tileRows
  int64_t queryTile;  ///< rows of an attention tile, a multiple of tileRows
  int64_t page = 128; ///< keys of a page of the KV cache

  /// `name` is "native" or a CPU that LLVM knows for x86-64. Fails with a
  /// sentence for an unknown name and for targets without AVX2 and FMA.
  static llvm::Expected<Target> get(llvm::StringRef name);

  /// For a model whose weights are of f16: code will need F16C. Fails for a
  /// target without it.
  llvm::Error requireF16();
};

} // namespace hexad

#endif // HEXAD_CODEGEN_TARGET_H
