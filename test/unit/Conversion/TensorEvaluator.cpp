//===- TensorEvaluator.cpp - What a function of tensors gives -------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorEvaluator.h"
#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace hexad;
using namespace hexad::test;

Tensor::Tensor(std::vector<int64_t> shape, double value) : shape(shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  elements.assign(count, value);
}

double &Tensor::at(llvm::ArrayRef<int64_t> place) {
  int64_t index = 0;
  for (auto [at, size] : llvm::zip_equal(place, shape))
    index = index * size + at;
  return elements.at(index);
}

/// Calls `visit` with each place of a tensor of this shape.
static void forEach(const std::vector<int64_t> &shape,
                    llvm::function_ref<void(llvm::ArrayRef<int64_t>)> visit) {
  std::vector<int64_t> place(shape.size());
  for (size_t index = 0, count = Tensor(shape).elements.size(); index < count;
       ++index) {
    size_t rest = index;
    for (size_t dim = shape.size(); dim-- > 0; rest /= shape[dim])
      place[dim] = rest % shape[dim];
    visit(place);
  }
}

namespace {
class Machine {
public:
  llvm::DenseMap<Value, Tensor> tensors; ///< numbers have no dimensions

  Tensor &get(Value value) { return tensors.at(value); }
  int64_t getSize(OpFoldResult size) {
    if (auto value = dyn_cast<Value>(size))
      return static_cast<int64_t>(get(value).elements[0]);
    return cast<IntegerAttr>(cast<Attribute>(size)).getInt();
  }
  std::vector<int64_t> getSizes(llvm::ArrayRef<OpFoldResult> sizes) {
    std::vector<int64_t> result;
    for (OpFoldResult size : sizes)
      result.push_back(getSize(size));
    return result;
  }
  /// The same elements in another shape.
  static Tensor reshape(Tensor tensor, std::vector<int64_t> shape) {
    EXPECT_EQ(Tensor(shape).elements.size(), tensor.elements.size());
    tensor.shape = std::move(shape);
    return tensor;
  }

  Tensor run(tensor::CollapseShapeOp op) {
    Tensor &source = get(op.getSrc());
    std::vector<int64_t> shape;
    for (auto &group : op.getReassociationIndices()) {
      shape.push_back(1);
      for (int64_t dim : group)
        shape.back() *= source.shape[dim];
    }
    return reshape(source, shape);
  }

  Tensor run(linalg::TransposeOp op) {
    Tensor &source = get(op.getInput());
    std::vector<int64_t> shape;
    for (int64_t dim : op.getPermutation())
      shape.push_back(source.shape[dim]);
    Tensor result(shape);
    forEach(shape, [&](llvm::ArrayRef<int64_t> place) {
      std::vector<int64_t> from(place.size());
      for (auto [to, dim] : llvm::enumerate(op.getPermutation()))
        from[dim] = place[to];
      result.at(place) = source.at(from);
    });
    return result;
  }

  Tensor run(tensor::PadOp op) {
    Tensor &source = get(op.getSource());
    std::vector<int64_t> low = getSizes(op.getMixedLowPad()),
                         high = getSizes(op.getMixedHighPad());
    std::vector<int64_t> shape = source.shape;
    for (size_t dim = 0; dim < shape.size(); ++dim)
      shape[dim] += low[dim] + high[dim];
    Tensor result(shape, get(op.getConstantPaddingValue()).elements[0]);
    forEach(source.shape, [&](llvm::ArrayRef<int64_t> place) {
      std::vector<int64_t> to(place);
      for (size_t dim = 0; dim < to.size(); ++dim)
        to[dim] += low[dim];
      result.at(to) = source.at(place);
    });
    return result;
  }

  Tensor run(linalg::BroadcastOp op) {
    Tensor &source = get(op.getInput());
    Tensor result(get(op.getInit()).shape);
    forEach(result.shape, [&](llvm::ArrayRef<int64_t> place) {
      std::vector<int64_t> from;
      for (auto [dim, at] : llvm::enumerate(place))
        if (!llvm::is_contained(op.getDimensions(), int64_t(dim)))
          from.push_back(at);
      result.at(place) = source.at(from);
    });
    return result;
  }

