//===- Evaluator.h - State of the reference interpreter ---------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to lib/Reference: what the op families share. A family is a file with
// an `evaluate` for each of its ops.
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_LIB_REFERENCE_EVALUATOR_H
#define HEXAD_LIB_REFERENCE_EVALUATOR_H

#include "hexad/Reference/Interpreter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/DenseMap.h"
#include <map>

namespace hexad::reference {

/// Keys and values that an attention with a cache has appended:
/// `[rows, kv_heads·head_dim]`.
struct CachedRows {
  FloatTensor keys, values;
};

/// Executes blocks; knows the values of everything in scope.
class Evaluator {
public:
  explicit Evaluator(const ParameterSource &parameters)
      : parameters(parameters) {}

  /// Executes a block with `arguments` for its arguments and returns the
  /// operands of its terminator. Values of the block are forgotten after.
  mlir::FailureOr<std::vector<RuntimeValue>>
  run(mlir::Block &block, llvm::ArrayRef<RuntimeValue> arguments);

  const RuntimeValue &get(mlir::Value value) const;
  int64_t getInteger(mlir::Value value) const {
    return std::get<int64_t>(get(value));
  }
  const FloatTensor &getFloats(mlir::Value value) const {
    return *std::get<std::shared_ptr<const FloatTensor>>(get(value));
  }
  const IntegerTensor &getIntegers(mlir::Value value) const {
    return *std::get<std::shared_ptr<const IntegerTensor>>(get(value));
  }
  const Segments &getSegments(mlir::Value value) const {
    return *std::get<std::shared_ptr<const Segments>>(get(value));
  }

  /// Gives `result` its value. Fails with a diagnostic if that is not a value
  /// of its type: a dynamic size turned out not to fit.
  llvm::LogicalResult set(mlir::Value result, RuntimeValue value);
  llvm::LogicalResult set(mlir::Value result, FloatTensor value) {
    return set(result, std::make_shared<const FloatTensor>(std::move(value)));
  }
  llvm::LogicalResult set(mlir::Value result, IntegerTensor value) {
    return set(result, std::make_shared<const IntegerTensor>(std::move(value)));
  }

  /// By the name of a cache and the layer of it; empty at the beginning of a
  /// call.
  std::map<std::pair<std::string, int64_t>, std::shared_ptr<const CachedRows>>
      caches;

