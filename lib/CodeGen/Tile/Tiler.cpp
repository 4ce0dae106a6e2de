//===- Tiler.cpp - The tiled function, and what needs no tiling -----------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tiler.h"
#include "hexad/Dialect/Kernel/IR/KernelDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace hexad;

Tiler::Tiler(func::FuncOp source, const TilePassOptions &options)
    : source(source), options(options), builder(source.getLoc(), source) {}

//===----------------------------------------------------------------------===//
// Index arithmetic and slices
//===----------------------------------------------------------------------===//

Value Tiler::index(int64_t value) {
  return arith::ConstantIndexOp::create(builder, value);
}
Value Tiler::add(Value lhs, Value rhs) {
  return builder.createOrFold<arith::AddIOp>(lhs, rhs);
}
Value Tiler::sub(Value lhs, Value rhs) {
  return builder.createOrFold<arith::SubIOp>(lhs, rhs);
}
Value Tiler::mul(Value lhs, Value rhs) {
  return builder.createOrFold<arith::MulIOp>(lhs, rhs);
}
Value Tiler::div(Value lhs, Value rhs) {
  return builder.createOrFold<arith::DivUIOp>(lhs, rhs);
}
Value Tiler::ceilDiv(Value lhs, int64_t rhs) {
  return div(add(lhs, index(rhs - 1)), index(rhs));
}
Value Tiler::min(Value lhs, Value rhs) {
  return builder.createOrFold<arith::MinUIOp>(lhs, rhs);
}

Value Tiler::entry(Value table, Value position) {
  Value element = tensor::ExtractOp::create(builder, table, position);
  return arith::IndexCastOp::create(builder, builder.getIndexType(), element);
}

Value Tiler::sliceRows(Value source, Value offset, Value size) {
  auto type = cast<RankedTensorType>(source.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, builder.getLoc(), source);
  SmallVector<OpFoldResult> strides(type.getRank(), builder.getIndexAttr(1));
  offsets[0] = getAsOpFoldResult(offset);
  sizes[0] = getAsOpFoldResult(size);
  return tensor::ExtractSliceOp::create(builder, source, offsets, sizes,
                                        strides);
}

Value Tiler::insertRows(Value part, Value destination, Value offset,
                        Value size) {
  auto type = cast<RankedTensorType>(destination.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, builder.getLoc(), destination);
  SmallVector<OpFoldResult> strides(type.getRank(), builder.getIndexAttr(1));
  offsets[0] = getAsOpFoldResult(offset);
  sizes[0] = getAsOpFoldResult(size);
  return tensor::InsertSliceOp::create(builder, part, destination, offsets,
                                       sizes, strides);
}

Value Tiler::emptyRows(Value rows, int64_t columns) {
  auto empty = tensor::EmptyOp::create(
      builder, SmallVector<OpFoldResult>{rows, builder.getIndexAttr(columns)},
      builder.getF32Type());
  empty->setAttr("hexad.activations", builder.getUnitAttr());
  return empty;
}

Tiler::Range Tiler::getShare(Value total, Value thread) {
  Value threads = extent(HEXAD_EXTENT_THREADS);
  Value first = div(mul(total, thread), threads);
  Value last = div(mul(total, add(thread, index(1))), threads);
  return {first, sub(last, first)};
}

/// Threads share rows in units of so many: few, so that each gets nearly as
/// many rows as the others; but a matmul's strip of fewer waits for the latency
/// of FMA.
static constexpr int64_t sharedRows = 4;

Tiler::Range Tiler::getShareOfRows(RowDomain domain, Value thread) {
  Value rows = getRealRowCount(domain);
  Range units = getShare(ceilDiv(rows, sharedRows), thread);
  Value unit = index(sharedRows);
  Value first = mul(units.offset, unit);
  Value last = mul(add(units.offset, units.size), unit);
  return {first, sub(min(last, rows), first)};
}

SmallVector<Value> Tiler::splitRows(RowDomain domain, ValueRange destinations,
                                    SplitBody body) {
  auto results =
      split([&](Value thread) { return getShareOfRows(domain, thread); },
            destinations, body);
  // The next loop with the same split needs no barrier (hexad-plan-memory).
  results.front().getDefiningOp()->setAttr("hexad.split", getSplitName(domain));
  return results;
}

