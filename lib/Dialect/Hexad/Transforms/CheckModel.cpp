//===- CheckModel.cpp - What no op can check of itself --------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "hexad/Dialect/Hexad/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace hexad;

namespace hexad {
#define GEN_PASS_DEF_CHECKMODELPASS
#include "hexad/Dialect/Hexad/Transforms/Passes.h.inc"
} // namespace hexad

namespace {
/// What the rows of a tensor are. Stacks are what their members are.
/// Maps are no rows at all.
enum class RowKind { None, Tokens, Segments, Selected, Maps };

/// The values that an index takes: from `first` to `last`, none if `last` is
/// less.
struct IndexRange {
  int64_t first, last;
};

class ModelChecker {
public:
  explicit ModelChecker(func::FuncOp function)
      : function(function), symbols(function->getParentOfType<ModuleOp>()) {}

  LogicalResult run() {
    return success(succeeded(checkBlock(function.getBody().front())) &&
                   succeeded(checkSessions()));
  }

private:
  LogicalResult checkBlock(Block &block) {
    for (Operation &op : block)
      if (failed(checkOp(&op)) || failed(checkResults(&op)))
        return failure();
    return success();
  }

  /// The number of rows is that of a call, whatever the types say.
  LogicalResult checkResults(Operation *op) {
    for (Value result : op->getResults()) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (!type || getKind(result) == RowKind::None || isa<UnpackRowsOp>(op))
        continue;
      if (getKind(result) == RowKind::Maps) {
        if (!type.isDynamicDim(1) || !type.isDynamicDim(3) ||
            !type.isDynamicDim(4))
          return op->emitOpError("expected a dynamic batch and seq, found ")
                 << type;
        continue;
      }
      if (!type.isDynamicDim(type.getRank() == 3 ? 1 : 0))
        return op->emitOpError("expected a dynamic number of rows, found ")
               << type;
    }
    return success();
  }

  LogicalResult checkOp(Operation *op) {
    return TypeSwitch<Operation *, LogicalResult>(op)
        .Case<PackRowsOp, PositionsOp>([&](Operation *rows) {
          kinds[rows->getResult(0)] = RowKind::Tokens;
          return success();
        })
        .Case<LoadOp>([&](LoadOp load) { return checkLoad(load); })
        .Case<EmbeddingOp>(
            [&](EmbeddingOp embedding) { return checkEmbedding(embedding); })
        .Case<RotaryOp>([&](RotaryOp rotary) { return checkRotary(rotary); })
        .Case<ImageSegmentsOp>([&](ImageSegmentsOp segments) {
          return checkImageSegments(segments);
        })
        .Case<PatchifyOp>(
            [&](PatchifyOp patchify) { return checkPatchify(patchify); })
        .Case<PrefixRowsOp>([&](PrefixRowsOp prefix) -> LogicalResult {
          if (failed(checkPositions(op, prefix.getPositions())))
            return failure();
          return checkRows(prefix);
        })
        .Case<LabelsOp>([&](LabelsOp labels) { return checkLabels(labels); })
        .Case<CrossEntropyOp>(
            [&](CrossEntropyOp loss) { return checkCrossEntropy(loss); })
        .Case<MeanLossOp>([&](MeanLossOp mean) { return checkMeanLoss(mean); })
        .Case<RowLocalOpInterface>(
            [&](RowLocalOpInterface rowLocal) { return checkRows(rowLocal); })
        .Case<AttentionOp>([&](AttentionOp attention) -> LogicalResult {
          SmallVector<Value> rows = {attention.getQuery()};
          if (attention.getKey())
            rows.append({attention.getKey(), attention.getValue()});
          if (failed(checkTokens(op, rows)))
            return failure();
          return attention.getKey() ? checkCache(attention)
                                    : checkReader(attention);
        })
        .Case<ExpertsOp>(
            [&](ExpertsOp experts) { return checkExperts(experts); })
        .Case<EmptyMapsOp>([&](EmptyMapsOp empty) -> LogicalResult {
          kinds[empty.getMaps()] = RowKind::Maps;
          return success();
        })
        .Case<AttentionMapOp>([&](AttentionMapOp map) -> LogicalResult {
          if (failed(checkTokens(op, {map.getQuery(), map.getKey()})))
            return failure();
          kinds[map.getResult()] = RowKind::Maps;
          return checkIndex(
              map, "member", map.getLayer(),
              cast<RankedTensorType>(map.getMaps().getType()).getDimSize(0));
        })
        .Case<SelectRowsOp>([&](SelectRowsOp select) -> LogicalResult {
          if (failed(checkTokens(op, select.getRows())))
            return failure();
          kinds[select.getSelected()] = RowKind::Selected;
          return success();
        })
        .Case<PoolOp>([&](PoolOp pool) -> LogicalResult {
          if (failed(checkTokens(op, pool.getRows())))
            return failure();
          kinds[pool.getPooled()] = RowKind::Segments;
          return success();
        })
        .Case<UnpackRowsOp>(
            [&](UnpackRowsOp unpack) { return checkUnpack(unpack); })
        .Case<tensor::DimOp>([&](tensor::DimOp dim) -> LogicalResult {
          RowKind kind = getKind(dim.getSource());
          if (kind != RowKind::Maps)
            kinds[dim.getResult()] = kind;
          return success();
        })
        .Case<tensor::EmptyOp>(
            [&](tensor::EmptyOp empty) { return checkEmpty(empty); })
        .Case<tensor::InsertSliceOp>(
            [&](tensor::InsertSliceOp insert) { return checkInsert(insert); })
        .Case<scf::ForOp>([&](scf::ForOp loop) { return checkLoop(loop); })
        .Case<arith::ConstantOp>(
            [&](Operation *constant) { return checkIsIndex(constant); })
        .Case<arith::AddIOp>([&](arith::AddIOp sum) -> LogicalResult {
          if (failed(checkIsIndex(sum)))
            return failure();
          if (std::optional<IndexRange> range = getSum(sum))
            ranges[sum.getResult()] = *range;
          return success();
        })
        .Case<arith::MulIOp>([&](arith::MulIOp product) -> LogicalResult {
          if (failed(checkIsIndex(product)))
            return failure();
          if (std::optional<IndexRange> range = getProduct(product))
            ranges[product.getResult()] = *range;
          return success();
        })
        .Default(success());
  }

