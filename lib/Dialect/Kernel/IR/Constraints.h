//===- Constraints.h - What verifiers of kernel ops check -------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_LIB_DIALECT_KERNEL_IR_CONSTRAINTS_H
#define HEXAD_LIB_DIALECT_KERNEL_IR_CONSTRAINTS_H

#include "hexad/Dialect/Kernel/IR/KernelDialect.h"

namespace hexad::kernel {

inline int64_t getSize(mlir::Value operand, int64_t dimension) {
  return llvm::cast<mlir::ShapedType>(operand.getType()).getDimSize(dimension);
}

/// Checks constraints one after the other until one is violated, which is
/// reported by its label. A dynamic size fits everything.
class Constraints {
public:
  /// Every op has `kernel_c1` and `kernel_c2`, but that those which work on a
  /// session's pages, or on outputs, read and write tensors and buffers.
  explicit Constraints(mlir::Operation *op) : op(op) {
    checkStrides();
    if (!llvm::isa<MapPageOp, MatmulOp, MeanLossOp, PackKeysOp, PackValuesOp,
                   ScatterRowsOp>(op))
      checkOneKind();
  }
  operator mlir::LogicalResult() const { return result; }

  Constraints &same(llvm::StringRef label, const llvm::Twine &what,
                    int64_t found, int64_t expected) {
    if (mlir::failed(result) || found == expected ||
        mlir::ShapedType::isDynamic(found) ||
        mlir::ShapedType::isDynamic(expected))
      return *this;
    fail(label) << "expected " << expected << " " << what << ", found "
                << found;
    return *this;
  }

  Constraints &atLeast(llvm::StringRef label, const llvm::Twine &what,
                       int64_t found, int64_t least) {
    if (mlir::failed(result) || mlir::ShapedType::isDynamic(found) ||
        mlir::ShapedType::isDynamic(least) || found >= least)
      return *this;
    fail(label) << "expected at least " << least << " " << what << ", found "
                << found;
    return *this;
  }

  /// The number of columns is static.
  Constraints &staticColumns(llvm::StringRef label, llvm::StringRef what,
                             mlir::Value operand) {
    auto type = llvm::cast<mlir::ShapedType>(operand.getType());
    if (mlir::failed(result) || !type.isDynamicDim(type.getRank() - 1))
      return *this;
    fail(label) << "expected a static number of columns of " << what
                << ", found " << type;
    return *this;
  }

  /// `kernel_c3`: the columns are static and padded to whole vectors.
  Constraints &padded(llvm::StringRef what, mlir::Value operand) {
    auto type = llvm::cast<mlir::ShapedType>(operand.getType());
    int64_t columns = type.getShape().back();
    if (mlir::failed(result) || (!mlir::ShapedType::isDynamic(columns) &&
                                 columns > 0 && columns % lanes == 0))
      return *this;
    fail("kernel_c3") << "expected the columns of " << what
                      << " to be a static, positive multiple of " << lanes
                      << ", found " << type;
    return *this;
  }

  /// `kernel_c4`: `width` is positive and counts columns that are there.
  Constraints &width(int64_t width, llvm::StringRef what, mlir::Value operand) {
    if (mlir::succeeded(result) && width <= 0)
      fail("kernel_c4") << "expected a positive width, found " << width;
    return atLeast("kernel_c4", "columns of " + what, getSize(operand, 1),
                   width);
  }

  /// `kernel_c5`: the operand has the destination's shape.
  Constraints &sameShape(llvm::StringRef what, mlir::Value operand,
                         mlir::Value destination) {
    return same("kernel_c5", "rows of " + what, getSize(operand, 0),
                getSize(destination, 0))
        .same("kernel_c5", "columns of " + what, getSize(operand, 1),
              getSize(destination, 1));
  }

  /// `kernel_c6`: eps is finite and not negative.
  Constraints &eps(const llvm::APFloat &eps) {
    if (mlir::failed(result) ||
        (eps.isFinite() && (!eps.isNegative() || eps.isZero())))
      return *this;
    fail("kernel_c6") << "expected a finite eps of at least 0, found "
                      << eps.convertToDouble();
    return *this;
  }

  /// `kernel_c7`: six rows of statistics, padded, a column for each row of the
  /// tile.
  Constraints &statistics(mlir::Value statistics, mlir::Value tile) {
    return same("kernel_c7", "rows of statistics", getSize(statistics, 0),
                StatisticCount)
        .atLeast("kernel_c7", "columns of statistics", getSize(statistics, 1),
                 getSize(tile, 0))
        .padded("statistics", statistics);
  }

  /// `kernel_c8`: a page is static and padded; the source has its columns.
  Constraints &page(mlir::Value source, mlir::Value page, int64_t width) {
    auto type = llvm::cast<mlir::ShapedType>(page.getType());
    if (mlir::succeeded(result) && !type.hasStaticShape())
      fail("kernel_c8") << "expected a page of static shape, found " << type;
    return padded("page", page).width(width, "source", source);
  }

  /// What decides which keys of a page a row sees, and the softcap: `c1` and
  /// `c2` of the ops that look at scores.
  template <typename Op> Constraints &mask(Op op, llvm::StringRef label) {
    bool masks = op.getCausal() || op.getWindow();
    bool fits = op.getWindow().value_or(1) > 0 &&
                (!op.getSoftcap() || (op.getSoftcap()->isFinite() &&
                                      op.getSoftcap()->convertToDouble() > 0));
    return require(op.getPosition() || !masks, (label + "_c1").str(),
                   "expected a position beside causal or window")
        .require(fits, (label + "_c2").str(),
                 "expected a positive window and a finite, positive softcap");
  }

  /// For constraints that only one op has.
  Constraints &require(bool holds, llvm::StringRef label,
                       const llvm::Twine &message) {
    if (mlir::succeeded(result) && !holds)
      fail(label) << message;
    return *this;
  }

private:
  mlir::InFlightDiagnostic fail(llvm::StringRef label) {
    result = mlir::failure();
    return op->emitOpError(label) << ": ";
  }

  /// `kernel_c1`: buffers have static strides, columns lie side by side.
  void checkStrides() {
    for (mlir::OpOperand &operand : op->getOpOperands()) {
      auto type = llvm::dyn_cast<mlir::MemRefType>(operand.get().getType());
      if (!type || mlir::failed(result))
        continue;
      llvm::SmallVector<int64_t> strides;
      int64_t offset;
      if (mlir::failed(type.getStridesAndOffset(strides, offset)) ||
          strides.back() != 1 ||
          llvm::any_of(strides, mlir::ShapedType::isDynamic))
        fail("kernel_c1")
            << "expected static strides, the last of them 1, found operand "
            << operand.getOperandNumber() << " of type " << type;
    }
  }

  /// `kernel_c2`: operands are all tensors or all buffers.
  void checkOneKind() {
    bool hasTensor =
        llvm::any_of(op->getOperandTypes(), llvm::IsaPred<mlir::TensorType>);
    bool hasBuffer =
        llvm::any_of(op->getOperandTypes(), llvm::IsaPred<mlir::MemRefType>);
    require(!hasTensor || !hasBuffer, "kernel_c2",
            "expected either tensors or buffers, found both");
  }

  mlir::Operation *op;
  mlir::LogicalResult result = mlir::success();
};

} // namespace hexad::kernel

#endif // HEXAD_LIB_DIALECT_KERNEL_IR_CONSTRAINTS_H
