//===- BufferizableOpInterfaceImpl.cpp - Tensors to buffers ---------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/CodeGen/Bufferize.h"
#include "hexad/Dialect/Kernel/IR/KernelDialect.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace hexad;

namespace {
/// Kernels are in destination-passing style: on buffers they are the same ops
/// without results.
template <typename Op>
struct KernelModel
    : DstBufferizableOpInterfaceExternalModel<KernelModel<Op>, Op> {
  /// Row kernels read a row before they write it, a matmul reads an element of
  /// its factor and its residual before it writes that of its destination:
  /// these operands may be the same buffer.
  bool bufferizesToElementwiseAccess(Operation *op, const AnalysisState &,
                                     ArrayRef<OpOperand *> operands) const {
    if (auto matmul = dyn_cast<kernel::MatmulOp>(op))
      return llvm::all_of(operands, [&](OpOperand *operand) {
        return operand->get() == matmul.getFactor() ||
               operand->get() == matmul.getResidual() ||
               operand->get() == matmul.getDestination();
      });
    if (auto rope = dyn_cast<kernel::RopeOp>(op))
      return llvm::none_of(operands, [&](OpOperand *operand) {
        return operand->get() == rope.getRotary();
      });
    if (auto prefix = dyn_cast<kernel::PrefixRowsOp>(op))
      return llvm::none_of(operands, [&](OpOperand *operand) {
        return operand->get() == prefix.getTable();
      });
    if (auto scale = dyn_cast<kernel::ScaleColumnsOp>(op))
      return llvm::none_of(operands, [&](OpOperand *operand) {
        return operand->get() == scale.getWeight();
      });
    return isa<kernel::ClampOp, kernel::LayerNormOp, kernel::RmsNormOp,
               kernel::L2NormalizeOp, kernel::SoftmaxOp, kernel::ActivationOp,
               kernel::ScaleOp, kernel::SoftcapOp, kernel::AddOp,
               kernel::MultiplyOp>(op);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op);
    SmallVector<Value> operands;
    SmallVector<Value> destinations;
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = operand.get();
      bool isTensor = isa<TensorType>(value.getType());
      if (isTensor) {
        FailureOr<Value> buffer = getBuffer(rewriter, value, options, state);
        if (failed(buffer))
          return failure();
        value = *buffer;
      }
      operands.push_back(value);
      if (isTensor && cast<DestinationStyleOpInterface>(op).isDpsInit(&operand))
        destinations.push_back(value);
    }
    clone(rewriter, op, /*newResultTypes=*/TypeRange(), operands);
    replaceOpWithBufferizedValues(rewriter, op, destinations);
    return success();
  }
};

/// A parameter's value is a buffer that nobody writes to.
struct LoadModel : BufferizableOpInterface::ExternalModel<LoadModel, LoadOp> {
  bool isWritable(Operation *, Value, const AnalysisState &) const {
    return false;
  }
  FailureOr<BufferLikeType> getBufferType(Operation *, Value value,
                                          const BufferizationOptions &,
                                          const BufferizationState &,
                                          SmallVector<Value> &) const {
    auto type = cast<RankedTensorType>(value.getType());
    return cast<BufferLikeType>(
        MemRefType::get(type.getShape(), type.getElementType()));
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &,
                          BufferizationState &) const {
    auto load = cast<LoadOp>(op);
    auto type = cast<ShapedType>(load.getType());
    auto buffer =
        LoadOp::create(rewriter, op->getLoc(),
                       MemRefType::get(type.getShape(), type.getElementType()),
                       load.getParameterAttr(), load.getLayer());
    replaceOpWithBufferizedValues(rewriter, op, buffer.getResult());
    return success();
  }
};

template <typename... Ops> void attachKernelModels(MLIRContext *context) {
  (Ops::template attachInterface<KernelModel<Ops>>(*context), ...);
}
} // namespace

void hexad::registerBufferizableOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, HexadDialect *) {
    LoadOp::attachInterface<LoadModel>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, kernel::KernelDialect *) {
    attachKernelModels<
        kernel::ActivationOp, kernel::AddOp, kernel::ClampOp, kernel::ClearOp,
        kernel::CombineRowsOp, kernel::CopyRowsOp, kernel::CrossEntropyTileOp,
        kernel::FinishCrossEntropyOp, kernel::FinishPagesOp,
        kernel::GatherIndicesOp, kernel::GatherPackedRowsOp,
        kernel::GatherPatchesOp, kernel::GatherRowsOp, kernel::GroupRowsOp,
        kernel::L2NormalizeOp, kernel::LayerNormOp, kernel::LoadQueriesOp,
        kernel::MapPageOp, kernel::MatmulOp, kernel::MeanLossOp,
        kernel::MeanRowsOp, kernel::MultiplyOp, kernel::PackKeysOp,
        kernel::PackValuesOp, kernel::PrefixRowsOp, kernel::RmsNormOp,
        kernel::RopeOp, kernel::RotaryOp, kernel::RouteOp,
        kernel::ScaleColumnsOp, kernel::ScaleOp, kernel::ScatterRowsOp,
        kernel::SoftcapOp, kernel::SoftmaxOp, kernel::SoftmaxPageOp,
        kernel::StartCrossEntropyOp, kernel::StartPagesOp>(context);
  });
}
