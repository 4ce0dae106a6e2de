//===- Convolution.cpp - Patchify and convolutions ------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace hexad;

namespace hexad {
#define GEN_PASS_DEF_PATCHIFYTOCONVOLUTIONPASS
#define GEN_PASS_DEF_CONVOLUTIONTOPATCHIFYPASS
#include "hexad/Conversion/Passes.h.inc"
} // namespace hexad

static constexpr int64_t dynamic = ShapedType::kDynamic;

static ArrayRef<int64_t> getShape(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

namespace {
/// Builds tensors whose first dimension is the number of images.
class ImageBuilder : public ImplicitLocOpBuilder {
public:
  ImageBuilder(Operation *op, Value image)
      : ImplicitLocOpBuilder(op->getLoc(), op),
        batch(createOrFold<tensor::DimOp>(image, 0)) {}

  RankedTensorType getType(ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, getF32Type());
  }
  Value cast(Value value, Type type) {
    return value.getType() == type
               ? value
               : tensor::CastOp::create(*this, type, value).getResult();
  }
  /// `[batch, sizes…]`.
  Value empty(ArrayRef<int64_t> sizes) {
    SmallVector<OpFoldResult> shape{getAsOpFoldResult(batch)};
    for (int64_t size : sizes)
      shape.push_back(getIndexAttr(size));
    auto tensor = tensor::EmptyOp::create(*this, shape, getF32Type());
    SmallVector<int64_t> known(sizes);
    known.insert(known.begin(), dynamic);
    return cast(tensor, getType(known));
  }
  /// `[batch, a, b]` to `[batch, b, a]`.
  Value transpose(Value value) {
    ArrayRef<int64_t> shape = getShape(value);
    return linalg::TransposeOp::create(*this, value,
                                       empty({shape[2], shape[1]}),
                                       ArrayRef<int64_t>{0, 2, 1})
        ->getResult(0);
  }

  Value batch;
};

struct PatchifyToConvolutionPass
    : hexad::impl::PatchifyToConvolutionPassBase<PatchifyToConvolutionPass> {
  using PatchifyToConvolutionPassBase::PatchifyToConvolutionPassBase;

  void runOnOperation() override {
    getOperation().walk([&](UnpackRowsOp op) {
      if (auto segments = op.getSegments().getDefiningOp<ImageSegmentsOp>())
        convertUnpack(op, segments);
    });
    getOperation().walk([&](PatchifyOp op) { convertPatchify(op); });
  }

private:
  void convertPatchify(PatchifyOp op) {
    ImageBuilder b(op, op.getImage());
    ArrayRef<int64_t> image = getShape(op.getImage()),
                      filter = getShape(op.getWeight());
    int64_t filters = filter[0], prefix = op.getPrefix();
    int64_t rows = image[2] / filter[2], columns = image[3] / filter[3];
    Value zero = arith::ConstantOp::create(b, b.getF32FloatAttr(0));
    Value zeros =
        linalg::FillOp::create(b, zero, b.empty({filters, rows, columns}))
            .getResult(0);
    Value y =
        linalg::Conv2DNchwFchwOp::create(
            b, TypeRange{zeros.getType()},
            ValueRange{b.cast(op.getImage(), b.getType({dynamic, image[1],
                                                        image[2], image[3]})),
                       op.getWeight()},
            ValueRange{zeros}, b.getI64TensorAttr(filter.take_back(2)),
            b.getI64TensorAttr({1, 1}))
            .getResult(0);
    y = tensor::CollapseShapeOp::create(
        b, y, SmallVector<ReassociationIndices>{{0}, {1}, {2, 3}});
    y = b.transpose(y);
    if (prefix) {
      OpFoldResult none = b.getIndexAttr(0);
      y = tensor::PadOp::create(
          b, b.getType({dynamic, prefix + rows * columns, filters}), y,
          SmallVector<OpFoldResult>{none, b.getIndexAttr(prefix), none},
          SmallVector<OpFoldResult>{none, none, none}, zero);
    }
    y = tensor::CollapseShapeOp::create(
        b, y, SmallVector<ReassociationIndices>{{0, 1}, {2}});
    if (op.getBias())
      y = addBias(b, y, op.getBias());
    op.replaceAllUsesWith(b.cast(y, op.getResult().getType()));
    op.erase();
  }

  Value addBias(ImageBuilder &b, Value rows, Value bias) {
    auto makeEmpty = [&]() -> Value {
      return tensor::EmptyOp::create(
          b, tensor::getMixedSizes(b, b.getLoc(), rows), b.getF32Type());
    };
    Value spread =
        linalg::BroadcastOp::create(b, bias, makeEmpty(), ArrayRef<int64_t>{0})
            ->getResult(0);
    return linalg::AddOp::create(b, TypeRange{rows.getType()},
                                 ValueRange{rows, spread},
                                 ValueRange{makeEmpty()})
        .getResult(0);
  }

  /// Images have no padding: their rows lie as in the rectangle.
  void convertUnpack(UnpackRowsOp op, ImageSegmentsOp segments) {
    ImageBuilder b(op, segments.getImage());
    SmallVector<int64_t> shape(getShape(op.getRows()));
    int64_t length = segments.getLength(), columns = shape.back();
    bool isStack = shape.size() == 3;
    shape[isStack ? 1 : 0] = dynamic;
    Value rows = b.cast(op.getRows(), b.getType(shape));
    SmallVector<int64_t> expanded{dynamic, length, columns};
    SmallVector<OpFoldResult> sizes{getAsOpFoldResult(b.batch),
                                    b.getIndexAttr(length),
                                    b.getIndexAttr(columns)};
    SmallVector<ReassociationIndices> groups{{0, 1}, {2}};
    if (isStack) {
      expanded.insert(expanded.begin(), shape.front());
      sizes.insert(sizes.begin(), b.getIndexAttr(shape.front()));
      groups = {{0}, {1, 2}, {3}};
    }
    // A folded batch would be static in the type, too.
    sizes[isStack ? 1 : 0] = b.batch;
    Value y = tensor::ExpandShapeOp::create(b, b.getType(expanded), rows,
                                            groups, sizes);
    op.replaceAllUsesWith(b.cast(y, op.getRectangle().getType()));
    op.erase();
  }
};

struct ConvolutionToPatchifyPass
    : hexad::impl::ConvolutionToPatchifyPassBase<ConvolutionToPatchifyPass> {
  using ConvolutionToPatchifyPassBase::ConvolutionToPatchifyPassBase;

  void runOnOperation() override {
    getOperation().walk([&](linalg::Conv2DNchwFchwOp op) {
      StringRef reason = explainRefusal(op);
      if (!reason.empty())
        op.emitRemark("no patches: ") << reason;
      else
        convert(op);
    });
  }

private:
  /// Why it is no patchify; empty if it is one.
  StringRef explainRefusal(linalg::Conv2DNchwFchwOp op) {
    if (!op.hasPureTensorSemantics())
      return "it works on buffers";
    auto image = dyn_cast<RankedTensorType>(op.getInputs()[0].getType());
    auto filter = dyn_cast<RankedTensorType>(op.getInputs()[1].getType());
    if (!image.getElementType().isF32() || !filter.getElementType().isF32())
      return "it is not of f32";
    if (!hexad::detail::isImageShape(image.getShape()) ||
        !filter.hasStaticShape() || llvm::is_contained(filter.getShape(), 0))
      return "sizes are not static";
    auto strides = llvm::to_vector(op.getStrides().getValues<int64_t>());
    if (ArrayRef(strides) != filter.getShape().take_back(2))
      return "the strides are not the filter's sizes";
    if (!llvm::all_of(op.getDilations().getValues<int64_t>(),
                      [](int64_t dilation) { return dilation == 1; }))
      return "it has dilations";
    if (image.getDimSize(2) % filter.getDimSize(2) != 0 ||
        image.getDimSize(3) % filter.getDimSize(3) != 0)
      return "the images are not whole patches";
    if (!isZero(op.getOutputs()[0]) && !getBias(op))
      return "it adds to something else than zeros or a bias";
    return "";
  }

  bool isZero(Value value) {
    auto fill = value.getDefiningOp<linalg::FillOp>();
    return fill && matchPattern(fill.getInputs()[0], m_AnyZeroFloat());
  }

  /// A vector that is broadcast to all images and pixels; null if it is none.
  Value getBias(linalg::Conv2DNchwFchwOp op) {
    auto broadcast = op.getOutputs()[0].getDefiningOp<linalg::BroadcastOp>();
    if (!broadcast || broadcast.getDimensions() != ArrayRef<int64_t>{0, 2, 3})
      return {};
    return broadcast.getInput();
  }

  void convert(linalg::Conv2DNchwFchwOp op) {
    Value image = op.getInputs()[0], filter = op.getInputs()[1];
    ImageBuilder b(op, image);
    ArrayRef<int64_t> sizes = getShape(image), patch = getShape(filter);
    int64_t rows = sizes[2] / patch[2], columns = sizes[3] / patch[3];
    int64_t patches = rows * columns, filters = patch[0];
    Value segments = ImageSegmentsOp::create(
        b, SegmentsType::get(b.getContext()), image, patches);
    Value x = PatchifyOp::create(b, b.getType({dynamic, filters}), image,
                                 filter, getBias(op), segments);
    Value y = UnpackRowsOp::create(b, b.getType({dynamic, patches, filters}), x,
                                   segments);
    y = b.transpose(y);
    y = tensor::ExpandShapeOp::create(
        b, b.getType({dynamic, filters, rows, columns}), y,
        SmallVector<ReassociationIndices>{{0}, {1}, {2, 3}},
        SmallVector<OpFoldResult>{b.batch, b.getIndexAttr(filters),
                                  b.getIndexAttr(rows),
                                  b.getIndexAttr(columns)});
    op.getResult(0).replaceAllUsesWith(b.cast(y, op.getResultTypes()[0]));
    op.erase();
  }
};
} // namespace