SmallVector<Value> Tiler::splitRows(Value total, ValueRange destinations,
                                    SplitBody body) {
  return split([&](Value thread) { return getShare(total, thread); },
               destinations, body);
}

SmallVector<Value> Tiler::split(function_ref<Range(Value)> getRange,
                                ValueRange destinations, SplitBody body) {
  auto forall = scf::ForallOp::create(
      builder, SmallVector<OpFoldResult>{extent(HEXAD_EXTENT_THREADS)},
      destinations, /*mapping=*/std::nullopt);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(forall.getTerminator());
  Range range = getRange(forall.getInductionVar(0));

  SmallVector<Value> parts;
  for (Value destination : forall.getRegionIterArgs())
    parts.push_back(sliceRows(destination, range.offset, range.size));
  SmallVector<Value> results = body(range, parts);

  builder.setInsertionPointToStart(forall.getTerminator().getBody());
  for (auto [part, destination] :
       llvm::zip_equal(results, forall.getRegionIterArgs())) {
    auto type = cast<RankedTensorType>(destination.getType());
    SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0));
    SmallVector<OpFoldResult> sizes;
    for (int64_t size : type.getShape())
      sizes.push_back(builder.getIndexAttr(size));
    SmallVector<OpFoldResult> strides(type.getRank(), builder.getIndexAttr(1));
    offsets[0] = range.offset;
    sizes[0] = range.size;
    tensor::ParallelInsertSliceOp::create(builder, part, destination, offsets,
                                          sizes, strides);
  }
  return SmallVector<Value>(forall.getResults());
}

//===----------------------------------------------------------------------===//
// Domains
//===----------------------------------------------------------------------===//

namespace {
/// What the ABI knows of a domain.
struct DomainFacts {
  hexad_extent rows, realRows;
  StringLiteral name;
};
} // namespace

static const DomainFacts &getFacts(RowDomain domain) {
  // In the order of the enum.
  static constexpr DomainFacts facts[] = {
      {HEXAD_EXTENT_ROWS, HEXAD_EXTENT_TOKENS, "tokens"},
      {HEXAD_EXTENT_SEGMENT_ROWS, HEXAD_EXTENT_SEGMENTS, "segments"},
      {HEXAD_EXTENT_SELECTED_ROWS, HEXAD_EXTENT_SELECTED, "selected"}};
  return facts[static_cast<size_t>(domain)];
}

