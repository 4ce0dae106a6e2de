//===- Experts.cpp - Routing rows to experts ------------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace hexad::kernel;
using arith::CmpFPredicate;

static constexpr float infinity = std::numeric_limits<float>::infinity();

namespace {

/// Values and their numbers, both f32: scalars, or vectors of 16. They stand in
/// an order, the greatest value first, equal ones by number. A value of NaN has
/// no place in it.
struct Candidate {
  Value value, number;

  /// Where this is behind `other` in the order.
  Value isBehind(VectorBuilder &b, Candidate other) const {
    Value less = b.compare(CmpFPredicate::OLT, value, other.value);
    Value equal = b.compare(CmpFPredicate::OEQ, value, other.value);
    Value later = b.compare(CmpFPredicate::OGT, number, other.number);
    return b.logicalOr(less, b.logicalAnd(equal, later));
  }

  static Candidate select(VectorBuilder &b, Value condition, Candidate yes,
                          Candidate no) {
    return {b.select(condition, yes.value, no.value),
            b.select(condition, yes.number, no.number)};
  }

  Candidate broadcast(VectorBuilder &b) const {
    return {b.broadcast(value), b.broadcast(number)};
  }

  /// In front of all, and behind all.
  static Candidate first(VectorBuilder &b) {
    return {b.scalar(infinity), b.scalar(-1.0f)};
  }
  static Candidate last(VectorBuilder &b) {
    return {b.scalar(-infinity), b.scalar(infinity)};
  }
};

/// Routes one row.
class Router {
public:
  Router(VectorBuilder &b, RouteOp op, Value row)
      : b(b), op(op), row(row), topK(op.getTopK()) {}

  void route() {
    Value maximum = isSoftmax() ? b.broadcast(getMaximum()) : Value();
    Value total = getTotal(maximum);
    chooseExperts();
    changeWeights([&](Value logits) { return getScore(logits, maximum); });
    finishWeights(total);
  }

private:
  bool isSoftmax() { return op.getScore() == hexad::RouterScore::Softmax; }

  SmallVector<Value, 2> expertAt(Value rank) { return {row, rank}; }
  SmallVector<Value, 2> weightAt(Value rank) {
    return {row, b.add(rank, topK)};
  }

  Value loadLogits(Value first, int64_t count) {
    return b.loadFirst(count, op.getLogits(), {row, first});
  }

  Value getScore(Value logits, Value maximum) {
    return isSoftmax() ? buildExp(b, b.subf(logits, maximum))
                       : buildActivation(b, hexad::Activation::Sigmoid, logits);
  }

  /// What experts are chosen by.
  Value getValues(Value first, int64_t count) {
    Value logits = loadLogits(first, count);
    if (isSoftmax())
      return logits;
    Value scores = getScore(logits, Value());
    if (!op.getSelectionBias())
      return scores;
    return b.addf(scores, b.loadFirst(count, op.getSelectionBias(), first));
  }

  /// Lanes from `count` on become `absent`.
  Value keepFirst(int64_t count, Value vector, float absent) {
    if (count == lanes)
      return vector;
    return b.select(b.lanesBelow(b.index(count)), vector, b.splat(absent));
  }

  Value getMaximum() {
    auto greater = [&](Value x, Value y) { return b.greater(x, y); };
    Value maxima = b.reduceParts(
        op.getExperts(), b.splat(-infinity),
        [&](Value first, int64_t count, ValueRange maxima) {
          Value logits = keepFirst(count, loadLogits(first, count), -infinity);
          return SmallVector<Value>{greater(maxima[0], logits)};
        })[0];
    return b.foldLanes(maxima, greater);
  }

  /// A sum over all experts that is NaN if the weights of the row are: with
  /// softmax that of the exponentials, else 0 or NaN.
  Value getTotal(Value maximum) {
    auto add = [&](Value x, Value y) { return b.addf(x, y); };
    Value sums = b.reduceParts(
        op.getExperts(), b.splat(0.0f),
        [&](Value first, int64_t count, ValueRange sums) {
          Value part;
          if (isSoftmax()) {
            part = getScore(loadLogits(first, count), maximum);
          } else {
            Value values = getValues(first, count);
            Value known = b.compare(CmpFPredicate::ORD, values, values);
            part = b.select(known, b.splat(0.0f), values);
          }
          return SmallVector<Value>{add(sums[0], keepFirst(count, part, 0.0f))};
        })[0];
    return b.foldLanes(sums, add);
  }

