//===- Attention.cpp - Attention over pages of keys and values ------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tiler.h"
#include "hexad/Dialect/Kernel/IR/KernelDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"
#include <numbers>

using namespace mlir;
using namespace hexad;

namespace {
/// Shapes that an attention's loops work on.
struct AttentionShape {
  int64_t headDim, kvHeads, group, keyColumns, valueColumns, valuePanels;

  AttentionShape(AttentionOp op, const TilePassOptions &options)
      : headDim(op.getHeadDim()), kvHeads(op.getKvHeads()),
        group(op.getHeads() / op.getKvHeads()),
        keyColumns(options.tileColumns) {
    // A head narrower than a panel gets a panel of its own width.
    valueColumns =
        std::min(options.tileColumns,
                 static_cast<int64_t>(llvm::alignTo(headDim, kernel::lanes)));
    valuePanels = llvm::divideCeil(headDim, valueColumns);
  }
};
} // namespace

static Value emptyTensor(ImplicitLocOpBuilder &builder, ArrayRef<int64_t> shape,
                         ValueRange dynamicSizes = {}) {
  return tensor::EmptyOp::create(builder, shape, builder.getF32Type(),
                                 dynamicSizes);
}

/// One matrix of a stack of cubes: `source[item, panel, 0:rows, :]`.
static Value slicePanel(ImplicitLocOpBuilder &builder, Value source, Value item,
                        Value panel, OpFoldResult rows) {
  auto type = cast<RankedTensorType>(source.getType());
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  std::optional<int64_t> staticRows = getConstantIntValue(rows);
  auto panelType = RankedTensorType::get(
      {staticRows.value_or(ShapedType::kDynamic), type.getDimSize(3)},
      builder.getF32Type());
  return tensor::ExtractSliceOp::create(
      builder, panelType, source,
      SmallVector<OpFoldResult>{item, panel, zero, zero},
      SmallVector<OpFoldResult>{one, one, rows,
                                builder.getIndexAttr(type.getDimSize(3))},
      SmallVector<OpFoldResult>(4, one));
}

/// `source[0:rows, column : column + columns]`.
static Value sliceColumns(ImplicitLocOpBuilder &builder, Value source,
                          Value rows, Value column, int64_t columns) {
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  return tensor::ExtractSliceOp::create(
      builder, source, SmallVector<OpFoldResult>{zero, column},
      SmallVector<OpFoldResult>{rows, builder.getIndexAttr(columns)},
      SmallVector<OpFoldResult>{one, one});
}

/// A loop over `count` panels of `columns` columns each of `destination`, of
/// which `body(panel, part)` makes the new contents.
static Value overPanels(ImplicitLocOpBuilder &builder, Value count, Value rows,
                        int64_t columns, Value destination,
                        function_ref<Value(Value panel, Value part)> body) {
  Value zero = arith::ConstantIndexOp::create(builder, 0);
  Value one = arith::ConstantIndexOp::create(builder, 1);
  auto loop = scf::ForOp::create(builder, zero, count, one, destination);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value panel = loop.getInductionVar();
  Value column = arith::MulIOp::create(
      builder, panel, arith::ConstantIndexOp::create(builder, columns));
  Value carried = loop.getRegionIterArg(0);
  Value result =
      body(panel, sliceColumns(builder, carried, rows, column, columns));
  OpFoldResult origin = builder.getIndexAttr(0), step = builder.getIndexAttr(1);
  Value inserted = tensor::InsertSliceOp::create(
      builder, result, carried, SmallVector<OpFoldResult>{origin, column},
      SmallVector<OpFoldResult>{rows, builder.getIndexAttr(columns)},
      SmallVector<OpFoldResult>{step, step});
  scf::YieldOp::create(builder, inserted);
  return loop.getResult(0);
}