Value Tiler::getRowCount(RowDomain domain) {
  return extent(getFacts(domain).rows);
}
Value Tiler::getRealRowCount(RowDomain domain) {
  return extent(getFacts(domain).realRows);
}
StringAttr Tiler::getSplitName(RowDomain domain) {
  return builder.getStringAttr(getFacts(domain).name);
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

LogicalResult Tiler::createFunction() {
  MLIRContext *context = source.getContext();
  SmallVector<Type> types(HEXAD_EXTENT_COUNT, builder.getIndexType());
  auto indices =
      RankedTensorType::get({ShapedType::kDynamic}, builder.getI32Type());
  int64_t tableCount = HEXAD_POINTER_COUNT - HEXAD_POINTER_ROW_ELEMENT;
  types.append(tableCount, indices);
  for (Type type : source.getArgumentTypes())
    types.push_back(cast<ShapedType>(type).getElementType().isF32()
                        ? type // images
                        : indices);
  for (Type type : source.getResultTypes()) {
    auto rectangle = dyn_cast<RankedTensorType>(type);
    if (rectangle && rectangle.getRank() == 0)
      rectangle = RankedTensorType::get({1}, builder.getF32Type());
    if (rectangle && rectangle.getRank() == 5) {
      types.push_back(
          MemRefType::get({ShapedType::kDynamic}, builder.getF32Type()));
      continue;
    }
    if (!rectangle || ShapedType::isDynamic(rectangle.getShape().back()))
      return source.emitError("expected results to be tensors with a static "
                              "last dimension, found ")
             << type;
    types.push_back(
        MemRefType::get({ShapedType::kDynamic, rectangle.getShape().back()},
                        builder.getF32Type()));
  }
  target = func::FuncOp::create(builder, source.getName(),
                                FunctionType::get(context, types, {}));
  Block *entry = target.addEntryBlock();
  for (int i = 0; i < HEXAD_EXTENT_COUNT; ++i)
    target.setArgAttr(i, "hexad.extent", builder.getI64IntegerAttr(i));
  for (int i = HEXAD_EXTENT_COUNT, e = target.getNumArguments(); i < e; ++i)
    target.setArgAttr(i, "hexad.pointer",
                      builder.getI64IntegerAttr(HEXAD_POINTER_ROW_ELEMENT + i -
                                                HEXAD_EXTENT_COUNT));

  auto arguments = entry->getArguments();
  extents.assign(arguments.begin(), arguments.begin() + HEXAD_EXTENT_COUNT);
  tables.assign(arguments.begin() + HEXAD_EXTENT_COUNT,
                arguments.begin() + HEXAD_EXTENT_COUNT + tableCount);
  for (auto [index, argument] : llvm::enumerate(source.getArguments()))
    mapping.map(argument, arguments[HEXAD_EXTENT_COUNT + tableCount + index]);
  outputs.assign(arguments.end() - source.getNumResults(), arguments.end());
  builder.setInsertionPointToStart(entry);
  return success();
}

LogicalResult Tiler::run() {
  if (source.isExternal() || !source.getBody().hasOneBlock())
    return source.emitError("expected a function with one block");
  if (failed(createFunction()))
    return failure();
  Operation *terminator = source.getBody().front().getTerminator();
  for (auto [value, output] :
       llvm::zip_equal(terminator->getOperands(), outputs)) {
    if (value.getDefiningOp<UnpackRowsOp>())
      outputsOf[value].push_back(output);
    if (isMaps(value) && failed(traceMaps(value, output))) {
      target.erase();
      return failure();
    }
  }
  if (failed(convertBlock(source.getBody().front()))) {
    target.erase();
    return failure();
  }
  target.setVisibility(source.getVisibility());
  source.erase();
  return success();
}

LogicalResult Tiler::convertBlock(Block &block) {
  for (Operation &op : block) {
    if (&op == block.getTerminator() && !isa<func::ReturnOp>(op))
      break;
    // Nobody looks at the result, or there is none (hexad.rows).
    if (isOpTriviallyDead(&op))
      continue;
    builder.setLoc(op.getLoc());
    if (failed(convertOp(&op)))
      return failure();
  }
  return success();
}

LogicalResult Tiler::convertOp(Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<SegmentsOp, ImageSegmentsOp, EmptyMapsOp>(
          [](auto) { return success(); })
      .Case<ElementsOp>([&](ElementsOp elements) {
        mapping.map(elements.getElements(), table(HEXAD_POINTER_ROW_ELEMENT));
        return success();
      })
      .Case<PositionsOp>([&](PositionsOp positions) {
        mapping.map(positions.getPositions(), table(HEXAD_POINTER_POSITIONS));
        return success();
      })
      .Case<LabelsOp>([&](LabelsOp labels) {
        static_assert(LabelsOp::ignored == HEXAD_NO_LABEL);
        mapping.map(labels.getRows(), table(HEXAD_POINTER_LABELS));
        return success();
      })
      .Case<PackRowsOp>([&](PackRowsOp pack) {
        convertPackRows(pack);
        return success();
      })
      .Case<PoolOp>([&](PoolOp pool) {
        convertPool(pool);
        return success();
      })
      .Case<SelectRowsOp>([&](SelectRowsOp select) {
        convertSelectRows(select);
        return success();
      })
      .Case<UnpackRowsOp>([&](UnpackRowsOp unpack) -> LogicalResult {
        auto found = outputsOf.find(unpack.getRectangle());
        if (found == outputsOf.end() ||
            !llvm::all_of(unpack->getUsers(), llvm::IsaPred<func::ReturnOp>))
          return unpack.emitOpError(
              "expected the rectangle to be a result of the function and "
              "nothing else");
        for (Value output : found->second)
          convertUnpackRows(unpack, output);
        return success();
      })
      .Case<MeanLossOp>([&](MeanLossOp mean) -> LogicalResult {
        if (!llvm::all_of(mean->getUsers(), llvm::IsaPred<func::ReturnOp>))
          return mean.emitOpError("expected the loss to be a result of the "
                                  "function and nothing else");
        return success(); // see convertReturn
      })
      .Case<RowsOp>([&](RowsOp rows) { return convertRows(rows); })
      .Case<AttentionOp>([&](AttentionOp attention) {
        convertAttention(attention);
        return success();
      })
      .Case<ExpertsOp>([&](ExpertsOp experts) {
        convertExperts(experts);
        return success();
      })
      .Case<AttentionMapOp>([&](AttentionMapOp map) {
        convertAttentionMap(map);
        return success();
      })
      .Case<scf::ForOp>([&](scf::ForOp loop) { return convertLoop(loop); })
      .Case<func::ReturnOp>([&](auto) { return convertReturn(op); })
      .Case<tensor::DimOp>([&](tensor::DimOp dim) -> LogicalResult {
        auto type = dyn_cast<RankedTensorType>(dim.getSource().getType());
        if (!type || type.getRank() > 2 || dim.getConstantIndex() != 0)
          return dim.emitOpError("expected the number of rows of rows");
        mapping.map(dim.getResult(),
                    getRowCount(getRowDomain(dim.getSource())));
        return success();
      })
      .Case<tensor::EmptyOp>([&](tensor::EmptyOp) {
        Operation *clone = builder.clone(*op, mapping);
        clone->setAttr("hexad.activations", builder.getUnitAttr());
        return success();
      })
      .Case<tensor::InsertSliceOp>(
          [&](tensor::InsertSliceOp insert) -> LogicalResult {
            if (insert.getDestType().getRank() != 3 ||
                insert.getSourceType().getRank() != 2)
              return insert.emitOpError("expected rows put into a stack");
            convertStackInsertion(insert);
            return success();
          })
      .Case<LoadOp, arith::ConstantOp, arith::AddIOp, arith::MulIOp>(
          [&](Operation *) {
            builder.clone(*op, mapping);
            return success();
          })
      .Default([](Operation *other) -> LogicalResult {
        return other->emitOpError(
            "is not expected here: row-local ops belong into hexad.rows blocks "
            "(hexad-form-rows)");
      });
}

LogicalResult Tiler::convertLoop(scf::ForOp loop) {
  SmallVector<Value> inits;
  for (Value init : loop.getInitArgs())
    if (!isMaps(init))
      inits.push_back(mapped(init));
  auto clone = scf::ForOp::create(builder, mapped(loop.getLowerBound()),
                                  mapped(loop.getUpperBound()),
                                  mapped(loop.getStep()), inits);
  mapping.map(loop.getInductionVar(), clone.getInductionVar());
  auto isCarried = [](Value value) { return !isMaps(value); };
  for (auto [argument, carried] : llvm::zip_equal(
           llvm::make_filter_range(loop.getRegionIterArgs(), isCarried),
           clone.getRegionIterArgs()))
    mapping.map(argument, carried);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(clone.getBody());
    if (failed(convertBlock(*loop.getBody())))
      return failure();
    builder.setLoc(loop.getBody()->getTerminator()->getLoc());
    SmallVector<Value> yields = convertYield(loop);
    // The builder gives a loop without iter_args its terminator.
    if (!inits.empty())
      scf::YieldOp::create(builder, yields);
  }
  for (auto [result, carried] :
       llvm::zip_equal(llvm::make_filter_range(loop.getResults(), isCarried),
                       clone.getResults()))
    mapping.map(Value(result), Value(carried));
  return success();
}

