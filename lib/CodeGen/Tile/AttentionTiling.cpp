//===- AttentionTiling.cpp - Query tiles and pages of keys ----------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionTiling.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace hexad;

Value Tiler::PageTiling::emptyTensor(ArrayRef<int64_t> shape,
                                     ValueRange dynamicSizes) {
  return tensor::EmptyOp::create(b, shape, b.getF32Type(), dynamicSizes);
}

Value Tiler::PageTiling::sliceLeading(Value source,
                                      ArrayRef<OpFoldResult> indices,
                                      ArrayRef<OpFoldResult> counts) {
  auto type = cast<ShapedType>(source.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(type.getRank(), b.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim : type.getShape())
    sizes.push_back(b.getIndexAttr(dim));
  SmallVector<int64_t> shape(type.getShape().drop_front(indices.size()));
  for (auto [dim, index] : llvm::enumerate(indices)) {
    offsets[dim] = index;
    sizes[dim] = b.getIndexAttr(1);
  }
  for (auto [dim, count] : llvm::enumerate(counts)) {
    if (!count)
      continue;
    sizes[indices.size() + dim] = count;
    shape[dim] = getConstantIntValue(count).value_or(ShapedType::kDynamic);
  }
  if (auto memref = dyn_cast<MemRefType>(type)) {
    auto sliceType = memref::SubViewOp::inferRankReducedResultType(
        shape, memref, offsets, sizes, strides);
    return memref::SubViewOp::create(b, cast<MemRefType>(sliceType), source,
                                     offsets, sizes, strides);
  }
  return tensor::ExtractSliceOp::create(
      b, RankedTensorType::get(shape, type.getElementType()), source, offsets,
      sizes, strides);
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

Value Tiler::PageTiling::pack(bool isKeys, Value rows, Value column,
                              Value start, Value destination) {
  SmallVector<Type, 1> results;
  if (isa<TensorType>(destination.getType()))
    results.push_back(destination.getType());
  auto create = [&]<typename PackOp>() -> Operation * {
    return PackOp::create(b, results, rows, column, start, destination,
                          b.getI64IntegerAttr(headDim));
  };
  Operation *packed = isKeys
                          ? create.template operator()<kernel::PackKeysOp>()
                          : create.template operator()<kernel::PackValuesOp>();
  return results.empty() ? Value() : packed->getResult(0);
}

SmallVector<Value>
Tiler::PageTiling::packIntoTensors(Value pageCount,
                                   ArrayRef<Packing> packings) {
  Value items = t.mul(t.extent(HEXAD_EXTENT_PAGES), t.index(kvHeads));
  SmallVector<Value> tensors;
  for (const Packing &packing : packings) {
    SmallVector<int64_t> pagesShape{ShapedType::kDynamic};
    llvm::append_range(pagesShape, packing.shape);
    tensors.push_back(emptyTensor(pagesShape, items));
  }
  auto forall = scf::ForallOp::create(
      b, SmallVector<OpFoldResult>{pageCount, b.getIndexAttr(kvHeads)}, tensors,
      /*mapping=*/std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(forall.getTerminator());
  Value page = forall.getInductionVar(0), head = forall.getInductionVar(1);
  Range rows = t.getPageRows(page);
  OpFoldResult item = t.add(t.mul(page, t.index(kvHeads)), head);
  Value headColumn = t.mul(head, t.index(headDim));
  for (auto [packing, whole] :
       llvm::zip_equal(packings, forall.getRegionIterArgs())) {
    Value packed =
        pack(packing.isKeys, t.sliceRows(packing.rows, rows.offset, rows.size),
             t.add(headColumn, t.index(packing.offset)),
             /*start=*/Value(), sliceLeading(whole, item));
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToEnd(forall.getTerminator().getBody());
    SmallVector<OpFoldResult> offsets(4, b.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(4, b.getIndexAttr(1));
    SmallVector<OpFoldResult> sizes{b.getIndexAttr(1)};
    for (int64_t size : packing.shape)
      sizes.push_back(b.getIndexAttr(size));
    offsets[0] = item;
    tensor::ParallelInsertSliceOp::create(b, packed, whole, offsets, sizes,
                                          strides);
  }
  return SmallVector<Value>(forall.getResults());
}

//===----------------------------------------------------------------------===//
// Query tiles
//===----------------------------------------------------------------------===//

void Tiler::PageTiling::startTile(Value queryTile, Value head) {
  Value bounds = t.table(HEXAD_POINTER_TILE_BOUNDS);
  Value segmentBounds = t.table(HEXAD_POINTER_SEGMENT_BOUNDS);
  tile.first = t.entry(bounds, t.mul(queryTile, t.index(2)));
  Value last = t.entry(bounds, t.add(t.mul(queryTile, t.index(2)), t.index(1)));
  tile.rows = t.sub(last, tile.first);
  tile.segment = t.entry(t.table(HEXAD_POINTER_TILE_SEGMENT), queryTile);
  tile.kvHead = t.div(head, t.index(heads / kvHeads));
  tile.position = t.entry(t.table(HEXAD_POINTER_POSITIONS), tile.first);
  // The last row of a causal tile sees all that the tile sees.
  tile.keys =
      causal ? t.add(tile.position, tile.rows)
             : t.sub(t.entry(segmentBounds, t.add(tile.segment, t.index(1))),
                     t.entry(segmentBounds, tile.segment));
  tile.column = t.mul(head, t.index(headDim));

  Value queries = emptyTensor(
      {t.options.queryTile,
       static_cast<int64_t>(llvm::alignTo(headDim, kernel::lanes))});
  queries = kernel::LoadQueriesOp::create(
                b, queries.getType(), t.sliceRows(query, tile.first, tile.rows),
                t.add(tile.column, t.index(offsets[0])), queries,
                b.getF64FloatAttr(scale), b.getI64IntegerAttr(headDim))
                .getResult(0);
  tile.queries = t.sliceRows(queries, t.index(0), tile.rows);
}

Value Tiler::PageTiling::emptyStatistics() {
  return emptyTensor({kernel::StatisticCount,
                      static_cast<int64_t>(
                          llvm::alignTo(t.options.queryTile, kernel::lanes))});
}

scf::ForOp Tiler::PageTiling::walkPages(
    ValueRange inits,
    function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  Value firstPage = t.index(0);
  if (window) {
    // Positions are signed: the window may begin in front of the first key.
    Value begin =
        t.sub(t.add(tile.position, t.index(1)), t.index(window.getInt()));
    begin = arith::MaxSIOp::create(b, begin, t.index(0));
    firstPage = t.div(begin, t.index(pageSize));
  }
  auto loop = scf::ForOp::create(b, firstPage, t.ceilDiv(tile.keys, pageSize),
                                 t.index(1), inits);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  scf::YieldOp::create(b,
                       body(loop.getInductionVar(), loop.getRegionIterArgs()));
  return loop;
}

Value Tiler::PageTiling::getItem(Value page) {
  Value first = t.entry(t.table(HEXAD_POINTER_SEGMENT_PAGES), tile.segment);
  return t.add(t.mul(t.add(first, page), t.index(kvHeads)), tile.kvHead);
}

Value Tiler::PageTiling::countKeys(Value page) {
  return t.min(t.sub(tile.keys, t.mul(page, t.index(pageSize))),
               t.index(pageSize));
}

Value Tiler::PageTiling::getPositionIn(Value page) {
  if (!causal && !window)
    return {};
  return t.sub(tile.position, t.mul(page, t.index(pageSize)));
}

Value Tiler::PageTiling::multiply(Value rows, Value panels, Value fold,
                                  Value destination) {
  auto kernelTile = kernel::TileAttr::get(b.getContext(), t.options.tileRows,
                                          t.options.tileColumns);
  Value part = t.sliceRows(destination, t.index(0), tile.rows);
  auto matmul = kernel::MatmulOp::create(
      b, part.getType(), rows, panels, /*bias=*/Value(), /*factor=*/Value(),
      /*residual=*/Value(), fold, part, kernelTile, ActivationAttr());
  return t.insertRows(matmul.getResult(0), destination, t.index(0), tile.rows);
}

Value Tiler::PageTiling::computeScores(Value page, Value allKeys,
                                       OpFoldResult item, Value destination) {
  Value panels = t.ceilDiv(countKeys(page), keyShape.back());
  return multiply(tile.queries,
                  sliceLeading(allKeys, item, OpFoldResult(panels)),
                  /*fold=*/Value(), destination);
}

kernel::SoftmaxPageOp Tiler::PageTiling::foldPage(Value page, Value scores,
                                                  Value statistics) {
  return kernel::SoftmaxPageOp::create(
      b, TypeRange{scores.getType(), statistics.getType()}, tile.rows,
      countKeys(page), getPositionIn(page), scores, statistics, causal, window,
      softcap);
}
