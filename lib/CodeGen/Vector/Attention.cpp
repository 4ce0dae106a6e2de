//===- Attention.cpp - Softmax over pages ---------------------------------===//
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

/// Lowers one softmax_page: each row by itself, then the running statistics of
/// 16 rows at a time.
class SoftmaxPageLowering {
public:
  SoftmaxPageLowering(VectorBuilder &b, SoftmaxPageOp op)
      : b(b), scores(op.getScores()), statistics(op.getStatistics()),
        rows(op.getRows()), keys(op.getKeys()) {}

  void lower() {
    Value zero = b.index(0);
    wholeKeys = b.roundDown(keys, lanes);
    present = b.lanesBelow(b.sub(keys, wholeKeys));
    someLeft = arith::CmpIOp::create(
        b.builder, b.loc, arith::CmpIPredicate::ult, wholeKeys, keys);
    b.loop(zero, rows, 1, [&](Value m) { lowerRow(m); });
    b.loop(zero, rows, lanes, [&](Value m) { update(m); });
  }

private:
  Value statistic(Statistic which) { return b.index(which); }

  /// Combines the row's vectors from the first key on; `element(t, isLast)`
  /// computes the one at key t, the last of which may be incomplete.
  Value reduce(float init, function_ref<Value(Value, bool)> element,
               function_ref<Value(Value, Value)> combine) {
    Value result = b.reduce(b.index(0), wholeKeys, lanes, b.splat(init),
                            [&](Value t, ValueRange soFar) {
                              return SmallVector<Value>{combine(
                                  soFar[0], element(t, /*isLast=*/false))};
                            })[0];
    result = b.conditional(
        result.getType(), someLeft,
        [&] { return combine(result, element(wholeKeys, /*isLast=*/true)); },
        [&] { return result; });
    return b.foldLanes(result, combine);
  }

  void lowerRow(Value m) {
    auto greater = [&](Value x, Value y) { return b.greater(x, y); };
    auto add = [&](Value x, Value y) { return b.addf(x, y); };
    Value maximum = reduce(
        lowest,
        [&](Value t, bool isLast) {
          Value x = b.load(scores, {m, t});
          return isLast ? b.select(present, x, b.splat(lowest)) : x;
        },
        greater);
    Value maxima = b.broadcast(maximum);
    Value sum = reduce(
        0.0f,
        [&](Value t, bool isLast) {
          Value p = buildExp2(b, b.subf(b.load(scores, {m, t}), maxima));
          if (isLast)
            p = b.select(present, p, b.splat(0.0f));
          b.store(p, scores, {m, t});
          return p;
        },
        add);
    Value firstEmpty = b.roundDown(b.add(keys, lanes - 1), lanes);
    b.loop(firstEmpty, b.dim(scores, 1), lanes,
           [&](Value t) { b.store(b.splat(0.0f), scores, {m, t}); });
    b.storeScalar(maximum, statistics, {statistic(PageMaximum), m});
    b.storeScalar(sum, statistics, {statistic(PageSum), m});
  }

  /// Folds the page's maximum and sum of 16 rows into the running ones. Lanes
  /// behind the last row see an empty page.
  void update(Value m) {
    Value live = b.lanesBelow(b.sub(rows, m));
    auto load = [&](Statistic which) {
      return b.load(statistics, {statistic(which), m});
    };
    auto store = [&](Statistic which, Value value) {
      b.store(value, statistics, {statistic(which), m});
    };
    Value old = load(RunningMaximum), oldSum = load(RunningSum);
    Value page = b.select(live, load(PageMaximum), b.splat(lowest));
    Value pageSum = b.select(live, load(PageSum), b.splat(0.0f));
    Value maximum = b.greater(old, page);
    Value oldFactor = buildExp2(b, b.subf(old, maximum));
    Value pageFactor = buildExp2(b, b.subf(page, maximum));
    store(RunningMaximum, maximum);
    store(RunningSum, b.fma(oldSum, oldFactor, b.mulf(pageSum, pageFactor)));
    store(OldFactor, oldFactor);
    store(PageFactor, pageFactor);
  }

  VectorBuilder &b;
  Value scores, statistics, rows, keys;
  /// Keys in whole vectors; the lanes of the incomplete one behind them;
  /// whether there is one.
  Value wholeKeys, present, someLeft;
};

} // namespace

void hexad::kernel::lower(VectorBuilder &b, SoftmaxPageOp op) {
  SoftmaxPageLowering(b, op).lower();
}

void hexad::kernel::lower(VectorBuilder &b, StartPagesOp op) {
  Value zero = b.index(0);
  b.loop(zero, b.dim(op.getStatistics(), 1), lanes, [&](Value m) {
    b.store(b.splat(lowest), op.getStatistics(), {b.index(RunningMaximum), m});
    b.store(b.splat(0.0f), op.getStatistics(), {b.index(RunningSum), m});
  });
  b.loop(zero, b.dim(op.getOutput(), 0), 1, [&](Value m) {
    b.loop(zero, b.dim(op.getOutput(), 1), lanes,
           [&](Value d) { b.store(b.splat(0.0f), op.getOutput(), {m, d}); });
  });
}

void hexad::kernel::lower(VectorBuilder &b, FinishPagesOp op) {
  Value destination = op.getDestination();
  int64_t width = op.getWidth(), whole = width / lanes * lanes;
  b.loop(b.index(0), b.dim(destination, 0), 1, [&](Value m) {
    Value sum = b.loadScalar(op.getStatistics(), {b.index(RunningSum), m});
    Value empty = b.compare(arith::CmpFPredicate::OEQ, sum, b.scalar(0.0f));
    Value inverse = b.divf(b.scalar(1.0f), sum);
    // Also for a row whose values are not finite: it saw none of them.
    auto finish = [&](Value output, Value inverse, Value zero) {
      return b.select(empty, zero, b.mulf(b.addf(output, zero), inverse));
    };
    if (whole > 0) {
      Value inverses = b.broadcast(inverse);
      b.loop(b.index(0), b.index(whole), lanes, [&](Value d) {
        Value output = b.load(op.getOutput(), {m, d});
        b.store(finish(output, inverses, b.splat(0.0f)), destination,
                {m, b.add(op.getColumn(), d)});
      });
    }
    if (whole < width)
      b.loop(b.index(whole), b.index(width), 1, [&](Value d) {
        Value output = b.loadScalar(op.getOutput(), {m, d});
        b.storeScalar(finish(output, inverse, b.scalar(0.0f)), destination,
                      {m, b.add(op.getColumn(), d)});
      });
  });
}
