//===- Blocks.cpp - Blocks of rows, tiled once ----------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tiler.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/TilingInterface.h"

using namespace mlir;
using namespace hexad;

/// The rows that a layer loop carries can be overwritten by the block whose
/// result the loop yields, if nothing looks at them after that block. The block
/// itself may: a row is read before it is written.
Value Tiler::findDestination(RowsOp op, unsigned result) {
  auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
  if (!loop)
    return {};
  Value value = op.getResult(result);
  Operation *yield = loop.getBody()->getTerminator();
  for (auto [operand, argument] :
       llvm::zip(yield->getOperands(), loop.getRegionIterArgs())) {
    if (operand != value || argument.getType() != value.getType())
      continue;
    bool free = llvm::all_of(argument.getUsers(), [&](Operation *user) {
      Operation *ancestor = loop.getBody()->findAncestorOpInBlock(*user);
      return ancestor == op || ancestor->isBeforeInBlock(op);
    });
    if (free)
      return argument;
  }
  return {};
}

/// Rows of a block, for a thread that has `rows` rows: as few blocks as
/// possible, as equal as possible. Each reads all weights; a small one would
/// wait for them.
Value Tiler::getBlockRows(Value rows) {
  // At least one strip: a loop's step cannot be 0.
  Value strips = builder.createOrFold<arith::MaxUIOp>(
      ceilDiv(rows, options.tileRows), index(1));
  Value blocks = ceilDiv(strips, options.blockRows / options.tileRows);
  Value blockStrips = div(add(strips, sub(blocks, index(1))), blocks);
  return mul(blockStrips, index(options.tileRows));
}

LogicalResult Tiler::convertRows(RowsOp op) {
  Block &body = op.getBody().front();
  std::optional<RowDomain> domain;
  for (Value input : op.getInputs()) {
    if (!RowsOp::isRows(input))
      continue;
    if (domain && *domain != getRowDomain(input))
      return op.emitOpError(
          "mixes rows of tokens, of segments and selected rows");
    domain = getRowDomain(input);
  }
  if (!domain)
    return op.emitOpError("expected an operand that is rows");

  // The whole ops, as something to tile; they are dead when that is done.
  IRMapping local;
  for (auto [argument, input] : llvm::zip(body.getArguments(), op.getInputs()))
    local.map(argument, mapped(input));
  SmallVector<Operation *> wholes;
  for (Operation &inner : body.without_terminator()) {
    if (!isa<TilingInterface>(inner))
      return inner.emitOpError("cannot be tiled over rows");
    wholes.push_back(builder.clone(inner, local));
  }

  SmallVector<Value> yields, destinations;
  for (auto [index, value] :
       llvm::enumerate(body.getTerminator()->getOperands())) {
    Value argument = findDestination(op, index);
    if (argument)
      inPlace[op.getResult(index)] = argument;
    destinations.push_back(
        argument
            ? mapped(argument)
            : emptyRows(getRowCount(*domain),
                        cast<RankedTensorType>(value.getType()).getDimSize(1)));
    yields.push_back(local.lookup(value));
  }

  auto tileBlock = [&](Range range, ValueRange parts) -> SmallVector<Value> {
    Value blockRows = getBlockRows(range.size);
    auto loop =
        scf::ForOp::create(builder, index(0), range.size, blockRows, parts);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value start = loop.getInductionVar();
    Value size = min(sub(range.size, start), blockRows);
    Value offset = add(range.offset, start);

    DenseMap<Value, Value> tiles;
    for (auto [destination, part] :
         llvm::zip(destinations, loop.getRegionIterArgs()))
      if (!destination.getDefiningOp<tensor::EmptyOp>())
        tiles[destination] = sliceRows(part, start, size);
    for (Operation *whole : wholes) {
      FailureOr<TilingResult> tiled =
          cast<TilingInterface>(whole).getTiledImplementation(builder, {offset},
                                                              {size});
      assert(succeeded(tiled) && "row-local ops can always be tiled");
      for (Operation *tile : tiled->tiledOps)
        for (OpOperand &operand : tile->getOpOperands()) {
          auto slice = operand.get().getDefiningOp<tensor::ExtractSliceOp>();
          auto produced = slice ? tiles.find(slice.getSource()) : tiles.end();
          if (produced == tiles.end())
            continue;
          operand.set(produced->second);
          if (slice->use_empty())
            slice.erase();
        }
      tiles[whole->getResult(0)] = tiled->tiledValues.front();
    }
    SmallVector<Value> results;
    for (auto [yield, part] : llvm::zip(yields, loop.getRegionIterArgs()))
      results.push_back(insertRows(tiles.lookup(yield), part, start, size));
    scf::YieldOp::create(builder, results);
    return loop.getResults();
  };
  SmallVector<Value> results = splitRows(*domain, destinations, tileBlock);
  for (Operation *whole : llvm::reverse(wholes)) {
    // Taking a slice asked for sizes that nothing needed.
    for (Operation *user : llvm::make_early_inc_range(whole->getUsers()))
      if (isa<tensor::DimOp>(user) && user->use_empty())
        user->erase();
    whole->erase();
  }
  mapping.map(op.getResults(), results);
  return success();
}