/// Whether the value is made where the argument of a loop lies.
bool Tiler::isInPlace(Value value, Value argument) {
  if (auto insert = value.getDefiningOp<tensor::InsertSliceOp>())
    return isInPlace(insert.getDest(), argument);
  return value == argument || inPlace.lookup(value) == argument;
}

Value Tiler::copyRows(Value rows, Value destination, RowDomain domain) {
  return splitRows(domain, destination, [&](Range range, ValueRange parts) {
    return SmallVector<Value>(
        kernel::CopyRowsOp::create(builder, parts[0].getType(),
                                   sliceRows(rows, range.offset, range.size),
                                   parts[0])
            ->getResults());
  })[0];
}

/// What the next iteration is to get must lie where this one got it. What is
/// made elsewhere is copied there, after all that may lie in one of these
/// places (because loops carry it) was saved from them.
SmallVector<Value> Tiler::convertYield(scf::ForOp loop) {
  SmallVector<Value> yields;
  for (auto [value, argument] :
       llvm::zip_equal(loop.getBody()->getTerminator()->getOperands(),
                       loop.getRegionIterArgs())) {
    if (isMaps(value))
      continue;
    yields.push_back(mapped(value));
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || type.getRank() != 2 || isInPlace(value, argument))
      continue;
    if (isa<BlockArgument>(value) || value.getDefiningOp<scf::ForOp>())
      yields.back() = copyRows(
          yields.back(),
          emptyRows(getRowCount(getRowDomain(value)), type.getDimSize(1)),
          getRowDomain(value));
  }
  Value *yield = yields.begin();
  for (auto [value, argument] :
       llvm::zip_equal(loop.getBody()->getTerminator()->getOperands(),
                       loop.getRegionIterArgs())) {
    if (isMaps(value))
      continue;
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (type && type.getRank() == 2 && !isInPlace(value, argument))
      *yield = copyRows(*yield, mapped(argument), getRowDomain(value));
    ++yield;
  }
  return yields;
}

