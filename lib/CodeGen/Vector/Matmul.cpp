//===- Matmul.cpp - Rows times a packed matrix ----------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace hexad::kernel;

namespace {

/// Steps of k in the loop's body.
constexpr int64_t unroll = 4;

/// Panels smaller than this are not worth fetching ahead: those of attention,
/// which have just been written.
constexpr int64_t smallestFetchedPanel = 16 << 10;

/// A few rows read each weight once: what counts is how many panels are read
/// side by side.
constexpr int64_t mostFewRows = 4, mostPanelsSideBySide = 4;

/// Lowers one matmul: a loop over panels, in it one over strips of the tile's
/// rows, in it one over k with the strip's accumulators in registers. The rows
/// behind the last whole strip are smaller strips: none is computed in vain.
/// Few rows of a matrix of weights are multiplied by several panels side by
/// side first, as many panels as are whole groups.
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
    wholeEnd = b.roundDown(rowCount, tileRows);
    rest = b.sub(rowCount, wholeEnd);
    planFetches();
    b.loop(lowerFewRows(), b.dim(op.getPanels(), 0), 1, [&](Value panel) {
      b.loop(b.index(0), wholeEnd, tileRows,
             [&](Value m) { lowerWholeStrip(m, panel); });
      lowerRest(panel);
    });
  }

