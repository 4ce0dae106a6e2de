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
      : b(b), op(op), scores(op.getScores()), statistics(op.getStatistics()),
        rows(op.getRows()), keys(op.getKeys()) {}

  void lower() {
    Value zero = b.index(0);
    if (!isMasked())
      seen = makeRange(zero, keys);
    b.loop(zero, rows, 1, [&](Value m) { lowerRow(m); });
    b.loop(zero, rows, lanes, [&](Value m) { update(m); });
  }

private:
  /// The keys that a row sees, from `begin` to `end`: whole vectors from
  /// `whole` to `wholeEnd`, and in front of and behind them an incomplete one.
  /// If all lie in one incomplete vector that is the one in front (of a window)
  /// or the one behind.
  struct Range {
    Value begin, end, whole, wholeEnd;
    Value hasFront, frontLanes; ///< null: rows see keys from the first one on
    Value hasBack, backLanes;
  };

  bool isMasked() { return op.getCausal() || op.getWindow(); }

  Value isBelow(Value lhs, Value rhs) {
    return arith::CmpIOp::create(b.builder, b.loc, arith::CmpIPredicate::ult,
                                 lhs, rhs);
  }

  Range makeRange(Value begin, Value end) {
    Range range{begin, end, begin, b.roundDown(end, lanes), {}, {}, {}, {}};
    range.backLanes = b.lanesBelow(b.sub(end, range.wholeEnd));
    range.hasBack = isBelow(range.wholeEnd, end);
    if (!op.getWindow())
      return range;
    range.whole = b.roundDown(b.add(begin, lanes - 1), lanes);
    Value front = b.roundDown(begin, lanes);
    range.hasFront = isBelow(begin, b.minimum(range.whole, end));
    Value below = b.lanesBelow(b.sub(begin, front));
    Value above = b.lanesBelow(b.minimum(b.sub(end, front), b.index(lanes)));
    Value all = arith::ConstantOp::create(
        b.builder, b.loc,
        DenseElementsAttr::get(cast<VectorType>(below.getType()), true));
    Value notBelow = arith::XOrIOp::create(b.builder, b.loc, below, all);
    range.frontLanes = arith::AndIOp::create(b.builder, b.loc, notBelow, above);
    // The vector in front may be the one behind as well.
    Value isBehind =
        arith::CmpIOp::create(b.builder, b.loc, arith::CmpIPredicate::ule,
                              range.whole, range.wholeEnd);
    range.hasBack =
        arith::AndIOp::create(b.builder, b.loc, range.hasBack, isBehind);
    return range;
  }

  /// What row m sees. Positions are signed: a page may lie behind the row.
  Range getSeen(Value m) {
    if (!isMasked())
      return seen;
    auto clamp = [&](Value value) -> Value {
      value = arith::MaxSIOp::create(b.builder, b.loc, value, b.index(0));
      return arith::MinSIOp::create(b.builder, b.loc, value, keys);
    };
    Value next = b.add(b.add(op.getPosition(), m), 1);
    Value begin = b.index(0), end = keys;
    if (op.getCausal())
      end = clamp(next);
    if (op.getWindow())
      begin = clamp(b.sub(next, b.index(*op.getWindow())));
    return makeRange(begin, end);
  }

  Value statistic(Statistic which) { return b.index(which); }

  /// Combines the vectors of what a row sees; `element(t, lanes)` computes the
  /// one at key t, of which only `lanes` count if they are not null.
  Value reduce(const Range &range, float init,
               function_ref<Value(Value, Value)> element,
               function_ref<Value(Value, Value)> combine) {
    Value result = b.splat(init);
    auto combineIf = [&](Value condition, Value t, Value present) {
      result = b.conditional(
          result.getType(), condition,
          [&] { return combine(result, element(t, present)); },
          [&] { return result; });
    };
    if (range.hasFront)
      combineIf(range.hasFront, b.roundDown(range.begin, lanes),
                range.frontLanes);
    result = b.reduce(range.whole, range.wholeEnd, lanes, result,
                      [&](Value t, ValueRange soFar) {
                        return SmallVector<Value>{
                            combine(soFar[0], element(t, Value()))};
                      })[0];
    combineIf(range.hasBack, range.wholeEnd, range.backLanes);
    return b.foldLanes(result, combine);
  }

  /// Scores as they are compared and exponentiated. The first look at them
  /// leaves them capped.
  Value loadCapped(Value m, Value t) {
    Value x = b.load(scores, {m, t});
    if (!op.getSoftcap())
      return x;
    x = buildSoftcap(b, x, op.getSoftcap()->convertToDouble());
    b.store(x, scores, {m, t});
    return x;
  }

  void clear(Value m, Value from, Value to) {
    b.loop(from, to, lanes,
           [&](Value t) { b.store(b.splat(0.0f), scores, {m, t}); });
  }

  void lowerRow(Value m) {
    Range range = getSeen(m);
    auto greater = [&](Value x, Value y) { return b.greater(x, y); };
    auto add = [&](Value x, Value y) { return b.addf(x, y); };
    Value maximum = reduce(
        range, lowest,
        [&](Value t, Value present) {
          Value x = loadCapped(m, t);
          return present ? b.select(present, x, b.splat(lowest)) : x;
        },
        greater);
    Value maxima = b.broadcast(maximum);
    Value sum = reduce(
        range, 0.0f,
        [&](Value t, Value present) {
          Value p = buildExp2(b, b.subf(b.load(scores, {m, t}), maxima));
          if (present)
            p = b.select(present, p, b.splat(0.0f));
          b.store(p, scores, {m, t});
          return p;
        },
        add);
    Value behind = b.roundDown(b.add(range.end, lanes - 1), lanes);
    // A row that sees nothing has no vector between the two.
    if (op.getWindow())
      clear(m, b.index(0),
            b.select(isBelow(range.begin, range.end),
                     b.roundDown(range.begin, lanes), behind));
    clear(m, behind, b.dim(scores, 1));
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
  SoftmaxPageOp op;
  Value scores, statistics, rows, keys;
  Range seen; ///< by every row, if none is masked
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