  LogicalResult checkIsIndex(Operation *scalar) {
    if (scalar->getResult(0).getType().isIndex())
      return success();
    return scalar->emitOpError("expected an index in a model, found ")
           << scalar->getResult(0).getType();
  }

  RowKind getKind(Value value) { return kinds.lookup(value); }

  /// Expects all of `values` to be rows of tokens; so is the op's result.
  LogicalResult checkTokens(Operation *op, ValueRange values) {
    for (Value value : values)
      if (getKind(value) != RowKind::Tokens)
        return op->emitOpError("expected rows of tokens, found ")
               << describe(value);
    kinds[op->getResult(0)] = RowKind::Tokens;
    return success();
  }

  LogicalResult checkUnpack(UnpackRowsOp op) {
    if (getKind(op.getRows()) != RowKind::Selected)
      return checkTokens(op, op.getRows());
    if (cast<RankedTensorType>(op.getRows().getType()).getRank() != 2)
      return op.emitOpError("expected selected rows that are no stack");
    selectedOutputs.insert(op);
    return success();
  }

  /// A session holds the keys and values of each attention and layer once.
  LogicalResult checkCache(AttentionOp op) {
    if (!op.getCache()) {
      if (!uncached)
        uncached = op;
      return success();
    }
    auto cache = symbols.lookup<CacheOp>(*op.getCache());
    auto [other, isFirst] = cacheUsers.try_emplace(cache, op);
    if (!isFirst) {
      InFlightDiagnostic diagnostic =
          op.emitOpError("expected a cache that no other attention extends");
      diagnostic.attachNote(other->second.getLoc()) << "the other is here";
      return diagnostic;
    }
    if (failed(checkExtendedOnce(op)))
      return failure();
    if (!op.getLayer())
      return success();
    return checkIndex(op, "layer", op.getLayer(), cache.getLayerCount());
  }

  /// In a loop, each iteration has a layer of its own: the loop's index, or
  /// that plus constants. A second iteration would overwrite the first one's
  /// keys.
  LogicalResult checkExtendedOnce(AttentionOp op) {
    Value layer = op.getLayer();
    while (auto sum = layer ? layer.getDefiningOp<arith::AddIOp>() : nullptr)
      layer = getConstantIntValue(sum.getLhs()) ? sum.getRhs() : sum.getLhs();
    for (auto loop = op->getParentOfType<scf::ForOp>(); loop;
         loop = loop->getParentOfType<scf::ForOp>())
      if (layer != loop.getInductionVar())
        return op.emitOpError("expected a layer of the cache for each "
                              "iteration of the loops around: the index of "
                              "the only loop, or that plus constants");
    return success();
  }