LogicalResult Tiler::convertReturn(Operation *op) {
  for (auto [value, output] : llvm::zip(op->getOperands(), outputs)) {
    if (outputsOf.contains(value) || isMaps(value))
      continue;
    if (auto mean = value.getDefiningOp<MeanLossOp>()) {
      convertMeanLoss(mean, output);
      continue;
    }
    if (cast<RankedTensorType>(value.getType()).getRank() != 2 ||
        getRowDomain(value) != RowDomain::Segments)
      return op->emitOpError("expected results made by hexad.unpack_rows or "
                             "hexad.mean_loss, or rows of segments, found ")
             << value.getType();
    convertPooledOutput(mapped(value), output);
  }
  func::ReturnOp::create(builder);
  return success();
}

/// Rows become one layer of a stack. Threads copy the rows that are theirs.
void Tiler::convertStackInsertion(tensor::InsertSliceOp op) {
  Value stack = mapped(op.getDest());
  auto type = cast<RankedTensorType>(stack.getType());
  SmallVector<OpFoldResult> offsets(3, builder.getIndexAttr(0));
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, builder.getLoc(), stack);
  SmallVector<OpFoldResult> strides(3, builder.getIndexAttr(1));
  offsets[0] = op.getMixedOffsets()[0];
  if (auto layer = dyn_cast<Value>(offsets[0]))
    offsets[0] = mapped(layer);
  sizes[0] = builder.getIndexAttr(1);
  Value layerRows = tensor::ExtractSliceOp::create(
      builder,
      RankedTensorType::get(type.getShape().drop_front(),
                            type.getElementType()),
      stack, offsets, sizes, strides);
  Value copied =
      copyRows(mapped(op.getSource()), layerRows, getRowDomain(op.getSource()));
  mapping.map(op.getResult(),
              tensor::InsertSliceOp::create(builder, copied, stack, offsets,
                                            sizes, strides)
                  .getResult());
}

namespace hexad {
#define GEN_PASS_DEF_TILEPASS
#include "hexad/CodeGen/Passes.h.inc"
} // namespace hexad

namespace {
struct TilePass : hexad::impl::TilePassBase<TilePass> {
  using TilePassBase::TilePassBase;

  void runOnOperation() override {
    auto isMultiple = [](int64_t value, int64_t unit) {
      return unit > 0 && value > 0 && value % unit == 0;
    };
    if (!isMultiple(blockRows, tileRows) || !isMultiple(queryTile, tileRows) ||
        !isMultiple(tileColumns, kernel::lanes) ||
        !isMultiple(page, tileColumns)) {
      getOperation().emitError("hexad-tile: block-rows and query-tile must be "
                               "positive multiples of tile-rows, tile-columns "
                               "of 16 and page of tile-columns");
      return signalPassFailure();
    }
    TilePassOptions options{tileRows, tileColumns, blockRows, queryTile, page};
    for (auto function :
         llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (failed(Tiler(function, options).run()))
        return signalPassFailure();
  }
};
} // namespace
