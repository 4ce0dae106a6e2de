//===- Loss.cpp - Cross-entropy, tile by tile -----------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include <limits>

using namespace mlir;
using namespace hexad::kernel;

namespace {

constexpr float lowest = -std::numeric_limits<float>::max();

/// The statistics of one row: three numbers, each in 16 equal lanes.
class RowStatistics {
public:
  enum Which { Maximum, Sum, LabelLogit };

  RowStatistics(VectorBuilder &b, Value memref, Value row)
      : b(b), memref(memref), row(row) {}

  Value load(Which which) {
    return b.load(memref, {row, b.index(which * lanes)});
  }
  void store(Value vector, Which which) {
    b.store(vector, memref, {row, b.index(which * lanes)});
  }

private:
  VectorBuilder &b;
  Value memref, row;
};

/// Lowers one cross_entropy_tile, row by row.
class CrossEntropyTileLowering {
public:
  CrossEntropyTileLowering(VectorBuilder &b, CrossEntropyTileOp op)
      : b(b), op(op), whole(b.roundDown(op.getClasses(), lanes)),
        rest(b.sub(op.getClasses(), whole)), restLanes(b.lanesBelow(rest)),
        hasRest(arith::CmpIOp::create(
            b.builder, b.loc, arith::CmpIPredicate::ne, rest, b.index(0))) {}

  void lower() {
    b.loop(b.index(0), b.dim(op.getLogits(), 0), 1, [&](Value m) {
      Value label = b.loadScalar(op.getLabels(), m);
      b.branch(b.isNotNegative(label), [&] { lowerRow(m, b.toIndex(label)); });
    });
  }

private:
  /// Combines `element(c)` of the classes over 16 lanes; `absent` stands for
  /// those behind the end. In all lanes of a vector.
  Value reduce(Value m, float init, float absent,
               function_ref<Value(Value)> element,
               function_ref<Value(Value, Value)> combine) {
    auto load = [&](Value c) {
      return element(b.load(op.getLogits(), {m, c}));
    };
    Value lanesSoFar =
        b.reduce(b.index(0), whole, lanes, b.splat(init),
                 [&](Value c, ValueRange soFar) {
                   return SmallVector<Value>{combine(soFar[0], load(c))};
                 })[0];
    lanesSoFar = b.conditional(
        lanesSoFar.getType(), hasRest,
        [&] {
          return combine(lanesSoFar,
                         b.select(restLanes, load(whole), b.splat(absent)));
        },
        [&] { return lanesSoFar; });
    return b.broadcast(b.foldLanes(lanesSoFar, combine));
  }

  void lowerRow(Value m, Value label) {
    RowStatistics statistics(b, op.getDestination(), m);
    Value tileMaximum = reduce(
        m, lowest, lowest, [](Value x) { return x; },
        [&](Value x, Value y) { return b.greater(x, y); });
    Value tileSum = reduce(
        m, 0.0f, 0.0f,
        [&](Value x) { return buildExp(b, b.subf(x, tileMaximum)); },
        [&](Value x, Value y) { return b.addf(x, y); });
    Value old = statistics.load(RowStatistics::Maximum);
    Value maximum = b.greater(old, tileMaximum);
    Value oldFactor = buildExp(b, b.subf(old, maximum));
    Value tileFactor = buildExp(b, b.subf(tileMaximum, maximum));
    statistics.store(maximum, RowStatistics::Maximum);
    statistics.store(b.fma(statistics.load(RowStatistics::Sum), oldFactor,
                           b.mulf(tileSum, tileFactor)),
                     RowStatistics::Sum);
    // A label in front of the tile is far behind it as an unsigned number.
    Value column = b.sub(label, op.getFirst());
    Value isHere = arith::CmpIOp::create(
        b.builder, b.loc, arith::CmpIPredicate::ult, column, op.getClasses());
    b.branch(isHere, [&] {
      statistics.store(b.broadcast(b.loadScalar(op.getLogits(), {m, column})),
                       RowStatistics::LabelLogit);
    });
  }

  VectorBuilder &b;
  CrossEntropyTileOp op;
  Value whole, rest; ///< columns in whole vectors, and behind them
  Value restLanes, hasRest;
};

} // namespace

void hexad::kernel::lower(VectorBuilder &b, StartCrossEntropyOp op) {
  b.loop(b.index(0), b.dim(op.getDestination(), 0), 1, [&](Value m) {
    RowStatistics statistics(b, op.getDestination(), m);
    statistics.store(b.splat(lowest), RowStatistics::Maximum);
    statistics.store(b.splat(0.0f), RowStatistics::Sum);
    statistics.store(b.splat(0.0f), RowStatistics::LabelLogit);
  });
}

void hexad::kernel::lower(VectorBuilder &b, CrossEntropyTileOp op) {
  CrossEntropyTileLowering(b, op).lower();
}

void hexad::kernel::lower(VectorBuilder &b, FinishCrossEntropyOp op) {
  Value destination = op.getDestination();
  b.loop(b.index(0), b.dim(destination, 0), 1, [&](Value m) {
    RowStatistics statistics(b, op.getStatistics(), m);
    Value isLabelled = b.isNotNegative(b.loadScalar(op.getLabels(), m));
    Value margin = b.subf(statistics.load(RowStatistics::Maximum),
                          statistics.load(RowStatistics::LabelLogit));
    Value loss =
        b.addf(buildLog(b, statistics.load(RowStatistics::Sum)), margin);
    loss = b.select(isLabelled, loss, b.splat(0.0f));
    b.loop(b.index(0), b.dim(destination, 1), lanes,
           [&](Value c) { b.store(loss, destination, {m, c}); });
  });
}

void hexad::kernel::lower(VectorBuilder &b, MeanLossOp op) {
  Value destination = op.getDestination();
  auto constant = [&](double value) -> Value {
    return arith::ConstantOp::create(b.builder, b.loc,
                                     b.builder.getF64FloatAttr(value));
  };
  b.branch(b.isPresent(destination), [&] {
    SmallVector<Value> totals = b.reduce(
        b.index(0), b.dim(op.getLosses(), 0), 1, {constant(0.0), constant(0.0)},
        [&](Value m, ValueRange soFar) {
          Value counts = b.isNotNegative(b.loadScalar(op.getLabels(), m));
          Value loss = arith::ExtFOp::create(
              b.builder, b.loc, b.builder.getF64Type(),
              b.loadScalar(op.getLosses(), {m, b.index(0)}));
          return SmallVector<Value>{
              b.select(counts, b.addf(soFar[0], loss), soFar[0]),
              b.select(counts, b.addf(soFar[1], constant(1.0)), soFar[1])};
        });
    Value mean = arith::TruncFOp::create(
        b.builder, b.loc, b.builder.getF32Type(), b.divf(totals[0], totals[1]));
    b.storeScalar(mean, destination, {b.index(0), b.index(0)});
  });
}
