//===- ParameterRecipe.h - From stored tensors to a parameter ---*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_MODEL_PARAMETERRECIPE_H
#define HEXAD_MODEL_PARAMETERRECIPE_H

#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "hexad/Model/PositionGrid.h"
#include "hexad/Model/Safetensors.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace hexad {

/// The safetensors files that parameters name, each opened once.
class TensorSources {
public:
  /// Files are relative to `folder`.
  explicit TensorSources(llvm::StringRef folder) : folder(folder) {}

  /// Fails for a path that is not relative or leads out of the folder, and for
  /// what TensorSource::open fails for.
  llvm::Expected<const TensorSource *> get(llvm::StringRef file);
  /// Gives back the memory of what has been read; it can be read again.
  void releasePages();

private:
  std::string folder;
  llvm::StringMap<std::unique_ptr<TensorSource>> opened;
};

/// What the recipe of a hexad.parameter amounts to: its stored tensors, found
/// and found to fit the parameter's type.
class ParameterRecipe {
public:
  /// Emits a diagnostic at the parameter if a file or tensor is missing, or has
  /// another dtype, rank or shape than the recipe and the type need.
  static mlir::FailureOr<ParameterRecipe> resolve(ParameterOp parameter,
                                                  TensorSources &sources);

  int64_t getLayerCount() const { return layerCount; }
  /// Elements of one layer, padding included.
  int64_t getLayerElements() const { return paddedRows * paddedColumns; }
  /// What elements are rounded to: F32, BF16 or F16.
  StoredType getElementType() const { return elementType; }
  /// The type that all stored tensors have, if they agree.
  std::optional<StoredType> getSourceType() const;
  /// Whether the type is the stored shape: neither panels nor padding.
  bool isPlain() const {
    return !panel && rows == paddedRows && columns == paddedColumns;
  }

  /// Rows and columns of a layer, without padding; a vector has one column.
  std::array<int64_t, 2> getStoredSize() const { return {rows, columns}; }

  /// Gives the elements of one layer as they lie in memory (transposed,
  /// concatenated, padded, in panels) and rounded to the element type, in
  /// chunks of at most `maxChunk` floats that are valid during the call only.
  /// Emits a diagnostic at the parameter if a finite element would become
  /// infinite.
  mlir::LogicalResult
  stream(int64_t layer,
         llvm::function_ref<void(llvm::ArrayRef<float>)> sink) const;
  /// The same, as one vector in double precision.
  mlir::FailureOr<std::vector<double>> readLayer(int64_t layer) const;

  static constexpr int64_t maxChunk = 1 << 16;

private:
  ParameterRecipe() = default;
  using Sink = llvm::function_ref<void(llvm::ArrayRef<float>)>;

  /// Rows of a stored tensor as some rows of the matrix that a layer is. They
  /// are taken in blocks; of each all columns, or those from one on.
  struct Part {
    const StoredTensor *tensor;
    int64_t firstElement; ///< of the layer in the tensor
    int64_t firstRow, rows;
    int64_t storedRows;
    int64_t firstStored, blockRows, blockStride;
    int64_t storedColumns, firstColumn;

    /// The stored row that is row `row` of the layer.
    int64_t getStoredRow(int64_t row) const {
      int64_t taken = row - firstRow;
      return firstStored + taken / blockRows * blockStride + taken % blockRows;
    }
    /// Rows from `row` on to the end of its block.
    int64_t getRowsToBlockEnd(int64_t row) const {
      return blockRows - (row - firstRow) % blockRows;
    }
  };
  /// Takes the rows that `pick` (null: all) says of a stored tensor's for a
  /// layer; false if they do not lie inside it.
  static bool pickRows(mlir::DenseI64ArrayAttr pick, int64_t layer, Part &part);
  /// The same for the parameter's columns, of a tensor of `shape`.
  static bool pickColumns(mlir::DenseI64ArrayAttr pick, int64_t layer,
                          llvm::ArrayRef<int64_t> shape, Part &part);
  llvm::ArrayRef<Part> getParts(int64_t layer) const {
    return llvm::ArrayRef(parts).slice(layer * partsPerLayer, partsPerLayer);
  }
  /// The part of a layer that holds a row.
  const Part *findPart(int64_t layer, int64_t row) const;
  /// Reads `out.size()` elements of a row of a layer from `column` on.
  void readRow(int64_t layer, int64_t row, int64_t column,
               llvm::MutableArrayRef<float> out) const;
  /// The same of a row of a resized grid.
  void readGridRow(int64_t row, int64_t column,
                   llvm::MutableArrayRef<float> out) const;
  /// Reads `out.size()` elements of a column of a layer that is stored
  /// transposed, from `row` on.
  void readColumn(int64_t layer, int64_t column, int64_t row,
                  llvm::MutableArrayRef<float> out) const;
  /// The elements of a layer as the stored tensors have them.
  void streamSource(int64_t layer, Sink sink) const;
  /// Says which element of a layer does not fit the element type.
  mlir::LogicalResult reportTooLarge(int64_t layer) const;
  void streamPlain(int64_t layer, Sink sink) const;
  void streamRows(int64_t layer, Sink sink) const;
  void streamPanels(int64_t layer, Sink sink) const;

  mutable ParameterOp parameter;
  StoredType elementType = StoredType::F32;
  std::vector<Part> parts; ///< layer by layer
  int64_t layerCount = 1, partsPerLayer = 1;
  /// A layer as a matrix; a vector is one column.
  int64_t rows = 0, columns = 0;
  int64_t paddedRows = 0, paddedColumns = 0;
  int64_t panel = 0;                ///< columns of a panel; 0: no panels
  bool transposed = false;          ///< stored [columns, rows]
  bool hasAllColumns = true;        ///< of the stored tensors
  std::optional<PositionGrid> grid; ///< of the one part
};

/// Checks the recipe of every parameter of `module` against the files in
/// `folder`. For what a user gives: types must be the stored shapes, panels are
/// the compiler's business.
mlir::LogicalResult verifyParameterSources(mlir::ModuleOp module,
                                           TensorSources &sources);

} // namespace hexad

#endif // HEXAD_MODEL_PARAMETERRECIPE_H
