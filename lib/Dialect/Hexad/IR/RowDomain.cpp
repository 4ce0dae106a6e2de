//===- RowDomain.cpp - What rows are counted in ---------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Dialect/Hexad/IR/RowDomain.h"
#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace hexad;

/// A value with as many rows, nearer to where they come from; null if there is
/// none.
static Value getOrigin(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto rows = dyn_cast<RowsOp>(parent))
      return rows.getInputs()[argument.getArgNumber()];
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      if (OpOperand *init = loop.getTiedLoopInit(argument))
        return init->get();
    if (auto experts = dyn_cast<ExpertsOp>(parent))
      return experts.getX();
    return {};
  }
  Operation *op = value.getDefiningOp();
  if (auto rows = dyn_cast<RowsOp>(op))
    return rows.getFirstRows();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return loop.getInitArgs()[cast<OpResult>(value).getResultNumber()];
  if (isa<RowLocalOpInterface, ExpertsOp>(op))
    return op->getOperand(0);
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return insert.getSource();
  if (auto dim = dyn_cast<tensor::DimOp>(op))
    return dim.getSource();
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    if (empty.getDynamicSizes().size() == 1)
      return empty.getDynamicSizes().front();
  return {};
}

RowDomain hexad::getRowDomain(Value value) {
  while (Value origin = getOrigin(value))
    value = origin;
  Operation *op = value.getDefiningOp();
  if (isa_and_present<PoolOp>(op))
    return RowDomain::Segments;
  if (auto labels = dyn_cast_or_null<LabelsOp>(op))
    return labels.isOfSegments() ? RowDomain::Segments : RowDomain::Tokens;
  if (isa_and_present<SelectRowsOp>(op))
    return RowDomain::Selected;
  return RowDomain::Tokens;
}