  /// The foremost of `size` experts from `first` on that is behind `after`;
  /// `Candidate::last` if there is none.
  Candidate choose(Value first, int64_t size, Candidate after) {
    after = after.broadcast(b);
    Candidate none = Candidate::last(b).broadcast(b);
    SmallVector<Value> best = b.reduceParts(
        size, {none.value, none.number},
        [&](Value place, int64_t count, ValueRange best) {
          Value expert = b.add(first, place);
          Candidate found = {getValues(expert, count), b.numbersFrom(expert)};
          Candidate soFar = {best[0], best[1]};
          Value better =
              b.logicalAnd(found.isBehind(b, after), soFar.isBehind(b, found));
          if (count < lanes)
            better = b.logicalAnd(better, b.lanesBelow(b.index(count)));
          soFar = Candidate::select(b, better, found, soFar);
          return SmallVector<Value>{soFar.value, soFar.number};
        });
    Value value =
        b.foldLanes(best[0], [&](Value x, Value y) { return b.greater(x, y); });
    Value isBest = b.compare(CmpFPredicate::OEQ, best[0], b.broadcast(value));
    Value number =
        b.foldLanes(b.select(isBest, best[1], b.splat(infinity)),
                    [&](Value x, Value y) { return b.lesser(x, y); });
    return {value, number};
  }

  /// The foremost of the candidates that `getCandidate` gives for each group;
  /// those whose condition does not hold are left out.
  Candidate chooseOfGroups(
      function_ref<std::pair<Value, Candidate>(Value)> getCandidate) {
    Candidate none = Candidate::last(b);
    SmallVector<Value> best =
        b.reduce(b.index(0), b.index(*op.getGroups()), 1,
                 {none.value, none.number}, [&](Value group, ValueRange best) {
                   Candidate soFar = {best[0], best[1]};
                   auto [condition, found] = getCandidate(group);
                   Value better =
                       b.logicalAnd(condition, soFar.isBehind(b, found));
                   soFar = Candidate::select(b, better, found, soFar);
                   return SmallVector<Value>{soFar.value, soFar.number};
                 });
    return {best[0], best[1]};
  }

  int64_t getGroupSize() { return op.getExperts() / *op.getGroups(); }

  /// The sum of the two greatest values of its experts, and its number.
  Candidate getGroup(Value group) {
    Value first = b.mul(group, getGroupSize());
    Candidate best = choose(first, getGroupSize(), Candidate::first(b));
    Candidate second = choose(first, getGroupSize(), best);
    return {b.addf(best.value, second.value), b.toFloat(group)};
  }

  /// Calls `choose(rank, last)` for each rank with what was chosen before.
  Candidate forEachRank(int64_t ranks,
                        function_ref<Candidate(Value, Candidate)> choose) {
    Candidate front = Candidate::first(b);
    SmallVector<Value> last =
        b.reduce(b.index(0), b.index(ranks), 1, {front.value, front.number},
                 [&](Value rank, ValueRange last) {
                   Candidate next = choose(rank, {last[0], last[1]});
                   return SmallVector<Value>{next.value, next.number};
                 });
    return {last[0], last[1]};
  }

  /// The last of the groups whose experts may be chosen.
  Candidate chooseGroups() {
    return forEachRank(*op.getTopGroups(), [&](Value, Candidate last) {
      return chooseOfGroups([&](Value group) {
        Candidate found = getGroup(group);
        return std::make_pair(found.isBehind(b, last), found);
      });
    });
  }

  /// Writes the experts' numbers, and for weights their logits.
  void chooseExperts() {
    Candidate lastGroup = op.getGroups() ? chooseGroups() : Candidate();
    forEachRank(topK, [&](Value rank, Candidate last) {
      Candidate chosen =
          op.getGroups() ? chooseOfGroups([&](Value number) {
            Candidate group = getGroup(number);
            Value isLast =
                b.compare(CmpFPredicate::OEQ, group.number, lastGroup.number);
            Value isOpen = b.logicalOr(isLast, lastGroup.isBehind(b, group));
            Value first = b.mul(number, getGroupSize());
            return std::make_pair(isOpen, choose(first, getGroupSize(), last));
          })
                         : choose(b.index(0), op.getExperts(), last);
      write(rank, chosen);
      return chosen;
    });
  }

  void write(Value rank, Candidate chosen) {
    Value found =
        b.compare(CmpFPredicate::OLT, chosen.number, b.scalar(infinity));
    Value number = b.select(found, chosen.number, b.scalar(0.0f));
    Value logit = b.loadScalar(op.getLogits(), {row, b.truncate(number)});
    logit = b.select(found, logit, b.scalar(NAN));
    b.storeScalar(number, op.getDestination(), expertAt(rank));
    b.storeScalar(logit, op.getDestination(), weightAt(rank));
  }

  void changeWeights(function_ref<Value(Value)> change) {
    b.forEachPart(topK, [&](Value j, int64_t count) {
      Value weights = b.loadFirst(count, op.getDestination(), weightAt(j));
      b.storeFirst(count, change(weights), op.getDestination(), weightAt(j));
    });
  }

