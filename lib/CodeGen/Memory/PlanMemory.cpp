//===- PlanMemory.cpp - One arena for every buffer ------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../EntryArguments.h"
#include "hexad/CodeGen/Passes.h"
#include "hexad/Dialect/Kernel/IR/KernelDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace hexad;

namespace hexad {
#define GEN_PASS_DEF_PLANMEMORYPASS
#include "hexad/CodeGen/Passes.h.inc"
} // namespace hexad

/// Vector loads like whole cache lines.
static constexpr int64_t bufferAlignment = 64;

namespace {
/// Sizes in bytes: a constant, or bytes for each unit of an extent.
struct Size {
  static constexpr int constant = -1;
  int extent;
  int64_t bytes;
};

/// One `memref.alloc`, and the epochs from its first to its last use.
struct Buffer {
  memref::AllocOp alloc;
  Size size;
  bool perThread;
  int64_t begin, end;
  unsigned slot;
};

/// A part of the arena that buffers of the same extent use in turn.
struct Slot {
  Size size;
  int64_t busyUntil;
};

class MemoryPlan {
public:
  explicit MemoryPlan(func::FuncOp function) : function(function) {}

  LogicalResult create() {
    markNoWait(function.getBody().front());
    numberEpochs(function.getBody().front());
    WalkResult result = function.walk([&](memref::AllocOp alloc) {
      return succeeded(addBuffer(alloc)) ? WalkResult::advance()
                                         : WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return failure();
    // Ties keep the order of the allocs: the plan is the same every time.
    for (auto [index, buffer] : llvm::enumerate(buffers))
      buffer.slot = index;
    llvm::sort(buffers, [](const Buffer &lhs, const Buffer &rhs) {
      return std::tie(lhs.begin, lhs.slot) < std::tie(rhs.begin, rhs.slot);
    });
    for (Buffer &buffer : buffers)
      assignSlot(buffer);
    return success();
  }

  /// Replaces the allocs by views of `arena` and returns the arena's size as in
  /// hexad_arena_size.
  SmallVector<int64_t> apply(Value arena);

private:
  /// A block of rows needs no barrier before the next one with the same split:
  /// each thread goes on with its own rows.
  void markNoWait(Block &block) {
    scf::ForallOp previous;
    for (Operation &op : block) {
      if (auto forall = dyn_cast<scf::ForallOp>(op)) {
        Attribute split = forall->getAttr("hexad.split");
        if (previous && split && previous->getAttr("hexad.split") == split)
          previous->setAttr("hexad.nowait", UnitAttr::get(op.getContext()));
        previous = forall;
      } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
        markNoWait(*loop.getBody());
        previous = {};
      }
    }
  }

  /// An epoch ends at a barrier.
  void numberEpochs(Block &block) {
    for (Operation &op : block) {
      int64_t begin = epoch;
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        // What happens before the loop is over before its next iteration.
        begin = ++epoch;
        numberEpochs(*loop.getBody());
        epochs[&op] = {begin, epoch++};
        continue;
      }
      epochs[&op] = {begin, epoch};
      if (isa<scf::ForallOp>(op) && !op.hasAttr("hexad.nowait"))
        ++epoch;
    }
  }

  /// The op among those with an epoch that contains `op` in the block of `from`
  /// (or in an enclosing one).
  std::pair<int64_t, int64_t> getEpochs(Operation *op, Block *block) {
    while (op->getBlock() != block)
      op = op->getParentOp();
    return epochs.lookup(op);
  }