void Tiler::convertAttention(AttentionOp op) {
  AttentionShape shape(op, options);
  Value query = mapped(op.getQuery());
  Value key = mapped(op.getKey());
  Value value = mapped(op.getValue());
  ArrayRef<int64_t> offsets = op.getOffsets();
  auto tile = kernel::TileAttr::get(builder.getContext(), options.tileRows,
                                    options.tileColumns);
  OpFoldResult zeroAttr = builder.getIndexAttr(0),
               oneAttr = builder.getIndexAttr(1);

  // Pages: item (page, kv head), keys transposed into panels, values in panels.
  Value items = mul(extent(HEXAD_EXTENT_PAGES), index(shape.kvHeads));
  Value keyPages =
      emptyTensor(builder,
                  {ShapedType::kDynamic, options.page / shape.keyColumns,
                   shape.headDim, shape.keyColumns},
                  items);
  Value valuePages = emptyTensor(builder,
                                 {ShapedType::kDynamic, shape.valuePanels,
                                  options.page, shape.valueColumns},
                                 items);
  auto pack = scf::ForallOp::create(
      builder,
      SmallVector<OpFoldResult>{extent(HEXAD_EXTENT_PAGES),
                                builder.getIndexAttr(shape.kvHeads)},
      ValueRange{keyPages, valuePages}, /*mapping=*/std::nullopt);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(pack.getTerminator());
    Value page = pack.getInductionVar(0), head = pack.getInductionVar(1);
    Value item = add(mul(page, index(shape.kvHeads)), head);
    Value bounds = table(HEXAD_POINTER_PAGE_BOUNDS);
    Value first = entry(bounds, mul(page, index(2)));
    Value last = entry(bounds, add(mul(page, index(2)), index(1)));
    Value keys = sub(last, first);
    Value headColumn = mul(head, index(shape.headDim));
    auto packInto = [&](Value pages, Value rows, int64_t offset,
                        auto createOp) {
      auto type = cast<RankedTensorType>(pages.getType());
      SmallVector<OpFoldResult> sliceOffsets(4, zeroAttr), strides(4, oneAttr);
      sliceOffsets[0] = item;
      SmallVector<OpFoldResult> sizes{oneAttr};
      for (int64_t size : type.getShape().drop_front())
        sizes.push_back(builder.getIndexAttr(size));
      auto pageType = RankedTensorType::get(type.getShape().drop_front(),
                                            builder.getF32Type());
      Value destination = tensor::ExtractSliceOp::create(
          builder, pageType, pages, sliceOffsets, sizes, strides);
      Value packed = createOp(pageType, sliceRows(rows, first, keys),
                              add(headColumn, index(offset)), destination);
      OpBuilder::InsertionGuard inner(builder);
      builder.setInsertionPointToEnd(pack.getTerminator().getBody());
      tensor::ParallelInsertSliceOp::create(builder, packed, pages,
                                            sliceOffsets, sizes, strides);
    };
    packInto(pack.getRegionIterArgs()[0], key, offsets[1],
             [&](Type type, Value rows, Value column, Value destination) {
               return kernel::PackKeysOp::create(builder, type, rows, column,
                                                 /*start=*/Value(), destination,
                                                 shape.headDim)
                   .getResult(0);
             });
    packInto(pack.getRegionIterArgs()[1], value, offsets[2],
             [&](Type type, Value rows, Value column, Value destination) {
               return kernel::PackValuesOp::create(builder, type, rows, column,
                                                   /*start=*/Value(),
                                                   destination, shape.headDim)
                   .getResult(0);
             });
  }
  keyPages = pack.getResult(0);
  valuePages = pack.getResult(1);

  // Query tiles.
  int64_t heads = op.getHeads();
  Value output = emptyRows(extent(HEXAD_EXTENT_ROWS), heads * shape.headDim);
  auto forall = scf::ForallOp::create(
      builder,
      SmallVector<OpFoldResult>{extent(HEXAD_EXTENT_QUERY_TILES),
                                builder.getIndexAttr(heads)},
      ValueRange{output}, /*mapping=*/std::nullopt);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(forall.getTerminator());
    Value queryTile = forall.getInductionVar(0);
    Value head = forall.getInductionVar(1);
    Value kvHead = div(head, index(shape.group));
    Value bounds = table(HEXAD_POINTER_TILE_BOUNDS);
    Value first = entry(bounds, mul(queryTile, index(2)));
    Value last = entry(bounds, add(mul(queryTile, index(2)), index(1)));
    Value rows = sub(last, first);
    Value paddedRows =
        mul(ceilDiv(rows, options.tileRows), index(options.tileRows));
    Value segment = entry(table(HEXAD_POINTER_TILE_SEGMENT), queryTile);
    Value segmentPages = table(HEXAD_POINTER_SEGMENT_PAGES);
    Value firstPage = entry(segmentPages, segment);
    Value lastPage = entry(segmentPages, add(segment, index(1)));
    Value column = mul(head, index(shape.headDim));

    // exp(x) is computed as exp2(x · log2 e): the factor goes into the queries.
    double scale = op.getScale().convertToDouble() * std::numbers::log2e;
    Value queries = emptyTensor(
        builder,
        {options.queryTile,
         static_cast<int64_t>(llvm::alignTo(shape.headDim, kernel::lanes))});
    queries = kernel::LoadQueriesOp::create(
                  builder, queries.getType(), sliceRows(query, first, rows),
                  add(column, index(offsets[0])), queries,
                  builder.getF64FloatAttr(scale),
                  builder.getI64IntegerAttr(shape.headDim))
                  .getResult(0);
    Value statistics =
        emptyTensor(builder, {kernel::StatisticCount,
                              static_cast<int64_t>(llvm::alignTo(
                                  options.queryTile, kernel::lanes))});
    Value accumulator = emptyTensor(
        builder, {options.queryTile, shape.valuePanels * shape.valueColumns});
    auto start = kernel::StartPagesOp::create(
        builder, TypeRange{statistics.getType(), accumulator.getType()},
        statistics, accumulator);
    Value scores = emptyTensor(builder, {options.queryTile, options.page});

    auto pages = scf::ForOp::create(
        builder, firstPage, lastPage, index(1),
        ValueRange{scores, start.getResult(0), start.getResult(1)});
    {
      OpBuilder::InsertionGuard inner(builder);
      builder.setInsertionPointToStart(pages.getBody());
      Value page = pages.getInductionVar();
      Value item = add(mul(page, index(shape.kvHeads)), kvHead);
      Value pageBounds = table(HEXAD_POINTER_PAGE_BOUNDS);
      Value keys = sub(entry(pageBounds, add(mul(page, index(2)), index(1))),
                       entry(pageBounds, mul(page, index(2))));
      Value queryRows = sliceRows(queries, index(0), paddedRows);
      Value pageScores = overPanels(
          builder, ceilDiv(keys, shape.keyColumns), paddedRows,
          shape.keyColumns, pages.getRegionIterArg(0),
          [&](Value panel, Value part) {
            Value keyPanel = slicePanel(builder, keyPages, item, panel,
                                        builder.getIndexAttr(shape.headDim));
            return kernel::MatmulOp::create(
                       builder, part.getType(), queryRows, keyPanel,
                       /*bias=*/Value(), /*residual=*/Value(),
                       /*fold=*/Value(), part, tile, ActivationAttr())
                .getResult(0);
          });
      auto softmax = kernel::SoftmaxPageOp::create(
          builder, TypeRange{scores.getType(), statistics.getType()}, rows,
          keys, /*position=*/Value(), pageScores, pages.getRegionIterArg(1),
          UnitAttr(), IntegerAttr(), FloatAttr());
      Value probabilities =
          sliceRows(softmax.getResult(0), index(0), paddedRows);
      Value folded = overPanels(
          builder, index(shape.valuePanels), paddedRows, shape.valueColumns,
          pages.getRegionIterArg(2), [&](Value panel, Value part) {
            Value valuePanel =
                slicePanel(builder, valuePages, item, panel, keys);
            return kernel::MatmulOp::create(
                       builder, part.getType(), probabilities, valuePanel,
                       /*bias=*/Value(), /*residual=*/Value(),
                       softmax.getResult(1), part, tile, ActivationAttr())
                .getResult(0);
          });
      scf::YieldOp::create(builder, ValueRange{softmax.getResult(0),
                                               softmax.getResult(1), folded});
    }

    SmallVector<OpFoldResult> outputOffsets{first, column};
    SmallVector<OpFoldResult> outputSizes{rows,
                                          builder.getIndexAttr(shape.headDim)};
    SmallVector<OpFoldResult> strides(2, oneAttr);
    Value destination =
        tensor::ExtractSliceOp::create(builder, forall.getRegionIterArgs()[0],
                                       outputOffsets, outputSizes, strides);
    auto finish = kernel::FinishPagesOp::create(
        builder, destination.getType(), pages.getResult(2), pages.getResult(1),
        index(0), destination, builder.getI64IntegerAttr(shape.headDim));
    builder.setInsertionPointToEnd(forall.getTerminator().getBody());
    tensor::ParallelInsertSliceOp::create(builder, finish.getResult(0),
                                          forall.getRegionIterArgs()[0],
                                          outputOffsets, outputSizes, strides);
  }
  mapping.map(op.getResult(), forall.getResult(0));
}
