//===- Rotary.cpp - Rotary position embedding -----------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace hexad::kernel;

static int64_t getColumns(Value rows) {
  return cast<MemRefType>(rows.getType()).getDimSize(1);
}

/// A constant of 16 lanes; 0 where there is no number.
static Value makeVector(VectorBuilder &b, ArrayRef<float> numbers) {
  SmallVector<float> padded(numbers);
  padded.resize(lanes, 0.0f);
  return arith::ConstantOp::create(
      b.builder, b.loc,
      DenseElementsAttr::get(b.vectorType(), ArrayRef<float>(padded)));
}

void hexad::kernel::lower(VectorBuilder &b, RotaryOp op) {
  Value destination = op.getDestination();
  ArrayRef<float> frequencies = op.getInvFreq();
  int64_t n = frequencies.size(), columns = getColumns(destination);
  Value factor =
      b.splat(static_cast<float>(op.getAttentionFactor().convertToDouble()));
  b.loop(b.index(0), b.dim(destination, 0), 1, [&](Value m) {
    Value position = b.broadcast(
        arith::SIToFPOp::create(b.builder, b.loc, b.builder.getF32Type(),
                                b.loadScalar(op.getPositions(), m)));
    for (int64_t i = 0; i < n; i += lanes) {
      int64_t count = std::min<int64_t>(lanes, n - i);
      Value frequency = makeVector(b, frequencies.slice(i, count));
      Value angle = b.mulf(position, frequency);
      Value rest = b.fma(position, frequency, b.negf(angle));
      SineAndCosine result = buildSineAndCosine(b, angle, rest);
      b.storeFirst(count, b.mulf(result.cosine, factor), destination,
                   {m, b.index(i)});
      b.storeFirst(count, b.mulf(result.sine, factor), destination,
                   {m, b.index(n + i)});
    }
    b.forEachPart(columns - 2 * n, [&](Value c, int64_t count) {
      b.storeFirst(count, b.splat(0.0f), destination, {m, b.add(c, 2 * n)});
    });
  });
}

namespace {
/// Two columns after their rotation. Vectors or scalars.
struct Pair {
  Value first, second;

  Pair(VectorBuilder &b, Value first, Value second, Value cosine, Value sine)
      : first(b.fma(first, cosine, b.negf(b.mulf(second, sine)))),
        second(b.fma(second, cosine, b.mulf(first, sine))) {}
};
} // namespace

/// Pairs of columns `(i, n + i)` of a head that begins in column `head`.
static void rotateHalves(VectorBuilder &b, RopeOp op, Value m, Value head) {
  Value x = op.getX(), rotary = op.getRotary();
  int64_t n = op.getFrequencies();
  b.forEachPart(n, [&](Value i, int64_t count) {
    Value first = b.add(head, i), second = b.add(first, n);
    Pair pair(b, b.loadFirst(count, x, {m, first}),
              b.loadFirst(count, x, {m, second}),
              b.loadFirst(count, rotary, {m, i}),
              b.loadFirst(count, rotary, {m, b.add(i, n)}));
    b.storeFirst(count, pair.first, op.getDestination(), {m, first});
    b.storeFirst(count, pair.second, op.getDestination(), {m, second});
  });
}

/// Pairs of columns `(2i, 2i + 1)`.
static void rotateNeighbours(VectorBuilder &b, RopeOp op, Value m, Value head) {
  Value x = op.getX(), rotary = op.getRotary();
  int64_t n = op.getFrequencies();
  b.loop(b.index(0), b.index(n), 1, [&](Value i) {
    Value first = b.add(head, b.mul(i, 2)), second = b.add(first, 1);
    Pair pair(b, b.loadScalar(x, {m, first}), b.loadScalar(x, {m, second}),
              b.loadScalar(rotary, {m, i}),
              b.loadScalar(rotary, {m, b.add(i, n)}));
    b.storeScalar(pair.first, op.getDestination(), {m, first});
    b.storeScalar(pair.second, op.getDestination(), {m, second});
  });
}

void hexad::kernel::lower(VectorBuilder &b, RopeOp op) {
  Value x = op.getX(), destination = op.getDestination();
  bool inPlace = x == destination;
  int64_t offset = op.getOffset(), headDim = op.getHeadDim();
  int64_t rotated = 2 * static_cast<int64_t>(op.getFrequencies());
  int64_t end = offset + static_cast<int64_t>(op.getHeads()) * headDim;
  b.loop(b.index(0), b.dim(destination, 0), 1, [&](Value m) {
    b.loop(b.index(0), b.index(op.getHeads()), 1, [&](Value h) {
      Value head = b.add(b.mul(h, headDim), offset);
      if (op.getPairing() == hexad::Pairing::Half)
        rotateHalves(b, op, m, head);
      else
        rotateNeighbours(b, op, m, head);
      if (!inPlace)
        b.copyColumns(x, destination, m, b.add(head, rotated),
                      headDim - rotated);
    });
    if (inPlace)
      return;
    b.copyColumns(x, destination, m, b.index(0), offset);
    b.copyColumns(x, destination, m, b.index(end),
                  getColumns(destination) - end);
  });
}