  FailureOr<Size> getSize(memref::AllocOp alloc) {
    MemRefType type = alloc.getType();
    int64_t bytes = type.getElementTypeBitWidth() / 8;
    for (int64_t dim : type.getShape())
      if (!ShapedType::isDynamic(dim))
        bytes *= dim;
    if (type.hasStaticShape())
      return Size{Size::constant,
                  static_cast<int64_t>(llvm::alignTo(bytes, bufferAlignment))};
    if (alloc.getDynamicSizes().size() == 1) {
      Value size = alloc.getDynamicSizes()[0];
      if (auto product = size.getDefiningOp<arith::MulIOp>()) {
        APInt factor;
        if (matchPattern(product.getRhs(), m_ConstantInt(&factor))) {
          bytes *= factor.getSExtValue();
          size = product.getLhs();
        }
      }
      std::optional<hexad_extent> extent = getExtentKind(function, size);
      // Row counts are multiples of HEXAD_ROW_GRANULE, hence of 16.
      if (extent &&
          (bytes % bufferAlignment == 0 || *extent == HEXAD_EXTENT_ROWS ||
           *extent == HEXAD_EXTENT_SEGMENT_ROWS ||
           *extent == HEXAD_EXTENT_SELECTED_ROWS))
        return Size{*extent, bytes};
    }
    return alloc.emitOpError("expected a size that is a multiple of one of the "
                             "call's extents, found ")
           << type;
  }

  LogicalResult addBuffer(memref::AllocOp alloc) {
    FailureOr<Size> size = getSize(alloc);
    if (failed(size))
      return failure();
    bool perThread = alloc->getParentOfType<scf::ForallOp>() != nullptr;
    if (perThread && size->extent != Size::constant)
      return alloc.emitOpError("expected a static size for scratch memory of a "
                               "thread, found ")
             << alloc.getType();
    if (perThread && !findExtent(function, HEXAD_EXTENT_THREADS))
      return alloc.emitOpError("is scratch memory of a thread: expected an "
                               "argument with the number of threads "
                               "(hexad-tile)");
    if (perThread)
      size->extent = HEXAD_EXTENT_THREADS;
    Buffer buffer{alloc, *size, perThread, 0, 0, 0};
    if (perThread) {
      Operation *forall = alloc->getParentOfType<scf::ForallOp>();
      std::tie(buffer.begin, buffer.end) = epochs.lookup(forall);
    } else {
      buffer.begin = std::numeric_limits<int64_t>::max();
      buffer.end = -1;
      SmallVector<Value> aliases{alloc.getResult()};
      llvm::SmallDenseSet<Value> seen;
      while (!aliases.empty()) {
        Value value = aliases.pop_back_val();
        if (!seen.insert(value).second)
          continue;
        for (OpOperand &use : value.getUses()) {
          auto [begin, end] = getEpochs(use.getOwner(), alloc->getBlock());
          buffer.begin = std::min(buffer.begin, begin);
          buffer.end = std::max(buffer.end, end);
          if (isa<ViewLikeOpInterface, memref::CastOp>(use.getOwner()))
            aliases.push_back(use.getOwner()->getResult(0));
          else if (auto loop = dyn_cast<scf::ForOp>(use.getOwner()))
            if (OpOperand *init = &use; init->getOperandNumber() >= 3) {
              aliases.push_back(loop.getTiedLoopRegionIterArg(init));
              aliases.push_back(loop.getTiedLoopResult(init));
            }
        }
      }
    }
    buffers.push_back(buffer);
    return success();
  }

  void assignSlot(Buffer &buffer) {
    for (auto [index, slot] : llvm::enumerate(slots))
      if (slot.size.extent == buffer.size.extent &&
          slot.busyUntil < buffer.begin) {
        slot.size.bytes = std::max(slot.size.bytes, buffer.size.bytes);
        slot.busyUntil = buffer.end;
        buffer.slot = index;
        return;
      }
    buffer.slot = slots.size();
    slots.push_back({buffer.size, buffer.end});
  }

  func::FuncOp function;
  int64_t epoch = 0;
  DenseMap<Operation *, std::pair<int64_t, int64_t>> epochs;
  SmallVector<Buffer> buffers;
  SmallVector<Slot> slots;
};
} // namespace

