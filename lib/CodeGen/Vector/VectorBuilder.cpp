//===- VectorBuilder.cpp - Loops and vectors, briefly ---------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace hexad::kernel;

Value VectorBuilder::index(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

Value VectorBuilder::integer(int32_t value) {
  return arith::ConstantIntOp::create(builder, loc, value, 32);
}

Value VectorBuilder::scalar(float value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getF32FloatAttr(value));
}

Value VectorBuilder::splat(float value) {
  return arith::ConstantOp::create(
      builder, loc,
      SplatElementsAttr::get(vectorType(), builder.getF32FloatAttr(value)));
}

Value VectorBuilder::add(Value lhs, Value rhs) {
  return builder.createOrFold<arith::AddIOp>(loc, lhs, rhs);
}

Value VectorBuilder::add(Value lhs, int64_t rhs) {
  return rhs == 0 ? lhs : add(lhs, index(rhs));
}

Value VectorBuilder::sub(Value lhs, Value rhs) {
  return builder.createOrFold<arith::SubIOp>(loc, lhs, rhs);
}

Value VectorBuilder::mul(Value lhs, int64_t rhs) {
  return builder.createOrFold<arith::MulIOp>(loc, lhs, index(rhs));
}

Value VectorBuilder::divide(Value lhs, int64_t rhs) {
  return builder.createOrFold<arith::DivUIOp>(loc, lhs, index(rhs));
}

Value VectorBuilder::remainder(Value lhs, int64_t rhs) {
  return builder.createOrFold<arith::RemUIOp>(loc, lhs, index(rhs));
}

Value VectorBuilder::minimum(Value lhs, Value rhs) {
  return builder.createOrFold<arith::MinUIOp>(loc, lhs, rhs);
}

Value VectorBuilder::roundDown(Value value, int64_t multiple) {
  return mul(divide(value, multiple), multiple);
}

Value VectorBuilder::isNotNegative(Value integer) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, integer,
                               this->integer(0));
}

Value VectorBuilder::toIndex(Value integer) {
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    integer);
}

Value VectorBuilder::toInteger(Value index) {
  return arith::IndexCastOp::create(builder, loc, builder.getI32Type(), index);
}

Value VectorBuilder::addi(Value lhs, Value rhs) {
  return arith::AddIOp::create(builder, loc, lhs, rhs);
}

Value VectorBuilder::addf(Value lhs, Value rhs) {
  return arith::AddFOp::create(builder, loc, lhs, rhs);
}

Value VectorBuilder::subf(Value lhs, Value rhs) {
  return arith::SubFOp::create(builder, loc, lhs, rhs);
}

Value VectorBuilder::mulf(Value lhs, Value rhs) {
  return arith::MulFOp::create(builder, loc, lhs, rhs);
}

Value VectorBuilder::divf(Value lhs, Value rhs) {
  return arith::DivFOp::create(builder, loc, lhs, rhs);
}

Value VectorBuilder::fma(Value a, Value b, Value c) {
  return math::FmaOp::create(builder, loc, a, b, c);
}

Value VectorBuilder::negf(Value value) {
  return arith::NegFOp::create(builder, loc, value);
}

Value VectorBuilder::round(Value value) {
  return math::RoundEvenOp::create(builder, loc, value);
}

Value VectorBuilder::sqrt(Value value) {
  return math::SqrtOp::create(builder, loc, value);
}

Value VectorBuilder::select(Value condition, Value yes, Value no) {
  return arith::SelectOp::create(builder, loc, condition, yes, no);
}

Value VectorBuilder::compare(arith::CmpFPredicate predicate, Value lhs,
                             Value rhs) {
  return arith::CmpFOp::create(builder, loc, predicate, lhs, rhs);
}

Value VectorBuilder::greater(Value lhs, Value rhs) {
  return select(compare(arith::CmpFPredicate::OGT, lhs, rhs), lhs, rhs);
}

Value VectorBuilder::lesser(Value lhs, Value rhs) {
  return select(compare(arith::CmpFPredicate::OLT, lhs, rhs), lhs, rhs);
}

Value VectorBuilder::logicalAnd(Value lhs, Value rhs) {
  return arith::AndIOp::create(builder, loc, lhs, rhs);
}