  /// Keys and values that an attention only reads must have been appended in
  /// the same call and before; a call without sessions keeps one layer of them.
  LogicalResult checkReader(AttentionOp op) {
    auto cache = symbols.lookup<CacheOp>(*op.getCache());
    AttentionOp writer = cacheUsers.lookup(cache);
    if (!writer)
      return op.emitOpError("expected an attention in front of it that appends "
                            "to the cache");
    auto fail = [&](const llvm::Twine &message) {
      InFlightDiagnostic diagnostic = op.emitOpError(message);
      diagnostic.attachNote(writer.getLoc()) << "it is extended here";
      return diagnostic;
    };
    if (writer->use_empty())
      return fail(
          "expected the attention that appends to the cache to be used");
    // Without layers the cache was extended once; in the same iteration, just
    // now.
    if (op.getLayer() == writer.getLayer())
      return success();
    for (auto loop = writer->getParentOfType<scf::ForOp>(); loop;
         loop = loop->getParentOfType<scf::ForOp>())
      if (loop->isProperAncestor(op))
        return fail("expected the layer of the cache that is extended in the "
                    "same iteration");
    std::optional<IndexRange> read = getRange(op.getLayer());
    std::optional<IndexRange> written = getRange(writer.getLayer());
    if (!read || !written)
      return op.emitOpError("expected a layer that is known from constants and "
                            "the bounds of loops");
    if (written->last < written->first)
      return fail("expected an attention that appends to the cache at all");
    if (read->first <= read->last &&
        (read->first != written->last || read->last != written->last))
      return fail(
          "expected the layer of the cache that is extended last, " +
          llvm::Twine(written->last) + ", found " +
          llvm::Twine(read->first != written->last ? read->first : read->last));
    return success();
  }

