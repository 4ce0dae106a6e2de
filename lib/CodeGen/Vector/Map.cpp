//===- Map.cpp - Attention probabilities of a page ------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace hexad::kernel;

namespace {

/// Lowers one map_page, row by row.
class MapPageLowering {
public:
  MapPageLowering(VectorBuilder &b, MapPageOp op)
      : b(b), op(op), keys(op.getKeys()) {}

  void lower() {
    b.loop(b.index(0), op.getRows(), 1, [&](Value m) { lowerRow(m); });
  }

private:
  Value multiply(Value lhs, Value rhs) {
    return arith::MulIOp::create(b.builder, b.loc, lhs, rhs);
  }

  /// The lanes of the keys from t on that row m sees; null if it sees all.
  /// Positions are signed: a page may lie behind the row.
  Value getSeen(Value m, Value t) {
    Value next = b.add(b.add(op.getPosition(), m), 1);
    Value seen;
    if (op.getCausal())
      seen = b.lanesBelow(b.sub(next, t));
    if (!op.getWindow())
      return seen;
    Value hidden =
        b.lanesBelow(b.sub(b.sub(next, b.index(*op.getWindow())), t));
    Value all = arith::ConstantOp::create(
        b.builder, b.loc,
        DenseElementsAttr::get(cast<VectorType>(hidden.getType()), true));
    Value inWindow = arith::XOrIOp::create(b.builder, b.loc, hidden, all);
    return seen ? arith::AndIOp::create(b.builder, b.loc, seen, inWindow)
                      .getResult()
                : inWindow;
  }

  void lowerRow(Value m) {
    Value statistics = op.getStatistics();
    Value maxima =
        b.broadcast(b.loadScalar(statistics, {b.index(RunningMaximum), m}));
    Value sum = b.loadScalar(statistics, {b.index(RunningSum), m});
    // A row that saw nothing has zeros, whatever its scores are.
    Value empty = b.compare(arith::CmpFPredicate::OEQ, sum, b.scalar(0.0f));
    Value inverses = b.broadcast(
        b.select(empty, b.scalar(0.0f), b.divf(b.scalar(1.0f), sum)));
    Value first = b.add(op.getStart(), multiply(m, op.getStride()));
    auto element = [&](Value t) {
      Value x = b.load(op.getScores(), {m, t});
      if (op.getSoftcap())
        x = buildSoftcap(b, x, op.getSoftcap()->convertToDouble());
      Value p = b.mulf(buildExp2(b, b.subf(x, maxima)), inverses);
      if (op.getCausal() || op.getWindow())
        p = b.select(getSeen(m, t), p, b.splat(0.0f));
      return p;
    };
    Value whole = b.roundDown(keys, lanes);
    b.loop(b.index(0), whole, lanes, [&](Value t) {
      b.store(element(t), op.getDestination(), {b.add(first, t)});
    });
    Value rest = b.sub(keys, whole);
    Value hasRest = arith::CmpIOp::create(
        b.builder, b.loc, arith::CmpIPredicate::ne, rest, b.index(0));
    b.branch(hasRest, [&] {
      b.storeFirst(rest, element(whole), op.getDestination(),
                   {b.add(first, whole)});
    });
  }

  VectorBuilder &b;
  MapPageOp op;
  Value keys;
};

} // namespace

void hexad::kernel::lower(VectorBuilder &b, MapPageOp op) {
  MapPageLowering(b, op).lower();
}

void hexad::kernel::lower(VectorBuilder &b, ClearOp op) {
  Value zeros = b.splat(0.0f), whole = b.roundDown(op.getCount(), lanes);
  b.loop(b.index(0), whole, lanes, [&](Value i) {
    b.store(zeros, op.getDestination(), {b.add(op.getStart(), i)});
  });
  b.storeFirst(b.sub(op.getCount(), whole), zeros, op.getDestination(),
               {b.add(op.getStart(), whole)});
}

void hexad::kernel::lower(VectorBuilder &b, IsPresentOp op) {
  op.getResult().replaceAllUsesWith(b.isPresent(op.getBuffer()));
}
