//===- Attention.cpp - Attention over pages of keys and values ------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionTiling.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace hexad;

/// Converts one attention: a loop that packs keys and values into pages, but
/// for those that another attention has packed, and one over tiles of queries
/// that walks the pages which the tile sees.
///
/// The pages lie in tensors of the call, `[page · kv_heads, …]`, or, with a
/// cache, in buffers of the sessions, `[kv_heads, …]` for each page.
class Tiler::AttentionTiling : PageTiling {
public:
  AttentionTiling(Tiler &tiler, AttentionOp op);

  void convert() {
    if (op.getKey())
      packPages();
    attend();
  }

private:
  /// The heads of a page, or all pages if they lie in tensors.
  struct Pages {
    Value keys, values;
  };

  void packPages();
  void packIntoCache();
  void attend();
  Value attendTile(Value queryTile, Value head, Value output);
  SmallVector<Value> attendPage(Value page, ValueRange carried);

  /// A page of the cache of a segment.
  Pages getCachedPage(Value segment, Value page);

  MemRefType getBufferType(ArrayRef<int64_t> pageShape) {
    SmallVector<int64_t> shape{kvHeads};
    llvm::append_range(shape, pageShape);
    return MemRefType::get(shape, b.getF32Type());
  }
  int64_t getBytes(ArrayRef<int64_t> pageShape) {
    return getBufferType(pageShape).getNumElements() * int64_t(sizeof(float));
  }

  AttentionOp op;
  Value value;
  int64_t valueColumns, valuePanels;
  SmallVector<int64_t, 3> valueShape; ///< of one head of a page
  bool isCached;
  Pages pages; ///< of the call, if they lie in tensors
};

Tiler::AttentionTiling::AttentionTiling(Tiler &tiler, AttentionOp op)
    : PageTiling(tiler, op), op(op), value(tiler.mapped(op.getValue())),
      isCached(op.getCache().has_value()) {
  int64_t columns = tiler.options.tileColumns;
  // A head narrower than a panel gets a panel of its own width.
  valueColumns = std::min(
      columns, static_cast<int64_t>(llvm::alignTo(headDim, kernel::lanes)));
  valuePanels = llvm::divideCeil(headDim, valueColumns);
  valueShape = {valuePanels, pageSize, valueColumns};
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

void Tiler::AttentionTiling::packPages() {
  if (isCached)
    return packIntoCache();
  SmallVector<Value> packed =
      packIntoTensors(t.extent(HEXAD_EXTENT_PAGES),
                      {{/*isKeys=*/true, key, offsets[1], keyShape},
                       {/*isKeys=*/false, value, offsets[2], valueShape}});
  pages = {packed[0], packed[1]};
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
  pack(/*isKeys=*/true, t.sliceRows(key, rows.offset, rows.size),
       t.add(headColumn, t.index(offsets[1])), start,
       sliceLeading(cached.keys, OpFoldResult(head)));
  pack(/*isKeys=*/false, t.sliceRows(value, rows.offset, rows.size),
       t.add(headColumn, t.index(offsets[2])), start,
       sliceLeading(cached.values, OpFoldResult(head)));
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
  // Head by head: keys and values of one lie in a core's cache while all its
  // tiles read them, those of all heads together would not.
  auto forall = scf::ForallOp::create(
      b,
      SmallVector<OpFoldResult>{b.getIndexAttr(heads),
                                t.extent(HEXAD_EXTENT_QUERY_TILES)},
      ValueRange{output}, /*mapping=*/std::nullopt);
  // Later tiles of a segment see more keys.
  if (causal)
    forall->setAttr("hexad.cyclic", b.getUnitAttr());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(forall.getTerminator());
  Value head = forall.getInductionVar(0), number = forall.getInductionVar(1);
  if (causal) {
    // Every second head backwards, or one thread had the longer of each two.
    Value isOdd = t.sub(head, t.mul(t.div(head, t.index(2)), t.index(2)));
    Value last = t.sub(t.extent(HEXAD_EXTENT_QUERY_TILES), t.index(1));
    Value turn = t.sub(last, t.mul(number, t.index(2)));
    number = t.add(number, t.mul(isOdd, turn));
  }
  Value whole = forall.getRegionIterArgs()[0];
  Value part = attendTile(number, head, whole);
  b.setInsertionPointToEnd(forall.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(
      b, part, whole, SmallVector<OpFoldResult>{tile.first, tile.column},
      SmallVector<OpFoldResult>{tile.rows, b.getIndexAttr(headDim)},
      SmallVector<OpFoldResult>(2, b.getIndexAttr(1)));
  t.mapping.map(op.getResult(), forall.getResult(0));
}

Value Tiler::AttentionTiling::attendTile(Value queryTile, Value head,
                                         Value output) {
  startTile(queryTile, head);
  Value statistics = emptyStatistics();
  Value accumulator =
      emptyTensor({t.options.queryTile, valuePanels * valueColumns});
  auto start = kernel::StartPagesOp::create(
      b, TypeRange{statistics.getType(), accumulator.getType()}, statistics,
      accumulator);
  Value scores = emptyTensor({t.options.queryTile, pageSize});
  auto loop = walkPages({scores, start.getResult(0), start.getResult(1)},
                        [&](Value page, ValueRange carried) {
                          return attendPage(page, carried);
                        });
  Value destination = tensor::ExtractSliceOp::create(
      b, output, SmallVector<OpFoldResult>{tile.first, tile.column},
      SmallVector<OpFoldResult>{tile.rows, b.getIndexAttr(headDim)},
      SmallVector<OpFoldResult>(2, b.getIndexAttr(1)));
  return kernel::FinishPagesOp::create(
             b, destination.getType(), loop.getResult(2), loop.getResult(1),
             t.index(0), destination, b.getI64IntegerAttr(headDim))
      .getResult(0);
}

/// Scores, softmax and weighted values of one page; `carried` are the scores'
/// memory, the statistics and the output so far.
SmallVector<Value> Tiler::AttentionTiling::attendPage(Value page,
                                                      ValueRange carried) {
  Pages heads = isCached ? getCachedPage(tile.segment, page) : pages;
  OpFoldResult item = isCached ? tile.kvHead : getItem(page);
  Value scores = computeScores(page, heads.keys, item, carried[0]);
  auto softmax = foldPage(page, scores, carried[1]);
  Value folded = multiply(
      t.sliceRows(softmax.getResult(0), t.index(0), tile.rows),
      sliceLeading(heads.values, item, {OpFoldResult(), softmax.getKeys()}),
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
