//===- KernelDialect.h - The hexad_kernel dialect ---------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_DIALECT_KERNEL_IR_KERNELDIALECT_H
#define HEXAD_DIALECT_KERNEL_IR_KERNELDIALECT_H

#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

namespace hexad::kernel {

/// Elements of a vector, whatever the target's registers hold: rows are padded
/// to a multiple of it, sums have as many partial sums.
inline constexpr int64_t lanes = 16;

/// Rows of the statistics of an attention tile (`softmax_page`).
enum Statistic {
  RunningMaximum,
  RunningSum,
  PageMaximum,
  PageSum,
  OldFactor,
  PageFactor,
  StatisticCount
};

/// Columns of the statistics of `cross_entropy_tile`: a vector for each of the
/// maximum, the sum and the label's logit.
inline constexpr int64_t crossEntropyColumns = 3 * lanes;

namespace detail {
/// The effects of an op in destination-passing style on its buffers.
void getBufferEffects(mlir::DestinationStyleOpInterface op,
                      llvm::SmallVectorImpl<mlir::SideEffects::EffectInstance<
                          mlir::MemoryEffects::Effect>> &effects);
} // namespace detail

} // namespace hexad::kernel

#include "hexad/Dialect/Kernel/IR/KernelDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "hexad/Dialect/Kernel/IR/KernelAttributes.h.inc"

#define GET_OP_CLASSES
#include "hexad/Dialect/Kernel/IR/KernelOps.h.inc"

#endif // HEXAD_DIALECT_KERNEL_IR_KERNELDIALECT_H
