//===- Experts.cpp - Mixtures of experts ----------------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tiler.h"
#include "hexad/Dialect/Kernel/IR/KernelDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace hexad;

/// Converts one hexad.experts: rows are grouped by expert, each expert works on
/// its rows, and what was made of a row is summed.
class Tiler::ExpertTiling {
public:
  ExpertTiling(Tiler &tiler, ExpertsOp op)
      : t(tiler), b(tiler.builder), op(op), domain(getRowDomain(op.getX())),
        experts(op.getCount()), topK(op.getTopK()),
        pairs(t.mul(t.getRowCount(domain), t.index(topK))) {}

  void convert() {
    group();
    Value parts = callExperts();
    combine(parts);
  }

private:
  void group();
  Value callExperts();
  /// The places of the rows that a thread works on.
  Range getShare(Value thread);
  /// How many rows threads have worked on that have done so much work.
  Value getRowsAfter(Value work);
  /// What all experts make of the rows in `mine` becomes `parts`.
  Value workOn(Range mine, Value parts);
  /// Which active expert has number `number`.
  Value getExpert(Value number) {
    return t.entry(active, t.add(number, t.index(1)));
  }
  /// The expert's first place and the one behind its last.
  std::pair<Value, Value> getPlaces(Value expert) {
    return {t.entry(bounds, expert),
            t.entry(bounds, t.add(expert, t.index(1)))};
  }
  scf::ForOp loopOverExperts(Value init,
                             function_ref<Value(Value number, Value)> body);
  /// What the expert makes of the rows in `places` becomes `part`.
  Value callExpert(Value expert, Range places, Value part);
  void combine(Value parts);

  /// Not tensor.empty: equal ones would become one (CSE), and a thread would
  /// write its rows of a later result where others still read.
  Value allocate(ArrayRef<int64_t> shape, Type element,
                 ValueRange dynamicSizes) {
    return bufferization::AllocTensorOp::create(
        b, RankedTensorType::get(shape, element), dynamicSizes);
  }
  Value allocateIndices(int64_t size, ValueRange dynamicSizes = {}) {
    return allocate(size, b.getI32Type(), dynamicSizes);
  }

  Tiler &t;
  ImplicitLocOpBuilder &b;
  ExpertsOp op;
  RowDomain domain;
  int64_t experts, topK;
  Value pairs; ///< room for as many pairs of a row and one of its experts
  Value places, order, bounds, active; ///< of hexad_kernel.group_rows
  Value activeCount;
};

