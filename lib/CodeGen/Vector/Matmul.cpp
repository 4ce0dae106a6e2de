//===- Matmul.cpp - Rows times a packed matrix ----------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Strip.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace hexad::kernel;

namespace {

/// Panels of fewer bytes are not worth fetching ahead: those of attention,
/// which have just been written.
constexpr int64_t smallestFetchedPanel = 16 << 10;

/// A few rows read each weight once: what counts is how many panels are read
/// side by side.
constexpr int64_t mostFewRows = 4, mostPanelsSideBySide = 4;

/// Panels of attention are short: four side by side end before the processor
/// has learnt to read ahead in each (kernel-bench --only=query, other work on
/// the machine: two reach 89 % of the read loop, four 84 %, one 85 %).
constexpr int64_t shortPanelDepth = 128, mostShortPanelsSideBySide = 2;

/// Lowers one matmul: a loop over panels, in it one over strips of the tile's
/// rows, in it one over k with the strip's accumulators in registers. The rows
/// behind the last whole strip are one smaller strip: none is computed in vain.
/// Few rows are multiplied by several panels side by side, by whole groups of
/// panels first.
///
/// The loop over k of whole strips is here. Those of smaller strips and of
/// groups are functions that all matmuls share; only they are called, and the
/// sums that they leave go through the same epilogue. So a matmul is little
/// code, however many ways there are.
class MatmulLowering {
public:
  MatmulLowering(VectorBuilder &b, MatmulOp op)
      : b(b), op(op), tileRows(op.getTile().getRows()) {
    auto type = cast<MemRefType>(op.getPanels().getType());
    depth = type.getDimSize(1);
    columns = type.getDimSize(2);
    vectors = columns / lanes;
  }

  void lower() {
    allocateSums();
    rowCount = b.dim(op.getDestination(), 0);
    wholeStrips = b.divide(rowCount, tileRows);
    wholeEnd = b.mul(wholeStrips, tileRows);
    rest = b.sub(rowCount, wholeEnd);
    strips = b.divide(b.add(rowCount, tileRows - 1), tileRows);
    planFetches();
    planGroups();
    Value panels = b.dim(op.getPanels(), 0);
    Value groups = shiftRight(panels, groupShift);
    Value groupsEnd = shiftLeft(groups, groupShift);
    Value turns = b.add(groups, b.sub(panels, groupsEnd));
    b.loop(b.index(0), turns, 1, [&](Value turn) {
      Value isGroup = isBelow(turn, groups);
      Turn t;
      t.shift = b.select(isGroup, groupShift, b.index(0));
      t.panel = b.select(isGroup, shiftLeft(turn, groupShift),
                         b.add(groupsEnd, b.sub(turn, groups)));
      b.loop(b.index(0), strips, 1, [&](Value strip) {
        Value m = b.mul(strip, tileRows);
        Value kept = b.conditional(
            b.builder.getIndexType(), isBelow(strip, wholeStrips),
            [&] { return lowerWholeStrip(strip, m, t.panel); },
            [&] { return lowerRest(t); });
        finishKept(m, kept, t);
      });
    });
  }

private:
  /// A group of 2^shift panels, or one.
  struct Turn {
    Value panel, shift;
  };

  //===--------------------------------------------------------------------===//
  // Strips; each way returns how many rows it leaves in `sums`
  //===--------------------------------------------------------------------===//

  /// An activation is much code: it is applied where that of kept sums is.
  Value lowerWholeStrip(Value number, Value m, Value panel) {
    Strip strip = Strip::get(b, op.getA(), op.getPanels(), m, tileRows, panel);
    strip.strip = number;
    strip.fetched = fetchedColumns;
    SmallVector<Value> results = accumulate(b, strip);
    if (op.getActivation()) {
      keepSums(b, results, sums, b.index(0));
      return b.index(tileRows);
    }
    for (int64_t r = 0; r < tileRows; ++r)
      finish(strip.rows[r], panel,
             ArrayRef(results).slice(r * vectors, vectors));
    return b.index(0);
  }

  /// The rows behind the whole strips, times a group of panels or one.
  Value lowerRest(Turn turn) {
    Value isGroup = isBelow(b.index(0), turn.shift);
    b.branch(
        isGroup, [&] { lowerGroup(turn.panel); },
        [&] { lowerSmallStrip(turn.panel); });
    return rest;
  }

  /// All rows behind the whole strips are one: several would be too short for
  /// their multiply-adds not to wait for each other, and each reads the panel
  /// anew.
  void lowerSmallStrip(Value panel) {
    for (int64_t size = 1; size < tileRows; ++size)
      b.branch(isEqual(rest, size), [&] {
        StripCall call = getCall(wholeEnd, size, panel);
        call.strip = wholeStrips;
        call.fetched = fetchedColumns;
        callStrip(b, call);
      });
  }

  /// How many panels so many rows are multiplied by side by side.
  struct Group {
    int64_t rows, panels;
  };
  SmallVector<Group> getGroups() {
    SmallVector<Group> groups;
    int64_t registers = tileRows * (op.getTile().getColumns() / lanes);
    // Only the values of a page have a depth that is not known.
    bool isShort = ShapedType::isDynamic(depth) || depth <= shortPanelDepth;
    int64_t panels = isShort ? mostShortPanelsSideBySide : mostPanelsSideBySide;
    int64_t all = cast<MemRefType>(op.getPanels().getType()).getDimSize(0);
    if (!ShapedType::isDynamic(all))
      panels = std::min(panels, all);
    for (int64_t rows = 1; rows <= mostFewRows; rows *= 2) {
      int64_t fitting = std::min(panels, registers / (rows * vectors));
      if (fitting >= 2)
        groups.push_back({rows, int64_t(llvm::bit_floor(uint64_t(fitting)))});
    }
    return groups;
  }

