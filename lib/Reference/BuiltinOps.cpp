//===- BuiltinOps.cpp - Ops of arith, scf and tensor ----------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluator.h"
#include <limits>

using namespace mlir;
using namespace hexad;
using namespace hexad::reference;

//===----------------------------------------------------------------------===//
// arith
//===----------------------------------------------------------------------===//

LogicalResult reference::evaluate(arith::ConstantOp op, Evaluator &evaluator) {
  if (auto integer = dyn_cast<IntegerAttr>(op.getValue());
      integer && integer.getValue().getSignificantBits() <= 64)
    return evaluator.set(op.getResult(), integer.getValue().getSExtValue());
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!elements)
    return op.emitOpError("expected an integer or a dense tensor, found ")
           << op.getValue();
  if (failed(checkSize(op, elements.getType().getShape())))
    return failure();
  if (isa<FloatType>(elements.getElementType())) {
    FloatTensor tensor(elements.getType().getShape());
    for (auto [element, value] :
         llvm::zip_equal(tensor.elements, elements.getValues<APFloat>()))
      element = value.convertToDouble();
    return evaluator.set(op.getResult(), std::move(tensor));
  }
  if (!elements.getElementType().isIntOrIndex() ||
      (isa<IntegerType>(elements.getElementType()) &&
       elements.getElementType().getIntOrFloatBitWidth() > 64))
    return op.emitOpError("expected elements of f32, i32 or index, found ")
           << elements.getElementType();
  IntegerTensor tensor(elements.getType().getShape());
  for (auto [element, value] :
       llvm::zip_equal(tensor.elements, elements.getValues<APInt>()))
    element = value.getSExtValue();
  return evaluator.set(op.getResult(), std::move(tensor));
}

/// A binary op on integers; unsigned, because an overflow wraps around.
template <typename OpTy>
static LogicalResult
evaluateBinary(OpTy op, Evaluator &evaluator,
               llvm::function_ref<uint64_t(uint64_t, uint64_t)> compute) {
  if (!op.getType().isIndex())
    return op.emitOpError("is known to the reference interpreter on index "
                          "only, found ")
           << op.getType();
  return evaluator.set(op.getResult(), static_cast<int64_t>(compute(
                                           evaluator.getInteger(op.getLhs()),
                                           evaluator.getInteger(op.getRhs()))));
}

LogicalResult reference::evaluate(arith::AddIOp op, Evaluator &evaluator) {
  return evaluateBinary(op, evaluator, std::plus<uint64_t>());
}

LogicalResult reference::evaluate(arith::SubIOp op, Evaluator &evaluator) {
  return evaluateBinary(op, evaluator, std::minus<uint64_t>());
}

LogicalResult reference::evaluate(arith::MulIOp op, Evaluator &evaluator) {
  return evaluateBinary(op, evaluator, std::multiplies<uint64_t>());
}

//===----------------------------------------------------------------------===//
// scf
//===----------------------------------------------------------------------===//