SmallVector<int64_t> MemoryPlan::apply(Value arena) {
  Block &entry = function.getBody().front();
  ImplicitLocOpBuilder builder(function.getLoc(), function);
  builder.setInsertionPointToStart(&entry);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, value);
  };
  SmallVector<int64_t> total(1 + HEXAD_EXTENT_COUNT, 0);
  SmallVector<Value> offsets;
  Value offset = constant(0);
  for (const Slot &slot : slots) {
    offsets.push_back(offset);
    total[1 + slot.size.extent] += slot.size.bytes;
    Value bytes = constant(slot.size.bytes);
    if (slot.size.extent != Size::constant)
      bytes = builder.createOrFold<arith::MulIOp>(
          bytes,
          findExtent(function, static_cast<hexad_extent>(slot.size.extent)));
    offset = builder.createOrFold<arith::AddIOp>(offset, bytes);
  }
  for (Buffer &buffer : buffers) {
    builder.setInsertionPoint(buffer.alloc);
    builder.setLoc(buffer.alloc.getLoc());
    Value start = offsets[buffer.slot];
    if (buffer.perThread) {
      Value thread = kernel::ThreadOp::create(builder);
      Value mine = builder.createOrFold<arith::MulIOp>(
          thread, constant(slots[buffer.slot].size.bytes));
      start = builder.createOrFold<arith::AddIOp>(start, mine);
    }
    MemRefType type = buffer.alloc.getType();
    Value view = memref::ViewOp::create(
        builder, MemRefType::get(type.getShape(), type.getElementType()), arena,
        start, buffer.alloc.getDynamicSizes());
    buffer.alloc.replaceAllUsesWith(view);
    buffer.alloc.erase();
  }
  return total;
}

namespace {
struct PlanMemoryPass : hexad::impl::PlanMemoryPassBase<PlanMemoryPass> {
  using PlanMemoryPassBase::PlanMemoryPassBase;

  void runOnOperation() override {
    auto functions = getOperation().getOps<func::FuncOp>();
    if (!llvm::hasSingleElement(functions)) {
      getOperation().emitError("expected one function");
      return signalPassFailure();
    }
    func::FuncOp function = *functions.begin();
    if (!function.getBody().hasOneBlock()) {
      function.emitError("expected a function with one block");
      return signalPassFailure();
    }
    MemoryPlan plan(function);
    if (failed(plan.create()))
      return signalPassFailure();

    OpBuilder builder(function);
    auto bytes = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
    Value arena = addPointer(function, HEXAD_POINTER_ARENA, bytes);
    Value weights = addPointer(function, HEXAD_POINTER_WEIGHTS, bytes);
    getOperation()->setAttr("hexad.arena",
                            builder.getDenseI64ArrayAttr(plan.apply(arena)));
    placeParameters(function, weights);
  }

private:
  void placeParameters(func::FuncOp function, Value weights) {
    OpBuilder builder(function);
    SymbolTable symbols(getOperation());
    int64_t end = 0;
    for (auto parameter : getOperation().getOps<ParameterOp>()) {
      parameter->setAttr("hexad.offset", builder.getI64IntegerAttr(end));
      RankedTensorType type = parameter.getTensorType();
      end = llvm::alignTo(end + type.getNumElements() *
                                    type.getElementTypeBitWidth() / 8,
                          bufferAlignment);
    }
    getOperation()->setAttr("hexad.weights_bytes",
                            builder.getI64IntegerAttr(end));
    function.walk([&](LoadOp load) {
      auto parameter = symbols.lookup<ParameterOp>(load.getParameter());
      auto type = cast<MemRefType>(load.getType());
      ImplicitLocOpBuilder at(load.getLoc(), load);
      Value offset = arith::ConstantIndexOp::create(
          at, cast<IntegerAttr>(parameter->getAttr("hexad.offset")).getInt());
      if (load.getLayer()) {
        int64_t layerBytes =
            type.getNumElements() * type.getElementTypeBitWidth() / 8;
        Value layerOffset = arith::MulIOp::create(
            at, load.getLayer(),
            arith::ConstantIndexOp::create(at, layerBytes));
        offset = arith::AddIOp::create(at, offset, layerOffset);
      }
      Value view =
          memref::ViewOp::create(at, type, weights, offset, ValueRange());
      load.replaceAllUsesWith(view);
      load.erase();
    });
  }
};
} // namespace