  void planGroups() {
    groupShift = b.index(0);
    for (Group group : getGroups())
      groupShift = b.select(isEqual(rowCount, group.rows),
                            b.index(llvm::Log2_64(group.panels)), groupShift);
  }

  void lowerGroup(Value panel) {
    for (Group group : getGroups())
      b.branch(isEqual(rowCount, group.rows), [&] {
        StripCall call = getCall(b.index(0), group.rows, panel);
        call.panelCount = group.panels;
        callStrip(b, call);
      });
  }

  StripCall getCall(Value row, int64_t rows, Value panel) {
    return {op.getA(),        op.getPanels(), row,        panel,   rows,
            /*panelCount=*/1, sums,           b.index(0), Value(), Value()};
  }

  //===--------------------------------------------------------------------===//
  // Fetching ahead
  //===--------------------------------------------------------------------===//

  /// The panel behind this one is what is read next; where weights come from
  /// memory it would be waited for. So each strip fetches its share, as many
  /// columns for each k. Gaps would cost more than they save (they defeat the
  /// processor's own prefetching): a share that is more than a strip can fetch
  /// is cut, and only the beginning of the panel fetched. bench/model measures
  /// it.
  void planFetches() {
    if (ShapedType::isDynamic(depth) ||
        depth * columns * getElementBytes(op.getPanels()) <
            smallestFetchedPanel)
      return;
    // A block without rows must not divide by 0.
    Value count = arith::MaxUIOp::create(b.builder, b.loc, strips, b.index(1));
    Value share = arith::DivUIOp::create(b.builder, b.loc,
                                         b.add(count, columns - 1), count);
    fetchedColumns =
        b.minimum(share, b.index(getMostFetchedColumns(op.getPanels())));
  }

  //===--------------------------------------------------------------------===//
  // The epilogue
  //===--------------------------------------------------------------------===//

  /// Memory for the sums of a strip or of a group, on the stack.
  void allocateSums() {
    OpBuilder::InsertionGuard guard(b.builder);
    auto function = op->getParentOfType<FunctionOpInterface>();
    b.builder.setInsertionPointToStart(&function.getFunctionBody().front());
    sums = memref::AllocaOp::create(
        b.builder, b.loc,
        MemRefType::get(
            {std::max(tileRows, mostFewRows * mostPanelsSideBySide), columns},
            b.builder.getF32Type()),
        b.builder.getI64IntegerAttr(64));
  }

  /// The sums of a row lie side by side.
  void finishKept(Value firstRow, Value rows, Turn turn) {
    Value mask = b.sub(shiftLeft(b.index(1), turn.shift), b.index(1));
    b.loop(b.index(0), shiftLeft(rows, turn.shift), 1, [&](Value i) {
      Value panel = arith::AndIOp::create(b.builder, b.loc, i, mask);
      finish(b.add(firstRow, shiftRight(i, turn.shift)),
             b.add(turn.panel, panel), getKept(i));
    });
  }

  SmallVector<Value> getKept(Value row) {
    SmallVector<Value> values;
    for (int64_t v = 0; v < vectors; ++v)
      values.push_back(b.load(sums, {row, b.index(v * lanes)}));
    return values;
  }

  /// The epilogue of one row and one panel.
  void finish(Value row, Value panel, ArrayRef<Value> values) {
    Value oldFactor, newFactor;
    if (op.getFold()) {
      oldFactor =
          b.broadcast(b.loadScalar(op.getFold(), {b.index(OldFactor), row}));
      newFactor =
          b.broadcast(b.loadScalar(op.getFold(), {b.index(PageFactor), row}));
    }
    for (int64_t v = 0; v < vectors; ++v) {
      Value s = values[v];
      Value column = b.add(b.mul(panel, columns), v * lanes);
      SmallVector<Value, 2> place = {row, column};
      if (op.getBias())
        s = b.addf(s, b.load(op.getBias(), column));
      if (op.getActivation())
        s = buildActivation(b, *op.getActivation(), s);
      if (op.getFactor())
        s = b.mulf(s, b.load(op.getFactor(), place));
      if (op.getResidual())
        s = b.addf(s, b.load(op.getResidual(), place));
      if (op.getFold())
        s = b.fma(b.load(op.getDestination(), place), oldFactor,
                  b.mulf(s, newFactor));
      b.store(s, op.getDestination(), place);
    }
  }

  //===--------------------------------------------------------------------===//
  // Indices
  //===--------------------------------------------------------------------===//

  Value isEqual(Value value, int64_t number) {
    return arith::CmpIOp::create(b.builder, b.loc, arith::CmpIPredicate::eq,
                                 value, b.index(number));
  }
  Value isBelow(Value lhs, Value rhs) {
    return arith::CmpIOp::create(b.builder, b.loc, arith::CmpIPredicate::ult,
                                 lhs, rhs);
  }
  Value shiftLeft(Value value, Value count) {
    return arith::ShLIOp::create(b.builder, b.loc, value, count);
  }
  Value shiftRight(Value value, Value count) {
    return arith::ShRUIOp::create(b.builder, b.loc, value, count);
  }
  VectorBuilder &b;
  MatmulOp op;
  int64_t tileRows;
  int64_t depth, columns, vectors; ///< of a panel
  Value rowCount, strips, wholeStrips;
  Value wholeEnd, rest; ///< whole strips end at `wholeEnd`
  Value groupShift;     ///< a group has 2^groupShift panels
  Value sums;
  Value fetchedColumns; ///< of the next panel for each k; null: none
};

} // namespace

void hexad::kernel::lower(VectorBuilder &b, MatmulOp op) {
  MatmulLowering(b, op).lower();
}
