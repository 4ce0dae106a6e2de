//===- Move.cpp - Gathering, packing, pooling rows ------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace hexad::kernel;

static int64_t getColumns(Value rows) {
  return cast<MemRefType>(rows.getType()).getDimSize(1);
}

/// Calls `vector` for each 16 columns, then `element` for each column left
/// over.
static void forEachColumn(VectorBuilder &b, int64_t columns,
                          function_ref<void(Value)> vector,
                          function_ref<void(Value)> element) {
  int64_t whole = columns / lanes * lanes;
  if (whole > 0)
    b.loop(b.index(0), b.index(whole), lanes, vector);
  if (whole < columns)
    b.loop(b.index(whole), b.index(columns), 1, element);
}

void hexad::kernel::lower(VectorBuilder &b, GatherIndicesOp op) {
  Value source = op.getSource(), where = op.getWhere();
  Value zero = b.integer(0), present = b.isPresent(source);
  b.loop(b.index(0), b.dim(op.getDestination(), 0), 1, [&](Value i) {
    Value from = b.loadScalar(where, i);
    Value given =
        arith::AndIOp::create(b.builder, b.loc, present, b.isNotNegative(from));
    Value id = b.conditional(
        zero.getType(), given,
        [&] { return b.loadScalar(source, b.toIndex(from)); },
        [&] { return zero; });
    b.storeScalar(id, op.getDestination(), i);
  });
}

/// `to[toRow, :] = from[fromRow, :]`, as many columns as `to` has.
static void copyRow(VectorBuilder &b, Value from, Value fromRow, Value to,
                    Value toRow) {
  forEachColumn(
      b, getColumns(to),
      [&](Value c) { b.store(b.load(from, {fromRow, c}), to, {toRow, c}); },
      [&](Value c) {
        b.storeScalar(b.loadScalar(from, {fromRow, c}), to, {toRow, c});
      });
}

static void clearRow(VectorBuilder &b, Value rows, Value row) {
  forEachColumn(
      b, getColumns(rows),
      [&](Value c) { b.store(b.splat(0.0f), rows, {row, c}); },
      [&](Value c) { b.storeScalar(b.scalar(0.0f), rows, {row, c}); });
}

void hexad::kernel::lower(VectorBuilder &b, GatherRowsOp op) {
  Value destination = op.getDestination();
  b.branch(b.isPresent(destination), [&] {
    b.loop(b.index(0), b.dim(destination, 0), 1, [&](Value i) {
      Value from = b.loadScalar(op.getWhere(), i);
      b.branch(
          b.isNotNegative(from),
          [&] {
            copyRow(b, op.getSource(), b.add(b.toIndex(from), op.getOffset()),
                    destination, i);
          },
          [&] { clearRow(b, destination, i); });
    });
  });
}

void hexad::kernel::lower(VectorBuilder &b, CopyRowsOp op) {
  Value destination = op.getDestination();
  b.branch(b.isPresent(destination), [&] {
    b.loop(b.index(0), b.dim(destination, 0), 1,
           [&](Value i) { copyRow(b, op.getSource(), i, destination, i); });
  });
}

void hexad::kernel::lower(VectorBuilder &b, MeanRowsOp op) {
  Value source = op.getSource(), destination = op.getDestination();
  b.loop(b.index(0), b.dim(destination, 0), 1, [&](Value i) {
    Value first = b.loadScalar(op.getBounds(), i);
    Value behind = b.loadScalar(op.getBounds(), b.add(i, 1));
    Value from = b.toIndex(first), to = b.toIndex(behind);
    Value length = arith::SubIOp::create(b.builder, b.loc, behind, first);
    Value count = arith::SIToFPOp::create(b.builder, b.loc,
                                          b.builder.getF32Type(), length);
    Value some = arith::CmpIOp::create(
        b.builder, b.loc, arith::CmpIPredicate::sgt, length, b.integer(0));
    // A sum over no rows is 0, and so is its mean: divide by 1.
    Value divisor = b.select(some, count, b.scalar(1.0f));
    Value divisors = b.broadcast(divisor);
    forEachColumn(
        b, getColumns(destination),
        [&](Value c) {
          Value sum = b.reduce(from, to, 1, b.splat(0.0f),
                               [&](Value r, ValueRange sums) {
                                 return SmallVector<Value>{
                                     b.addf(sums[0], b.load(source, {r, c}))};
                               })[0];
          b.store(b.divf(sum, divisors), destination, {i, c});
        },
        [&](Value c) {
          Value sum = b.reduce(
              from, to, 1, b.scalar(0.0f), [&](Value r, ValueRange sums) {
                return SmallVector<Value>{
                    b.addf(sums[0], b.loadScalar(source, {r, c}))};
              })[0];
          b.storeScalar(b.divf(sum, divisor), destination, {i, c});
        });
  });
}

