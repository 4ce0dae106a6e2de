//===- Matmul.cpp - Rows times a panel ------------------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace hexad::kernel;

namespace {

/// Steps of k in the loop's body.
constexpr int64_t unroll = 4;

/// Panels smaller than this are not worth fetching ahead: those of attention,
/// which have just been written.
constexpr int64_t smallestFetchedPanel = 16 << 10;

/// Lowers one matmul: a loop over strips of `rows` rows, in it a loop over k
/// with the strip's accumulators in registers.
class MatmulLowering {
public:
  MatmulLowering(VectorBuilder &b, MatmulOp op)
      : b(b), op(op), rows(op.getTile().getRows()),
        vectors(cast<MemRefType>(op.getPanel().getType()).getDimSize(1) /
                lanes),
        depth(cast<MemRefType>(op.getPanel().getType()).getDimSize(0)) {}

  void lower() {
    Value zero = b.index(0), end = b.dim(op.getDestination(), 0);
    planFetches(end);
    b.loop(zero, end, rows, [&](Value m) {
      SmallVector<Value> row;
      for (int64_t r = 0; r < rows; ++r)
        row.push_back(b.add(m, r));
      finish(row, accumulate(row));
    });
  }

private:
  /// `s = Σ_k a[m, k] · panel[k, n]` for a strip: rows × vectors values.
  SmallVector<Value> accumulate(ArrayRef<Value> row) {
    SmallVector<Value> sums(rows * vectors, b.splat(0.0f));
    Value zero = b.index(0);
    auto steps = [&](int64_t count) {
      return [&, count](Value k, ValueRange sums) {
        SmallVector<Value> next = llvm::to_vector_of<Value>(sums);
        if (count == unroll)
          fetchNextPanel(row.front(), k);
        for (int64_t u = 0; u < count; ++u)
          step(row, b.add(k, u), next);
        return next;
      };
    };
    if (ShapedType::isDynamic(depth)) {
      Value end = b.dim(op.getPanel(), 0);
      Value mainEnd = b.roundDown(end, unroll);
      sums = b.reduce(zero, mainEnd, unroll, sums, steps(unroll));
      return b.reduce(mainEnd, end, 1, sums, steps(1));
    }
    int64_t mainDepth = depth / unroll * unroll;
    if (mainDepth > 0)
      sums = b.reduce(zero, b.index(mainDepth), unroll, sums, steps(unroll));
    for (int64_t k = mainDepth; k < depth; ++k)
      step(row, b.index(k), sums);
    return sums;
  }

  /// The panel behind this one is what the next matmul reads; where weights
  /// come from memory it would wait for them. So each strip fetches its share,
  /// a few columns for each k. Gaps would cost more than they save (they defeat
  /// the processor's own prefetching): with few strips, only the beginning of
  /// the panel is fetched. bench/model measures it.
  void planFetches(Value rowsOfBlock) {
    int64_t columns = vectors * lanes;
    if (ShapedType::isDynamic(depth) ||
        depth * columns * 4 < smallestFetchedPanel)
      return;
    // A block without rows must not divide by 0.
    Value strips = arith::MaxUIOp::create(
        b.builder, b.loc, b.divide(rowsOfBlock, rows), b.index(1));
    Value share = arith::DivUIOp::create(b.builder, b.loc,
                                         b.add(strips, columns - 1), strips);
    // Two cache lines for each `unroll` steps.
    fetchedColumns = b.minimum(share, b.index(2 * lanes / unroll));
  }

  /// The fetches of `unroll` steps from k on.
  void fetchNextPanel(Value m, Value k) {
    if (!fetchedColumns)
      return;
    Value step = b.add(b.mul(b.divide(m, rows), depth), k);
    for (int64_t half = 0; half < unroll; half += unroll / 2) {
      Value element = arith::MulIOp::create(b.builder, b.loc, b.add(step, half),
                                            fetchedColumns);
      memref::PrefetchOp::create(b.builder, b.loc, op.getPanel(),
                                 ValueRange{b.index(depth), element},
                                 /*isWrite=*/false, /*localityHint=*/2,
                                 /*isDataCache=*/true);
    }
  }

  /// One k: the panel's row is loaded once and shared by all rows of the strip.
  void step(ArrayRef<Value> row, Value k, MutableArrayRef<Value> sums) {
    SmallVector<Value> panel;
    for (int64_t v = 0; v < vectors; ++v)
      panel.push_back(b.load(op.getPanel(), {k, b.index(v * lanes)}));
    for (int64_t r = 0; r < rows; ++r) {
      Value a = b.broadcast(b.loadScalar(op.getA(), {row[r], k}));
      for (int64_t v = 0; v < vectors; ++v) {
        Value &sum = sums[r * vectors + v];
        sum = b.fma(a, panel[v], sum);
      }
    }
  }

  /// The epilogue of a strip. An activation is much code: it is applied in a
  /// loop over the rows, from the destination, unless other operands of the
  /// epilogue may lie in the destination too.
  void finish(ArrayRef<Value> row, ArrayRef<Value> sums) {
    bool inLoop = op.getActivation() && !op.getResidual() && !op.getFold();
    SmallVector<Value> columns, bias;
    for (int64_t v = 0; v < vectors; ++v) {
      columns.push_back(b.index(v * lanes));
      if (op.getBias())
        bias.push_back(b.load(op.getBias(), columns[v]));
    }
    for (int64_t r = 0; r < rows; ++r) {
      Value oldFactor, newFactor;
      if (op.getFold()) {
        oldFactor = b.broadcast(
            b.loadScalar(op.getFold(), {b.index(OldFactor), row[r]}));
        newFactor = b.broadcast(
            b.loadScalar(op.getFold(), {b.index(PageFactor), row[r]}));
      }
      for (int64_t v = 0; v < vectors; ++v) {
        SmallVector<Value, 2> place = {row[r], columns[v]};
        Value s = sums[r * vectors + v];
        if (op.getBias())
          s = b.addf(s, bias[v]);
        if (op.getActivation() && !inLoop)
          s = buildActivation(b, *op.getActivation(), s);
        if (op.getResidual())
          s = b.addf(s, b.load(op.getResidual(), place));
        if (op.getFold())
          s = b.fma(b.load(op.getDestination(), place), oldFactor,
                    b.mulf(s, newFactor));
        b.store(s, op.getDestination(), place);
      }
    }
    if (inLoop)
      activate(row.front());
  }

  void activate(Value firstRow) {
    b.loop(b.index(0), b.index(rows), 1, [&](Value r) {
      Value row = b.add(firstRow, r);
      for (int64_t v = 0; v < vectors; ++v) {
        SmallVector<Value, 2> place = {row, b.index(v * lanes)};
        Value s = b.load(op.getDestination(), place);
        b.store(buildActivation(b, *op.getActivation(), s), op.getDestination(),
                place);
      }
    });
  }

  VectorBuilder &b;
  MatmulOp op;
  int64_t rows, vectors, depth;
  Value fetchedColumns; ///< of the next panel for each k; null: none
};

} // namespace

void hexad::kernel::lower(VectorBuilder &b, MatmulOp op) {
  MatmulLowering(b, op).lower();
}
