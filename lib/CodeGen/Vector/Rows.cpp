//===- Rows.cpp - Norms, softmax, activations of rows ---------------------===//
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

/// Walks the first `width` columns of a row in vectors of 16 lanes; the last
/// vector may be partly behind the end.
class RowWalk {
public:
  RowWalk(VectorBuilder &b, int64_t width)
      : b(b), width(width), whole(width / lanes * lanes) {}

  /// The first column behind the last vector.
  int64_t getEnd() const { return llvm::alignTo(width, lanes); }

  void forEach(function_ref<void(Value)> body) {
    b.loop(b.index(0), b.index(getEnd()), lanes, body);
  }

  /// Lanes of `combine(…combine(combine(init, element(0)), element(16))…)`;
  /// lanes behind the end get `absent` for an element.
  Value reduce(float init, float absent, function_ref<Value(Value)> element,
               function_ref<Value(Value, Value)> combine) {
    Value lanesSoFar = b.splat(init);
    if (whole > 0)
      lanesSoFar =
          b.reduce(b.index(0), b.index(whole), lanes, lanesSoFar,
                   [&](Value c, ValueRange sums) {
                     return SmallVector<Value>{combine(sums[0], element(c))};
                   })[0];
    if (whole == width)
      return lanesSoFar;
    Value last = b.select(b.lanesBelow(b.index(width - whole)),
                          element(b.index(whole)), b.splat(absent));
    return combine(lanesSoFar, last);
  }

  /// Σ element over the row, a scalar.
  Value sum(function_ref<Value(Value)> element) {
    auto add = [&](Value x, Value y) { return b.addf(x, y); };
    return b.foldLanes(reduce(0.0f, 0.0f, element, add), add);
  }

  /// Σ element² over the row: a chain of fma for each lane. A scalar.
  Value sumOfSquares(function_ref<Value(Value)> element) {
    auto square = [&](Value sum, Value x) { return b.fma(x, x, sum); };
    auto add = [&](Value x, Value y) { return b.addf(x, y); };
    return b.foldLanes(reduce(0.0f, 0.0f, element, square), add);
  }

private:
  VectorBuilder &b;
  int64_t width, whole;
};

} // namespace

static void forEachRow(VectorBuilder &b, Value rows,
                       function_ref<void(Value)> body) {
  b.loop(b.index(0), b.dim(rows, 0), 1, body);
}

/// Applies `compute` to each vector of every row of the destination.
static void forEachVector(VectorBuilder &b, Value destination,
                          function_ref<Value(ValueRange)> compute) {
  Value columns = b.dim(destination, 1);
  forEachRow(b, destination, [&](Value m) {
    b.loop(b.index(0), columns, lanes, [&](Value c) {
      SmallVector<Value, 2> place = {m, c};
      b.store(compute(place), destination, place);
    });
  });
}

void hexad::kernel::lower(VectorBuilder &b, LayerNormOp op) {
  RowWalk walk(b, op.getWidth());
  float eps = op.getEps().convertToDouble();
  forEachRow(b, op.getDestination(), [&](Value m) {
    auto x = [&](Value c) { return b.load(op.getX(), {m, c}); };
    Value width = b.scalar(static_cast<float>(op.getWidth()));
    Value mean = b.broadcast(b.divf(walk.sum(x), width));
    auto deviation = [&](Value c) { return b.subf(x(c), mean); };
    Value variance = b.divf(walk.sumOfSquares(deviation), width);
    Value inverse = b.broadcast(
        b.divf(b.scalar(1.0f), b.sqrt(b.addf(variance, b.scalar(eps)))));
    walk.forEach([&](Value c) {
      Value y = b.mulf(deviation(c), inverse);
      Value weight = b.load(op.getWeight(), c);
      y = op.getBias() ? b.fma(y, weight, b.load(op.getBias(), c))
                       : b.mulf(y, weight);
      b.store(y, op.getDestination(), {m, c});
    });
  });
}

void hexad::kernel::lower(VectorBuilder &b, RmsNormOp op) {
  Value x = op.getX(), destination = op.getDestination();
  float eps = op.getEps().convertToDouble();
  int64_t offset = op.getOffset(), size = op.getGroupSize();
  int64_t end = offset + static_cast<int64_t>(op.getGroups()) * size;
  int64_t columns = cast<MemRefType>(destination.getType()).getDimSize(1);
  int64_t whole = size / lanes * lanes, rest = size - whole;
  auto add = [&](Value x, Value y) { return b.addf(x, y); };
  // Beside a group there may be another: nothing but its columns is touched.
  auto scaleGroup = [&](Value m, Value first) {
    auto placeOf = [&](Value c) -> SmallVector<Value, 2> {
      return {m, b.add(first, c)};
    };
    Value squares = b.splat(0.0f);
    if (whole > 0)
      squares =
          b.reduce(b.index(0), b.index(whole), lanes, squares,
                   [&](Value c, ValueRange sums) {
                     Value part = b.load(x, placeOf(c));
                     return SmallVector<Value>{b.fma(part, part, sums[0])};
                   })[0];
    if (rest > 0) {
      Value part = b.loadFirst(rest, x, placeOf(b.index(whole)));
      squares = b.fma(part, part, squares);
    }
    Value mean =
        b.divf(b.foldLanes(squares, add), b.scalar(static_cast<float>(size)));
    Value inverse = b.broadcast(
        b.divf(b.scalar(1.0f), b.sqrt(b.addf(mean, b.scalar(eps)))));
    b.forEachPart(size, [&](Value c, int64_t count) {
      Value y = b.mulf(b.loadFirst(count, x, placeOf(c)), inverse);
      if (op.getWeight()) {
        Value weight = b.load(op.getWeight(), c);
        y = op.getUnitOffset() ? b.fma(y, weight, y) : b.mulf(y, weight);
      }
      b.storeFirst(count, y, destination, placeOf(c));
    });
  };
  forEachRow(b, destination, [&](Value m) {
    b.loop(b.index(0), b.index(op.getGroups()), 1, [&](Value group) {
      scaleGroup(m, b.add(b.mul(group, size), offset));
    });
    if (x == destination)
      return;
    b.copyColumns(x, destination, m, b.index(0), offset);
    b.copyColumns(x, destination, m, b.index(end), columns - end);
  });
}

