//===- RowOps.cpp - Rectangles, rows and segments -------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluator.h"

using namespace mlir;
using namespace hexad;
using namespace hexad::reference;

LogicalResult reference::evaluate(SegmentsOp op, Evaluator &evaluator) {
  const IntegerTensor &mask = evaluator.getIntegers(op.getMask());
  auto segments = std::make_shared<Segments>();
  segments->batch = mask.getRows();
  segments->seq = mask.getColumns();
  segments->elementRow.assign(mask.elements.size(), -1);
  int64_t rows = 0;
  for (int64_t batch = 0; batch < segments->batch; ++batch) {
    ArrayRef<int64_t> row = mask.getRow(batch);
    auto isReal = [](int64_t element) { return element != 0; };
    auto begin = llvm::find_if(row, isReal);
    auto end = std::find_if_not(begin, row.end(), isReal);
    if (std::any_of(end, row.end(), isReal))
      return op.emitOpError("expected the real elements of batch row ")
             << batch << " in one run, found a hole at element "
             << end - row.begin();
    segments->first.push_back(rows);
    segments->length.push_back(end - begin);
    for (auto element = begin; element != end; ++element)
      segments->elementRow[batch * segments->seq + (element - row.begin())] =
          rows++;
  }
  return evaluator.set(op.getSegments(),
                       std::shared_ptr<const Segments>(std::move(segments)));
}

FailureOr<IntegerTensor>
reference::packRectangle(Operation *op, const IntegerTensor &rectangle,
                         const Segments &segments) {
  if (rectangle.getRows() != segments.batch ||
      rectangle.getColumns() != segments.seq)
    return op->emitOpError("expected a rectangle of ")
           << segments.batch << " x " << segments.seq << ", found "
           << rectangle.getRows() << " x " << rectangle.getColumns();
  IntegerTensor rows({segments.getRows()});
  for (auto [row, element] :
       llvm::zip_equal(segments.elementRow, rectangle.elements))
    if (row >= 0)
      rows.elements[row] = element;
  return rows;
}

LogicalResult reference::evaluate(PackRowsOp op, Evaluator &evaluator) {
  FailureOr<IntegerTensor> rows =
      packRectangle(op, evaluator.getIntegers(op.getRectangle()),
                    evaluator.getSegments(op.getSegments()));
  if (failed(rows))
    return failure();
  return evaluator.set(op.getRows(), std::move(*rows));
}

LogicalResult reference::evaluate(SelectRowsOp op, Evaluator &evaluator) {
  const FloatTensor &rows = evaluator.getFloats(op.getRows());
  const Segments &segments = evaluator.getSegments(op.getSegments());
  if (failed(checkRows(op, "rows", rows.getRows(), segments.getRows())))
    return failure();
  return evaluator.set(op.getSelected(), rows);
}

LogicalResult reference::evaluate(UnpackRowsOp op, Evaluator &evaluator) {
  const FloatTensor &rows = evaluator.getFloats(op.getRows());
  const Segments &segments = evaluator.getSegments(op.getSegments());
  // Plain rows are a stack of one.
  bool isStack = rows.shape.size() == 3;
  int64_t count = isStack ? rows.shape[0] : 1;
  int64_t rowCount = rows.shape[isStack ? 1 : 0];
  int64_t columns = rows.getColumns();
  if (failed(checkRows(op, "rows", rowCount, segments.getRows())))
    return failure();

  SmallVector<int64_t> shape = {segments.batch, segments.seq, columns};
  if (isStack)
    shape.insert(shape.begin(), count);
  if (failed(checkSize(op, shape)))
    return failure();
  FloatTensor rectangle(shape);
  int64_t elements = segments.elementRow.size();
  for (int64_t i = 0; i < count; ++i)
    for (int64_t element = 0; element < elements; ++element)
      if (int64_t row = segments.elementRow[element]; row >= 0)
        llvm::copy(llvm::ArrayRef(rows.elements)
                       .slice((i * rowCount + row) * columns, columns),
                   rectangle.elements.begin() +
                       (i * elements + element) * columns);
  return evaluator.set(op.getRectangle(), std::move(rectangle));
}

LogicalResult reference::evaluate(PositionsOp op, Evaluator &evaluator) {
  const Segments &segments = evaluator.getSegments(op.getSegments());
  IntegerTensor positions({segments.getRows()});
  for (int64_t segment = 0; segment < segments.getSegmentCount(); ++segment)
    for (int64_t i = 0; i < segments.length[segment]; ++i)
      positions.elements[segments.first[segment] + i] = i;
  return evaluator.set(op.getPositions(), std::move(positions));
}

LogicalResult reference::evaluate(PoolOp op, Evaluator &evaluator) {
  const FloatTensor &rows = evaluator.getFloats(op.getRows());
  const Segments &segments = evaluator.getSegments(op.getSegments());
  if (failed(checkRows(op, "rows", rows.getRows(), segments.getRows())))
    return failure();
  if (failed(checkSize(op, {segments.getSegmentCount(), rows.getColumns()})))
    return failure();
  FloatTensor pooled({segments.getSegmentCount(), rows.getColumns()});
  for (int64_t segment = 0; segment < segments.getSegmentCount(); ++segment) {
    MutableArrayRef<double> result = pooled.getRow(segment);
    int64_t skip = op.getSkip();
    int64_t length = segments.length[segment] - skip;
    if (length <= 0)
      continue; // zeros
    int64_t first = segments.first[segment] + skip;
    llvm::copy(rows.getRow(first), result.begin());
    if (op.getKind() == Pooling::First)
      continue;
    for (int64_t row = first + 1; row < first + length; ++row)
      for (auto [sum, x] : llvm::zip_equal(result, rows.getRow(row)))
        sum += x;
    for (double &sum : result)
      sum /= length;
  }
  return evaluator.set(op.getPooled(), std::move(pooled));
}

LogicalResult reference::evaluate(RowsOp op, Evaluator &evaluator) {
  // How rows are split into blocks changes no value: here they are one block.
  SmallVector<RuntimeValue> inputs;
  for (Value input : op.getInputs())
    inputs.push_back(evaluator.get(input));
  FailureOr<std::vector<RuntimeValue>> results =
      evaluator.run(op.getBody().front(), inputs);
  if (failed(results))
    return failure();
  for (auto [result, value] : llvm::zip_equal(op.getResults(), *results))
    if (failed(evaluator.set(result, value)))
      return failure();
  return success();
}
