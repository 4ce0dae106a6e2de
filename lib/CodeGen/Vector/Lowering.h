//===- Lowering.h - Parts of hexad-kernel-to-vector -------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows are walked in vectors of 16 lanes on every target, so that the order of
// operations, and with it every bit, is the same; LLVM splits them where a
// register holds 8.
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_LIB_CODEGEN_VECTOR_LOWERING_H
#define HEXAD_LIB_CODEGEN_VECTOR_LOWERING_H

#include "hexad/Dialect/Kernel/IR/KernelDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace hexad::kernel {

/// Builds loops and vectors at one location.
class VectorBuilder {
public:
  VectorBuilder(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  using Value = mlir::Value;
  using ValueRange = mlir::ValueRange;

  mlir::VectorType vectorType() {
    return mlir::VectorType::get({lanes}, builder.getF32Type());
  }

  // Constants.
  Value index(int64_t value);
  Value integer(int32_t value);
  Value scalar(float value);
  Value splat(float value);

  // Index arithmetic.
  Value add(Value lhs, Value rhs);
  Value add(Value lhs, int64_t rhs);
  Value sub(Value lhs, Value rhs);
  Value mul(Value lhs, int64_t rhs);
  Value divide(Value lhs, int64_t rhs);
  Value remainder(Value lhs, int64_t rhs);
  Value minimum(Value lhs, Value rhs);
  Value roundDown(Value value, int64_t multiple);

  // Row numbers, which are i32 in memory.
  Value isNotNegative(Value integer);
  Value toIndex(Value integer);
  Value toInteger(Value index);
  Value addi(Value lhs, Value rhs);

  // Arithmetic on f32 and vectors of it; both operands have the same type.
  Value addf(Value lhs, Value rhs);
  Value subf(Value lhs, Value rhs);
  Value mulf(Value lhs, Value rhs);
  Value divf(Value lhs, Value rhs);
  /// `a · b + c`, rounded once.
  Value fma(Value a, Value b, Value c);
  Value negf(Value value);
  Value sqrt(Value value);
  /// The nearest whole number, the even one of two.
  Value round(Value value);
  Value select(Value condition, Value yes, Value no);
  Value compare(mlir::arith::CmpFPredicate predicate, Value lhs, Value rhs);
  /// The greater of two. Gives `rhs` where one of them is NaN: one instruction.
  Value greater(Value lhs, Value rhs);
  /// The lesser, likewise.
  Value lesser(Value lhs, Value rhs);
  Value logicalAnd(Value lhs, Value rhs);
  Value logicalOr(Value lhs, Value rhs);
  /// `value`, but not below `low`; NaN stays NaN.
  Value clampBelow(Value value, float low);
  /// `value`, but not above `high`; NaN stays NaN.
  Value clampAbove(Value value, float high);
  Value broadcast(Value scalar);
  /// Reinterprets lanes as i32 (or back as f32).
  Value bitsOf(Value vector);
  Value fromBits(Value vector);
  Value shiftLeft(Value vector, int32_t amount);
  /// Whole numbers to i32; lanes beyond ±2^30 (or NaN) become ±2^30.
  Value toIntegers(Value vector);

  /// A number below 2^24 as f32; `number`, …, `number + 15`.
  Value toFloat(Value index);
  Value numbersFrom(Value index);
  /// A scalar that is not negative and fits i32, as index.
  Value truncate(Value scalar);

  /// The lanes whose number is below `count` (index).
  Value lanesBelow(Value count);

  /// Folds 16 lanes into a scalar by halves: (l, l+8), (l, l+4), (l, l+2),
  /// (l, l+1).
  Value foldLanes(Value vector,
                  llvm::function_ref<Value(Value, Value)> combine);

  // Memory. `load` and `loadScalar` widen bf16 and f16 to f32.
  Value dim(Value memref, int64_t dimension);
  Value load(Value memref, ValueRange indices);
  void store(Value vector, Value memref, ValueRange indices);
  /// The first `count` lanes of a vector, and zeros; touches no other memory.
  Value loadFirst(int64_t count, Value memref, ValueRange indices);
  void storeFirst(int64_t count, Value vector, Value memref,
                  ValueRange indices);
  /// The same with a count that is known at run time only.
  void storeFirst(Value count, Value vector, Value memref, ValueRange indices);
  /// `to[row, first + i] = from[row, first + i]` for `count` columns.
  void copyColumns(Value from, Value to, Value row, Value first, int64_t count);
  Value loadScalar(Value memref, ValueRange indices);
  void storeScalar(Value value, Value memref, ValueRange indices);
  /// Whether the buffer's address is not null.
  Value isPresent(Value memref);

  // Control flow.
  void loop(Value from, Value to, int64_t step,
            llvm::function_ref<void(Value)> body);
  /// Calls `body` with the first of each 16 numbers below `size`, and with how
  /// many of the 16 are below it.
  void forEachPart(int64_t size, llvm::function_ref<void(Value, int64_t)> body);
  llvm::SmallVector<Value>
  reduce(Value from, Value to, int64_t step, ValueRange inits,
         llvm::function_ref<llvm::SmallVector<Value>(Value, ValueRange)> body);
  /// `reduce` over the parts of `forEachPart`.
  llvm::SmallVector<Value> reduceParts(
      int64_t size, ValueRange inits,
      llvm::function_ref<llvm::SmallVector<Value>(Value, int64_t, ValueRange)>
          body);
  void branch(Value condition, llvm::function_ref<void()> yes,
              llvm::function_ref<void()> no = nullptr);
  Value conditional(mlir::Type type, Value condition,
                    llvm::function_ref<Value()> yes,
                    llvm::function_ref<Value()> no);

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

// Elementary functions (Math.cpp), on vectors of 16 lanes.
mlir::Value buildExp2(VectorBuilder &b, mlir::Value x);
mlir::Value buildExp(VectorBuilder &b, mlir::Value x);
/// The natural logarithm.
mlir::Value buildLog(VectorBuilder &b, mlir::Value x);
/// `cap · tanh(x · (1 / cap))`.
mlir::Value buildSoftcap(VectorBuilder &b, mlir::Value x, double cap);
mlir::Value buildActivation(VectorBuilder &b, Activation kind, mlir::Value x);
struct SineAndCosine {
  mlir::Value sine, cosine;
};
/// Of `angle + rest`, `rest` being at most half a unit in the last place of
/// `angle`.
SineAndCosine buildSineAndCosine(VectorBuilder &b, mlir::Value angle,
                                 mlir::Value rest);

// One function for each op; it builds the code in front of the op. Operands are
// memrefs with a static row stride and a column stride of 1.
void lower(VectorBuilder &b, MatmulOp op);
void lower(VectorBuilder &b, LayerNormOp op);
void lower(VectorBuilder &b, RmsNormOp op);
void lower(VectorBuilder &b, L2NormalizeOp op);
void lower(VectorBuilder &b, SoftmaxOp op);
void lower(VectorBuilder &b, ActivationOp op);
void lower(VectorBuilder &b, ScaleOp op);
void lower(VectorBuilder &b, ScaleColumnsOp op);
void lower(VectorBuilder &b, SoftcapOp op);
void lower(VectorBuilder &b, AddOp op);
void lower(VectorBuilder &b, MultiplyOp op);
void lower(VectorBuilder &b, ClampOp op);
void lower(VectorBuilder &b, RouteOp op);
void lower(VectorBuilder &b, GroupRowsOp op);
void lower(VectorBuilder &b, CombineRowsOp op);
void lower(VectorBuilder &b, RotaryOp op);
void lower(VectorBuilder &b, RopeOp op);
void lower(VectorBuilder &b, GatherIndicesOp op);
void lower(VectorBuilder &b, GatherRowsOp op);
void lower(VectorBuilder &b, GatherPackedRowsOp op);
void lower(VectorBuilder &b, GatherPatchesOp op);
void lower(VectorBuilder &b, PrefixRowsOp op);
void lower(VectorBuilder &b, ScatterRowsOp op);
void lower(VectorBuilder &b, CopyRowsOp op);
void lower(VectorBuilder &b, MeanRowsOp op);
void lower(VectorBuilder &b, LoadQueriesOp op);
void lower(VectorBuilder &b, PackKeysOp op);
void lower(VectorBuilder &b, PackValuesOp op);
void lower(VectorBuilder &b, SoftmaxPageOp op);
void lower(VectorBuilder &b, StartPagesOp op);
void lower(VectorBuilder &b, FinishPagesOp op);
void lower(VectorBuilder &b, StartCrossEntropyOp op);
void lower(VectorBuilder &b, CrossEntropyTileOp op);
void lower(VectorBuilder &b, FinishCrossEntropyOp op);
void lower(VectorBuilder &b, MeanLossOp op);
void lower(VectorBuilder &b, ClearOp op);
void lower(VectorBuilder &b, IsPresentOp op);
void lower(VectorBuilder &b, MapPageOp op);

} // namespace hexad::kernel

#endif // HEXAD_LIB_CODEGEN_VECTOR_LOWERING_H