  const ParameterSource &parameters;

private:
  llvm::DenseMap<mlir::Value, RuntimeValue> values;
};

/// Whether `value` can be held by something of the IR type `type`.
bool fitsType(const RuntimeValue &value, mlir::Type type);

/// Fails with a diagnostic unless `rows`, counted in `what`, are as many as
/// `expected`.
llvm::LogicalResult checkRows(mlir::Operation *op, llvm::StringRef what,
                              int64_t rows, int64_t expected);

/// Fails with a diagnostic if a tensor of `shape` is more than the interpreter
/// holds.
llvm::LogicalResult checkSize(mlir::Operation *op,
                              llvm::ArrayRef<int64_t> shape);

/// `cap · tanh(x / cap)`.
double softcap(double x, double cap);

/// Softmax of a row; NaN if the row has NaN, +∞ or only −∞.
void softmaxInPlace(llvm::MutableArrayRef<double> row);

// AttentionOps.cpp
llvm::LogicalResult evaluate(AttentionMapOp op, Evaluator &evaluator);
llvm::LogicalResult evaluate(AttentionOp op, Evaluator &evaluator);
llvm::LogicalResult evaluate(EmptyMapsOp op, Evaluator &evaluator);

// ExpertOps.cpp
llvm::LogicalResult evaluate(ClampOp op, Evaluator &evaluator);
llvm::LogicalResult evaluate(ExpertsOp op, Evaluator &evaluator);
llvm::LogicalResult evaluate(RouteOp op, Evaluator &evaluator);

// FeedForwardOps.cpp
llvm::LogicalResult evaluate(ActivationOp op, Evaluator &evaluator);
llvm::LogicalResult evaluate(AddOp op, Evaluator &evaluator);
llvm::LogicalResult evaluate(EmbeddingOp op, Evaluator &evaluator);
llvm::LogicalResult evaluate(LinearOp op, Evaluator &evaluator);
llvm::LogicalResult evaluate(MultiplyOp op, Evaluator &evaluator);
llvm::LogicalResult evaluate(ScaleColumnsOp op, Evaluator &evaluator);
llvm::LogicalResult evaluate(ScaleOp op, Evaluator &evaluator);
llvm::LogicalResult evaluate(SoftcapOp op, Evaluator &evaluator);

// LossOps.cpp
llvm::LogicalResult evaluate(CrossEntropyOp op, Evaluator &evaluator);
llvm::LogicalResult evaluate(LabelsOp op, Evaluator &evaluator);
llvm::LogicalResult evaluate(MeanLossOp op, Evaluator &evaluator);

// NormOps.cpp
llvm::LogicalResult evaluate(L2NormalizeOp op, Evaluator &evaluator);
llvm::LogicalResult evaluate(LayerNormOp op, Evaluator &evaluator);
llvm::LogicalResult evaluate(RmsNormOp op, Evaluator &evaluator);
llvm::LogicalResult evaluate(SoftmaxOp op, Evaluator &evaluator);

// ParameterOps.cpp
llvm::LogicalResult evaluate(LoadOp op, Evaluator &evaluator);

// PositionOps.cpp
llvm::LogicalResult evaluate(RopeOp op, Evaluator &evaluator);
llvm::LogicalResult evaluate(RotaryOp op, Evaluator &evaluator);

// RowOps.cpp
/// The elements of a rectangle that are rows of a segment table, one for each.
/// An error of `op` if the rectangle is not the table's.
llvm::FailureOr<IntegerTensor> packRectangle(mlir::Operation *op,
                                             const IntegerTensor &rectangle,
                                             const Segments &segments);
llvm::LogicalResult evaluate(PackRowsOp op, Evaluator &evaluator);
llvm::LogicalResult evaluate(PoolOp op, Evaluator &evaluator);
llvm::LogicalResult evaluate(PositionsOp op, Evaluator &evaluator);
llvm::LogicalResult evaluate(RowsOp op, Evaluator &evaluator);
llvm::LogicalResult evaluate(SegmentsOp op, Evaluator &evaluator);
llvm::LogicalResult evaluate(SelectRowsOp op, Evaluator &evaluator);
llvm::LogicalResult evaluate(UnpackRowsOp op, Evaluator &evaluator);

// VisionOps.cpp
llvm::LogicalResult evaluate(ElementsOp op, Evaluator &evaluator);
llvm::LogicalResult evaluate(ImageSegmentsOp op, Evaluator &evaluator);
llvm::LogicalResult evaluate(PatchesOp op, Evaluator &evaluator);
llvm::LogicalResult evaluate(PatchifyOp op, Evaluator &evaluator);
llvm::LogicalResult evaluate(PrefixRowsOp op, Evaluator &evaluator);

// BuiltinOps.cpp: ops of arith, scf and tensor
llvm::LogicalResult evaluate(mlir::arith::AddIOp op, Evaluator &evaluator);
llvm::LogicalResult evaluate(mlir::arith::ConstantOp op, Evaluator &evaluator);
llvm::LogicalResult evaluate(mlir::arith::MulIOp op, Evaluator &evaluator);
llvm::LogicalResult evaluate(mlir::arith::SubIOp op, Evaluator &evaluator);
llvm::LogicalResult evaluate(mlir::scf::ForOp op, Evaluator &evaluator);
llvm::LogicalResult evaluate(mlir::tensor::CastOp op, Evaluator &evaluator);
llvm::LogicalResult evaluate(mlir::tensor::DimOp op, Evaluator &evaluator);
llvm::LogicalResult evaluate(mlir::tensor::EmptyOp op, Evaluator &evaluator);
llvm::LogicalResult evaluate(mlir::tensor::ExtractSliceOp op,
                             Evaluator &evaluator);
llvm::LogicalResult evaluate(mlir::tensor::InsertSliceOp op,
                             Evaluator &evaluator);

} // namespace hexad::reference

#endif // HEXAD_LIB_REFERENCE_EVALUATOR_H
