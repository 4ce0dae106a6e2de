//===- AttentionTiling.h - Query tiles and pages of keys --------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What attention (Attention.cpp) and its maps (AttentionMap.cpp) have in
// common: both walk, for each tile of queries and head, the pages of keys that
// the tile sees, and compute their scores.
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_LIB_CODEGEN_TILE_ATTENTIONTILING_H
#define HEXAD_LIB_CODEGEN_TILE_ATTENTIONTILING_H

#include "../EntryArguments.h"
#include "Tiler.h"
#include "hexad/Dialect/Kernel/IR/KernelDialect.h"
#include <numbers>

namespace hexad {

class Tiler::PageTiling {
protected:
  using Value = mlir::Value;

  /// `op` is an attention or a map of one.
  template <typename Op>
  PageTiling(Tiler &tiler, Op op)
      : t(tiler), b(tiler.builder), heads(op.getHeads()),
        kvHeads(op.getKvHeads()), headDim(op.getHeadDim()),
        pageSize(tiler.options.page), offsets(op.getOffsets()),
        causal(op.getCausalAttr()), window(op.getWindowAttr()),
        query(tiler.mapped(op.getQuery())), key(tiler.mapped(op.getKey())) {
    int64_t columns = tiler.options.tileColumns;
    keyShape = {pageSize / columns, headDim, columns};
    // exp(x) is computed as exp2(x · log2 e): the factor goes into the queries,
    // and scores are in units of log2.
    scale = op.getScale().convertToDouble() * std::numbers::log2e;
    if (op.getSoftcap())
      softcap = b.getF64FloatAttr(op.getSoftcap()->convertToDouble() *
                                  std::numbers::log2e);
  }

  /// Rows of the call that are packed into pages: keys or values.
  struct Packing {
    bool isKeys;
    Value rows;
    int64_t offset;                ///< the column of head 0
    llvm::ArrayRef<int64_t> shape; ///< of one head of a page
  };
  /// A loop over `pageCount` pages and the heads, which packs them into tensors
  /// `[page · kv_heads, …]`, one for each of `packings`.
  llvm::SmallVector<Value> packIntoTensors(Value pageCount,
                                           llvm::ArrayRef<Packing> packings);
  /// Packs one head of the rows of a page. The packed page, or null if it is a
  /// buffer.
  Value pack(bool isKeys, Value rows, Value column, Value start,
             Value destination);

  Value emptyTensor(llvm::ArrayRef<int64_t> shape,
                    mlir::ValueRange dynamicSizes = {});
  /// `source[indices…, 0:count, :]`, or all of what `indices` leave where a
  /// count is null; `counts` are those of the dimensions behind `indices`. The
  /// source is a tensor or a buffer.
  Value sliceLeading(Value source, llvm::ArrayRef<mlir::OpFoldResult> indices,
                     llvm::ArrayRef<mlir::OpFoldResult> counts = {});

  /// Finds out about a query tile and a head, and loads the queries.
  void startTile(Value queryTile, Value head);
  /// Memory for the statistics of a tile.
  Value emptyStatistics();
  /// An `scf.for` over the pages that the tile sees; `body` gets the page and
  /// what is carried, and returns what is carried on.
  mlir::scf::ForOp walkPages(
      mlir::ValueRange inits,
      llvm::function_ref<llvm::SmallVector<Value>(Value, mlir::ValueRange)>
          body);
  /// The first index that a page of the tile's segment has in tensors.
  Value getItem(Value page);
  /// How many keys of a page the tile sees.
  Value countKeys(Value page);
  /// The tile's first position, counted from the first key of a page; null if
  /// nothing is masked.
  Value getPositionIn(Value page);
  /// The first rows of `destination`, as many as the tile has, become `rows`
  /// times `panels`.
  Value multiply(Value rows, Value panels, Value fold, Value destination);
  /// The scores of the keys of a page, which are item `item` of `allKeys`.
  Value computeScores(Value page, Value allKeys, mlir::OpFoldResult item,
                      Value destination);
  /// Scores to probabilities of the page, and its statistics to those of all
  /// pages so far.
  kernel::SoftmaxPageOp foldPage(Value page, Value scores, Value statistics);

  Tiler &t;
  mlir::ImplicitLocOpBuilder &b;
  int64_t heads, kvHeads, headDim, pageSize;
  double scale;
  llvm::SmallVector<int64_t, 3> offsets;
  mlir::UnitAttr causal;
  mlir::IntegerAttr window;
  mlir::FloatAttr softcap;
  Value query, key;
  llvm::SmallVector<int64_t, 3> keyShape; ///< of one head of a page

  /// What holds for the query tile that is being built.
  struct QueryTile {
    Value first, rows;
    Value segment, kvHead;
    Value position; ///< of the first row
    Value keys;     ///< in front of the last one that a row sees
    Value column;   ///< of the head
    Value queries;
  } tile;
};

} // namespace hexad

#endif // HEXAD_LIB_CODEGEN_TILE_ATTENTIONTILING_H