  /// Makes weights of the chosen experts' scores.
  void finishWeights(Value total) {
    Value destination = op.getDestination();
    Value divisor = total;
    if (op.getRenormalize())
      divisor = b.reduce(b.index(0), b.index(topK), 1, b.scalar(0.0f),
                         [&](Value j, ValueRange sums) {
                           Value score = b.loadScalar(destination, weightAt(j));
                           return SmallVector<Value>{b.addf(sums[0], score)};
                         })[0];
    bool divides = isSoftmax() || op.getRenormalize();
    float scaling = op.getScaling().convertToDouble();
    Value known = b.compare(CmpFPredicate::ORD, total, total);
    changeWeights([&](Value weights) {
      if (divides)
        weights = b.divf(weights, b.broadcast(divisor));
      if (scaling != 1.0f)
        weights = b.mulf(weights, b.splat(scaling));
      return b.select(known, weights, b.broadcast(total));
    });
    if (op.getScales())
      b.loop(b.index(0), b.index(topK), 1, [&](Value j) {
        Value expert = b.truncate(b.loadScalar(destination, expertAt(j)));
        Value scale = b.loadScalar(op.getScales(), expert);
        Value weight = b.loadScalar(destination, weightAt(j));
        b.storeScalar(b.mulf(weight, scale), destination, weightAt(j));
      });
  }

  VectorBuilder &b;
  RouteOp op;
  Value row;
  int64_t topK;
};

} // namespace

void hexad::kernel::lower(VectorBuilder &b, RouteOp op) {
  b.loop(b.index(0), b.dim(op.getDestination(), 0), 1,
         [&](Value row) { Router(b, op, row).route(); });
}

/// The number of an expert in memory as an index: that of the nearest one, 0
/// for NaN.
static Value loadExpert(VectorBuilder &b, GroupRowsOp op, ValueRange place) {
  Value number = b.loadScalar(op.getRoutes(), place);
  number = b.clampAbove(b.clampBelow(number, 0.0f), op.getExperts() - 1);
  Value known = b.compare(CmpFPredicate::ORD, number, number);
  return b.truncate(b.select(known, number, b.scalar(0.0f)));
}

void hexad::kernel::lower(VectorBuilder &b, GroupRowsOp op) {
  Value bounds = op.getBounds(), active = op.getActive();
  Value zero = b.index(0), experts = b.index(op.getExperts());
  Value none = b.integer(0), one = b.integer(1);
  int64_t topK = op.getTopK();
  auto forEachPair = [&](function_ref<void(Value, Value, Value)> body) {
    b.loop(zero, op.getRows(), 1, [&](Value row) {
      b.loop(zero, b.index(topK), 1, [&](Value rank) {
        Value expert = loadExpert(b, op, {row, rank});
        body(row, b.add(b.mul(row, topK), rank), b.add(expert, 1));
      });
    });
  };
  // Until the last pair has its place, bounds[e + 1] belongs to expert e: first
  // the number of its rows, then the place of its next row.
  b.loop(zero, b.add(experts, 1), 1,
         [&](Value e) { b.storeScalar(none, bounds, e); });
  forEachPair([&](Value, Value, Value slot) {
    b.storeScalar(b.addi(b.loadScalar(bounds, slot), one), bounds, slot);
  });
  Value activeCount =
      b.reduce(zero, experts, 1, {none, none}, [&](Value e, ValueRange state) {
        Value slot = b.add(e, 1);
        Value rows = b.loadScalar(bounds, slot);
        b.storeScalar(state[0], bounds, slot);
        // The next active expert overwrites one that is not. There is room: e
        // experts lie in front of e.
        b.storeScalar(b.toInteger(e), active, b.add(b.toIndex(state[1]), 1));
        Value isActive = arith::CmpIOp::create(
            b.builder, b.loc, arith::CmpIPredicate::ne, rows, none);
        return SmallVector<Value>{
            b.addi(state[0], rows),
            b.addi(state[1], b.select(isActive, one, none))};
      })[1];
  b.storeScalar(activeCount, active, zero);
  forEachPair([&](Value row, Value pair, Value slot) {
    Value place = b.loadScalar(bounds, slot);
    b.storeScalar(place, op.getPlaces(), pair);
    b.storeScalar(b.toInteger(row), op.getOrder(), b.toIndex(place));
    b.storeScalar(b.addi(place, one), bounds, slot);
  });
}

void hexad::kernel::lower(VectorBuilder &b, CombineRowsOp op) {
  Value destination = op.getDestination();
  int64_t topK = op.getTopK();
  int64_t columns = cast<MemRefType>(destination.getType()).getDimSize(1);
  b.loop(b.index(0), b.dim(destination, 0), 1, [&](Value row) {
    // Behind the columns may lie another's: nothing else is touched.
    b.forEachPart(columns, [&](Value c, int64_t count) {
      Value sum = b.reduce(
          b.index(0), b.index(topK), 1, b.splat(0.0f),
          [&](Value j, ValueRange sums) {
            Value pair = b.add(b.mul(row, topK), j);
            Value place = b.toIndex(b.loadScalar(op.getPlaces(), pair));
            Value part = b.loadFirst(count, op.getParts(), {place, c});
            Value weight = b.loadScalar(op.getRoutes(), {row, b.add(j, topK)});
            return SmallVector<Value>{
                b.fma(b.broadcast(weight), part, sums[0])};
          })[0];
      b.storeFirst(count, sum, destination, {row, c});
    });
  });
}