LogicalResult reference::evaluate(scf::ForOp op, Evaluator &evaluator) {
  if (!op.getInductionVar().getType().isIndex())
    return op.emitOpError("expected a loop over index, found ")
           << op.getInductionVar().getType();
  int64_t lower = evaluator.getInteger(op.getLowerBound());
  int64_t upper = evaluator.getInteger(op.getUpperBound());
  int64_t step = evaluator.getInteger(op.getStep());
  if (step <= 0)
    return op.emitOpError("expected a positive step, found ") << step;
  std::vector<RuntimeValue> carried;
  for (Value init : op.getInitArgs())
    carried.push_back(evaluator.get(init));
  for (int64_t i = lower; i < upper;) {
    std::vector<RuntimeValue> arguments = {i};
    llvm::append_range(arguments, carried);
    FailureOr<std::vector<RuntimeValue>> yielded =
        evaluator.run(*op.getBody(), arguments);
    if (failed(yielded))
      return failure();
    carried = std::move(*yielded);
    if (llvm::AddOverflow(i, step, i))
      break;
  }
  for (auto [result, value] : llvm::zip_equal(op.getResults(), carried))
    if (failed(evaluator.set(result, value)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// tensor
//===----------------------------------------------------------------------===//

LogicalResult reference::evaluate(tensor::CastOp op, Evaluator &evaluator) {
  if (!isa<RankedTensorType>(op.getType()) ||
      !isa<RankedTensorType>(op.getSource().getType()))
    return op.emitOpError("expected ranked tensors");
  return evaluator.set(op.getResult(), evaluator.get(op.getSource()));
}

LogicalResult reference::evaluate(tensor::DimOp op, Evaluator &evaluator) {
  const RuntimeValue &source = evaluator.get(op.getSource());
  ArrayRef<int64_t> shape;
  if (auto *floats = std::get_if<std::shared_ptr<const FloatTensor>>(&source))
    shape = (*floats)->shape;
  else
    shape = evaluator.getIntegers(op.getSource()).shape;
  int64_t dim = evaluator.getInteger(op.getIndex());
  if (dim < 0 || dim >= static_cast<int64_t>(shape.size()))
    return op.emitOpError("expected a dimension below ")
           << shape.size() << ", found " << dim;
  return evaluator.set(op.getResult(), shape[dim]);
}

LogicalResult reference::evaluate(tensor::EmptyOp op, Evaluator &evaluator) {
  if (!op.getType().getElementType().isF32())
    return op.emitOpError("expected elements of f32, found ") << op.getType();
  SmallVector<int64_t> shape(op.getType().getShape());
  auto dynamicSize = op.getDynamicSizes().begin();
  for (int64_t &size : shape)
    if (ShapedType::isDynamic(size))
      size = evaluator.getInteger(*dynamicSize++);
  if (failed(checkSize(op, shape)))
    return failure();
  // Contents are unspecified: NaN makes visible whoever reads them.
  return evaluator.set(
      op.getResult(),
      FloatTensor(shape, std::numeric_limits<double>::quiet_NaN()));
}

/// Which elements of a tensor a slice takes: a position of the tensor for each
/// element of the slice, in row-major order.
static FailureOr<std::vector<int64_t>>
getSliceElements(OffsetSizeAndStrideOpInterface op, ArrayRef<int64_t> shape,
                 Evaluator &evaluator, SmallVectorImpl<int64_t> &sizes) {
  auto resolve = [&](ArrayRef<OpFoldResult> mixed) {
    return llvm::map_to_vector(mixed, [&](OpFoldResult value) {
      if (auto attribute = dyn_cast<Attribute>(value))
        return cast<IntegerAttr>(attribute).getInt();
      return evaluator.getInteger(cast<Value>(value));
    });
  };
  SmallVector<int64_t> offsets = resolve(op.getMixedOffsets());
  SmallVector<int64_t> strides = resolve(op.getMixedStrides());
  sizes.assign(resolve(op.getMixedSizes()));
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    // Bounds first: then nothing below can overflow.
    int64_t offset = offsets[dim], size = sizes[dim], stride = strides[dim];
    bool fits = offset >= 0 && size >= 0 && size <= extent && stride >= 1 &&
                (size == 0 ? offset <= extent
                           : offset < extent &&
                                 (size - 1) <= (extent - 1 - offset) / stride);
    if (!fits)
      return op->emitOpError("expected a slice inside dimension ")
             << dim << " of size " << extent << ", found offset " << offset
             << ", size " << size << ", stride " << stride;
  }
  std::vector<int64_t> elements = {0};
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    std::vector<int64_t> finer;
    finer.reserve(elements.size() * sizes[dim]);
    for (int64_t coarse : elements)
      for (int64_t i = 0; i < sizes[dim]; ++i)
        finer.push_back(coarse * extent + offsets[dim] + i * strides[dim]);
    elements = std::move(finer);
  }
  return elements;
}

LogicalResult reference::evaluate(tensor::ExtractSliceOp op,
                                  Evaluator &evaluator) {
  if (!op.getSourceType().getElementType().isF32())
    return op.emitOpError("expected elements of f32, found ")
           << op.getSourceType();
  const FloatTensor &source = evaluator.getFloats(op.getSource());
  SmallVector<int64_t> sizes;
  FailureOr<std::vector<int64_t>> elements =
      getSliceElements(op, source.shape, evaluator, sizes);
  if (failed(elements))
    return failure();
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (!dropped.test(dim))
      shape.push_back(size);
  FloatTensor slice(shape);
  for (auto [element, position] : llvm::zip_equal(slice.elements, *elements))
    element = source.elements[position];
  return evaluator.set(op.getResult(), std::move(slice));
}

LogicalResult reference::evaluate(tensor::InsertSliceOp op,
                                  Evaluator &evaluator) {
  if (!op.getType().getElementType().isF32())
    return op.emitOpError("expected elements of f32, found ") << op.getType();
  const FloatTensor &slice = evaluator.getFloats(op.getSource());
  FloatTensor result = evaluator.getFloats(op.getDest());
  SmallVector<int64_t> sizes;
  FailureOr<std::vector<int64_t>> elements =
      getSliceElements(op, result.shape, evaluator, sizes);
  if (failed(elements))
    return failure();
  if (elements->size() != slice.elements.size())
    return op.emitOpError("expected a source of ")
           << elements->size() << " elements, found " << slice.elements.size();
  for (auto [position, element] : llvm::zip_equal(*elements, slice.elements))
    result.elements[position] = element;
  return evaluator.set(op.getResult(), std::move(result));
}
