//===- AttentionOps.cpp - Attention in double precision -------------------===//
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

static constexpr double infinity = std::numeric_limits<double>::infinity();

/// Σ_d a[d] · b[d]
static double dot(ArrayRef<double> a, ArrayRef<double> b) {
  double sum = 0;
  for (auto [x, y] : llvm::zip_equal(a, b))
    sum += x * y;
  return sum;
}

/// The weights that row `row` gives the rows of its segment, which begins at
/// row `first`: probabilities, zeros if it sees nothing. Heads of keys begin in
/// column `keyOffset`. For attention and its maps.
template <typename Op>
static std::vector<double> getWeights(Op op, const FloatTensor &query,
                                      const FloatTensor &key, int64_t keyOffset,
                                      int64_t first, int64_t length,
                                      int64_t row, int64_t head) {
  int64_t heads = op.getHeads(), kvHeads = op.getKvHeads();
  int64_t headDim = op.getHeadDim();
  double scale = op.getScale().convertToDouble();
  double cap = op.getSoftcap() ? op.getSoftcap()->convertToDouble() : 0;
  int64_t window = op.getWindow().value_or(0);
  int64_t queryColumn = op.getOffsets()[0] + head * headDim;
  int64_t keyColumn = keyOffset + head * kvHeads / heads * headDim;
  ArrayRef<double> q = query.getRow(row).slice(queryColumn, headDim);
  int64_t position = row - first;
  std::vector<double> weights(length, -infinity);
  auto isSeen = [&](int64_t t) {
    return (!op.getCausal() || t <= position) &&
           (!op.getWindow() || t > position - window);
  };
  for (int64_t t = 0; t < length; ++t) {
    if (!isSeen(t))
      continue;
    weights[t] =
        scale * dot(q, key.getRow(first + t).slice(keyColumn, headDim));
    if (op.getSoftcap())
      weights[t] = softcap(weights[t], cap);
  }
  if (llvm::all_of(weights, [](double x) { return x == -infinity; }))
    return std::vector<double>(length, 0);
  softmaxInPlace(weights);
  for (int64_t t = 0; t < length; ++t)
    if (!isSeen(t))
      weights[t] = 0; // also beside NaN
  return weights;
}

/// Columns `first …` of `rows`, as many as `count`.
static FloatTensor sliceColumns(const FloatTensor &rows, int64_t first,
                                int64_t count) {
  FloatTensor result({rows.getRows(), count});
  for (int64_t row = 0; row < rows.getRows(); ++row)
    llvm::copy(rows.getRow(row).slice(first, count),
               result.getRow(row).begin());
  return result;
}

/// The keys and values of all rows of the call: the op's own, which its cache
/// remembers, or those that an earlier attention has appended there.
static FailureOr<std::shared_ptr<const CachedRows>>
getKeysAndValues(AttentionOp op, int64_t rows, Evaluator &evaluator) {
  std::pair<std::string, int64_t> place;
  if (op.getCache())
    place.first = op.getCache()->str();
  if (op.getLayer())
    place.second = evaluator.getInteger(op.getLayer());
  if (!op.getKey()) {
    auto found = evaluator.caches.find(place);
    if (found == evaluator.caches.end())
      return op.emitOpError("expected an earlier attention to have appended to "
                            "the cache @")
             << place.first << ", layer " << place.second;
    return found->second;
  }
  const FloatTensor &key = evaluator.getFloats(op.getKey());
  const FloatTensor &value = evaluator.getFloats(op.getValue());
  int64_t columns = op.getKvHeads() * op.getHeadDim();
  if (failed(checkRows(op, "key", key.getRows(), rows)) ||
      failed(checkRows(op, "value", value.getRows(), rows)) ||
      failed(checkSize(op, {rows, columns})))
    return failure();
  auto result = std::make_shared<const CachedRows>(
      CachedRows{sliceColumns(key, op.getOffsets()[1], columns),
                 sliceColumns(value, op.getOffsets()[2], columns)});
  if (op.getCache())
    evaluator.caches[place] = result;
  return result;
}