Value VectorBuilder::logicalOr(Value lhs, Value rhs) {
  return arith::OrIOp::create(builder, loc, lhs, rhs);
}

Value VectorBuilder::clampBelow(Value value, float low) {
  Value bound = isa<VectorType>(value.getType()) ? splat(low) : scalar(low);
  return select(compare(arith::CmpFPredicate::OLT, value, bound), bound, value);
}

Value VectorBuilder::clampAbove(Value value, float high) {
  Value bound = isa<VectorType>(value.getType()) ? splat(high) : scalar(high);
  return select(compare(arith::CmpFPredicate::OGT, value, bound), bound, value);
}

Value VectorBuilder::broadcast(Value scalar) {
  return vector::BroadcastOp::create(builder, loc, vectorType(), scalar);
}

Value VectorBuilder::bitsOf(Value vector) {
  return arith::BitcastOp::create(
      builder, loc, VectorType::get({lanes}, builder.getI32Type()), vector);
}

Value VectorBuilder::fromBits(Value vector) {
  return arith::BitcastOp::create(builder, loc, vectorType(), vector);
}

Value VectorBuilder::shiftLeft(Value vector, int32_t amount) {
  auto type = cast<VectorType>(vector.getType());
  Value amounts = arith::ConstantOp::create(
      builder, loc,
      SplatElementsAttr::get(type, builder.getI32IntegerAttr(amount)));
  return arith::ShLIOp::create(builder, loc, vector, amounts);
}

Value VectorBuilder::toIntegers(Value vector) {
  constexpr float end = 1 << 30;
  Value inRange = clampAbove(greater(vector, splat(-end)), end);
  return arith::FPToSIOp::create(
      builder, loc, VectorType::get({lanes}, builder.getI32Type()), inRange);
}

Value VectorBuilder::toFloat(Value index) {
  return arith::SIToFPOp::create(builder, loc, builder.getF32Type(),
                                 toInteger(index));
}

Value VectorBuilder::numbersFrom(Value index) {
  auto numbers = llvm::to_vector_of<float>(llvm::seq<int64_t>(0, lanes));
  Value steps = arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(vectorType(), ArrayRef<float>(numbers)));
  return addf(broadcast(toFloat(index)), steps);
}

Value VectorBuilder::truncate(Value scalar) {
  return toIndex(
      arith::FPToSIOp::create(builder, loc, builder.getI32Type(), scalar));
}

Value VectorBuilder::lanesBelow(Value count) {
  return vector::CreateMaskOp::create(
      builder, loc, VectorType::get({lanes}, builder.getI1Type()), count);
}

Value VectorBuilder::foldLanes(Value vector,
                               function_ref<Value(Value, Value)> combine) {
  for (int64_t half = lanes / 2; half >= 1; half /= 2) {
    auto low = llvm::to_vector(llvm::seq<int64_t>(0, half));
    auto high = llvm::to_vector(llvm::seq<int64_t>(half, 2 * half));
    vector =
        combine(vector::ShuffleOp::create(builder, loc, vector, vector, low),
                vector::ShuffleOp::create(builder, loc, vector, vector, high));
  }
  return vector::ExtractOp::create(builder, loc, vector, int64_t(0));
}

Value VectorBuilder::dim(Value memref, int64_t dimension) {
  auto type = cast<MemRefType>(memref.getType());
  if (!type.isDynamicDim(dimension))
    return index(type.getDimSize(dimension));
  return memref::DimOp::create(builder, loc, memref, dimension);
}

/// What was read from a buffer of weights that are stored in 16 bits as f32.
static Value widen(VectorBuilder &b, Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  if (!element.isBF16() && !element.isF16())
    return value;
  Type type = b.builder.getF32Type();
  if (isa<VectorType>(value.getType()))
    type = b.vectorType();
  return arith::ExtFOp::create(b.builder, b.loc, type, value);
}

Value VectorBuilder::load(Value memref, ValueRange indices) {
  auto type = VectorType::get(
      {lanes}, cast<MemRefType>(memref.getType()).getElementType());
  return widen(*this,
               vector::LoadOp::create(builder, loc, type, memref, indices));
}

