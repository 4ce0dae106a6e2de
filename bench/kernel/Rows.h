//===- Rows.h - What kernel-bench measures ----------------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_BENCH_KERNEL_ROWS_H
#define HEXAD_BENCH_KERNEL_ROWS_H

#include "common/OpenBlas.h"
#include "common/Table.h"
#include "hexad/CodeGen/Target.h"

namespace hexad::bench {

/// Something that is measured once a round, with its yardsticks just before and
/// just after. The first round warms up and is not written down.
class KernelRow {
public:
  virtual ~KernelRow() = default;
  virtual void measure(bool warmsUp) = 0;
};

using KernelRows = std::vector<std::unique_ptr<KernelRow>>;

/// The products of linear layers; `blas` may be null.
llvm::Error addMatmulRows(const Target &target, const OpenBlas *blas,
                          Table &table, KernelRows &rows);
/// Attention alone, compiled as in a model; with more than one thread also how
/// much faster it is on them.
llvm::Error addAttentionRows(llvm::StringRef cpu, const Target &target,
                             unsigned threads, Table &table, KernelRows &rows);
/// One query on 2048 keys, of several layers, so that no cache holds them.
llvm::Error addQueryRow(llvm::StringRef cpu, Table &table, KernelRows &rows);
/// Activations and softmax.
llvm::Error addElementwiseRows(const Target &target, Table &table,
                               KernelRows &rows);

} // namespace hexad::bench

#endif // HEXAD_BENCH_KERNEL_ROWS_H