LogicalResult reference::evaluate(AttentionOp op, Evaluator &evaluator) {
  const FloatTensor &query = evaluator.getFloats(op.getQuery());
  const Segments &segments = evaluator.getSegments(op.getSegments());
  if (failed(checkRows(op, "query", query.getRows(), segments.getRows())))
    return failure();
  FailureOr<std::shared_ptr<const CachedRows>> cached =
      getKeysAndValues(op, segments.getRows(), evaluator);
  if (failed(cached))
    return failure();
  const FloatTensor &key = (*cached)->keys, &value = (*cached)->values;

  int64_t heads = op.getHeads(), kvHeads = op.getKvHeads();
  int64_t headDim = op.getHeadDim();
  if (failed(checkSize(op, {query.getRows(), heads * headDim})))
    return failure();
  FloatTensor result({query.getRows(), heads * headDim});

  for (int64_t segment = 0; segment < segments.getSegmentCount(); ++segment) {
    int64_t first = segments.first[segment];
    int64_t length = segments.length[segment];
    for (int64_t head = 0; head < heads; ++head) {
      int64_t kvHead = head * kvHeads / heads;
      int64_t valueColumn = kvHead * headDim;
      for (int64_t row = first; row < first + length; ++row) {
        std::vector<double> weights = getWeights(
            op, query, key, /*keyOffset=*/0, first, length, row, head);
        if (llvm::all_of(weights, [](double x) { return x == 0; }))
          continue; // it sees nothing: zeros
        MutableArrayRef<double> out =
            result.getRow(row).slice(head * headDim, headDim);
        for (int64_t t = 0; t < length; ++t) {
          ArrayRef<double> v =
              value.getRow(first + t).slice(valueColumn, headDim);
          for (int64_t d = 0; d < headDim; ++d)
            out[d] += weights[t] * v[d];
        }
      }
    }
  }
  return evaluator.set(op.getResult(), std::move(result));
}

LogicalResult reference::evaluate(EmptyMapsOp op, Evaluator &evaluator) {
  const Segments &segments = evaluator.getSegments(op.getSegments());
  auto type = cast<RankedTensorType>(op.getMaps().getType());
  std::vector<int64_t> shape = {type.getDimSize(0), segments.batch,
                                type.getDimSize(2), segments.seq, segments.seq};
  if (failed(checkSize(op, shape)))
    return failure();
  // Contents are unspecified: NaN makes visible whoever reads them.
  return evaluator.set(
      op.getMaps(),
      FloatTensor(shape, std::numeric_limits<double>::quiet_NaN()));
}

LogicalResult reference::evaluate(AttentionMapOp op, Evaluator &evaluator) {
  const FloatTensor &query = evaluator.getFloats(op.getQuery());
  const FloatTensor &key = evaluator.getFloats(op.getKey());
  const Segments &segments = evaluator.getSegments(op.getSegments());
  FloatTensor maps = evaluator.getFloats(op.getMaps());
  int64_t batch = segments.batch, seq = segments.seq, heads = op.getHeads();
  int64_t layer = evaluator.getInteger(op.getLayer());
  if (failed(checkRows(op, "query", query.getRows(), segments.getRows())) ||
      failed(checkRows(op, "key", key.getRows(), segments.getRows())) ||
      failed(checkRows(op, "maps", maps.shape[1], batch)) ||
      failed(checkRows(op, "each map", maps.shape[3], seq)) ||
      failed(checkRows(op, "each map's columns", maps.shape[4], seq)))
    return failure();
  if (layer < 0 || layer >= maps.shape[0])
    return op.emitOpError("expected a member from 0 to ")
           << maps.shape[0] - 1 << ", found " << layer;

  MutableArrayRef<double> member =
      MutableArrayRef<double>(maps.elements)
          .slice(layer * batch * heads * seq * seq, batch * heads * seq * seq);
  llvm::fill(member, 0);
  for (int64_t segment = 0; segment < batch; ++segment) {
    int64_t first = segments.first[segment];
    int64_t length = segments.length[segment];
    // The real elements of a batch row lie side by side.
    auto elements =
        ArrayRef<int64_t>(segments.elementRow).slice(segment * seq, seq);
    int64_t begin =
        llvm::find_if(elements, [](int64_t row) { return row >= 0; }) -
        elements.begin();
    for (int64_t head = 0; head < heads; ++head)
      for (int64_t row = 0; row < length; ++row)
        llvm::copy(getWeights(op, query, key, op.getOffsets()[1], first, length,
                              first + row, head),
                   member.begin() +
                       ((segment * heads + head) * seq + begin + row) * seq +
                       begin);
  }
  return evaluator.set(op.getResult(), std::move(maps));
}