void hexad::kernel::lower(VectorBuilder &b, LoadQueriesOp op) {
  Value source = op.getSource(), destination = op.getDestination();
  float scale = op.getScale().convertToDouble();
  b.loop(b.index(0), b.dim(source, 0), 1, [&](Value m) {
    forEachColumn(
        b, op.getWidth(),
        [&](Value d) {
          Value x = b.load(source, {m, b.add(op.getColumn(), d)});
          b.store(b.mulf(x, b.splat(scale)), destination, {m, d});
        },
        [&](Value d) {
          Value x = b.loadScalar(source, {m, b.add(op.getColumn(), d)});
          b.storeScalar(b.mulf(x, b.scalar(scale)), destination, {m, d});
        });
  });
}

/// Transposes 16 vectors of 16 lanes: first 4 x 4 blocks within 128 bits, then
/// the blocks. These are the shuffles that the instruction sets have.
static SmallVector<Value> transpose(VectorBuilder &b, ArrayRef<Value> rows) {
  // Picks lanes within each 128 bits; lanes from 4 on are those of `high`.
  auto within = [&](Value low, Value high, std::array<int64_t, 4> picked) {
    SmallVector<int64_t> mask;
    for (int64_t block = 0; block < lanes; block += 4)
      for (int64_t lane : picked)
        mask.push_back(lane < 4 ? block + lane : lanes + block + lane - 4);
    return vector::ShuffleOp::create(b.builder, b.loc, low, high, mask)
        .getResult();
  };
  // Picks blocks of 128 bits; blocks from 4 on are those of `high`.
  auto blocks = [&](Value low, Value high, std::array<int64_t, 4> picked) {
    SmallVector<int64_t> mask;
    for (int64_t block : picked)
      for (int64_t lane = 0; lane < 4; ++lane)
        mask.push_back(4 * block + lane);
    return vector::ShuffleOp::create(b.builder, b.loc, low, high, mask)
        .getResult();
  };
  // After this, element 4·c + j of `quads[4·g + i]` is rows[4·g + j][4·c + i].
  SmallVector<Value> quads;
  for (int64_t group = 0; group < lanes; group += 4) {
    ArrayRef<Value> r = rows.slice(group, 4);
    Value low01 = within(r[0], r[1], {0, 4, 1, 5});
    Value high01 = within(r[0], r[1], {2, 6, 3, 7});
    Value low23 = within(r[2], r[3], {0, 4, 1, 5});
    Value high23 = within(r[2], r[3], {2, 6, 3, 7});
    quads.push_back(within(low01, low23, {0, 1, 4, 5}));
    quads.push_back(within(low01, low23, {2, 3, 6, 7}));
    quads.push_back(within(high01, high23, {0, 1, 4, 5}));
    quads.push_back(within(high01, high23, {2, 3, 6, 7}));
  }
  SmallVector<Value> columns(lanes);
  for (int64_t i = 0; i < 4; ++i) {
    Value low01 = blocks(quads[i], quads[4 + i], {0, 1, 4, 5});
    Value high01 = blocks(quads[i], quads[4 + i], {2, 3, 6, 7});
    Value low23 = blocks(quads[8 + i], quads[12 + i], {0, 1, 4, 5});
    Value high23 = blocks(quads[8 + i], quads[12 + i], {2, 3, 6, 7});
    columns[i] = blocks(low01, low23, {0, 2, 4, 6});
    columns[4 + i] = blocks(low01, low23, {1, 3, 5, 7});
    columns[8 + i] = blocks(high01, high23, {0, 2, 4, 6});
    columns[12 + i] = blocks(high01, high23, {1, 3, 5, 7});
  }
  return columns;
}

