//===- Tiler.h - State of the tiling pass -----------------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_LIB_CODEGEN_TILE_TILER_H
#define HEXAD_LIB_CODEGEN_TILE_TILER_H

#include "hexad/CodeGen/Passes.h"
#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "hexad/Dialect/Hexad/IR/RowDomain.h"
#include "hexad/Runtime/abi.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace hexad {

/// Builds the tiled function beside the one in the rows phase, op by op.
class Tiler {
public:
  Tiler(mlir::func::FuncOp source, const TilePassOptions &options);

  /// Replaces the function. On failure a diagnostic has been emitted.
  mlir::LogicalResult run();

private:
  /// Part of a block of rows: the first row and the number of rows.
  struct Range {
    mlir::Value offset, size;
  };

  // Tiler.cpp: the function and everything that is not a block of rows.
  mlir::LogicalResult createFunction();
  mlir::LogicalResult convertBlock(mlir::Block &block);
  mlir::LogicalResult convertOp(mlir::Operation *op);
  mlir::LogicalResult convertLoop(mlir::scf::ForOp loop);
  llvm::SmallVector<mlir::Value> convertYield(mlir::scf::ForOp loop);
  bool isInPlace(mlir::Value value, mlir::Value argument);
  mlir::Value copyRows(mlir::Value rows, mlir::Value destination,
                       RowDomain domain);
  mlir::LogicalResult convertReturn(mlir::Operation *op);
  void convertStackInsertion(mlir::tensor::InsertSliceOp op);

  // Doors.cpp: rectangles to rows and back.
  void convertPackRows(PackRowsOp op);
  void convertPool(PoolOp op);
  void convertSelectRows(SelectRowsOp op);
  void convertSelectedOutput(mlir::Value rows, mlir::Value output);
  void convertUnpackRows(UnpackRowsOp op, mlir::Value output);
  void convertPooledOutput(mlir::Value rows, mlir::Value output);
  void convertMeanLoss(MeanLossOp op, mlir::Value output);

  // Blocks.cpp: hexad.rows.
  mlir::LogicalResult convertRows(RowsOp op);
  mlir::Value getBlockRows(mlir::Value rows);
  /// What the loop around carries and the result can overwrite; or null.
  mlir::Value findDestination(RowsOp op, unsigned result);

  // AttentionTiling.cpp, Attention.cpp: pages and query tiles.
  class PageTiling;
  class AttentionTiling;
  void convertAttention(AttentionOp op);
  /// The rows that lie in a page of the call.
  Range getPageRows(mlir::Value page);
  /// The call's table of where the caches of each segment lie.
  mlir::Value getCachePlaces();
  /// A cache's number among the module's, and how many there are.
  std::pair<int64_t, int64_t> getCacheNumber(llvm::StringRef name);
  void setPageBytes(llvm::StringRef name, int64_t bytes);

  // Experts.cpp: grouped rows.
  class ExpertTiling;
  void convertExperts(ExpertsOp op);

  // AttentionMap.cpp: attention maps, written to the outputs they go to.
  class MapTiling;
  void convertAttentionMap(AttentionMapOp op);
  /// Whether the value is a stack of maps; the tiled function has none.
  static bool isMaps(mlir::Value value);
  /// Notes that what is put into `maps` goes to `output`. Gives the stack that
  /// it began with.
  mlir::FailureOr<mlir::Value> traceMaps(mlir::Value maps, mlir::Value output);

  /// The thread's share of `total` things.
  Range getShare(mlir::Value total, mlir::Value thread);
  /// The thread's share of the rows of a domain: a multiple of 4, but that the
  /// last one ends where the rows that are real do.
  Range getShareOfRows(RowDomain domain, mlir::Value thread);

  /// Gets the thread's range of rows and its parts of the destinations and
  /// returns the new parts.
  using SplitBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      Range, mlir::ValueRange)>;
  /// An `scf.forall` over the threads in which each writes its own contiguous
  /// part of `destinations` along their first dimension: its share of a
  /// domain's rows. What lies behind the rows that are real is not touched.
  llvm::SmallVector<mlir::Value>
  splitRows(RowDomain domain, mlir::ValueRange destinations, SplitBody body);
  /// The same for any `total` rows.
  llvm::SmallVector<mlir::Value>
  splitRows(mlir::Value total, mlir::ValueRange destinations, SplitBody body);
  llvm::SmallVector<mlir::Value>
  split(llvm::function_ref<Range(mlir::Value thread)> getRange,
        mlir::ValueRange destinations, SplitBody body);

  /// How many rows there is room for.
  mlir::Value getRowCount(RowDomain domain);
  mlir::Value getRealRowCount(RowDomain domain);
  /// How a loop over threads splits its rows; loops of one name give each
  /// thread the same rows.
  mlir::StringAttr getSplitName(RowDomain domain);
  mlir::Value extent(hexad_extent kind) { return extents[kind]; }
  mlir::Value table(hexad_pointer kind) {
    return tables[kind - HEXAD_POINTER_ROW_ELEMENT];
  }
  /// Null for an operand that is not there.
  mlir::Value mapped(mlir::Value oldValue) {
    return oldValue ? mapping.lookup(oldValue) : mlir::Value();
  }
  /// `tensor.empty` for `rows` rows of `columns` columns; marked as
  /// activations, whose columns are padded later.
  mlir::Value emptyRows(mlir::Value rows, int64_t columns);

  // Index arithmetic that folds.
  mlir::Value index(int64_t value);
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs);
  mlir::Value div(mlir::Value lhs, mlir::Value rhs);
  mlir::Value ceilDiv(mlir::Value lhs, int64_t rhs);
  mlir::Value min(mlir::Value lhs, mlir::Value rhs);
  /// Element of an i32 table, as an index.
  mlir::Value entry(mlir::Value table, mlir::Value position);

  /// `[offset, 0] [size, all columns]` of a matrix, or `[offset] [size]` of a
  /// vector.
  mlir::Value sliceRows(mlir::Value source, mlir::Value offset,
                        mlir::Value size);
  mlir::Value insertRows(mlir::Value part, mlir::Value destination,
                         mlir::Value offset, mlir::Value size);

  mlir::func::FuncOp source, target;
  const TilePassOptions &options;
  mlir::ImplicitLocOpBuilder builder;
  mlir::IRMapping mapping;
  llvm::SmallVector<mlir::Value> extents, tables, outputs;
  mlir::Value cachePlaces; ///< null before something needs it
  /// Results of blocks of rows that take the place of what a loop carries.
  llvm::DenseMap<mlir::Value, mlir::Value> inPlace;
  /// Results of hexad.unpack_rows that the function returns, and the outputs
  /// that they become.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value, 1>> outputsOf;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value, 1>>
      mapOutputs;
};

} // namespace hexad

#endif // HEXAD_LIB_CODEGEN_TILE_TILER_H
