//===- LossOps.cpp - Labels and cross-entropy -----------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace hexad;

/// Whether both have as many rows, as far as their types tell.
static bool haveSameRows(Value lhs, Value rhs) {
  auto getRows = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getShape().take_front();
  };
  return succeeded(verifyCompatibleShape(getRows(lhs), getRows(rhs)));
}

LabelsOp hexad::getLabelsOp(Value argument) {
  for (Operation *user : argument.getUsers())
    if (auto labels = dyn_cast<LabelsOp>(user))
      return labels;
  return {};
}

LogicalResult LabelsOp::verify() {
  if (getShift() && isOfSegments())
    return emitOpError("labels_c1: expected a rectangle of labels with shift, "
                       "found ")
           << getLabels().getType();
  return success();
}

unsigned CrossEntropyOp::getNumRowOperands() { return 2; }

LogicalResult CrossEntropyOp::verify() {
  auto result = cast<RankedTensorType>(getResult().getType());
  if (result.getDimSize(1) != 1)
    return emitOpError("cross_entropy_c1: expected one column, found ")
           << result;
  for (Value rows : {getLabels(), getResult()})
    if (!haveSameRows(getLogits(), rows))
      return emitOpError("cross_entropy_c2: expected as many rows as ")
             << getLogits().getType() << " has, found " << rows.getType();
  return success();
}

LogicalResult MeanLossOp::verify() {
  auto losses = cast<RankedTensorType>(getLosses().getType());
  if (losses.getDimSize(1) != 1)
    return emitOpError("mean_loss_c1: expected losses of one column, found ")
           << losses;
  if (!haveSameRows(getLosses(), getLabels()))
    return emitOpError("mean_loss_c2: expected as many labels as ")
           << losses << " has rows, found " << getLabels().getType();
  return success();
}
