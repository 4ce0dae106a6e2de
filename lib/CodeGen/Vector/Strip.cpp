//===- Strip.cpp - A few rows times a few panels --------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Strip.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMAttrs.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace hexad::kernel;

/// Steps of k in the loop's body.
static constexpr int64_t unroll = 4;

static constexpr int64_t cacheLineBytes = 64;

static Type getElementType(Value buffer) {
  return cast<MemRefType>(buffer.getType()).getElementType();
}

int64_t hexad::kernel::getElementBytes(Value buffer) {
  return getElementType(buffer).getIntOrFloatBitWidth() / 8;
}

/// Cache lines of the next panel that the loop's body fetches. Those of one
/// strip alone: four steps of 32 columns of f32. Where strips fetch less, the
/// last lines are those that the next steps fetch again; that costs nothing,
/// and early fetches gain (docs/Performance.md, "What was tried").
static constexpr int64_t fetchedLines = 8;

int64_t hexad::kernel::getMostFetchedColumns(Value panels) {
  return fetchedLines * cacheLineBytes / getElementBytes(panels) / unroll;
}

static int64_t getVectors(Value panels) {
  return cast<MemRefType>(panels.getType()).getShape().back() / lanes;
}

Strip Strip::get(VectorBuilder &b, Value a, Value panels, Value row,
                 int64_t count, Value panel, int64_t panelCount) {
  Strip strip;
  strip.a = a;
  strip.panels = panels;
  for (int64_t r = 0; r < count; ++r)
    strip.rows.push_back(b.add(row, r));
  for (int64_t p = 0; p < panelCount; ++p)
    strip.numbers.push_back(b.add(panel, p));
  return strip;
}

//===----------------------------------------------------------------------===//
// The loop over k
//===----------------------------------------------------------------------===//

/// One k: a panel's row is loaded once and shared by all rows of the strip.
static void step(VectorBuilder &b, const Strip &strip, Value k,
                 MutableArrayRef<Value> values) {
  SmallVector<Value> weights;
  for (Value panel : strip.numbers)
    for (int64_t v = 0; v < getVectors(strip.panels); ++v)
      weights.push_back(b.load(strip.panels, {panel, k, b.index(v * lanes)}));
  Value *value = values.begin();
  for (Value row : strip.rows) {
    Value a = b.broadcast(b.loadScalar(strip.a, {row, k}));
    for (Value weight : weights) {
      *value = b.fma(a, weight, *value);
      ++value;
    }
  }
}

/// How far ahead of its use each of several panels side by side is fetched.
/// Without it one thread waits for memory: with panels of 1536 columns and 576
/// steps it reads f32 with 82 % of the read loop's speed (bf16: 70 %), with it
/// 90 % (82 %); in code for AVX2 77 % (47 %) become 87 % (71 %). 1 KiB and 4
/// KiB are worse.
static constexpr int64_t bytesAhead = 2048;

/// Fetches what `unroll` steps will read of several panels after those from k
/// on: behind their ends the beginnings of as many panels behind them.
static void fetchAhead(VectorBuilder &b, const Strip &strip, Value k) {
  int64_t elementBytes = getElementBytes(strip.panels);
  int64_t columns = getVectors(strip.panels) * lanes;
  Value depth = b.dim(strip.panels, 1);
  Value ahead = b.add(k, bytesAhead / (columns * elementBytes));
  Value isInside = arith::CmpIOp::create(
      b.builder, b.loc, arith::CmpIPredicate::ult, ahead, depth);
  Value others = b.mul(depth, strip.numbers.size() - 1);
  // The next panel begins where this one ends.
  Value step = b.add(ahead, b.select(isInside, b.index(0), others));
  for (Value panel : strip.numbers)
    for (int64_t column = 0; column < unroll * columns;
         column += cacheLineBytes / elementBytes)
      memref::PrefetchOp::create(b.builder, b.loc, strip.panels,
                                 ValueRange{panel, step, b.index(column)},
                                 /*isWrite=*/false, /*localityHint=*/3,
                                 /*isDataCache=*/true);
}

/// The fetches of `unroll` steps from k on.
static void fetchNextPanel(VectorBuilder &b, const Strip &strip, Value k) {
  if (strip.numbers.size() > 1)
    return fetchAhead(b, strip, k);
  if (!strip.fetched)
    return;
  Value next = b.add(strip.numbers.back(), 1);
  Value before = arith::MulIOp::create(b.builder, b.loc, strip.strip,
                                       b.dim(strip.panels, 1));
  Value step = b.add(before, k);
  Value element = arith::MulIOp::create(b.builder, b.loc, step, strip.fetched);
  int64_t lineElements = cacheLineBytes / getElementBytes(strip.panels);
  for (int64_t line = 0; line < fetchedLines; ++line)
    memref::PrefetchOp::create(
        b.builder, b.loc, strip.panels,
        ValueRange{next, b.index(0), b.add(element, line * lineElements)},
        /*isWrite=*/false, /*localityHint=*/2,
        /*isDataCache=*/true);
}