  Tensor run(linalg::Conv2DNchwFchwOp op) {
    Tensor &image = get(op.getInputs()[0]), &filter = get(op.getInputs()[1]);
    Tensor result = get(op.getOutputs()[0]);
    auto strides = llvm::to_vector(op.getStrides().getValues<int64_t>());
    forEach(result.shape, [&](llvm::ArrayRef<int64_t> y) {
      forEach({filter.shape[1], filter.shape[2], filter.shape[3]},
              [&](llvm::ArrayRef<int64_t> k) {
                result.at(y) += image.at({y[0], k[0], y[2] * strides[0] + k[1],
                                          y[3] * strides[1] + k[2]}) *
                                filter.at({y[1], k[0], k[1], k[2]});
              });
    });
    return result;
  }

  Tensor run(PatchifyOp op) {
    Tensor &image = get(op.getImage()), &weight = get(op.getWeight());
    int64_t p = weight.shape[2], q = weight.shape[3], prefix = op.getPrefix();
    int64_t columns = image.shape[3] / q,
            patches = image.shape[2] / p * columns;
    int64_t tokens = prefix + patches;
    Tensor result({image.shape[0] * tokens, weight.shape[0]});
    forEach(result.shape, [&](llvm::ArrayRef<int64_t> y) {
      double &sum = result.at(y);
      int64_t patch = y[0] % tokens - prefix;
      if (patch >= 0)
        forEach({weight.shape[1], p, q}, [&](llvm::ArrayRef<int64_t> k) {
          sum += image.at({y[0] / tokens, k[0], patch / columns * p + k[1],
                           patch % columns * q + k[2]}) *
                 weight.at({y[1], k[0], k[1], k[2]});
        });
      if (op.getBias())
        sum += get(op.getBias()).at({y[1]});
    });
    return result;
  }

  Tensor run(UnpackRowsOp op) {
    auto segments = op.getSegments().getDefiningOp<ImageSegmentsOp>();
    Tensor &rows = get(op.getRows());
    int64_t length = segments.getLength();
    return reshape(rows, {rows.shape[0] / length, length, rows.shape[1]});
  }

  std::optional<Tensor> run(Operation *op) {
    using Result = std::optional<Tensor>;
    return llvm::TypeSwitch<Operation *, Result>(op)
        .Case<tensor::CollapseShapeOp, linalg::TransposeOp, tensor::PadOp,
              linalg::BroadcastOp, linalg::Conv2DNchwFchwOp, PatchifyOp,
              UnpackRowsOp>([&](auto op) { return run(op); })
        .Case([&](arith::ConstantOp op) {
          auto number = dyn_cast<FloatAttr>(op.getValue());
          return Tensor({}, number ? number.getValueAsDouble()
                                   : cast<IntegerAttr>(op.getValue()).getInt());
        })
        .Case([&](tensor::DimOp op) {
          return Tensor({}, get(op.getSource()).shape[*op.getConstantIndex()]);
        })
        .Case([&](tensor::EmptyOp op) {
          // What is read without having been written would be seen.
          return Tensor(getSizes(op.getMixedSizes()), 1e30);
        })
        .Case([&](tensor::CastOp op) { return get(op.getSource()); })
        .Case([&](tensor::ExpandShapeOp op) {
          return reshape(get(op.getSrc()), getSizes(op.getMixedOutputShape()));
        })
        .Case([&](linalg::FillOp op) {
          return Tensor(get(op.getOutputs()[0]).shape,
                        get(op.getInputs()[0]).elements[0]);
        })
        .Case([&](linalg::AddOp op) {
          Tensor sum = get(op.getInputs()[0]);
          Tensor &other = get(op.getInputs()[1]);
          EXPECT_EQ(sum.shape, other.shape);
          for (auto [a, b] : llvm::zip_equal(sum.elements, other.elements))
            a += b;
          return sum;
        })
        .Default([](Operation *) { return Result(); });
  }
};
} // namespace

std::optional<Tensor>
hexad::test::evaluate(func::FuncOp function,
                      const std::vector<Tensor> &arguments) {
  Machine machine;
  for (auto [value, tensor] :
       llvm::zip_equal(function.getArguments(), arguments))
    machine.tensors.try_emplace(value, tensor);
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (isa<ImageSegmentsOp>(op))
      continue;
    std::optional<Tensor> result = machine.run(&op);
    if (!result) {
      ADD_FAILURE() << "unknown op " << op.getName().getStringRef().str();
      return std::nullopt;
    }
    machine.tensors.try_emplace(op.getResult(0), std::move(*result));
  }
  Operation *end = function.getBody().front().getTerminator();
  return machine.get(end->getOperand(0));
}