void hexad::kernel::lower(VectorBuilder &b, PackKeysOp op) {
  Value source = op.getSource(), page = op.getDestination();
  ArrayRef<int64_t> shape = cast<MemRefType>(page.getType()).getShape();
  int64_t panelKeys = shape[2], width = op.getWidth();
  int64_t wholeWidth = width / lanes * lanes;
  Value zero = b.index(0), keys = b.dim(source, 0);
  Value wholeKeys = b.roundDown(keys, lanes);
  auto copyElement = [&](Value t, Value d) {
    b.storeScalar(b.loadScalar(source, {t, b.add(op.getColumn(), d)}), page,
                  {b.divide(t, panelKeys), d, b.remainder(t, panelKeys)});
  };

  b.loop(zero, wholeKeys, lanes, [&](Value t) {
    Value panel = b.divide(t, panelKeys), lane = b.remainder(t, panelKeys);
    if (wholeWidth > 0)
      b.loop(zero, b.index(wholeWidth), lanes, [&](Value d) {
        Value column = b.add(op.getColumn(), d);
        SmallVector<Value> rows;
        for (int64_t i = 0; i < lanes; ++i)
          rows.push_back(b.load(source, {b.add(t, i), column}));
        for (auto [i, keyLanes] : llvm::enumerate(transpose(b, rows)))
          b.store(keyLanes, page, {panel, b.add(d, i), lane});
      });
    if (wholeWidth < width)
      b.loop(b.index(wholeWidth), b.index(width), 1, [&](Value d) {
        b.loop(t, b.add(t, lanes), 1, [&](Value key) { copyElement(key, d); });
      });
  });
  // Zeros from the last incomplete vector on, then the keys in it.
  b.loop(wholeKeys, b.index(shape[0] * panelKeys), lanes, [&](Value t) {
    Value panel = b.divide(t, panelKeys), lane = b.remainder(t, panelKeys);
    b.loop(zero, b.index(width), 1,
           [&](Value d) { b.store(b.splat(0.0f), page, {panel, d, lane}); });
  });
  b.loop(wholeKeys, keys, 1, [&](Value t) {
    b.loop(zero, b.index(width), 1, [&](Value d) { copyElement(t, d); });
  });
}

void hexad::kernel::lower(VectorBuilder &b, PackValuesOp op) {
  Value source = op.getSource(), page = op.getDestination();
  ArrayRef<int64_t> shape = cast<MemRefType>(page.getType()).getShape();
  int64_t panelColumns = shape[2], width = op.getWidth();
  int64_t paddedWidth = shape[0] * panelColumns;
  int64_t wholeWidth = width / lanes * lanes;
  Value zero = b.index(0), keys = b.dim(source, 0);
  auto store = [&](Value vector, Value t, Value d) {
    b.store(vector, page,
            {b.divide(d, panelColumns), t, b.remainder(d, panelColumns)});
  };
  auto clear = [&](Value t, int64_t from) {
    if (from < paddedWidth)
      b.loop(b.index(from), b.index(paddedWidth), lanes,
             [&](Value d) { store(b.splat(0.0f), t, d); });
  };

  b.loop(zero, keys, 1, [&](Value t) {
    clear(t, wholeWidth);
    forEachColumn(
        b, width,
        [&](Value d) {
          store(b.load(source, {t, b.add(op.getColumn(), d)}), t, d);
        },
        [&](Value d) {
          b.storeScalar(
              b.loadScalar(source, {t, b.add(op.getColumn(), d)}), page,
              {b.divide(d, panelColumns), t, b.remainder(d, panelColumns)});
        });
  });
  b.loop(keys, b.index(shape[1]), 1, [&](Value t) { clear(t, 0); });
}