SmallVector<Value> hexad::kernel::accumulate(VectorBuilder &b,
                                             const Strip &strip) {
  SmallVector<Value> values(strip.rows.size() * strip.numbers.size() *
                                getVectors(strip.panels),
                            b.splat(0.0f));
  Value zero = b.index(0);
  auto steps = [&](int64_t count) {
    return [&, count](Value k, ValueRange values) {
      SmallVector<Value> next = llvm::to_vector_of<Value>(values);
      if (count == unroll)
        fetchNextPanel(b, strip, k);
      for (int64_t u = 0; u < count; ++u)
        step(b, strip, b.add(k, u), next);
      return next;
    };
  };
  int64_t depth = cast<MemRefType>(strip.panels.getType()).getDimSize(1);
  if (ShapedType::isDynamic(depth)) {
    Value end = b.dim(strip.panels, 1);
    Value mainEnd = b.roundDown(end, unroll);
    values = b.reduce(zero, mainEnd, unroll, values, steps(unroll));
    return b.reduce(mainEnd, end, 1, values, steps(1));
  }
  int64_t mainDepth = depth / unroll * unroll;
  if (mainDepth > 0)
    values = b.reduce(zero, b.index(mainDepth), unroll, values, steps(unroll));
  for (int64_t k = mainDepth; k < depth; ++k)
    step(b, strip, b.index(k), values);
  return values;
}

void hexad::kernel::keepSums(VectorBuilder &b, ValueRange values, Value sums,
                             Value first) {
  int64_t vectors = getVectors(sums);
  for (auto [i, value] : llvm::enumerate(values))
    b.store(value, sums,
            {b.add(first, i / vectors), b.index(i % vectors * lanes)});
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// `type` with every size and stride unknown but those of the last dimension
/// and, of panels, the stride of k.
static MemRefType generalize(MemRefType type, bool isPanels) {
  int64_t dynamic = ShapedType::kDynamic;
  SmallVector<int64_t> shape(type.getRank(), dynamic);
  SmallVector<int64_t> strides(type.getRank(), dynamic);
  strides.back() = 1;
  if (isPanels) {
    shape.back() = type.getShape().back();
    strides[1] = shape.back();
  }
  return MemRefType::get(
      shape, type.getElementType(),
      StridedLayoutAttr::get(type.getContext(), dynamic, strides));
}

namespace {
/// The arguments of a strip's function, in front of the numbers of its rows.
/// Each row is an argument: LLVM must not know that they lie at equal
/// distances, or it computes their addresses from each other in the loop, and
/// spills.
enum StripArgument { A, Panels, Sums, Panel, First, Number, Fetched };
} // namespace

/// The function for so many rows and panels of such elements; made where the
/// module has none.
static func::FuncOp getFunction(VectorBuilder &b, const StripCall &call,
                                ArrayRef<Type> types) {
  Operation *around = b.builder.getInsertionBlock()->getParentOp();
  auto module = around->getParentOfType<ModuleOp>();
  int64_t columns = cast<MemRefType>(call.panels.getType()).getShape().back();
  std::string name =
      llvm::formatv("hexad_strip_{0}x{1}x{2}x{3}", call.rows, call.panelCount,
                    columns, getElementType(call.panels));
  if (auto function = module.lookupSymbol<func::FuncOp>(name))
    return function;
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto function = func::FuncOp::create(builder, module.getLoc(), name,
                                       builder.getFunctionType(types, {}));
  function.setPrivate();
  function->setAttr(
      "llvm.linkage",
      LLVM::LinkageAttr::get(builder.getContext(), LLVM::Linkage::Internal));
  // It is there to be code once.
  function->setAttr("passthrough", builder.getStrArrayAttr({"noinline"}));
  Block *entry = function.addEntryBlock();
  auto arguments = entry->getArguments();
  builder.setInsertionPointToStart(entry);
  VectorBuilder inner(builder, module.getLoc());
  Strip strip = Strip::get(inner, arguments[A], arguments[Panels],
                           /*row=*/Value(), /*count=*/0, arguments[Panel],
                           call.panelCount);
  strip.rows = llvm::to_vector_of<Value>(arguments.take_back(call.rows));
  if (call.panelCount == 1) {
    strip.strip = arguments[Number];
    strip.fetched = arguments[Fetched];
  }
  keepSums(inner, accumulate(inner, strip), arguments[Sums], arguments[First]);
  func::ReturnOp::create(builder, module.getLoc());
  return function;
}

void hexad::kernel::callStrip(VectorBuilder &b, const StripCall &call) {
  SmallVector<Value> operands;
  auto addMemref = [&](Value value, MemRefType type) {
    operands.push_back(memref::CastOp::create(b.builder, b.loc, type, value));
  };
  auto panelsType = cast<MemRefType>(call.panels.getType());
  addMemref(call.a, generalize(cast<MemRefType>(call.a.getType()), false));
  addMemref(call.panels, generalize(panelsType, true));
  addMemref(call.sums, MemRefType::get(
                           {ShapedType::kDynamic, panelsType.getShape().back()},
                           b.builder.getF32Type()));
  llvm::append_values(operands, call.panel, call.first);
  if (call.panelCount == 1)
    llvm::append_values(operands, call.strip ? call.strip : b.index(0),
                        call.fetched ? call.fetched : b.index(0));
  for (int64_t r = 0; r < call.rows; ++r)
    operands.push_back(b.add(call.row, r));
  SmallVector<Type> types = llvm::to_vector(ValueRange(operands).getTypes());
  func::CallOp::create(b.builder, b.loc, getFunction(b, call, types), operands);
}
