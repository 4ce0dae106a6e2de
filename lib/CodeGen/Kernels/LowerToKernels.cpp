//===- LowerToKernels.cpp - hexad ops on tiles to hexad_kernel ops --------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LowerToKernels.h"
#include "CrossEntropy.h"
#include "hexad/CodeGen/Passes.h"
#include "hexad/Dialect/Kernel/IR/KernelDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace hexad;

namespace hexad {
#define GEN_PASS_DEF_LOWERTOKERNELSPASS
#include "hexad/CodeGen/Passes.h.inc"
} // namespace hexad

/// How many rows a tile has: a tile is a slice, or was made from one.
static OpFoldResult getRowCount(Value tile) {
  if (auto slice = tile.getDefiningOp<tensor::ExtractSliceOp>())
    return slice.getMixedSizes()[0];
  auto kernel = tile.getDefiningOp<DestinationStyleOpInterface>();
  return getRowCount(kernel.getTiedOpOperand(cast<OpResult>(tile))->get());
}

/// Whether getRowCount knows the rows of a value.
static bool isTile(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto kernel = dyn_cast_or_null<DestinationStyleOpInterface>(op))
    return isTile(kernel.getTiedOpOperand(cast<OpResult>(value))->get());
  return isa_and_present<tensor::ExtractSliceOp, RowLocalOpInterface>(op);
}