void hexad::kernel::lower(VectorBuilder &b, L2NormalizeOp op) {
  RowWalk walk(b, op.getWidth());
  float eps = op.getEps().convertToDouble();
  forEachRow(b, op.getDestination(), [&](Value m) {
    auto x = [&](Value c) { return b.load(op.getX(), {m, c}); };
    Value length = b.clampBelow(b.sqrt(walk.sumOfSquares(x)), eps);
    Value divisor = b.broadcast(length);
    walk.forEach([&](Value c) {
      b.store(b.divf(x(c), divisor), op.getDestination(), {m, c});
    });
  });
}

void hexad::kernel::lower(VectorBuilder &b, SoftmaxOp op) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  RowWalk walk(b, op.getWidth());
  Value destination = op.getDestination();
  forEachRow(b, destination, [&](Value m) {
    auto greater = [&](Value x, Value y) { return b.greater(x, y); };
    Value maximum = b.broadcast(b.foldLanes(
        walk.reduce(
            -infinity, -infinity,
            [&](Value c) { return b.load(op.getX(), {m, c}); }, greater),
        greater));
    // Exponentials go to the destination at once; what the last vector holds
    // behind the end is cleared below.
    Value divisor = b.broadcast(walk.sum([&](Value c) {
      Value x = b.load(op.getX(), {m, c});
      Value e = buildExp(b, b.subf(x, maximum));
      b.store(e, destination, {m, c});
      return e;
    }));
    walk.forEach([&](Value c) {
      Value y = b.divf(b.load(destination, {m, c}), divisor);
      Value present = b.lanesBelow(b.sub(b.index(op.getWidth()), c));
      b.store(b.select(present, y, b.splat(0.0f)), destination, {m, c});
    });
    b.loop(b.index(walk.getEnd()), b.dim(destination, 1), lanes,
           [&](Value c) { b.store(b.splat(0.0f), destination, {m, c}); });
  });
}

void hexad::kernel::lower(VectorBuilder &b, ActivationOp op) {
  forEachVector(b, op.getDestination(), [&](ValueRange place) {
    return buildActivation(b, op.getKind(), b.load(op.getX(), place));
  });
}

void hexad::kernel::lower(VectorBuilder &b, ScaleOp op) {
  Value factor = b.splat(static_cast<float>(op.getFactor().convertToDouble()));
  forEachVector(b, op.getDestination(), [&](ValueRange place) {
    return b.mulf(b.load(op.getX(), place), factor);
  });
}

void hexad::kernel::lower(VectorBuilder &b, ScaleColumnsOp op) {
  forEachVector(b, op.getDestination(), [&](ValueRange place) {
    return b.mulf(b.load(op.getX(), place), b.load(op.getWeight(), place[1]));
  });
}

void hexad::kernel::lower(VectorBuilder &b, SoftcapOp op) {
  double cap = op.getCap().convertToDouble();
  forEachVector(b, op.getDestination(), [&](ValueRange place) {
    return buildSoftcap(b, b.load(op.getX(), place), cap);
  });
}

void hexad::kernel::lower(VectorBuilder &b, ClampOp op) {
  forEachVector(b, op.getDestination(), [&](ValueRange place) {
    Value y = b.load(op.getX(), place);
    if (op.getLower())
      y = b.clampBelow(y, op.getLower()->convertToDouble());
    if (op.getUpper())
      y = b.clampAbove(y, op.getUpper()->convertToDouble());
    return y;
  });
}

void hexad::kernel::lower(VectorBuilder &b, MultiplyOp op) {
  forEachVector(b, op.getDestination(), [&](ValueRange place) {
    return b.mulf(b.load(op.getLhs(), place), b.load(op.getRhs(), place));
  });
}

void hexad::kernel::lower(VectorBuilder &b, AddOp op) {
  forEachVector(b, op.getDestination(), [&](ValueRange place) {
    return b.addf(b.load(op.getLhs(), place), b.load(op.getRhs(), place));
  });
}