private:
  /// Some rows times one panel, or several side by side.
  struct Strip {
    Value number; ///< among those of the panel; null: fetches nothing ahead
    SmallVector<Value> rows, panels;
  };

  Strip makeStrip(Value number, Value m, int64_t rows, Value panel,
                  int64_t panels = 1) {
    Strip strip{number, {}, {}};
    for (int64_t r = 0; r < rows; ++r)
      strip.rows.push_back(b.add(m, r));
    for (int64_t p = 0; p < panels; ++p)
      strip.panels.push_back(b.add(panel, p));
    return strip;
  }

  //===--------------------------------------------------------------------===//
  // Strips
  //===--------------------------------------------------------------------===//

  /// An activation is much code: it is applied in a loop over the rows.
  void lowerWholeStrip(Value m, Value panel) {
    Strip strip = makeStrip(b.divide(m, tileRows), m, tileRows, panel);
    SmallVector<Value> results = accumulate(strip);
    if (op.getActivation()) {
      keepSums(results, b.index(0));
      finishKept(m, b.index(tileRows), panel);
      return;
    }
    for (int64_t r = 0; r < tileRows; ++r)
      finish(strip.rows[r], panel,
             ArrayRef(results).slice(r * vectors, vectors));
  }

  /// The sizes of the strips behind the whole ones, with the bits of the number
  /// of rows that tell whether there is one. The last bits are one strip: the
  /// multiply-adds of two of them would wait for each other.
  struct Piece {
    int64_t size, bits;
  };
  SmallVector<Piece> getPieces() {
    SmallVector<Piece> pieces;
    for (int64_t size = 4; size < tileRows; size *= 2)
      pieces.insert(pieces.begin(), {size, size});
    for (int64_t size = std::min<int64_t>(3, tileRows - 1); size > 0; --size)
      pieces.push_back({size, 3});
    return pieces;
  }

  Value hasPiece(Piece piece) {
    return isEqual(bits(rest, piece.bits), piece.size);
  }

  void lowerRest(Value panel) {
    Value number = b.divide(wholeEnd, tileRows);
    for (Piece piece : getPieces()) {
      Value isThere = hasPiece(piece);
      b.branch(isThere, [&] {
        // All greater pieces come first.
        int64_t greaterBits =
            -2 * int64_t(llvm::bit_floor(uint64_t(piece.bits)));
        Value before = bits(rest, greaterBits);
        keepSums(accumulate(makeStrip(number, b.add(wholeEnd, before),
                                      piece.size, panel)),
                 before);
      });
      number = b.add(number, toNumber(isThere));
    }
    finishKept(wholeEnd, rest, panel);
  }

  /// Multiplies whole groups of panels if there are few rows; the first panel
  /// that is left.
  Value lowerFewRows() {
    Value first = b.index(0);
    if (ShapedType::isDynamic(depth))
      return first;
    Value end = b.dim(op.getPanels(), 0);
    int64_t registers = tileRows * (op.getTile().getColumns() / lanes);
    for (int64_t rows = 1; rows <= mostFewRows; rows *= 2) {
      int64_t fitting = registers / (rows * vectors);
      if (fitting < 2)
        break;
      int64_t group = std::min<int64_t>(llvm::bit_floor(uint64_t(fitting)),
                                        mostPanelsSideBySide);
      Value groupsEnd = b.roundDown(end, group);
      Value isIt = arith::CmpIOp::create(
          b.builder, b.loc, arith::CmpIPredicate::eq, rowCount, b.index(rows));
      first = b.select(isIt, groupsEnd, first);
      b.loop(b.index(0), b.select(isIt, groupsEnd, b.index(0)), group,
             [&](Value panel) { lowerGroup(rows, panel, group); });
    }
    return first;
  }

  void lowerGroup(int64_t rows, Value panel, int64_t panels) {
    Value m = b.index(0);
    SmallVector<Value> results =
        accumulate(makeStrip(/*number=*/Value(), m, rows, panel, panels));
    keepSums(results, m);
    // The sums of a row lie side by side.
    b.loop(m, b.index(rows * panels), 1, [&](Value i) {
      finish(b.divide(i, panels), b.add(panel, b.remainder(i, panels)),
             getKept(i));
    });
  }

  /// `s = Σ_k a[m, k] · panel[k, n]` for a strip: rows × panels × vectors
  /// values.
  SmallVector<Value> accumulate(const Strip &strip) {
    SmallVector<Value> values(strip.rows.size() * strip.panels.size() * vectors,
                              b.splat(0.0f));
    Value zero = b.index(0);
    auto steps = [&](int64_t count) {
      return [&, count](Value k, ValueRange values) {
        SmallVector<Value> next = llvm::to_vector_of<Value>(values);
        if (count == unroll)
          fetchNextPanel(strip, k);
        for (int64_t u = 0; u < count; ++u)
          step(strip, b.add(k, u), next);
        return next;
      };
    };
    if (ShapedType::isDynamic(depth)) {
      Value end = b.dim(op.getPanels(), 1);
      Value mainEnd = b.roundDown(end, unroll);
      values = b.reduce(zero, mainEnd, unroll, values, steps(unroll));
      return b.reduce(mainEnd, end, 1, values, steps(1));
    }
    int64_t mainDepth = depth / unroll * unroll;
    if (mainDepth > 0)
      values =
          b.reduce(zero, b.index(mainDepth), unroll, values, steps(unroll));
    for (int64_t k = mainDepth; k < depth; ++k)
      step(strip, b.index(k), values);
    return values;
  }

  /// One k: a panel's row is loaded once and shared by all rows of the strip.
  void step(const Strip &strip, Value k, MutableArrayRef<Value> values) {
    SmallVector<Value> weights;
    for (Value panel : strip.panels)
      for (int64_t v = 0; v < vectors; ++v)
        weights.push_back(
            b.load(op.getPanels(), {panel, k, b.index(v * lanes)}));
    Value *value = values.begin();
    for (Value row : strip.rows) {
      Value a = b.broadcast(b.loadScalar(op.getA(), {row, k}));
      for (Value weight : weights) {
        *value = b.fma(a, weight, *value);
        ++value;
      }
    }
  }

  //===--------------------------------------------------------------------===//
  // Fetching ahead
  //===--------------------------------------------------------------------===//

  /// The panel behind this one is what is read next; where weights come from
  /// memory it would be waited for. So each strip fetches its share, a few
  /// columns for each k. Gaps would cost more than they save (they defeat the
  /// processor's own prefetching): with few strips, only the beginning of the
  /// panel is fetched. bench/model measures it.
  void planFetches() {
    if (ShapedType::isDynamic(depth) ||
        depth * columns * 4 < smallestFetchedPanel)
      return;
    Value strips = b.divide(wholeEnd, tileRows);
    for (Piece piece : getPieces())
      strips = b.add(strips, toNumber(hasPiece(piece)));
    // A block without rows must not divide by 0.
    strips = arith::MaxUIOp::create(b.builder, b.loc, strips, b.index(1));
    Value share = arith::DivUIOp::create(b.builder, b.loc,
                                         b.add(strips, columns - 1), strips);
    // Two cache lines for each `unroll` steps.
    fetchedColumns = b.minimum(share, b.index(2 * lanes / unroll));
  }

  /// The fetches of `unroll` steps from k on.
  void fetchNextPanel(const Strip &strip, Value k) {
    if (!fetchedColumns || !strip.number)
      return;
    Value next = b.add(strip.panels.back(), 1);
    Value step = b.add(b.mul(strip.number, depth), k);
    for (int64_t half = 0; half < unroll; half += unroll / 2) {
      Value element = arith::MulIOp::create(b.builder, b.loc, b.add(step, half),
                                            fetchedColumns);
      memref::PrefetchOp::create(b.builder, b.loc, op.getPanels(),
                                 ValueRange{next, b.index(0), element},
                                 /*isWrite=*/false, /*localityHint=*/2,
                                 /*isDataCache=*/true);
    }
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

  void keepSums(ArrayRef<Value> values, Value firstRow) {
    for (auto [i, value] : llvm::enumerate(values))
      b.store(value, sums,
              {b.add(firstRow, i / vectors), b.index(i % vectors * lanes)});
  }

  void finishKept(Value firstRow, Value rows, Value panel) {
    b.loop(b.index(0), rows, 1,
           [&](Value r) { finish(b.add(firstRow, r), panel, getKept(r)); });
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

  Value bits(Value value, int64_t mask) {
    return arith::AndIOp::create(b.builder, b.loc, value, b.index(mask));
  }
  Value isEqual(Value value, int64_t number) {
    return arith::CmpIOp::create(b.builder, b.loc, arith::CmpIPredicate::eq,
                                 value, b.index(number));
  }
  /// 1 where a condition holds, 0 where it does not.
  Value toNumber(Value condition) {
    return arith::IndexCastUIOp::create(b.builder, b.loc,
                                        b.builder.getIndexType(), condition);
  }

  VectorBuilder &b;
  MatmulOp op;
  int64_t tileRows;
  int64_t depth, columns, vectors; ///< of a panel
  Value rowCount, wholeEnd, rest;  ///< whole strips end at `wholeEnd`
  Value sums;
  Value fetchedColumns; ///< of the next panel for each k; null: none
};

} // namespace

void hexad::kernel::lower(VectorBuilder &b, MatmulOp op) {
  MatmulLowering(b, op).lower();
}
