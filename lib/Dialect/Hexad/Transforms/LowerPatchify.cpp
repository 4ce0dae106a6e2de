//===- LowerPatchify.cpp - Patchify as patches and a linear op ------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "hexad/Dialect/Hexad/Transforms/Passes.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace hexad;

namespace hexad {
#define GEN_PASS_DEF_LOWERPATCHIFYPASS
#include "hexad/Dialect/Hexad/Transforms/Passes.h.inc"
} // namespace hexad

namespace {
struct LowerPatchifyPass
    : hexad::impl::LowerPatchifyPassBase<LowerPatchifyPass> {
  using LowerPatchifyPassBase::LowerPatchifyPassBase;

  void runOnOperation() override {
    SmallVector<PatchifyOp> ops;
    getOperation().walk([&](PatchifyOp op) { ops.push_back(op); });
    SymbolTable symbols(getOperation());
    for (PatchifyOp op : ops)
      if (failed(lower(op, symbols)))
        return signalPassFailure();
    eraseUnused(symbols);
  }

private:
  LogicalResult lower(PatchifyOp op, SymbolTable &symbols) {
    auto load = op.getWeight().getDefiningOp<LoadOp>();
    if (!load)
      return op.emitOpError("expected a weight from hexad.load, found ")
             << op.getWeight().getType() << " from elsewhere";
    OpBuilder builder(op);
    Location loc = op.getLoc();
    auto indices =
        RankedTensorType::get({ShapedType::kDynamic}, builder.getI32Type());
    Value elements =
        ElementsOp::create(builder, loc, indices, op.getSegments());
    ArrayRef<int64_t> filters = op.getWeight().getType().getShape();
    int64_t pixels = filters[1] * filters[2] * filters[3];
    Value patches = PatchesOp::create(
        builder, loc,
        RankedTensorType::get({ShapedType::kDynamic, pixels},
                              builder.getF32Type()),
        elements, op.getImage(),
        builder.getDenseI64ArrayAttr({filters[2], filters[3]}),
        op.getPrefixAttr());
    Value matrix = LoadOp::create(
        builder, load.getLoc(),
        RankedTensorType::get({filters[0], pixels}, builder.getF32Type()),
        getMatrix(load, pixels, symbols), load.getLayer());
    auto linear = LinearOp::create(builder, loc, op.getResult().getType(),
                                   patches, matrix, op.getBias());
    op.replaceAllUsesWith(linear.getResult());
    op.erase();
    if (load->use_empty()) {
      replaced.insert(symbols.lookup(load.getParameter()));
      load.erase();
    }
    return success();
  }

  /// The name of the parameter whose rows are the filters.
  StringRef getMatrix(LoadOp load, int64_t pixels, SymbolTable &symbols) {
    auto parameter = symbols.lookup<ParameterOp>(load.getParameter());
    ParameterOp &matrix = matrices[parameter];
    if (!matrix) {
      OpBuilder builder(parameter);
      matrix = cast<ParameterOp>(builder.clone(*parameter));
      SmallVector<int64_t> shape(
          parameter.getTensorType().getShape().drop_back(3));
      shape.push_back(pixels);
      matrix.setType(RankedTensorType::get(shape, builder.getF32Type()));
      matrix.setSymName((parameter.getSymName() + ".matrix").str());
      symbols.insert(matrix);
    }
    return matrix.getSymName();
  }

  /// Filters that nothing reads as such any more.
  void eraseUnused(SymbolTable &symbols) {
    for (Operation *parameter : replaced)
      if (SymbolTable::symbolKnownUseEmpty(parameter, getOperation()))
        symbols.erase(parameter);
    replaced.clear();
    matrices.clear();
  }

  llvm::SetVector<Operation *> replaced;
  DenseMap<Operation *, ParameterOp> matrices;
};
} // namespace
