//===- AttentionMap.cpp - Attention probabilities for the caller ----------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Maps are a pass of their own over the call's keys: attention is compiled as
// if nobody asked for them, so that its bits are the same. They go to the
// caller's buffer at once; a stack of them is nowhere else.
//
//===----------------------------------------------------------------------===//

#include "AttentionTiling.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace hexad;

/// Converts one map: a loop that packs the keys, and one over tiles of queries
/// that walks their pages twice, for the statistics and for the probabilities.
/// Neither has an iteration if the caller gave no place for the maps.
class Tiler::MapTiling : PageTiling {
public:
  MapTiling(Tiler &tiler, AttentionMapOp op, Value output)
      : PageTiling(tiler, op), op(op), output(output) {}

  void convert() {
    Value isWanted = kernel::IsPresentOp::create(b, b.getI1Type(), output);
    auto ifWanted = [&](Value count) -> Value {
      return arith::SelectOp::create(b, isWanted, count, t.index(0));
    };
    keys = packIntoTensors(ifWanted(t.extent(HEXAD_EXTENT_PAGES)),
                           {{/*isKeys=*/true, key, offsets[1], keyShape}})[0];
    auto forall = scf::ForallOp::create(
        b,
        SmallVector<OpFoldResult>{ifWanted(t.extent(HEXAD_EXTENT_QUERY_TILES)),
                                  b.getIndexAttr(heads)},
        ValueRange(), /*mapping=*/std::nullopt);
    if (causal)
      forall->setAttr("hexad.cyclic", b.getUnitAttr());
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(forall.getTerminator());
    convertTile(forall.getInductionVar(0), forall.getInductionVar(1));
  }

private:
  void convertTile(Value queryTile, Value head);
  void findPlace(Value head);

  AttentionMapOp op;
  Value output;
  Value keys;
  Value seq;      ///< the row stride of a map
  Value start;    ///< where the row of the tile's first query begins
  Value firstKey; ///< the column of the segment's first key
};

/// Batch row i of the rectangle is segment i.
void Tiler::MapTiling::findPlace(Value head) {
  Value elements = t.extent(HEXAD_EXTENT_ELEMENTS);
  Value batch = t.extent(HEXAD_EXTENT_SEGMENTS);
  seq = t.div(elements, batch);
  Value rowElement = t.table(HEXAD_POINTER_ROW_ELEMENT);
  Value batchRow = t.mul(tile.segment, seq);
  Value firstRow = t.entry(t.table(HEXAD_POINTER_SEGMENT_BOUNDS), tile.segment);
  firstKey = t.sub(t.entry(rowElement, firstRow), batchRow);
  Value firstQuery = t.sub(t.entry(rowElement, tile.first), batchRow);
  Value map =
      t.add(t.mul(t.add(t.mul(t.mapped(op.getLayer()), batch), tile.segment),
                  t.index(heads)),
            head);
  start = t.mul(t.add(t.mul(map, seq), firstQuery), seq);
}

void Tiler::MapTiling::convertTile(Value queryTile, Value head) {
  startTile(queryTile, head);
  findPlace(head);
  // The rows of a tile follow each other in the rectangle.
  kernel::ClearOp::create(b, TypeRange(), start, t.mul(tile.rows, seq), output);

  // There is no output to begin with; the memory of the scores stands for it.
  Value statistics = emptyStatistics();
  Value scores = emptyTensor({t.options.queryTile, pageSize});
  auto empty = kernel::StartPagesOp::create(
      b, TypeRange{statistics.getType(), scores.getType()}, statistics, scores);
  auto first = walkPages({empty.getResult(1), empty.getResult(0)},
                         [&](Value page, ValueRange carried) {
                           Value scores = computeScores(
                               page, keys, getItem(page), carried[0]);
                           return SmallVector<Value>(
                               foldPage(page, scores, carried[1]).getResults());
                         });
  walkPages(first.getResult(0), [&](Value page, ValueRange carried) {
    Value scores = computeScores(page, keys, getItem(page), carried[0]);
    Value column = t.add(firstKey, t.mul(page, t.index(pageSize)));
    kernel::MapPageOp::create(b, TypeRange(), tile.rows, countKeys(page),
                              t.add(start, column), seq, scores,
                              first.getResult(1), getPositionIn(page), output,
                              causal, window, softcap);
    return SmallVector<Value>{scores};
  });
}

bool Tiler::isMaps(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() == 5;
}

FailureOr<Value> Tiler::traceMaps(Value maps, Value output) {
  for (;;) {
    if (auto map = maps.getDefiningOp<AttentionMapOp>()) {
      mapOutputs[map].push_back(output);
      maps = map.getMaps();
      continue;
    }
    auto loop = maps.getDefiningOp<scf::ForOp>();
    if (!loop)
      return maps;
    unsigned number = cast<OpResult>(maps).getResultNumber();
    Operation *yield = loop.getBody()->getTerminator();
    FailureOr<Value> origin = traceMaps(yield->getOperand(number), output);
    if (failed(origin))
      return failure();
    if (*origin != loop.getRegionIterArg(number))
      return yield->emitOpError("expected the maps that the loop carries to be "
                                "those it got, with more maps in them");
    maps = loop.getInitArgs()[number];
  }
}

void Tiler::convertAttentionMap(AttentionMapOp op) {
  for (Value output : mapOutputs.lookup(op))
    MapTiling(*this, op, output).convert();
}
