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

void hexad::kernel::lower(VectorBuilder &b, ScatterRowsOp op) {
  Value destination = op.getDestination();
  b.branch(b.isPresent(destination), [&] {
    b.loop(b.index(0), b.dim(op.getSource(), 0), 1, [&](Value i) {
      Value to = b.toIndex(b.loadScalar(op.getWhere(), i));
      copyRow(b, op.getSource(), i, destination, to);
    });
  });
}

void hexad::kernel::lower(VectorBuilder &b, GatherPackedRowsOp op) {
  Value panels = op.getPanels(), destination = op.getDestination();
  ArrayRef<int64_t> shape = cast<MemRefType>(panels.getType()).getShape();
  int64_t depth = shape[1], panelColumns = shape[2];
  int64_t firstEmpty = depth / lanes * lanes;
  b.loop(b.index(0), b.dim(destination, 0), 1, [&](Value i) {
    Value from = b.loadScalar(op.getWhere(), i);
    b.branch(
        b.isNotNegative(from),
        [&] {
          Value row = b.add(b.toIndex(from), op.getOffset());
          Value panel = b.divide(row, panelColumns);
          Value lane = b.remainder(row, panelColumns);
          // Whole vectors of zeros, before the elements in them.
          b.loop(b.index(firstEmpty), b.dim(destination, 1), lanes,
                 [&](Value c) { b.store(b.splat(0.0f), destination, {i, c}); });
          b.loop(b.index(0), b.index(depth), 1, [&](Value k) {
            b.storeScalar(b.loadScalar(panels, {panel, k, lane}), destination,
                          {i, k});
          });
        },
        [&] { clearRow(b, destination, i); });
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
    Value to = b.toIndex(b.loadScalar(op.getBounds(), b.add(i, 1)));
    // The end if there are fewer rows than are skipped. Not in i32, where the
    // sum may overflow.
    Value from = b.add(b.toIndex(b.loadScalar(op.getBounds(), i)),
                       static_cast<int64_t>(op.getSkip()));
    from = arith::MinSIOp::create(b.builder, b.loc, from, to);
    Value length = arith::IndexCastOp::create(
        b.builder, b.loc, b.builder.getI32Type(), b.sub(to, from));
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

namespace {
/// The rows of a source that a page op packs: those in front of the first whole
/// vector of keys, whole vectors, and those behind.
struct PackedRows {
  Value start, keys, whole, wholeEnd;

  template <typename Op> PackedRows(VectorBuilder &b, Op op) {
    keys = b.dim(op.getSource(), 0);
    start = op.getStart() ? Value(op.getStart()) : b.index(0);
    whole = b.index(0);
    if (op.getStart()) {
      Value misaligned = b.remainder(start, lanes);
      Value missing = b.remainder(b.sub(b.index(lanes), misaligned), lanes);
      whole = b.minimum(missing, keys);
    }
    wholeEnd = b.add(whole, b.roundDown(b.sub(keys, whole), lanes));
  }
};
} // namespace

void hexad::kernel::lower(VectorBuilder &b, PackKeysOp op) {
  Value source = op.getSource(), page = op.getDestination();
  ArrayRef<int64_t> shape = cast<MemRefType>(page.getType()).getShape();
  int64_t panelKeys = shape[2], width = op.getWidth();
  int64_t wholeWidth = width / lanes * lanes;
  Value zero = b.index(0);
  PackedRows packed(b, op);
  auto getPlace = [&](Value t, Value d) -> SmallVector<Value> {
    Value key = b.add(packed.start, t);
    return {b.divide(key, panelKeys), d, b.remainder(key, panelKeys)};
  };
  auto copyElement = [&](Value t, Value d) {
    b.storeScalar(b.loadScalar(source, {t, b.add(op.getColumn(), d)}), page,
                  getPlace(t, d));
  };
  auto copyKeys = [&](Value from, Value to, Value fromColumn) {
    b.loop(from, to, 1, [&](Value t) {
      b.loop(fromColumn, b.index(width), 1,
             [&](Value d) { copyElement(t, d); });
    });
  };

  b.loop(packed.whole, packed.wholeEnd, lanes, [&](Value t) {
    if (wholeWidth > 0)
      b.loop(zero, b.index(wholeWidth), lanes, [&](Value d) {
        Value column = b.add(op.getColumn(), d);
        SmallVector<Value> rows;
        for (int64_t i = 0; i < lanes; ++i)
          rows.push_back(b.load(source, {b.add(t, i), column}));
        for (auto [i, keyLanes] : llvm::enumerate(transpose(b, rows)))
          b.store(keyLanes, page, getPlace(t, b.add(d, i)));
      });
    if (wholeWidth < width)
      copyKeys(t, b.add(t, lanes), b.index(wholeWidth));
  });
  // Zeros from the last incomplete vector on, before the keys in it.
  if (!op.getStart())
    b.loop(packed.wholeEnd, b.index(shape[0] * panelKeys), lanes, [&](Value t) {
      b.loop(zero, b.index(width), 1,
             [&](Value d) { b.store(b.splat(0.0f), page, getPlace(t, d)); });
    });
  else
    copyKeys(zero, packed.whole, zero);
  copyKeys(packed.wholeEnd, packed.keys, zero);
}

void hexad::kernel::lower(VectorBuilder &b, PackValuesOp op) {
  Value source = op.getSource(), page = op.getDestination();
  ArrayRef<int64_t> shape = cast<MemRefType>(page.getType()).getShape();
  int64_t panelColumns = shape[2], width = op.getWidth();
  int64_t paddedWidth = shape[0] * panelColumns;
  int64_t wholeWidth = width / lanes * lanes;
  Value zero = b.index(0), keys = b.dim(source, 0);
  Value start = op.getStart() ? Value(op.getStart()) : zero;
  auto getPlace = [&](Value key, Value d) -> SmallVector<Value> {
    return {b.divide(d, panelColumns), key, b.remainder(d, panelColumns)};
  };
  auto clear = [&](Value key, int64_t from) {
    if (from < paddedWidth)
      b.loop(b.index(from), b.index(paddedWidth), lanes,
             [&](Value d) { b.store(b.splat(0.0f), page, getPlace(key, d)); });
  };

  b.loop(zero, keys, 1, [&](Value t) {
    Value key = b.add(start, t);
    clear(key, wholeWidth);
    forEachColumn(
        b, width,
        [&](Value d) {
          b.store(b.load(source, {t, b.add(op.getColumn(), d)}), page,
                  getPlace(key, d));
        },
        [&](Value d) {
          b.storeScalar(b.loadScalar(source, {t, b.add(op.getColumn(), d)}),
                        page, getPlace(key, d));
        });
  });
  if (!op.getStart())
    b.loop(keys, b.index(shape[1]), 1, [&](Value t) { clear(t, 0); });
}
