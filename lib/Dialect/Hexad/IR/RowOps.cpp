//===- RowOps.cpp - Rectangles, rows and blocks of rows -------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace hexad;

void SegmentsOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getSegments(), "segments");
}

void PositionsOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getPositions(), "positions");
}

LogicalResult UnpackRowsOp::verify() {
  auto rows = cast<RankedTensorType>(getRows().getType());
  auto rectangle = cast<RankedTensorType>(getRectangle().getType());
  if (rectangle.getRank() != rows.getRank() + 1 ||
      rows.getShape().back() != rectangle.getShape().back())
    return emitOpError("unpack_rows_c1: expected a ")
           << (rows.getRank() == 3 ? "stack of rectangles" : "rectangle")
           << " of rows of " << rows.getShape().back() << " columns, found "
           << rectangle;
  if (rows.getRank() == 3 && rows.getDimSize(0) != rectangle.getDimSize(0))
    return emitOpError("unpack_rows_c2: expected a stack of ")
           << rows.getDimSize(0) << " rectangles, found " << rectangle;
  return success();
}

LogicalResult PoolOp::verify() {
  auto rows = cast<RankedTensorType>(getRows().getType());
  auto pooled = cast<RankedTensorType>(getPooled().getType());
  if (rows.getDimSize(1) != pooled.getDimSize(1))
    return emitOpError("pool_c1: expected rows of ")
           << rows.getDimSize(1) << " columns, found " << pooled;
  int64_t skip = getSkip();
  int64_t most = getKind() == Pooling::First ? 0 : INT32_MAX;
  if (skip < 0 || skip > most)
    return emitOpError("pool_c2: expected to skip from 0 to ")
           << most << " rows, found " << skip;
  return success();
}

LogicalResult SelectRowsOp::verify() {
  auto rows = cast<RankedTensorType>(getRows().getType());
  auto selected = cast<RankedTensorType>(getSelected().getType());
  if (rows.getDimSize(1) != selected.getDimSize(1))
    return emitOpError("select_rows_c1: expected rows of ")
           << rows.getDimSize(1) << " columns, found " << selected;
  return success();
}

void RowsOp::print(OpAsmPrinter &printer) {
  printer << " (";
  llvm::interleaveComma(llvm::zip(getBody().getArguments(), getInputs()),
                        printer, [&](auto pair) {
                          auto [argument, input] = pair;
                          printer.printRegionArgument(argument, {}, true);
                          printer << " = " << input << " : " << input.getType();
                        });
  printer << ')';
  printer.printArrowTypeList(getResultTypes());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

ParseResult RowsOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> inputs;
  SmallVector<Type> types;
  auto parseInput = [&]() -> ParseResult {
    OpAsmParser::Argument &argument = arguments.emplace_back();
    if (parser.parseArgument(argument) || parser.parseEqual() ||
        parser.parseOperand(inputs.emplace_back()) ||
        parser.parseColonType(argument.type))
      return failure();
    types.push_back(argument.type);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseInput))
    return failure();
  SMLoc operandsLoc = parser.getCurrentLocation();
  if (parser.parseArrowTypeList(result.types) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*result.addRegion(), arguments) ||
      parser.resolveOperands(inputs, types, operandsLoc, result.operands))
    return failure();
  ensureTerminator(*result.regions.front(), parser.getBuilder(),
                   result.location);
  return success();
}

LogicalResult RowsOp::verify() {
  Block &block = getBody().front();
  if (block.getArgumentTypes() != getInputs().getTypes())
    return emitOpError(
        "rows_c1: expected a block argument of the type of each operand");
  auto yield = cast<YieldOp>(block.getTerminator());
  if (yield.getResults().getTypes() != getResultTypes())
    return emitOpError("rows_c2: expected to yield the op's result types");
  bool slicesRows = static_cast<bool>(getFirstRows());
  for (Type type : getResultTypes())
    if (cast<RankedTensorType>(type).isDynamicDim(0) != slicesRows)
      return emitOpError("rows_c3: expected results with a dynamic number of "
                         "rows exactly if an operand has one, found ")
             << type;
  return success();
}

Value RowsOp::getFirstRows() {
  for (Value input : getInputs())
    if (isRows(input))
      return input;
  return {};
}

LogicalResult RowsOp::reifyResultShapes(OpBuilder &builder,
                                        ReifiedRankedShapedTypeDims &shapes) {
  Value rows = getFirstRows();
  for (Type result : getResultTypes()) {
    auto type = cast<RankedTensorType>(result);
    OpFoldResult count =
        rows ? tensor::getMixedSize(builder, getLoc(), rows, 0)
             : OpFoldResult(builder.getIndexAttr(type.getDimSize(0)));
    shapes.push_back({count, builder.getIndexAttr(type.getDimSize(1))});
  }
  return success();
}

namespace {
/// Drops operands of a block that nothing uses or that it has twice, and
/// results that nobody uses or that are operands: they would be sliced and
/// stored for nothing.
struct SimplifyRowsOp : public OpRewritePattern<RowsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(RowsOp op,
                                PatternRewriter &rewriter) const override {
    Block &block = op.getBody().front();
    auto yield = cast<YieldOp>(block.getTerminator());

    // Results that stay are used and computed in the block.
    SmallVector<Value> yielded, replaced;
    for (auto [result, value] :
         llvm::zip_equal(op.getResults(), yield.getResults()))
      if (!result.use_empty() && !isa<BlockArgument>(value)) {
        yielded.push_back(value);
        replaced.push_back(result);
      }

    // Operands that stay have a user, the yield aside; the first of equal ones
    // stands for all.
    llvm::MapVector<Value, SmallVector<BlockArgument>> arguments;
    for (auto [input, argument] :
         llvm::zip_equal(op.getInputs(), block.getArguments()))
      arguments[input].push_back(argument);
    SmallVector<Value> inputs;
    llvm::BitVector dropped(block.getNumArguments(), true);
    for (auto &[input, equal] : arguments) {
      bool used = llvm::any_of(equal, [&](BlockArgument argument) {
        return llvm::any_of(argument.getUsers(),
                            [&](Operation *user) { return user != yield; });
      });
      if (used) {
        inputs.push_back(input);
        dropped.reset(equal.front().getArgNumber());
      }
    }
    if (dropped.none() && yielded.size() == op.getNumResults())
      return failure();

    for (auto [result, value] :
         llvm::zip_equal(op.getResults(), yield.getResults()))
      if (auto argument = dyn_cast<BlockArgument>(value))
        rewriter.replaceAllUsesWith(result,
                                    op.getInputs()[argument.getArgNumber()]);
    for (auto &[input, equal] : arguments)
      for (BlockArgument argument : ArrayRef(equal).drop_front())
        rewriter.replaceAllUsesWith(argument, equal.front());
    rewriter.modifyOpInPlace(
        yield, [&] { yield.getResultsMutable().assign(yielded); });
    auto simplified = RowsOp::create(rewriter, op.getLoc(),
                                     ValueRange(yielded).getTypes(), inputs);
    simplified->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.inlineRegionBefore(op.getBody(), simplified.getBody(),
                                simplified.getBody().end());
    rewriter.modifyOpInPlace(simplified,
                             [&] { block.eraseArguments(dropped); });
    for (auto [result, replacement] :
         llvm::zip_equal(replaced, simplified.getResults()))
      rewriter.replaceAllUsesWith(result, replacement);
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void RowsOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {
  patterns.add<SimplifyRowsOp>(context);
}
