//===- Vision.cpp - From images to rows of patches ------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace hexad::kernel;

/// `rows[row, from …] = 0`; `from` is the first column of a vector.
static void clear(VectorBuilder &b, Value rows, Value row, int64_t from) {
  b.loop(b.index(from), b.dim(rows, 1), lanes,
         [&](Value c) { b.store(b.splat(0.0f), rows, {row, c}); });
}

/// `to[toRow, :] = from[fromRow, :]` for whole vectors of columns.
static void copyRow(VectorBuilder &b, Value from, Value fromRow, Value to,
                    Value toRow) {
  b.loop(b.index(0), b.dim(to, 1), lanes,
         [&](Value c) { b.store(b.load(from, {fromRow, c}), to, {toRow, c}); });
}

void hexad::kernel::lower(VectorBuilder &b, GatherPatchesOp op) {
  Value images = op.getImages(), destination = op.getDestination();
  ArrayRef<int64_t> shape = cast<MemRefType>(images.getType()).getShape();
  int64_t channels = shape[1], height = op.getPatch()[0],
          width = op.getPatch()[1], prefix = op.getPrefix();
  int64_t patchesPerRow = shape[3] / width;
  int64_t tokens = prefix + shape[2] / height * patchesPerRow;

  auto copyPatch = [&](Value i, Value image, Value patch) {
    Value top = b.mul(b.divide(patch, patchesPerRow), height);
    Value left = b.mul(b.remainder(patch, patchesPerRow), width);
    // Whole vectors of zeros, before the pixels in them.
    clear(b, destination, i, channels * height * width / lanes * lanes);
    b.loop(b.index(0), b.index(channels), 1, [&](Value c) {
      b.loop(b.index(0), b.index(height), 1, [&](Value u) {
        Value first = b.mul(b.add(b.mul(c, height), u), width);
        Value y = b.add(top, u);
        b.forEachPart(width, [&](Value v, int64_t count) {
          Value pixels =
              b.loadFirst(count, images, {image, c, y, b.add(left, v)});
          b.storeFirst(count, pixels, destination, {i, b.add(first, v)});
        });
      });
    });
  };
  b.loop(b.index(0), b.dim(destination, 0), 1, [&](Value i) {
    auto empty = [&] { clear(b, destination, i, 0); };
    Value element = b.loadScalar(op.getElements(), i);
    b.branch(
        b.isNotNegative(element),
        [&] {
          Value number = b.toIndex(element);
          Value image = b.divide(number, tokens);
          Value token = b.remainder(number, tokens);
          Value isPatch =
              arith::CmpIOp::create(b.builder, b.loc, arith::CmpIPredicate::uge,
                                    token, b.index(prefix));
          b.branch(
              isPatch,
              [&] { copyPatch(i, image, b.sub(token, b.index(prefix))); },
              empty);
        },
        empty);
  });
}

void hexad::kernel::lower(VectorBuilder &b, PrefixRowsOp op) {
  Value x = op.getX(), table = op.getTable();
  Value destination = op.getDestination();
  int64_t entries = cast<MemRefType>(table.getType()).getDimSize(0);
  b.loop(b.index(0), b.dim(destination, 0), 1, [&](Value i) {
    Value position = b.toIndex(b.loadScalar(op.getPositions(), i));
    Value isPrefix =
        arith::CmpIOp::create(b.builder, b.loc, arith::CmpIPredicate::ult,
                              position, b.index(entries));
    b.branch(
        isPrefix, [&] { copyRow(b, table, position, destination, i); },
        [&] {
          if (x != destination)
            copyRow(b, x, i, destination, i);
        });
  });
}