void VectorBuilder::store(Value vector, Value memref, ValueRange indices) {
  vector::StoreOp::create(builder, loc, vector, memref, indices);
}

Value VectorBuilder::loadFirst(int64_t count, Value memref,
                               ValueRange indices) {
  if (count == lanes)
    return load(memref, indices);
  return vector::MaskedLoadOp::create(builder, loc, vectorType(), memref,
                                      indices, lanesBelow(index(count)),
                                      splat(0.0f));
}

void VectorBuilder::storeFirst(int64_t count, Value vector, Value memref,
                               ValueRange indices) {
  if (count == lanes)
    return store(vector, memref, indices);
  vector::MaskedStoreOp::create(builder, loc, memref, indices,
                                lanesBelow(index(count)), vector);
}

void VectorBuilder::storeFirst(Value count, Value vector, Value memref,
                               ValueRange indices) {
  vector::MaskedStoreOp::create(builder, loc, memref, indices,
                                lanesBelow(count), vector);
}

void VectorBuilder::copyColumns(Value from, Value to, Value row, Value first,
                                int64_t count) {
  forEachPart(count, [&](Value c, int64_t part) {
    SmallVector<Value, 2> place = {row, add(first, c)};
    storeFirst(part, loadFirst(part, from, place), to, place);
  });
}

Value VectorBuilder::loadScalar(Value memref, ValueRange indices) {
  return widen(*this, memref::LoadOp::create(builder, loc, memref, indices));
}

void VectorBuilder::storeScalar(Value value, Value memref, ValueRange indices) {
  memref::StoreOp::create(builder, loc, value, memref, indices);
}

Value VectorBuilder::isPresent(Value memref) {
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memref);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, address,
                               index(0));
}

void VectorBuilder::loop(Value from, Value to, int64_t step,
                         function_ref<void(Value)> body) {
  auto forOp = scf::ForOp::create(builder, loc, from, to, index(step));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(forOp.getBody());
  body(forOp.getInductionVar());
}

void VectorBuilder::forEachPart(int64_t size,
                                function_ref<void(Value, int64_t)> body) {
  int64_t whole = size / lanes * lanes;
  if (whole > 0)
    loop(index(0), index(whole), lanes, [&](Value at) { body(at, lanes); });
  if (whole < size)
    body(index(whole), size - whole);
}

SmallVector<Value> VectorBuilder::reduce(
    Value from, Value to, int64_t step, ValueRange inits,
    function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto forOp = scf::ForOp::create(builder, loc, from, to, index(step), inits);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(forOp.getBody());
  SmallVector<Value> next =
      body(forOp.getInductionVar(), forOp.getRegionIterArgs());
  scf::YieldOp::create(builder, loc, next);
  return llvm::to_vector_of<Value>(forOp.getResults());
}

SmallVector<Value> VectorBuilder::reduceParts(
    int64_t size, ValueRange inits,
    function_ref<SmallVector<Value>(Value, int64_t, ValueRange)> body) {
  SmallVector<Value> values = llvm::to_vector(inits);
  int64_t whole = size / lanes * lanes;
  if (whole > 0)
    values = reduce(
        index(0), index(whole), lanes, values,
        [&](Value at, ValueRange soFar) { return body(at, lanes, soFar); });
  if (whole < size)
    values = body(index(whole), size - whole, values);
  return values;
}

void VectorBuilder::branch(Value condition, function_ref<void()> yes,
                           function_ref<void()> no) {
  auto ifOp = scf::IfOp::create(builder, loc, condition,
                                /*withElseRegion=*/bool(no));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(ifOp.thenBlock());
  yes();
  if (no) {
    builder.setInsertionPointToStart(ifOp.elseBlock());
    no();
  }
}

Value VectorBuilder::conditional(Type type, Value condition,
                                 function_ref<Value()> yes,
                                 function_ref<Value()> no) {
  auto ifOp = scf::IfOp::create(builder, loc, TypeRange{type}, condition,
                                /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(ifOp.thenBlock());
  scf::YieldOp::create(builder, loc, yes());
  builder.setInsertionPointToStart(ifOp.elseBlock());
  scf::YieldOp::create(builder, loc, no());
  return ifOp.getResult(0);
}