  /// A model with caches can be extended by tokens: there must be one input of
  /// ids, and one output of selected rows.
  LogicalResult checkSessions() {
    for (CacheOp cache :
         function->getParentOfType<ModuleOp>().getOps<CacheOp>())
      if (!cacheUsers.contains(cache))
        return cache.emitOpError(
            "expected an attention that extends the cache");
    if (cacheUsers.empty())
      return success();
    // It would see the new tokens of a session only.
    if (uncached)
      return uncached.emitOpError(
          "expected a cache, as other attention of the model has");
    unsigned ids = 0;
    for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i)
      ids += function.getArgAttr(i, "hexad.limit") &&
                     (!labels || labels.getLabels() != function.getArgument(i))
                 ? 1
                 : 0;
    if (ids != 1)
      return function.emitError("expected one input of ids (hexad.limit) in a "
                                "model with caches, found ")
             << ids;
    if (selectedOutputs.size() != 1 || !(*selectedOutputs.begin())->hasOneUse())
      return function.emitError("expected one output of selected rows "
                                "(hexad.select_rows) in a model with caches, "
                                "found ")
             << selectedOutputs.size();
    return success();
  }

  LogicalResult checkRows(RowLocalOpInterface op) {
    RowKind kind = getKind(op.getRowOperands().front());
    for (Value operand : op.getRowOperands())
      if (getKind(operand) == RowKind::None || getKind(operand) != kind)
        return op->emitOpError("expected rows of tokens, rows of segments or "
                               "selected rows, found ")
               << describe(op.getRowOperands().front())
               << (operand == op.getRowOperands().front() ? ""
                                                          : " and other rows");
    for (Value operand : op->getOperands().drop_front(op.getNumRowOperands()))
      if (failed(checkWeights(op, operand)))
        return failure();
    kinds[op.getRowResult()] = kind;
    return success();
  }

  /// A call's rows are counted once.
  LogicalResult checkImageSegments(ImageSegmentsOp op) {
    if (!imageSegments)
      imageSegments = op;
    if (op.getLength() == imageSegments.getLength())
      return success();
    InFlightDiagnostic diagnostic = op.emitOpError("expected ")
                                    << imageSegments.getLength()
                                    << " rows for each image, found "
                                    << op.getLength();
    diagnostic.attachNote(imageSegments.getLoc()) << "as is said here";
    return diagnostic;
  }

  LogicalResult checkPatchify(PatchifyOp op) {
    auto segments = op.getSegments().getDefiningOp<ImageSegmentsOp>();
    if (!segments || segments.getImage() != op.getImage())
      return op.emitOpError("expected segments of its images "
                            "(hexad.image_segments)");
    int64_t length = segments.getLength();
    if (length != op.getTokensPerImage()) {
      InFlightDiagnostic diagnostic = op.emitOpError("expected segments of ")
                                      << op.getTokensPerImage()
                                      << " rows, found " << length;
      diagnostic.attachNote(segments.getLoc()) << "made here";
      return diagnostic;
    }
    if (failed(checkWeights(op, op.getWeight())) ||
        (op.getBias() && failed(checkWeights(op, op.getBias()))))
      return failure();
    kinds[op.getResult()] = RowKind::Tokens;
    return success();
  }

  LogicalResult checkWeights(Operation *op, Value weights) {
    if (weights.getDefiningOp<LoadOp>())
      return success();
    return op->emitOpError("expected weights from hexad.load, found ")
           << weights.getType() << " from elsewhere";
  }

  /// The region works on some of the rows.
  LogicalResult checkExperts(ExpertsOp op) {
    RowKind kind = getKind(op.getX());
    if (kind == RowKind::None || getKind(op.getRoutes()) != kind)
      return op.emitOpError("expected rows and routes of the same rows, found ")
             << describe(op.getX()) << " and " << describe(op.getRoutes());
    if (auto route = op.getRoutes().getDefiningOp<RouteOp>();
        route && route.getExperts() > static_cast<int64_t>(op.getCount()))
      return op.emitOpError("expected routes to at most ")
             << op.getCount() << " experts, found a router of "
             << route.getExperts();
    ranges[op.getExpert()] = {0, static_cast<int64_t>(op.getCount()) - 1};
    kinds[op.getRows()] = kinds[op.getResult()] = kind;
    return checkBlock(op.getBody().front());
  }

  static std::string describe(RowKind kind) {
    switch (kind) {
    case RowKind::None:
      return "no rows";
    case RowKind::Tokens:
      return "rows of tokens";
    case RowKind::Segments:
      return "rows of segments";
    case RowKind::Selected:
      return "selected rows";
    case RowKind::Maps:
      return "attention maps";
    }
    llvm_unreachable("every kind has a case");
  }
  std::string describe(Value value) {
    if (getKind(value) != RowKind::None)
      return describe(getKind(value));
    std::string text;
    llvm::raw_string_ostream(text) << value.getType() << ", which is no rows";
    return text;
  }

  /// Ids below their limit and positions below theirs must have an entry.
  LogicalResult checkEmbedding(EmbeddingOp op) {
    if (failed(checkRows(cast<RowLocalOpInterface>(op.getOperation()))))
      return failure();
    IntegerAttr limit;
    const char *what = "ids";
    if (auto pack = op.getIds().getDefiningOp<PackRowsOp>()) {
      auto argument = dyn_cast<BlockArgument>(pack.getRectangle());
      if (argument && argument.getOwner()->getParentOp() == function)
        limit = function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(),
                                                       "hexad.limit");
    } else if (op.getIds().getDefiningOp<PositionsOp>()) {
      limit = function->getAttrOfType<IntegerAttr>("hexad.position_limit");
      what = "positions";
    }
    if (!limit)
      return op.emitOpError("expected ids of an argument with hexad.limit, or "
                            "positions in a function with "
                            "hexad.position_limit");
    int64_t entries = op.getTable().getType().getDimSize(0);
    if (limit.getInt() > entries - static_cast<int64_t>(op.getOffset()))
      return op.emitOpError("expected a table with an entry for all ")
             << what << " below " << limit.getInt() << ", found " << entries
             << " entries and offset " << op.getOffset();
    return success();
  }

  /// Ids of tokens are no angles.
  LogicalResult checkPositions(Operation *op, Value positions) {
    if (!positions.getDefiningOp<PositionsOp>())
      return op->emitOpError("expected positions (hexad.positions), found ")
             << describe(positions) << " from elsewhere";
    return success();
  }

  LogicalResult checkRotary(RotaryOp op) {
    if (failed(checkPositions(op, op.getPositions())))
      return failure();
    return checkRows(cast<RowLocalOpInterface>(op.getOperation()));
  }

  /// The runtime makes one table of the labels of a call.
  LogicalResult checkLabels(LabelsOp op) {
    if (labels) {
      InFlightDiagnostic diagnostic =
          op.emitOpError("expected to be the only one of a model");
      diagnostic.attachNote(labels.getLoc()) << "the other is here";
      return diagnostic;
    }
    labels = op;
    kinds[op.getRows()] =
        op.isOfSegments() ? RowKind::Segments : RowKind::Tokens;
    return success();
  }

  /// Labels below their limit must be columns.
  LogicalResult checkCrossEntropy(CrossEntropyOp op) {
    if (failed(checkRows(cast<RowLocalOpInterface>(op.getOperation()))) ||
        failed(checkIsLabels(op, op.getLabels())))
      return failure();
    auto argument = dyn_cast<BlockArgument>(labels.getLabels());
    IntegerAttr limit;
    if (argument && argument.getOwner()->getParentOp() == function)
      limit = function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(),
                                                     "hexad.limit");
    int64_t classes =
        cast<RankedTensorType>(op.getLogits().getType()).getDimSize(1);
    if (!limit || limit.getInt() > classes)
      return op.emitOpError("expected labels of an argument with a hexad.limit "
                            "of at most ")
             << classes;
    return success();
  }

  LogicalResult checkMeanLoss(MeanLossOp op) {
    if (failed(checkIsLabels(op, op.getLabels())))
      return failure();
    if (getKind(op.getLosses()) == getKind(op.getLabels()))
      return success();
    return op.emitOpError("expected ") << describe(op.getLabels()) << ", found "
                                       << describe(op.getLosses());
  }

  LogicalResult checkIsLabels(Operation *op, Value value) {
    if (value.getDefiningOp<LabelsOp>())
      return success();
    return op->emitOpError("expected labels (hexad.labels), found ")
           << describe(value) << " from elsewhere";
  }

  LogicalResult checkLoad(LoadOp op) {
    auto parameter = symbols.lookup<ParameterOp>(op.getParameter());
    if (!op.getLayer() || !parameter)
      return success();
    return checkIndex(op, "layer", op.getLayer(), parameter.getLayerCount());
  }

  LogicalResult checkEmpty(tensor::EmptyOp op) {
    RowKind kind = op.getDynamicSizes().size() == 1
                       ? getKind(op.getDynamicSizes().front())
                       : RowKind::None;
    RankedTensorType type = op.getType();
    if (kind == RowKind::None || type.getRank() != 3 || !type.isDynamicDim(1) ||
        !type.getElementType().isF32())
      return op.emitOpError("expected a stack of as many rows as other rows "
                            "have (tensor.dim), found ")
             << type;
    kinds[op.getResult()] = kind;
    return success();
  }

  LogicalResult checkInsert(tensor::InsertSliceOp op) {
    RankedTensorType stack = op.getDestType();
    RowKind kind = getKind(op.getDest());
    SmallVector<OpFoldResult> offsets = op.getMixedOffsets();
    SmallVector<OpFoldResult> sizes = op.getMixedSizes();
    bool isMember = stack.getRank() == 3 && op.getSourceType().getRank() == 2 &&
                    kind != RowKind::None && kind == getKind(op.getSource()) &&
                    isConstantIntValue(offsets[1], 0) &&
                    isConstantIntValue(offsets[2], 0) &&
                    isConstantIntValue(sizes[0], 1) &&
                    isConstantIntValue(sizes[2], stack.getDimSize(2)) &&
                    llvm::all_of(op.getMixedStrides(), [](OpFoldResult stride) {
                      return isConstantIntValue(stride, 1);
                    });
    auto size = dyn_cast<Value>(sizes[1]);
    if (!isMember || !size || getKind(size) != kind)
      return op.emitOpError("expected rows to become a whole member of a stack "
                            "of such rows");
    kinds[op.getResult()] = kind;
    return checkIndex(op, "member", offsets[0], stack.getDimSize(0));
  }

  LogicalResult checkLoop(scf::ForOp loop) {
    std::optional<APInt> step = loop.getConstantStep();
    if (!step || !step->isStrictlyPositive() ||
        !loop.getInductionVar().getType().isIndex())
      return loop.emitOpError("expected an index that grows by a positive "
                              "constant step");
    for (auto [init, argument, result] : llvm::zip_equal(
             loop.getInitArgs(), loop.getRegionIterArgs(), loop.getResults())) {
      auto type = dyn_cast<RankedTensorType>(init.getType());
      if (!init.getType().isIndex() &&
          (getKind(init) == RowKind::None || !type ||
           !type.getElementType().isF32()))
        return loop.emitOpError("expected rows of f32 to be carried, found ")
               << init.getType();
      kinds[argument] = kinds[result] = getKind(init);
    }
    if (std::optional<IndexRange> range = getInductionRange(loop))
      ranges[loop.getInductionVar()] = *range;
    if (failed(checkBlock(*loop.getBody())))
      return failure();
    Operation *yield = loop.getBody()->getTerminator();
    for (auto [value, argument] :
         llvm::zip_equal(yield->getOperands(), loop.getRegionIterArgs()))
      if (getKind(value) != getKind(argument))
        return yield->emitOpError("expected ")
               << describe(getKind(argument)) << " as they were carried in, "
               << "found " << describe(value);
    return success();
  }

  LogicalResult checkIndex(Operation *op, const char *what, OpFoldResult index,
                           int64_t count) {
    std::optional<IndexRange> range = getRange(index);
    if (!range)
      return op->emitOpError("expected a ")
             << what << " that is known from constants and the bounds of loops";
    if (range->first <= range->last &&
        (range->first < 0 || range->last >= count))
      return op->emitOpError("expected a ")
             << what << " from 0 to " << count - 1 << ", found "
             << (range->first < 0 ? range->first : range->last);
    return success();
  }

  /// None if it is not known.
  std::optional<IndexRange> getRange(OpFoldResult index) {
    if (std::optional<int64_t> constant = getConstantIntValue(index))
      return IndexRange{*constant, *constant};
    auto known = ranges.find(dyn_cast<Value>(index));
    if (known == ranges.end())
      return std::nullopt;
    return known->second;
  }

  std::optional<IndexRange> getSum(arith::AddIOp sum) {
    std::optional<IndexRange> lhs = getRange(sum.getLhs());
    std::optional<IndexRange> rhs = getRange(sum.getRhs());
    if (!lhs || !rhs)
      return std::nullopt;
    // No value at all if one of the two has none.
    if (lhs->last < lhs->first || rhs->last < rhs->first)
      return IndexRange{0, -1};
    IndexRange range;
    if (llvm::AddOverflow(lhs->first, rhs->first, range.first) ||
        llvm::AddOverflow(lhs->last, rhs->last, range.last))
      return std::nullopt;
    return range;
  }

  /// Of two that are not negative.
  std::optional<IndexRange> getProduct(arith::MulIOp product) {
    std::optional<IndexRange> lhs = getRange(product.getLhs());
    std::optional<IndexRange> rhs = getRange(product.getRhs());
    if (!lhs || !rhs)
      return std::nullopt;
    if (lhs->last < lhs->first || rhs->last < rhs->first)
      return IndexRange{0, -1};
    IndexRange range;
    if (lhs->first < 0 || rhs->first < 0 ||
        llvm::MulOverflow(lhs->first, rhs->first, range.first) ||
        llvm::MulOverflow(lhs->last, rhs->last, range.last))
      return std::nullopt;
    return range;
  }

  static std::optional<IndexRange> getInductionRange(scf::ForOp loop) {
    std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound());
    std::optional<int64_t> upper = getConstantIntValue(loop.getUpperBound());
    std::optional<int64_t> step = getConstantIntValue(loop.getStep());
    int64_t span;
    if (!lower || !upper || !step || *step <= 0 ||
        llvm::SubOverflow(*upper, *lower, span))
      return std::nullopt;
    if (span <= 0)
      return IndexRange{0, -1};
    return IndexRange{*lower, *lower + (span - 1) / *step * *step};
  }

  func::FuncOp function;
  SymbolTable symbols;
  DenseMap<Value, RowKind> kinds;
  /// Of sums, products, the induction variables of loops and the numbers of
  /// experts, where it is known.
  DenseMap<Value, IndexRange> ranges;
  /// The attention that extends each cache.
  DenseMap<Operation *, AttentionOp> cacheUsers;
  /// The first, if any.
  ImageSegmentsOp imageSegments;
  LabelsOp labels; ///< null before there are any
  /// The first attention without a cache, if any.
  AttentionOp uncached;
  llvm::SmallPtrSet<Operation *, 1> selectedOutputs;
};

struct CheckModelPass : hexad::impl::CheckModelPassBase<CheckModelPass> {
  using CheckModelPassBase::CheckModelPassBase;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && failed(ModelChecker(function).run()))
        return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
