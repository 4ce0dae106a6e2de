//===- ExpertOps.cpp - Mixture of experts ---------------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FloatRange.h"
#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace hexad;

/// The numbers of experts are stored as f32, which holds those below exactly.
static constexpr int64_t maxExpertCount = int64_t(1) << 24;

static RankedTensorType getTensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static bool haveSameRows(Value lhs, Value rhs) {
  return succeeded(
      verifyCompatibleShape(getTensorType(lhs).getShape().take_front(),
                            getTensorType(rhs).getShape().take_front()));
}

//===----------------------------------------------------------------------===//
// RouteOp
//===----------------------------------------------------------------------===//

/// An element for each expert.
static LogicalResult checkPerExpert(RouteOp op, Value vector,
                                    StringRef constraint, StringRef what) {
  if (!vector || getTensorType(vector).getDimSize(0) == op.getExperts())
    return success();
  return op.emitOpError(constraint)
         << ": expected " << what << " of " << op.getExperts()
         << " elements, one for each expert, found " << vector.getType();
}

static LogicalResult checkGroups(RouteOp op) {
  if (op.getGroups().has_value() != op.getTopGroups().has_value())
    return op.emitOpError("route_c5: expected groups and top_groups together");
  if (!op.getGroups())
    return success();
  if (op.getScore() != RouterScore::Sigmoid)
    return op.emitOpError("route_c5: expected groups with sigmoid only");
  int64_t experts = op.getExperts();
  int64_t groups = static_cast<int64_t>(*op.getGroups());
  int64_t topGroups = static_cast<int64_t>(*op.getTopGroups());
  if (groups < 1 || experts % groups != 0 || experts / groups < 2)
    return op.emitOpError("route_c5: expected a number of groups that divides ")
           << experts << " experts into groups of at least two, found "
           << groups;
  if (topGroups < 1 || topGroups > groups)
    return op.emitOpError("route_c5: expected top_groups from 1 to ")
           << groups << ", found " << topGroups;
  int64_t open = experts / groups * topGroups;
  if (open < static_cast<int64_t>(op.getTopK()))
    return op.emitOpError("route_c5: expected top_groups that leave at least ")
           << op.getTopK() << " experts (top_k), found " << open;
  return success();
}

LogicalResult RouteOp::verify() {
  int64_t experts = getExperts(), topK = static_cast<int64_t>(getTopK());
  if (topK < 1 || topK > experts)
    return emitOpError("route_c1: expected top_k from 1 to ")
           << experts << ", the number of experts, found " << topK;
  if (experts > maxExpertCount)
    return emitOpError("route_c7: expected at most 2^24 experts, found ")
           << experts;
  if (getTensorType(getResult()).getDimSize(1) != 2 * topK ||
      !haveSameRows(getLogits(), getResult()))
    return emitOpError("route_c2: expected the rows of the logits with ")
           << 2 * topK << " columns, found " << getResult().getType();
  if (failed(checkPerExpert(*this, getSelectionBias(), "route_c3",
                            "a selection bias")))
    return failure();
  if (getSelectionBias() && getScore() != RouterScore::Sigmoid)
    return emitOpError("route_c3: expected a selection bias with sigmoid only");
  if (failed(checkPerExpert(*this, getScales(), "route_c4", "scales")))
    return failure();
  if (failed(checkGroups(*this)))
    return failure();
  double scaling = getScaling().convertToDouble();
  if (!isPositiveInF32(scaling))
    return emitOpError("route_c6: expected a finite, positive scaling, found ")
           << scaling;
  return success();
}

//===----------------------------------------------------------------------===//
// ExpertsOp
//===----------------------------------------------------------------------===//

LogicalResult ExpertsOp::verify() {
  int64_t count = static_cast<int64_t>(getCount());
  if (count < 1)
    return emitOpError("experts_c1: expected at least one expert, found ")
           << count;
  if (count > maxExpertCount)
    return emitOpError("experts_c1: expected at most 2^24 experts, found ")
           << count;
  if (getTensorType(getRoutes()).getDimSize(1) % 2 != 0 ||
      !haveSameRows(getX(), getRoutes()))
    return emitOpError("experts_c2: expected routes with an even number of "
                       "columns and the rows of x, found ")
           << getRoutes().getType();
  if (!haveSameRows(getX(), getResult()))
    return emitOpError("experts_c6: expected a row for each row of x, found ")
           << getResult().getType();
  return success();
}

LogicalResult ExpertsOp::verifyRegions() {
  Block &block = getBody().front();
  if (block.getNumArguments() != 2 ||
      !block.getArgument(0).getType().isIndex() ||
      block.getArgument(1).getType() != getX().getType())
    return emitOpError("experts_c3: expected the region to get an index and ")
           << getX().getType();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield.getResults().getTypes() != (*this)->getResultTypes())
    return emitOpError("experts_c4: expected the region to yield ")
           << getResult().getType();
  for (Operation &op : block) {
    if (!isa<RowLocalOpInterface, LoadOp, arith::ConstantOp, arith::AddIOp,
             arith::MulIOp, YieldOp>(op))
      return op.emitOpError("experts_c5: is not expected in an expert: only "
                            "row-local ops, loads and index arithmetic are");
    for (Value operand : op.getOperands())
      if (operand.getParentBlock() != &block && !operand.getType().isIndex())
        return op.emitOpError("experts_c5: expected only indices from outside "
                              "of an expert, found ")
               << operand.getType();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// ClampOp
//===----------------------------------------------------------------------===//

LogicalResult ClampOp::verify() {
  if (!getLower() && !getUpper())
    return emitOpError("clamp_c1: expected a lower or an upper bound");
  for (const std::optional<APFloat> &bound : {getLower(), getUpper()})
    if (bound && !isFiniteInF32(bound->convertToDouble()))
      return emitOpError("clamp_c2: expected finite bounds, found ")
             << bound->convertToDouble();
  if (getLower() && getUpper() &&
      getLower()->convertToDouble() > getUpper()->convertToDouble())
    return emitOpError("clamp_c3: expected a lower bound that is not above the "
                       "upper one, found ")
           << getLower()->convertToDouble() << " and "
           << getUpper()->convertToDouble();
  return success();
}