/// One thread does it: that is less work than a barrier for each step.
void Tiler::ExpertTiling::group() {
  SmallVector<Value> tables{allocateIndices(ShapedType::kDynamic, pairs),
                            allocateIndices(ShapedType::kDynamic, pairs),
                            allocateIndices(experts + 1),
                            allocateIndices(experts + 1)};
  // One iteration, but not as a constant: the body of such a loop becomes part
  // of what every thread does.
  Value once = t.min(t.extent(HEXAD_EXTENT_THREADS), t.index(1));
  auto forall = scf::ForallOp::create(b, SmallVector<OpFoldResult>{once},
                                      tables, /*mapping=*/std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(forall.getTerminator());
  // What is inserted must be a part of what it is inserted into.
  OpFoldResult entries = b.getIndexAttr(experts + 1);
  SmallVector<OpFoldResult> sizes{pairs, pairs, entries, entries};
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  SmallVector<Value> parts;
  for (auto [table, size] : llvm::zip_equal(forall.getRegionIterArgs(), sizes))
    parts.push_back(tensor::ExtractSliceOp::create(
        b, table, ArrayRef(zero), ArrayRef(size), ArrayRef(one)));
  auto group = kernel::GroupRowsOp::create(
      b, TypeRange(ValueRange(parts)), t.getRealRowCount(domain),
      t.mapped(op.getRoutes()), parts[0], parts[1], parts[2], parts[3],
      b.getI64IntegerAttr(experts), b.getI64IntegerAttr(topK));
  b.setInsertionPointToStart(forall.getTerminator().getBody());
  for (auto [part, table, size] :
       llvm::zip_equal(group->getResults(), forall.getRegionIterArgs(), sizes))
    tensor::ParallelInsertSliceOp::create(b, part, table, ArrayRef(zero),
                                          ArrayRef(size), ArrayRef(one));
  places = forall.getResult(0);
  order = forall.getResult(1);
  bounds = forall.getResult(2);
  active = forall.getResult(3);
}

/// The work of an expert that does not grow with its rows, as so many rows:
/// its weights are read.
static constexpr int64_t rowsOfReading = 8;

/// The grouped rows are cut where threads have the same work, also inside of an
/// expert.
Value Tiler::ExpertTiling::callExperts() {
  activeCount = t.entry(active, t.index(0));
  int64_t columns =
      cast<RankedTensorType>(op.getResult().getType()).getDimSize(1);
  Value parts =
      allocate({ShapedType::kDynamic, columns}, b.getF32Type(), pairs);
  parts.getDefiningOp()->setAttr("hexad.activations", b.getUnitAttr());
  auto results =
      t.split([&](Value thread) { return getShare(thread); }, parts,
              [&](Range mine, ValueRange destinations) -> SmallVector<Value> {
                return {workOn(mine, destinations[0])};
              });
  return results[0];
}

Tiler::Range Tiler::ExpertTiling::getShare(Value thread) {
  Value rows = t.entry(bounds, t.index(experts));
  Value work = t.add(rows, t.mul(activeCount, t.index(rowsOfReading)));
  Range share = t.getShare(work, thread);
  Value first = getRowsAfter(share.offset);
  return {first, t.sub(getRowsAfter(t.add(share.offset, share.size)), first)};
}

/// Each active expert is `rowsOfReading`, then its rows.
Value Tiler::ExpertTiling::getRowsAfter(Value work) {
  auto loop = loopOverExperts(t.index(0), [&](Value number, Value before) {
    auto [first, end] = getPlaces(getExpert(number));
    Value begin =
        t.add(first, t.mul(t.add(number, t.index(1)), t.index(rowsOfReading)));
    Value done = t.sub(b.createOrFold<arith::MaxUIOp>(work, begin), begin);
    return t.add(before, t.min(done, t.sub(end, first)));
  });
  return loop.getResult(0);
}

scf::ForOp Tiler::ExpertTiling::loopOverExperts(
    Value init, function_ref<Value(Value number, Value)> body) {
  auto loop = scf::ForOp::create(b, t.index(0), activeCount, t.index(1), init);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  scf::YieldOp::create(b,
                       body(loop.getInductionVar(), loop.getRegionIterArg(0)));
  return loop;
}

Value Tiler::ExpertTiling::workOn(Range mine, Value parts) {
  Value mineEnd = t.add(mine.offset, mine.size);
  auto loop = loopOverExperts(parts, [&](Value number, Value carried) {
    Value expert = getExpert(number);
    auto [first, end] = getPlaces(expert);
    auto clamp = [&](Value place) {
      return t.min(b.createOrFold<arith::MaxUIOp>(place, mine.offset), mineEnd);
    };
    Value begin = clamp(first);
    Range places = {begin, t.sub(clamp(end), begin)};
    Value offset = t.sub(begin, mine.offset);
    Value part =
        callExpert(expert, places, t.sliceRows(carried, offset, places.size));
    return t.insertRows(part, carried, offset, places.size);
  });
  return loop.getResult(0);
}

Value Tiler::ExpertTiling::callExpert(Value expert, Range places, Value part) {
  Value blockRows = t.getBlockRows(places.size);
  auto loop = scf::ForOp::create(b, t.index(0), places.size, blockRows, part);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value start = loop.getInductionVar();
  Value size = t.min(t.sub(places.size, start), blockRows);

  int64_t columns = cast<RankedTensorType>(op.getX().getType()).getDimSize(1);
  Value scratch = tensor::EmptyOp::create(
      b, ArrayRef<int64_t>{t.options.blockRows, columns}, b.getF32Type());
  scratch.getDefiningOp()->setAttr("hexad.activations", b.getUnitAttr());
  Value destination = t.sliceRows(scratch, t.index(0), size);
  Value rows =
      kernel::GatherRowsOp::create(
          b, destination.getType(), t.mapped(op.getX()),
          t.sliceRows(order, t.add(places.offset, start), size), destination)
          .getResult(0);

  IRMapping local(t.mapping);
  local.map(op.getExpert(), expert);
  local.map(op.getRows(), rows);
  Block &body = op.getBody().front();
  for (Operation &inner : body.without_terminator())
    b.clone(inner, local);
  Value result = local.lookup(body.getTerminator()->getOperand(0));
  scf::YieldOp::create(
      b, t.insertRows(result, loop.getRegionIterArg(0), start, size));
  return loop.getResult(0);
}

void Tiler::ExpertTiling::combine(Value parts) {
  int64_t columns =
      cast<RankedTensorType>(op.getResult().getType()).getDimSize(1);
  Value routes = t.mapped(op.getRoutes()), k = t.index(topK);
  auto results = t.splitRows(
      domain, t.emptyRows(t.getRowCount(domain), columns),
      [&](Range range, ValueRange destinations) -> SmallVector<Value> {
        return kernel::CombineRowsOp::create(
                   b, destinations[0].getType(), parts,
                   t.sliceRows(places, t.mul(range.offset, k),
                               t.mul(range.size, k)),
                   t.sliceRows(routes, range.offset, range.size),
                   destinations[0], b.getI64IntegerAttr(topK))
            ->getResults();
      });
  t.mapping.map(op.getResult(), results[0]);
}

void Tiler::convertExperts(ExpertsOp op) { ExpertTiling(*this, op).convert(); }