/// Row-local ops work on tiles of rows, and on whole parameters or images.
static LogicalResult checkTiles(func::FuncOp function) {
  WalkResult result = function.walk([](RowLocalOpInterface op) {
    unsigned rowOperands = op.getNumRowOperands();
    for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
      auto type = cast<RankedTensorType>(operand.getType());
      if (index < rowOperands
              ? isTile(operand)
              : type.getRank() == 4 || operand.getDefiningOp<LoadOp>())
        continue;
      op->emitOpError("expected operand ")
          << index << " to be "
          << (index < rowOperands ? "a tile of rows (hexad-tile)"
                                  : "a parameter (hexad.load)")
          << ", found " << type << " from elsewhere";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Whether both are the same part of the same tensor.
static bool areSameSlice(Value lhs, Value rhs) {
  auto left = lhs.getDefiningOp<tensor::ExtractSliceOp>();
  auto right = rhs.getDefiningOp<tensor::ExtractSliceOp>();
  return left && right && left.getSource() == right.getSource() &&
         left.getMixedOffsets() == right.getMixedOffsets() &&
         left.getMixedSizes() == right.getMixedSizes();
}

/// The slice that a tile is made in: what the ops that made it got as
/// destination. Null if it is no slice.
static tensor::ExtractSliceOp getPlace(Value tile) {
  if (auto kernel = tile.getDefiningOp<DestinationStyleOpInterface>())
    return getPlace(kernel.getTiedOpOperand(cast<OpResult>(tile))->get());
  return tile.getDefiningOp<tensor::ExtractSliceOp>();
}

/// Whether `slice` is the part of the block's result that `insert` replaces.
static bool isPartOf(tensor::ExtractSliceOp slice,
                     tensor::InsertSliceOp insert) {
  return slice && slice.getSource() == insert.getDest() &&
         slice.getMixedOffsets() == insert.getMixedOffsets() &&
         slice.getMixedSizes() == insert.getMixedSizes();
}

/// Where a tile becomes a part of the block's result; null if it does not.
static tensor::InsertSliceOp getInsertion(Value tile) {
  for (Operation *user : tile.getUsers())
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(user))
      return insert;
  return {};
}

/// Whether an op needs what stands in the part of the block's result that
/// `insert` replaces when `writer` begins to write there. An op that works
/// element by element, or row by row, may read what it overwrites; `linear`
/// (null if there is none) reads its rows for each panel of columns again.
static bool isStillRead(tensor::InsertSliceOp insert, Operation *writer,
                        Operation *linear) {
  for (Operation *user : insert.getDest().getUsers()) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    if (!isPartOf(slice, insert))
      continue;
    for (Operation *reader : slice->getUsers()) {
      Operation *ancestor = insert->getBlock()->findAncestorOpInBlock(*reader);
      if (ancestor && (ancestor == linear || writer->isBeforeInBlock(ancestor)))
        return true;
    }
  }
  return false;
}

namespace {
class TileLowering {
public:
  TileLowering(ModuleOp module, int64_t tileRows, int64_t tileColumns,
               int64_t blockRows)
      : layouts(module, tileColumns), tileRows(tileRows),
        tileColumns(tileColumns), blockRows(blockRows),
        builder(module.getLoc(), module.getContext()) {}

  void run(func::FuncOp function) {
    function.walk(
        [&](LinearOp linear) { layouts.announcePanels(linear.getWeight()); });
    function.walk([&](RowLocalOpInterface op) {
      logicalColumns[op] = countLogicalColumns(op);
      ops.push_back(op);
    });
    padActivations(function, tileColumns);
    for (Operation *op : ops)
      if (!fused.contains(op))
        lower(op);
    ops.clear();
    copyToResults(function);
    layouts.eraseUnused();
  }

private:
  void lower(Operation *op) {
    builder.setLoc(op->getLoc());
    builder.setInsertionPoint(op);
    Value result =
        TypeSwitch<Operation *, Value>(op)
            .Case<LinearOp>([&](LinearOp linear) {
              SmallVector<Operation *> chain = findLoss(linear);
              return chain.empty() ? lowerLinear(linear)
                                   : lowerLoss(linear, chain);
            })
            .Case<CrossEntropyOp>(
                [&](CrossEntropyOp loss) { return lowerLoss(loss); })
            .Case<EmbeddingOp>([&](EmbeddingOp embedding) {
              Value destination = getDestination(embedding.getResult(),
                                                 embedding.getIds(), embedding);
              if (layouts.hasPanels(embedding.getTable()))
                return kernel::GatherPackedRowsOp::create(
                           builder, destination.getType(),
                           layouts.loadPanels(embedding.getTable()),
                           embedding.getIds(), destination,
                           embedding.getOffset())
                    .getResult(0);
              return kernel::GatherRowsOp::create(
                         builder, destination.getType(),
                         layouts.loadPadded(embedding.getTable()),
                         embedding.getIds(), destination, embedding.getOffset())
                  .getResult(0);
            })
            .Case<LayerNormOp>([&](LayerNormOp norm) {
              Value x = norm.getX();
              Value destination = getUnaryDestination(norm, x);
              Value bias = norm.getBias();
              return kernel::LayerNormOp::create(
                         builder, destination.getType(), x,
                         layouts.loadPadded(norm.getWeight()),
                         bias ? layouts.loadPadded(bias) : Value(), destination,
                         norm.getEpsAttr(), getWidth(norm))
                  .getResult(0);
            })
            .Case<L2NormalizeOp>([&](L2NormalizeOp norm) {
              Value destination = getUnaryDestination(norm, norm.getX());
              return kernel::L2NormalizeOp::create(
                         builder, destination.getType(), norm.getX(),
                         destination, norm.getEpsAttr(), getWidth(norm))
                  .getResult(0);
            })
            .Case<SoftmaxOp>([&](SoftmaxOp softmax) {
              Value destination = getUnaryDestination(softmax, softmax.getX());
              return kernel::SoftmaxOp::create(builder, destination.getType(),
                                               softmax.getX(), destination,
                                               getWidth(softmax))
                  .getResult(0);
            })
            .Case<ActivationOp>([&](ActivationOp activation) {
              Value destination =
                  getUnaryDestination(activation, activation.getX());
              return kernel::ActivationOp::create(
                         builder, destination.getType(), activation.getX(),
                         destination, activation.getKindAttr())
                  .getResult(0);
            })
            .Case<RmsNormOp>([&](RmsNormOp norm) {
              Value destination = getUnaryDestination(norm, norm.getX());
              Value weight = norm.getWeight();
              return kernel::RmsNormOp::create(
                         builder, destination.getType(), norm.getX(),
                         weight ? layouts.loadPadded(weight) : Value(),
                         destination, norm.getEpsAttr(), norm.getOffsetAttr(),
                         norm.getGroupsAttr(), getWidth(norm),
                         norm.getUnitOffsetAttr())
                  .getResult(0);
            })
            .Case<ScaleColumnsOp>([&](ScaleColumnsOp scale) {
              Value destination = getUnaryDestination(scale, scale.getX());
              return kernel::ScaleColumnsOp::create(
                         builder, destination.getType(), scale.getX(),
                         layouts.loadPadded(scale.getWeight()), destination)
                  .getResult(0);
            })
            .Case<PatchesOp>([&](PatchesOp patches) {
              Value destination = getDestination(
                  patches.getResult(), patches.getElements(), patches);
              return kernel::GatherPatchesOp::create(
                         builder, destination.getType(), patches.getImage(),
                         patches.getElements(), destination,
                         patches.getPatchAttr(), patches.getPrefixAttr())
                  .getResult(0);
            })
            .Case<PrefixRowsOp>([&](PrefixRowsOp prefix) {
              Value destination = getUnaryDestination(prefix, prefix.getX());
              return kernel::PrefixRowsOp::create(
                         builder, destination.getType(), prefix.getX(),
                         prefix.getPositions(),
                         layouts.loadPadded(prefix.getTable()), destination)
                  .getResult(0);
            })
            .Case<ScaleOp>([&](ScaleOp scale) {
              Value destination = getUnaryDestination(scale, scale.getX());
              return kernel::ScaleOp::create(builder, destination.getType(),
                                             scale.getX(), destination,
                                             scale.getFactorAttr())
                  .getResult(0);
            })
            .Case<SoftcapOp>([&](SoftcapOp softcap) {
              Value destination = getUnaryDestination(softcap, softcap.getX());
              return kernel::SoftcapOp::create(builder, destination.getType(),
                                               softcap.getX(), destination,
                                               softcap.getCapAttr())
                  .getResult(0);
            })
            .Case<RotaryOp>([&](RotaryOp rotary) {
              Value destination = getDestination(rotary.getResult(),
                                                 rotary.getPositions(), rotary);
              return kernel::RotaryOp::create(
                         builder, destination.getType(), rotary.getPositions(),
                         destination, rotary.getInvFreqAttr(),
                         rotary.getAttentionFactorAttr())
                  .getResult(0);
            })
            .Case<RopeOp>([&](RopeOp rope) {
              Value destination = getUnaryDestination(rope, rope.getX());
              return kernel::RopeOp::create(
                         builder, destination.getType(), rope.getX(),
                         rope.getRotary(), destination, rope.getPairingAttr(),
                         rope.getHeadsAttr(), rope.getHeadDimAttr(),
                         getWidth(rope), rope.getOffsetAttr())
                  .getResult(0);
            })
            .Case<RouteOp>([&](RouteOp route) { return lowerRoute(route); })
            .Case<ClampOp>([&](ClampOp clamp) {
              Value destination = getUnaryDestination(clamp, clamp.getX());
              return kernel::ClampOp::create(builder, destination.getType(),
                                             clamp.getX(), destination,
                                             clamp.getLowerAttr(),
                                             clamp.getUpperAttr())
                  .getResult(0);
            })
            .Case<AddOp>(
                [&](AddOp add) { return lowerBinary<kernel::AddOp>(add); })
            .Case<MultiplyOp>([&](MultiplyOp multiply) {
              return lowerBinary<kernel::MultiplyOp>(multiply);
            });
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
  }

  Value lowerRoute(RouteOp route) {
    Value destination =
        getDestination(route.getResult(), route.getLogits(), route);
    auto loadPerExpert = [&](Value vector) {
      return vector ? layouts.loadPadded(vector) : Value();
    };
    return kernel::RouteOp::create(
               builder, destination.getType(), route.getLogits(),
               loadPerExpert(route.getSelectionBias()),
               loadPerExpert(route.getScales()), destination,
               route.getScoreAttr(), getWidth(route), route.getTopKAttr(),
               route.getRenormalizeAttr(), route.getScalingAttr(),
               route.getGroupsAttr(), route.getTopGroupsAttr())
        .getResult(0);
  }

  template <typename KernelOp, typename Op> Value lowerBinary(Op op) {
    Value destination = getUnaryDestination(op, op.getLhs());
    return KernelOp::create(builder, destination.getType(), op.getLhs(),
                            op.getRhs(), destination)
        .getResult(0);
  }

  /// How many columns an op works on: those of its result, of a group of
  /// `rms_norm`, the classes of `cross_entropy`, the frequencies of `rope` and
  /// the experts of `route`, all without padding.
  static int64_t countLogicalColumns(RowLocalOpInterface op) {
    if (auto norm = dyn_cast<RmsNormOp>(*op))
      return norm.getColumnsPerGroup();
    if (auto route = dyn_cast<RouteOp>(*op))
      return route.getExperts();
    if (auto loss = dyn_cast<CrossEntropyOp>(*op))
      return cast<RankedTensorType>(loss.getLogits().getType()).getDimSize(1);
    auto getColumns = [](Value rows) {
      return cast<RankedTensorType>(rows.getType()).getDimSize(1);
    };
    if (auto rope = dyn_cast<RopeOp>(*op))
      return getColumns(rope.getRotary()) / 2;
    return getColumns(op.getRowResult());
  }

  IntegerAttr getWidth(Operation *op) {
    return builder.getI64IntegerAttr(logicalColumns.lookup(op));
  }

  /// The result of `writer` goes where the block's result goes if it is that,
  /// or becomes that by ops that work in place; into scratch memory otherwise,
  /// and if what stands there is still read. `like` has as many rows.
  Value getDestination(Value result, Value like, Operation *writer,
                       LinearOp linear = {}) {
    Value last = result;
    while (last.hasOneUse() && !getInsertion(last)) {
      Operation *user = *last.getUsers().begin();
      if (!isa<LayerNormOp, RmsNormOp, L2NormalizeOp, SoftmaxOp, ActivationOp,
               ScaleOp, SoftcapOp, AddOp, MultiplyOp, RopeOp, ClampOp,
               PrefixRowsOp, ScaleColumnsOp>(user) ||
          user->getOperand(0) != last)
        break;
      last = user->getResult(0);
    }
    if (tensor::InsertSliceOp insert = getInsertion(last))
      if (!isStillRead(insert, writer, linear))
        return tensor::ExtractSliceOp::create(
            builder, cast<RankedTensorType>(last.getType()), insert.getDest(),
            insert.getMixedOffsets(), insert.getMixedSizes(),
            insert.getMixedStrides());
    int64_t columns =
        cast<RankedTensorType>(result.getType()).getShape().back();
    // Not tensor.empty: two of the same type would become one (CSE), which
    // bufferization had to part again by an allocation of dynamic size.
    Value scratch = bufferization::AllocTensorOp::create(
        builder,
        RankedTensorType::get({blockRows, columns}, builder.getF32Type()),
        /*dynamicSizes=*/ValueRange());
    OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
    return tensor::ExtractSliceOp::create(
        builder, scratch, SmallVector<OpFoldResult>{zero, zero},
        SmallVector<OpFoldResult>{getRowCount(like),
                                  builder.getIndexAttr(columns)},
        SmallVector<OpFoldResult>{one, one});
  }

  /// Of an op that may work in place: its operand if that is a tile that
  /// nothing else looks at.
  Value getUnaryDestination(Operation *op, Value x) {
    if (x.hasOneUse() && !x.getDefiningOp<tensor::ExtractSliceOp>()) {
      tensor::InsertSliceOp insert = getInsertion(op->getResult(0));
      if (!insert || isPartOf(getPlace(x), insert) ||
          isStillRead(insert, op, /*linear=*/nullptr))
        return x;
    }
    return getDestination(op->getResult(0), x, op);
  }

  /// Tiles of results that could not be made in their place are copied there,
  /// behind all that reads what stood there.
  void copyToResults(func::FuncOp function) {
    function.walk([&](tensor::InsertSliceOp insert) {
      Value tile = insert.getSource();
      auto type = cast<RankedTensorType>(tile.getType());
      if (!insert->getParentOfType<scf::ForallOp>() || !getPlace(tile) ||
          isPartOf(getPlace(tile), insert))
        return;
      builder.setLoc(insert.getLoc());
      builder.setInsertionPoint(insert);
      Value destination = tensor::ExtractSliceOp::create(
          builder, type, insert.getDest(), insert.getMixedOffsets(),
          insert.getMixedSizes(), insert.getMixedStrides());
      insert.getSourceMutable().assign(
          kernel::CopyRowsOp::create(builder, type, tile, destination)
              .getResult(0));
    });
  }

  Value lowerLinear(LinearOp linear) {
    // The epilogue: what comes behind in the order that the kernel has.
    SmallVector<Operation *> chain{linear};
    auto next = [&]() -> Operation * {
      Value result = chain.back()->getResult(0);
      return result.hasOneUse() ? *result.getUsers().begin() : nullptr;
    };
    /// The operand beside the result so far; null if no `Op` comes next.
    auto fuseBinary = [&]<typename Op>(Op) -> Value {
      auto op = dyn_cast_or_null<Op>(next());
      if (!op)
        return {};
      Value result = chain.back()->getResult(0);
      chain.push_back(op);
      return op.getLhs() == result ? op.getRhs() : op.getLhs();
    };
    ActivationAttr activation;
    if (auto op = dyn_cast_or_null<ActivationOp>(next())) {
      activation = op.getKindAttr();
      chain.push_back(op);
    }
    Value factor = fuseBinary(MultiplyOp());
    Value residual = fuseBinary(AddOp());
    Operation *last = chain.back();
    builder.setInsertionPoint(last);

    Value x = linear.getX();
    Value panels = layouts.loadPanels(linear.getWeight());
    Value bias =
        linear.getBias() ? layouts.loadPadded(linear.getBias()) : Value();
    Value destination = getDestination(last->getResult(0), x, last, linear);
    for (Value *operand : {&factor, &residual})
      if (*operand && areSameSlice(*operand, destination))
        *operand = destination;
    auto matmul = kernel::MatmulOp::create(
        builder, destination.getType(), x, panels, bias, factor, residual,
        /*fold=*/Value(), destination, getTile(), activation);
    last->getResult(0).replaceAllUsesWith(matmul.getResult(0));
    for (Operation *op : llvm::reverse(ArrayRef(chain).drop_front())) {
      fused.insert(op);
      op->erase();
    }
    return matmul.getResult(0);
  }

  /// The ops from behind `linear` to a cross_entropy that is all that becomes
  /// of it; none if it is not.
  static SmallVector<Operation *> findLoss(LinearOp linear) {
    SmallVector<Operation *> chain;
    for (Value value = linear.getResult(); value.hasOneUse();
         value = chain.back()->getResult(0)) {
      chain.push_back(*value.getUsers().begin());
      if (isa<CrossEntropyOp>(chain.back()))
        return chain;
      if (!isa<ActivationOp, ScaleOp, SoftcapOp>(chain.back()))
        break;
    }
    return {};
  }

  /// A linear op whose logits exist a tile at a time only.
  Value lowerLoss(LinearOp linear, ArrayRef<Operation *> chain) {
    auto loss = cast<CrossEntropyOp>(chain.back());
    builder.setInsertionPoint(loss);
    Value x = linear.getX(), panels = layouts.loadPanels(linear.getWeight());
    Value bias =
        linear.getBias() ? layouts.loadPadded(linear.getBias()) : Value();
    CrossEntropyLowering lowering(builder, loss, logicalColumns.lookup(loss),
                                  getRowCount(x), blockRows);
    Value result = lowering.lower(
        getDestination(loss.getResult(), x, loss), [&](Value first) {
          Value logits = lowering.makeLogits(x, panels, bias, first, getTile());
          for (Operation *op : chain.drop_back())
            logits = applyInPlace(op, logits);
          return logits;
        });
    loss.getResult().replaceAllUsesWith(result);
    for (Operation *op : llvm::reverse(chain)) {
      fused.insert(op);
      op->erase();
    }
    return result;
  }

  Value lowerLoss(CrossEntropyOp loss) {
    Value logits = loss.getLogits();
    CrossEntropyLowering lowering(builder, loss, logicalColumns.lookup(loss),
                                  getRowCount(logits), blockRows);
    return lowering.lower(
        getDestination(loss.getResult(), logits, loss),
        [&](Value first) { return lowering.sliceLogits(logits, first); });
  }

  /// An elementwise op on a tile that nothing else looks at.
  Value applyInPlace(Operation *op, Value x) {
    return TypeSwitch<Operation *, Value>(op)
        .Case<ActivationOp>([&](ActivationOp activation) {
          return kernel::ActivationOp::create(builder, x.getType(), x, x,
                                              activation.getKindAttr())
              .getResult(0);
        })
        .Case<ScaleOp>([&](ScaleOp scale) {
          return kernel::ScaleOp::create(builder, x.getType(), x, x,
                                         scale.getFactorAttr())
              .getResult(0);
        })
        .Case<SoftcapOp>([&](SoftcapOp softcap) {
          return kernel::SoftcapOp::create(builder, x.getType(), x, x,
                                           softcap.getCapAttr())
              .getResult(0);
        });
  }

  kernel::TileAttr getTile() {
    return kernel::TileAttr::get(builder.getContext(), tileRows, tileColumns);
  }

  ParameterLayouts layouts;
  int64_t tileRows, tileColumns, blockRows;
  ImplicitLocOpBuilder builder;
  SmallVector<Operation *> ops;
  llvm::SmallPtrSet<Operation *, 16> fused;
  DenseMap<Operation *, int64_t> logicalColumns;
};

struct LowerToKernelsPass
    : hexad::impl::LowerToKernelsPassBase<LowerToKernelsPass> {
  using LowerToKernelsPassBase::LowerToKernelsPassBase;

  void runOnOperation() override {
    if (tileRows < 1 || blockRows < 1 || tileColumns < 1 ||
        tileColumns % kernel::lanes != 0) {
      getOperation().emitError("hexad-lower-to-kernels: tile-rows and "
                               "block-rows must be positive, tile-columns a "
                               "positive multiple of 16");
      return signalPassFailure();
    }
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(checkTiles(function)))
        return signalPassFailure();
    TileLowering lowering(getOperation(), tileRows, tileColumns, blockRows);
    for (auto function : getOperation().getOps<func::FuncOp>())
      lowering.run(function);
  }
};
} // namespace
