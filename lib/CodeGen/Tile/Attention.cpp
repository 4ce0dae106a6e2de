//===- Attention.cpp - Attention over pages of keys and values ------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../EntryArguments.h"
#include "Tiler.h"
#include "hexad/Dialect/Kernel/IR/KernelDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"
#include <numbers>

using namespace mlir;
using namespace hexad;

static Value emptyTensor(ImplicitLocOpBuilder &builder, ArrayRef<int64_t> shape,
                         ValueRange dynamicSizes = {}) {
  return tensor::EmptyOp::create(builder, shape, builder.getF32Type(),
                                 dynamicSizes);
}

/// `source[indices…, 0:count, :]`, or all of what `indices` leave where a count
/// is null; `counts` are those of the dimensions behind `indices`. The source
/// is a tensor or a buffer.
static Value sliceLeading(ImplicitLocOpBuilder &builder, Value source,
                          ArrayRef<OpFoldResult> indices,
                          ArrayRef<OpFoldResult> counts = {}) {
  auto type = cast<ShapedType>(source.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(type.getRank(), builder.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim : type.getShape())
    sizes.push_back(builder.getIndexAttr(dim));
  SmallVector<int64_t> shape(type.getShape().drop_front(indices.size()));
  for (auto [dim, index] : llvm::enumerate(indices)) {
    offsets[dim] = index;
    sizes[dim] = builder.getIndexAttr(1);
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
    return memref::SubViewOp::create(builder, cast<MemRefType>(sliceType),
                                     source, offsets, sizes, strides);
  }
  return tensor::ExtractSliceOp::create(
      builder, RankedTensorType::get(shape, type.getElementType()), source,
      offsets, sizes, strides);
}

/// Converts one attention: a loop that packs keys and values into pages, and
/// one over tiles of queries that walks the pages which the tile sees.
///
/// The pages lie in tensors of the call, `[page · kv_heads, …]`, or, with a
/// cache, in buffers of the sessions, `[kv_heads, …]` for each page.
class Tiler::AttentionTiling {
public:
  AttentionTiling(Tiler &tiler, AttentionOp op);

  void convert() {
    packPages();
    attend();
  }

private:
  /// The heads of a page, or all pages if they lie in tensors.
  struct Pages {
    Value keys, values;
  };

  void packPages();
  void packIntoTensors();
  void packIntoCache();
  void attend();
  Value attendTile(Value queryTile, Value head, Value output);
  SmallVector<Value> attendPage(Value page, ValueRange carried);
  Value multiply(Value rows, Value panels, Value fold, Value destination);

  /// A page of the cache of a segment.
  Pages getCachedPage(Value segment, Value page);
  /// The first index that a page of a segment has in `Pages`.
  Value getItem(Value segment, Value page);

  template <typename PackOp>
  Value pack(Value rows, Value column, Value start, Value destination);

  MemRefType getBufferType(ArrayRef<int64_t> pageShape) {
    SmallVector<int64_t> shape{kvHeads};
    llvm::append_range(shape, pageShape);
    return MemRefType::get(shape, b.getF32Type());
  }
  int64_t getBytes(ArrayRef<int64_t> pageShape) {
    return getBufferType(pageShape).getNumElements() * int64_t(sizeof(float));
  }

  Tiler &t;
  ImplicitLocOpBuilder &b;
  AttentionOp op;
  int64_t heads, kvHeads, headDim, pageSize;
  int64_t valueColumns, valuePanels;
  SmallVector<int64_t, 3> keyShape, valueShape; ///< of one head of a page
  bool isCached;
  Pages pages; ///< of the call, if they lie in tensors

  /// What holds for the query tile that is being built.
  struct QueryTile {
    Value first, rows;
    Value segment, kvHead;
    Value position; ///< of the first row
    Value keys;     ///< in front of the last one that a row sees
    Value queries;
  } tile;
};

Tiler::AttentionTiling::AttentionTiling(Tiler &tiler, AttentionOp op)
    : t(tiler), b(tiler.builder), op(op), heads(op.getHeads()),
      kvHeads(op.getKvHeads()), headDim(op.getHeadDim()),
      pageSize(tiler.options.page), isCached(op.getCache().has_value()) {
  int64_t columns = tiler.options.tileColumns;
  // A head narrower than a panel gets a panel of its own width.
  valueColumns = std::min(
      columns, static_cast<int64_t>(llvm::alignTo(headDim, kernel::lanes)));
  valuePanels = llvm::divideCeil(headDim, valueColumns);
  keyShape = {pageSize / columns, headDim, columns};
  valueShape = {valuePanels, pageSize, valueColumns};
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

/// The packed page, or null if it is a buffer.
template <typename PackOp>
Value Tiler::AttentionTiling::pack(Value rows, Value column, Value start,
                                   Value destination) {
  SmallVector<Type, 1> results;
  if (isa<TensorType>(destination.getType()))
    results.push_back(destination.getType());
  auto packed = PackOp::create(b, results, rows, column, start, destination,
                               b.getI64IntegerAttr(headDim));
  return results.empty() ? Value() : packed->getResult(0);
}

void Tiler::AttentionTiling::packPages() {
  if (isCached)
    packIntoCache();
  else
    packIntoTensors();
}

void Tiler::AttentionTiling::packIntoTensors() {
  Value items = t.mul(t.extent(HEXAD_EXTENT_PAGES), t.index(kvHeads));
  auto makePages = [&](ArrayRef<int64_t> shape) {
    SmallVector<int64_t> pagesShape{ShapedType::kDynamic};
    llvm::append_range(pagesShape, shape);
    return emptyTensor(b, pagesShape, items);
  };
  auto forall = scf::ForallOp::create(
      b,
      SmallVector<OpFoldResult>{t.extent(HEXAD_EXTENT_PAGES),
                                b.getIndexAttr(kvHeads)},
      ValueRange{makePages(keyShape), makePages(valueShape)},
      /*mapping=*/std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(forall.getTerminator());
  Value page = forall.getInductionVar(0), head = forall.getInductionVar(1);
  Range rows = t.getPageRows(page);
  OpFoldResult item = t.add(t.mul(page, t.index(kvHeads)), head);
  auto insert = [&](Value packed, Value whole) {
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToEnd(forall.getTerminator().getBody());
    auto type = cast<RankedTensorType>(whole.getType());
    SmallVector<OpFoldResult> offsets(4, b.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(4, b.getIndexAttr(1));
    SmallVector<OpFoldResult> sizes{b.getIndexAttr(1)};
    for (int64_t size : type.getShape().drop_front())
      sizes.push_back(b.getIndexAttr(size));
    offsets[0] = item;
    tensor::ParallelInsertSliceOp::create(b, packed, whole, offsets, sizes,
                                          strides);
  };
  Value headColumn = t.mul(head, t.index(headDim));
  ArrayRef<int64_t> offsets = op.getOffsets();
  Value allKeys = forall.getRegionIterArgs()[0];
  Value allValues = forall.getRegionIterArgs()[1];
  Value key = t.mapped(op.getKey()), value = t.mapped(op.getValue());
  Value keys = pack<kernel::PackKeysOp>(
      t.sliceRows(key, rows.offset, rows.size),
      t.add(headColumn, t.index(offsets[1])),
      /*start=*/Value(), sliceLeading(b, allKeys, item));
  insert(keys, allKeys);
  Value values = pack<kernel::PackValuesOp>(
      t.sliceRows(value, rows.offset, rows.size),
      t.add(headColumn, t.index(offsets[2])),
      /*start=*/Value(), sliceLeading(b, allValues, item));
  insert(values, allValues);
  pages = {forall.getResult(0), forall.getResult(1)};
}

void Tiler::AttentionTiling::packIntoCache() {
  auto forall = scf::ForallOp::create(
      b,
      SmallVector<OpFoldResult>{t.extent(HEXAD_EXTENT_PAGES),
                                b.getIndexAttr(kvHeads)},
      ValueRange(), /*mapping=*/std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(forall.getTerminator());
  Value piece = forall.getInductionVar(0), head = forall.getInductionVar(1);
  Range rows = t.getPageRows(piece);
  Value position = t.entry(t.table(HEXAD_POINTER_POSITIONS), rows.offset);
  Value page = t.div(position, t.index(pageSize));
  Value start = t.sub(position, t.mul(page, t.index(pageSize)));
  Value segment = t.entry(t.table(HEXAD_POINTER_PAGE_SEGMENT), piece);
  Pages cached = getCachedPage(segment, page);
  Value headColumn = t.mul(head, t.index(headDim));
  ArrayRef<int64_t> offsets = op.getOffsets();
  Value key = t.mapped(op.getKey()), value = t.mapped(op.getValue());
  pack<kernel::PackKeysOp>(t.sliceRows(key, rows.offset, rows.size),
                           t.add(headColumn, t.index(offsets[1])), start,
                           sliceLeading(b, cached.keys, OpFoldResult(head)));
  pack<kernel::PackValuesOp>(
      t.sliceRows(value, rows.offset, rows.size),
      t.add(headColumn, t.index(offsets[2])), start,
      sliceLeading(b, cached.values, OpFoldResult(head)));
}

Tiler::AttentionTiling::Pages
Tiler::AttentionTiling::getCachedPage(Value segment, Value page) {
  auto [number, count] = t.getCacheNumber(*op.getCache());
  Value place = t.add(t.mul(segment, t.index(count)), t.index(number));
  Value layer = op.getLayer() ? t.mapped(op.getLayer()) : t.index(0);
  auto getPart = [&](ArrayRef<int64_t> shape, int64_t offset) {
    return kernel::PageOp::create(b, getBufferType(shape), t.getCachePlaces(),
                                  place, page, layer,
                                  b.getI64IntegerAttr(offset));
  };
  return {getPart(keyShape, 0), getPart(valueShape, getBytes(keyShape))};
}

//===----------------------------------------------------------------------===//
// Attending
//===----------------------------------------------------------------------===//

void Tiler::AttentionTiling::attend() {
  if (isCached)
    t.setPageBytes(*op.getCache(), getBytes(keyShape) + getBytes(valueShape));
  Value output = t.emptyRows(t.extent(HEXAD_EXTENT_ROWS), heads * headDim);
  auto forall = scf::ForallOp::create(
      b,
      SmallVector<OpFoldResult>{t.extent(HEXAD_EXTENT_QUERY_TILES),
                                b.getIndexAttr(heads)},
      ValueRange{output}, /*mapping=*/std::nullopt);
  // Later tiles of a segment see more keys.
  if (op.getCausal())
    forall->setAttr("hexad.cyclic", b.getUnitAttr());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(forall.getTerminator());
  Value head = forall.getInductionVar(1);
  Value whole = forall.getRegionIterArgs()[0];
  Value column = t.mul(head, t.index(headDim));
  Value part = attendTile(forall.getInductionVar(0), head, whole);
  b.setInsertionPointToEnd(forall.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(
      b, part, whole, SmallVector<OpFoldResult>{tile.first, column},
      SmallVector<OpFoldResult>{tile.rows, b.getIndexAttr(headDim)},
      SmallVector<OpFoldResult>(2, b.getIndexAttr(1)));
  t.mapping.map(op.getResult(), forall.getResult(0));
}

Value Tiler::AttentionTiling::attendTile(Value queryTile, Value head,
                                         Value output) {
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
      op.getCausal()
          ? t.add(tile.position, tile.rows)
          : t.sub(t.entry(segmentBounds, t.add(tile.segment, t.index(1))),
                  t.entry(segmentBounds, tile.segment));
  Value firstPage = t.index(0);
  if (op.getWindow()) {
    // Positions are signed: the window may begin in front of the first key.
    Value begin = t.sub(t.add(tile.position, t.index(1)),
                        t.index(static_cast<int64_t>(*op.getWindow())));
    begin = arith::MaxSIOp::create(b, begin, t.index(0));
    firstPage = t.div(begin, t.index(pageSize));
  }
  Value column = t.mul(head, t.index(headDim));

  // exp(x) is computed as exp2(x · log2 e): the factor goes into the queries.
  double scale = op.getScale().convertToDouble() * std::numbers::log2e;
  int64_t queryTileRows = t.options.queryTile;
  Value queries = emptyTensor(
      b, {queryTileRows,
          static_cast<int64_t>(llvm::alignTo(headDim, kernel::lanes))});
  queries = kernel::LoadQueriesOp::create(
                b, queries.getType(),
                t.sliceRows(t.mapped(op.getQuery()), tile.first, tile.rows),
                t.add(column, t.index(op.getOffsets()[0])), queries,
                b.getF64FloatAttr(scale), b.getI64IntegerAttr(headDim))
                .getResult(0);
  tile.queries = t.sliceRows(queries, t.index(0), tile.rows);
  Value statistics = emptyTensor(
      b, {kernel::StatisticCount,
          static_cast<int64_t>(llvm::alignTo(queryTileRows, kernel::lanes))});
  Value accumulator =
      emptyTensor(b, {queryTileRows, valuePanels * valueColumns});
  auto start = kernel::StartPagesOp::create(
      b, TypeRange{statistics.getType(), accumulator.getType()}, statistics,
      accumulator);
  Value scores = emptyTensor(b, {queryTileRows, pageSize});

  auto loop = scf::ForOp::create(
      b, firstPage, t.ceilDiv(tile.keys, pageSize), t.index(1),
      ValueRange{scores, start.getResult(0), start.getResult(1)});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    scf::YieldOp::create(
        b, attendPage(loop.getInductionVar(), loop.getRegionIterArgs()));
  }
  Value destination = tensor::ExtractSliceOp::create(
      b, output, SmallVector<OpFoldResult>{tile.first, column},
      SmallVector<OpFoldResult>{tile.rows, b.getIndexAttr(headDim)},
      SmallVector<OpFoldResult>(2, b.getIndexAttr(1)));
  return kernel::FinishPagesOp::create(
             b, destination.getType(), loop.getResult(2), loop.getResult(1),
             t.index(0), destination, b.getI64IntegerAttr(headDim))
      .getResult(0);
}

Value Tiler::AttentionTiling::getItem(Value segment, Value page) {
  Value first = t.entry(t.table(HEXAD_POINTER_SEGMENT_PAGES), segment);
  return t.add(t.mul(t.add(first, page), t.index(kvHeads)), tile.kvHead);
}

/// The first rows of `destination`, as many as the tile has, become `rows`
/// times `panels`.
Value Tiler::AttentionTiling::multiply(Value rows, Value panels, Value fold,
                                       Value destination) {
  auto kernelTile = kernel::TileAttr::get(b.getContext(), t.options.tileRows,
                                          t.options.tileColumns);
  Value part = t.sliceRows(destination, t.index(0), tile.rows);
  auto matmul = kernel::MatmulOp::create(
      b, part.getType(), rows, panels, /*bias=*/Value(), /*factor=*/Value(),
      /*residual=*/Value(), fold, part, kernelTile, ActivationAttr());
  return t.insertRows(matmul.getResult(0), destination, t.index(0), tile.rows);
}

/// Scores, softmax and weighted values of one page; `carried` are the scores'
/// memory, the statistics and the output so far.
SmallVector<Value> Tiler::AttentionTiling::attendPage(Value page,
                                                      ValueRange carried) {
  Pages heads = isCached ? getCachedPage(tile.segment, page) : pages;
  OpFoldResult item = isCached ? tile.kvHead : getItem(tile.segment, page);
  Value firstKey = t.mul(page, t.index(pageSize));
  Value keys = t.min(t.sub(tile.keys, firstKey), t.index(pageSize));
  Value keyPanels = t.ceilDiv(keys, keyShape.back());
  Value scores = multiply(
      tile.queries, sliceLeading(b, heads.keys, item, OpFoldResult(keyPanels)),
      /*fold=*/Value(), carried[0]);
  bool isMasked = op.getCausal() || op.getWindow();
  FloatAttr softcap; // Like the scores in units of log2.
  if (op.getSoftcap())
    softcap = b.getF64FloatAttr(op.getSoftcap()->convertToDouble() *
                                std::numbers::log2e);
  auto softmax = kernel::SoftmaxPageOp::create(
      b, TypeRange{scores.getType(), carried[1].getType()}, tile.rows, keys,
      isMasked ? t.sub(tile.position, firstKey) : Value(), scores, carried[1],
      op.getCausalAttr(), op.getWindowAttr(), softcap);
  Value folded = multiply(
      t.sliceRows(softmax.getResult(0), t.index(0), tile.rows),
      sliceLeading(b, heads.values, item, {OpFoldResult(), OpFoldResult(keys)}),
      softmax.getResult(1), carried[2]);
  return {softmax.getResult(0), softmax.getResult(1), folded};
}

//===----------------------------------------------------------------------===//
// Caches
//===----------------------------------------------------------------------===//

Tiler::Range Tiler::getPageRows(Value page) {
  Value bounds = table(HEXAD_POINTER_PAGE_BOUNDS);
  Value first = entry(bounds, mul(page, index(2)));
  Value last = entry(bounds, add(mul(page, index(2)), index(1)));
  return {first, sub(last, first)};
}

Value Tiler::getCachePlaces() {
  if (!cachePlaces)
    cachePlaces = addPointer(
        target, HEXAD_POINTER_CACHES,
        MemRefType::get({ShapedType::kDynamic}, builder.getI64Type()));
  return cachePlaces;
}

std::pair<int64_t, int64_t> Tiler::getCacheNumber(StringRef name) {
  std::pair<int64_t, int64_t> result(0, 0);
  for (auto cache : source->getParentOfType<ModuleOp>().getOps<CacheOp>()) {
    if (cache.getSymName() == name)
      result.first = result.second;
    ++result.second;
  }
  return result;
}

void Tiler::setPageBytes(StringRef name, int64_t bytes) {
  auto cache = SymbolTable::lookupNearestSymbolFrom<CacheOp>(
      source, StringAttr::get(source.getContext(), name));
  cache->setAttr("hexad.page_bytes", builder.getI64IntegerAttr(bytes));
}

void Tiler::convertAttention(AttentionOp op) {
  AttentionTiling(*this, op).convert();
}
