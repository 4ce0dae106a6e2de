//===- ParameterOps.cpp - Weights as symbols ------------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Dialect/Hexad/IR/HexadDialect.h"

using namespace mlir;
using namespace hexad;

RankedTensorType ParameterOp::getLayerType() {
  RankedTensorType type = getTensorType();
  if (!getLayers())
    return type;
  return RankedTensorType::get(type.getShape().drop_front(),
                               type.getElementType());
}

static LogicalResult verifyPicks(ParameterOp op) {
  if (!op.getPicks())
    return success();
  auto picks = op.getPicksAttr().getAsRange<DenseI64ArrayAttr>();
  bool haveNumbers = llvm::all_of(picks, [](DenseI64ArrayAttr pick) {
    return pick.size() == 4 || pick.size() == 5;
  });
  if (static_cast<int64_t>(op.getPicks()->size()) != op.getPartsPerLayer() ||
      !haveNumbers)
    return op.emitOpError("parameter_c7: expected picks of four or five "
                          "numbers for each of ")
           << op.getPartsPerLayer() << " parts of a layer, found "
           << op.getPicksAttr();
  for (DenseI64ArrayAttr pick : picks) {
    int64_t first = pick[0], size = pick[1], stride = pick[2], count = pick[3];
    int64_t step = pick.size() == 5 ? pick[4] : 0;
    bool overlap = count > 1 && stride != 0 && stride < size;
    if (first < 0 || size < 1 || count < 1 || overlap || step < 0)
      return op.emitOpError("parameter_c8: expected a first row, one or more "
                            "blocks of rows that do not overlap, and a step "
                            "of at least 0, found ")
             << pick;
  }
  return success();
}

static LogicalResult verifyColumns(ParameterOp op) {
  std::optional<ArrayRef<int64_t>> columns = op.getColumns();
  if (!columns)
    return success();
  int64_t rank = op.getLayerType().getRank() - (op.getPanel() ? 1 : 0);
  if (columns->size() != 3 || rank != 2 || op.getTransposed())
    return op.emitOpError("parameter_c9: expected three numbers for the "
                          "columns of matrices that are not transposed, found ")
           << op.getColumnsAttr() << " and " << op.getTensorType();
  if ((*columns)[0] < 0 || (*columns)[1] < 1 || (*columns)[2] < 0)
    return op.emitOpError("parameter_c10: expected a first column, one or more "
                          "columns, and a step of at least 0, found ")
           << op.getColumnsAttr();
  return success();
}

static LogicalResult verifyGrid(ParameterOp parameter) {
  std::optional<ArrayRef<int64_t>> grid = parameter.getGrid();
  if (!grid) {
    if (parameter.getAntialias())
      return parameter.emitOpError(
          "parameter_c14: expected 'antialias' beside 'grid'");
    return success();
  }
  RankedTensorType type = parameter.getTensorType();
  if (type.getRank() != 2 || parameter.getTensors().size() != 1 ||
      parameter.getLayers() || parameter.getTransposed() ||
      parameter.getPanel() || parameter.getPicks() || parameter.getColumns())
    return parameter.emitOpError("parameter_c12: expected a grid of one stored "
                                 "matrix, as it is stored, found ")
           << type;
  constexpr int64_t limit = int64_t(1) << 31;
  bool areSizes = grid->size() == 6;
  for (auto [index, number] : llvm::enumerate(*grid))
    areSizes &= number >= (index < 2 ? 0 : 1) && number < limit;
  if (!areSizes)
    return parameter.emitOpError("parameter_c13: expected a grid of six "
                                 "numbers kept, zeros, h, w, H, W, found ")
           << parameter.getGridAttr();
  int64_t rows = (*grid)[0] + (*grid)[1] + (*grid)[4] * (*grid)[5];
  if (type.getDimSize(0) != rows)
    return parameter.emitOpError("parameter_c13: expected ")
           << rows << " rows of the grid, found " << type;
  return success();
}

LogicalResult ParameterOp::verify() {
  RankedTensorType type = getTensorType();
  if (type.getRank() == 0 || llvm::is_contained(type.getShape(), 0))
    return emitOpError(
               "parameter_c1: expected dimensions of at least 1, found ")
           << type;
  if (getTensors().empty())
    return emitOpError("parameter_c2: expected at least one stored tensor");
  if (getMembers() && (!getLayers() || *getLayers() % getMemberCount() != 0)) {
    InFlightDiagnostic diagnostic =
        emitOpError("parameter_c11: expected ")
        << *getMembers() << " members to divide the number of layers, found ";
    if (getLayers())
      return diagnostic << *getLayers();
    return diagnostic << "no layers";
  }
  if (getLayers()) {
    if (type.getRank() < 2 || type.getDimSize(0) != getLayerCount())
      return emitOpError("parameter_c3: expected a leading dimension of ")
             << *getLayers() << " layers, found " << type;
    int64_t stored = *getLayers() / getMemberCount();
    if (getTensors().size() % stored != 0)
      return emitOpError("parameter_c4: expected the same number of stored "
                         "tensors for each of ")
             << stored << (getMembers() ? " stacks of layers" : " layers")
             << ", found " << getTensors().size() << " in all";
  }
  if (getPanel()) {
    RankedTensorType layer = getLayerType();
    if (layer.getRank() != 3 ||
        layer.getShape().back() != static_cast<int64_t>(*getPanel()))
      return emitOpError("parameter_c5: expected panels x in x ")
             << *getPanel() << " columns, found " << layer;
  }
  if (getTransposed() && getLayerType().getRank() < 2)
    return emitOpError(
               "parameter_c6: expected matrices to be transposed, found ")
           << getLayerType();
  if (getStoredElementType().getIntOrFloatBitWidth() < 32 &&
      getLayerType().getRank() < 2)
    return emitOpError("parameter_c15: expected layers of two dimensions or "
                       "more to be stored in 16 bits, found ")
           << getLayerType();
  if (getStorage() && !type.getElementType().isF32())
    return emitOpError("parameter_c16: expected elements of f32 beside "
                       "'storage', found ")
           << type;
  return success(succeeded(verifyPicks(*this)) &&
                 succeeded(verifyColumns(*this)) &&
                 succeeded(verifyGrid(*this)));
}

LogicalResult LoadOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto parameter =
      symbols.lookupNearestSymbolFrom<ParameterOp>(*this, getParameterAttr());
  if (!parameter)
    return emitOpError("load_c1: no parameter of the name ")
           << getParameterAttr();
  if (getLayer() && !parameter.getLayers()) {
    InFlightDiagnostic diagnostic =
        emitOpError("load_c2: a layer is chosen of a parameter without layers");
    diagnostic.attachNote(parameter.getLoc()) << "declared here";
    return diagnostic;
  }
  RankedTensorType expected =
      getLayer() ? parameter.getLayerType() : parameter.getTensorType();
  auto found = cast<ShapedType>(getResult().getType());
  if (found.getShape() != expected.getShape() ||
      found.getElementType() != expected.getElementType()) {
    InFlightDiagnostic diagnostic = emitOpError("load_c3: expected ")
                                    << expected << ", found " << found;
    diagnostic.attachNote(parameter.getLoc()) << "declared here";
    return diagnostic;
  }
  return success();
}

void LoadOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), getParameter());
}
