//===- ParameterRecipe.cpp - From stored tensors to a parameter -----------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Model/ParameterRecipe.h"
#include "hexad/Model/HalfFloats.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include <cmath>

using namespace mlir;
using namespace hexad;

llvm::Expected<const TensorSource *> TensorSources::get(llvm::StringRef file) {
  std::unique_ptr<TensorSource> &source = opened[file];
  if (source)
    return source.get();
  namespace path = llvm::sys::path;
  bool plain = !file.empty() && !path::is_absolute(file) &&
               !file.contains('\0') && path::filename(file) != ".";
  for (auto part = path::begin(file), end = path::end(file); part != end;
       ++part)
    plain &= *part != "..";
  if (!plain)
    return llvm::createStringError(
        "expected a file inside the model's folder, found '" + file + "'");
  llvm::SmallString<128> location(folder);
  path::append(location, file);
  llvm::Expected<std::unique_ptr<TensorSource>> found =
      TensorSource::open(location);
  if (!found)
    return found.takeError();
  source = std::move(*found);
  return source.get();
}

void TensorSources::releasePages() {
  for (auto &entry : opened)
    if (entry.second)
      entry.second->releasePages();
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// More columns in a panel than any machine's registers hold.
static constexpr int64_t maxPanel = 1024;
/// Padding is up to a multiple of a vector.
static constexpr int64_t maxPadding = 1024;

/// Where what a layer takes begins, if that fits 64 bits.
static std::optional<int64_t> getFirst(int64_t first, int64_t step,
                                       int64_t layer) {
  int64_t offset;
  if (llvm::MulOverflow(step, layer, offset) ||
      llvm::AddOverflow(first, offset, offset))
    return std::nullopt;
  return offset;
}

bool ParameterRecipe::pickRows(DenseI64ArrayAttr pick, int64_t layer,
                               Part &part) {
  part.firstStored = part.blockStride = 0;
  part.blockRows = part.rows = part.storedRows;
  if (!pick)
    return true;
  std::optional<int64_t> first =
      getFirst(pick[0], pick.size() == 5 ? pick[4] : 0, layer);
  if (!first)
    return false;
  part.firstStored = *first;
  part.blockRows = pick[1];
  part.blockStride = pick[2];
  // The end of the last block; blocks do not overlap, or they are one.
  int64_t count = pick[3], end;
  return !llvm::MulOverflow(count - 1, part.blockStride, end) &&
         !llvm::AddOverflow(end, part.firstStored, end) &&
         !llvm::AddOverflow(end, part.blockRows, end) &&
         end <= part.storedRows &&
         !llvm::MulOverflow(count, part.blockRows, part.rows);
}

bool ParameterRecipe::pickColumns(DenseI64ArrayAttr pick, int64_t layer,
                                  ArrayRef<int64_t> shape, Part &part) {
  part.storedColumns = 1; // Of a vector, too.
  for (int64_t size : shape.drop_front())
    part.storedColumns *= size; // The bytes are in the file: no overflow.
  part.firstColumn = 0;
  if (!pick)
    return true;
  std::optional<int64_t> first = getFirst(pick[0], pick[2], layer);
  int64_t end;
  if (!first || llvm::AddOverflow(*first, pick[1], end) ||
      end > part.storedColumns || shape.size() != 2)
    return false;
  part.firstColumn = *first;
  return true;
}

/// What a layer takes, in words: `rows 32 to 63`.
static std::string describeRun(const char *what, std::optional<int64_t> first,
                               int64_t count) {
  int64_t last;
  if (!first || llvm::AddOverflow(*first, count - 1, last))
    return llvm::formatv("{0}s beyond 64 bits", what);
  if (count == 1)
    return llvm::formatv("{0} {1}", what, *first);
  return llvm::formatv("{0}s {1} to {2}", what, *first, last);
}

static std::string describeRows(ArrayRef<int64_t> pick, int64_t layer) {
  std::optional<int64_t> first =
      getFirst(pick[0], pick.size() == 5 ? pick[4] : 0, layer);
  std::string rows = describeRun("row", first, pick[1]);
  int64_t count = pick[3], last = pick[1] - 1, distance;
  if (count == 1 || !first)
    return rows;
  if (llvm::MulOverflow(count - 1, pick[2], distance) ||
      llvm::AddOverflow(distance, *first, distance) ||
      llvm::AddOverflow(distance, last, last))
    return describeRun("row", std::nullopt, 1);
  return llvm::formatv("{0}, {1} times, {2} apart, up to row {3},", rows, count,
                       pick[2], last);
}

/// The shape of a stored tensor with as many dimensions as `rank`, if it has
/// more: dimensions of 1 in front are dropped, then the last ones are one. No
/// element changes its place.
static SmallVector<int64_t> reduceRank(ArrayRef<int64_t> stored, size_t rank) {
  while (stored.size() > rank && stored.front() == 1)
    stored = stored.drop_front();
  SmallVector<int64_t> shape(stored);
  while (shape.size() > rank && shape.size() > 2) {
    int64_t last = shape.pop_back_val();
    shape.back() *= last; // The bytes are in the file: no overflow.
  }
  return shape;
}

FailureOr<ParameterRecipe> ParameterRecipe::resolve(ParameterOp parameter,
                                                    TensorSources &sources) {
  auto fail = [&]() -> InFlightDiagnostic {
    return mlir::emitError(parameter.getLoc(), "parameter @")
           << parameter.getSymName() << ": ";
  };
  llvm::Expected<const TensorSource *> source =
      sources.get(parameter.getFile());
  if (!source) {
    fail() << llvm::toString(source.takeError());
    return failure();
  }

  ParameterRecipe recipe;
  recipe.parameter = parameter;
  Type element = parameter.getStoredElementType();
  recipe.elementType = element.isBF16()  ? StoredType::BF16
                       : element.isF16() ? StoredType::F16
                                         : StoredType::F32;
  recipe.layerCount = parameter.getLayerCount();
  recipe.partsPerLayer = parameter.getPartsPerLayer();
  recipe.panel = parameter.getPanel().value_or(0);
  recipe.transposed = parameter.getTransposed();

  // Panels are those of a matrix.
  size_t rank = recipe.panel ? 2 : parameter.getLayerType().getRank();
  SmallVector<int64_t> firstShape;
  int64_t rows = 0;
  int64_t members = parameter.getMemberCount();
  for (int64_t index = 0; index < recipe.layerCount * recipe.partsPerLayer;
       ++index) {
    int64_t layer = index / recipe.partsPerLayer;
    int64_t part = index % recipe.partsPerLayer;
    auto nameOf = [&](int64_t layer, int64_t part) {
      int64_t stack = layer / members;
      return cast<StringAttr>(
                 parameter.getTensors()[stack * recipe.partsPerLayer + part])
          .getValue();
    };
    llvm::StringRef name = nameOf(layer, part);
    const StoredTensor *tensor = (*source)->find(name);
    if (!tensor) {
      fail() << "there is no tensor '" << name << "' in "
             << parameter.getFile();
      return failure();
    }
    if (!tensor->isFloat()) {
      fail() << "expected tensor '" << name
             << "' to be of F32, F16 or BF16, found "
             << getStoredTypeName(tensor->type);
      return failure();
    }
    if (tensor->bytes.empty()) {
      fail() << "tensor '" << name << "' is empty";
      return failure();
    }
    ArrayRef<int64_t> storedShape = tensor->shape;
    int64_t firstElement = 0;
    if (parameter.getMembers()) {
      if (storedShape.size() < 2 || storedShape.front() != members) {
        fail() << "expected tensor '" << name << "' to hold " << members
               << " layers along its first dimension, found shape "
               << formatShape(storedShape);
        return failure();
      }
      storedShape = storedShape.drop_front();
      firstElement = layer % members * (tensor->getElementCount() / members);
    }
    if (recipe.transposed ? storedShape.size() != 2 : storedShape.empty()) {
      fail() << "expected tensor '" << name << "' to have "
             << (recipe.transposed ? "two dimensions" : "a dimension")
             << ", found shape " << formatShape(storedShape);
      return failure();
    }
    SmallVector<int64_t> shape = reduceRank(storedShape, rank);
    if (index == 0)
      firstShape = shape;
    // The parts of a layer differ in their number of rows, layers do not.
    bool fits = recipe.transposed ? shape[0] == firstShape[0]
                                  : ArrayRef(shape).drop_front() ==
                                        ArrayRef(firstShape).drop_front();
    if (part == 0)
      rows = 0;
    Part found = {};
    found.tensor = tensor;
    found.firstElement = firstElement;
    found.firstRow = rows;
    found.storedRows = recipe.transposed ? shape[1] : shape[0];
    auto pick = parameter.getPicks()
                    ? cast<DenseI64ArrayAttr>((*parameter.getPicks())[part])
                    : DenseI64ArrayAttr();
    if (!pickRows(pick, layer, found)) {
      InFlightDiagnostic diagnostic = fail();
      diagnostic << "layer " << layer << " takes " << describeRows(pick, layer)
                 << " of tensor '" << name << "', which has shape "
                 << formatShape(shape)
                 << (recipe.transposed ? ", transposed" : "");
      return diagnostic;
    }
    if (!pickColumns(parameter.getColumnsAttr(), layer, shape, found)) {
      ArrayRef<int64_t> columns = *parameter.getColumns();
      InFlightDiagnostic diagnostic = fail();
      diagnostic << "layer " << layer << " takes "
                 << describeRun("column",
                                getFirst(columns[0], columns[2], layer),
                                columns[1])
                 << " of tensor '" << name << "', which has shape "
                 << formatShape(shape);
      return diagnostic;
    }
    if (layer > 0)
      fits &= recipe.parts[part].storedRows == found.storedRows;
    if (!fits) {
      int64_t other = layer == 0 ? 0 : part;
      fail() << "tensor '" << name << "' of shape "
             << formatShape(tensor->shape) << " does not go with '"
             << nameOf(0, other) << "' of shape "
             << formatShape(recipe.parts[other].tensor->shape);
      return failure();
    }
    recipe.parts.push_back(found);
    if (llvm::AddOverflow(rows, found.rows, rows)) {
      fail() << "the parts' number of rows does not fit 64 bits";
      return failure();
    }
  }

  // The type that the recipe gives without padding.
  SmallVector<int64_t> stored(firstShape);
  if (recipe.transposed)
    stored = {rows, firstShape[0]};
  stored.front() = rows;
  if (std::optional<ArrayRef<int64_t>> columns = parameter.getColumns()) {
    stored.back() = (*columns)[1];
    recipe.hasAllColumns = false;
  }
  if (std::optional<ArrayRef<int64_t>> numbers = parameter.getGrid()) {
    recipe.grid.emplace(*numbers, parameter.getAntialias());
    if (rows != recipe.grid->getStoredRows()) {
      fail() << "expected the " << recipe.grid->getStoredRows()
             << " rows of a grid, found shape " << formatShape(stored)
             << " in tensor '"
             << cast<StringAttr>(parameter.getTensors()[0]).getValue() << "'";
      return failure();
    }
    stored.front() = rows = recipe.grid->getRows();
  }
  ArrayRef<int64_t> wanted = parameter.getLayerType().getShape();
  recipe.rows = recipe.paddedRows = rows;
  recipe.columns = 1;
  for (int64_t size : ArrayRef(stored).drop_front())
    recipe.columns *= size; // The parts' bytes are in the file: no overflow.
  recipe.paddedColumns = recipe.columns;

  auto isPadded = [](int64_t padded, int64_t size) {
    return padded >= size && padded - size < maxPadding;
  };
  bool fits = false;
  if (recipe.panel) {
    if (recipe.panel <= maxPanel && stored.size() == 2 &&
        wanted[0] == int64_t(llvm::divideCeil(rows, recipe.panel)) &&
        isPadded(wanted[1], recipe.columns)) {
      fits = true;
      recipe.paddedRows = wanted[0] * recipe.panel;
      recipe.paddedColumns = wanted[1];
    }
  } else if (stored.size() <= 2 && wanted.size() == stored.size() &&
             wanted.drop_back() == ArrayRef(stored).drop_back() &&
             isPadded(wanted.back(), stored.back())) {
    fits = true;
    (stored.size() == 1 ? recipe.paddedRows : recipe.paddedColumns) =
        wanted.back();
  } else {
    fits = wanted == ArrayRef(stored);
  }
  if (!fits) {
    InFlightDiagnostic diagnostic = fail();
    diagnostic << "expected "
               << (recipe.layerCount > 1 ? "layers of shape " : "shape ")
               << formatShape(wanted);
    if (recipe.panel)
      diagnostic << " in panels of " << recipe.panel;
    diagnostic << ", found " << formatShape(stored) << " in tensor";
    if (recipe.partsPerLayer > 1)
      diagnostic << "s " << recipe.partsPerLayer << " from";
    diagnostic << " '" << cast<StringAttr>(parameter.getTensors()[0]).getValue()
               << "'";
    if (recipe.transposed)
      diagnostic << ", transposed";
    return failure();
  }
  int64_t bytes = sizeof(float);
  for (int64_t size :
       {recipe.layerCount, recipe.paddedRows, recipe.paddedColumns})
    if (llvm::MulOverflow(bytes, size, bytes)) {
      fail() << "its size does not fit 64 bits";
      return failure();
    }
  return recipe;
}

LogicalResult hexad::verifyParameterSources(ModuleOp module,
                                            TensorSources &sources) {
  for (auto parameter : module.getOps<ParameterOp>()) {
    FailureOr<ParameterRecipe> recipe =
        ParameterRecipe::resolve(parameter, sources);
    if (failed(recipe))
      return failure();
    if (!recipe->isPlain()) {
      InFlightDiagnostic diagnostic =
          mlir::emitError(parameter.getLoc(), "parameter @")
          << parameter.getSymName()
          << ": expected the shape of the stored tensors, without panels or "
             "padding: ";
      diagnostic << formatShape(
          ArrayRef(recipe->getStoredSize())
              .take_front(parameter.getLayerType().getRank()));
      return diagnostic << ", found "
                        << formatShape(parameter.getLayerType().getShape());
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

const ParameterRecipe::Part *ParameterRecipe::findPart(int64_t layer,
                                                       int64_t row) const {
  return llvm::partition_point(getParts(layer), [row](const Part &part) {
    return part.firstRow + part.rows <= row;
  });
}

void ParameterRecipe::readGridRow(int64_t row, int64_t column,
                                  llvm::MutableArrayRef<float> out) const {
  std::vector<double> sums(out.size());
  std::vector<float> elements(out.size());
  for (const PositionGrid::Term &term : grid->getTerms(row)) {
    parts.front().tensor->readFloats(term.row * columns + column, elements);
    for (auto [sum, element] : llvm::zip_equal(sums, elements))
      sum += term.weight * element;
  }
  llvm::copy(sums, out.begin());
}

void ParameterRecipe::readRow(int64_t layer, int64_t row, int64_t column,
                              llvm::MutableArrayRef<float> out) const {
  if (grid)
    return readGridRow(row, column, out);
  const Part *part = findPart(layer, row);
  int64_t storedRow = part->getStoredRow(row);
  if (transposed) {
    int64_t stride = part->storedRows;
    int64_t first = part->firstElement + column * stride + storedRow;
    for (size_t i = 0; i < out.size(); ++i)
      part->tensor->readFloats(first + i * stride, out.slice(i, 1));
    return;
  }
  part->tensor->readFloats(part->firstElement +
                               storedRow * part->storedColumns +
                               part->firstColumn + column,
                           out);
}

void ParameterRecipe::readColumn(int64_t layer, int64_t column, int64_t row,
                                 llvm::MutableArrayRef<float> out) const {
  const Part *part = findPart(layer, row);
  while (!out.empty()) {
    int64_t count = std::min<int64_t>(out.size(), part->getRowsToBlockEnd(row));
    part->tensor->readFloats(part->firstElement + column * part->storedRows +
                                 part->getStoredRow(row),
                             out.take_front(count));
    out = out.drop_front(count);
    row += count;
    if (row == part->firstRow + part->rows)
      ++part;
  }
}

void ParameterRecipe::streamPlain(int64_t layer, Sink sink) const {
  std::vector<float> buffer;
  for (const Part &part : getParts(layer))
    for (int64_t row = 0; row < part.rows; row += part.blockRows) {
      int64_t begin =
          part.firstElement + part.getStoredRow(part.firstRow + row) * columns;
      int64_t total = part.blockRows * columns;
      for (int64_t first = 0; first < total; first += maxChunk) {
        buffer.resize(std::min(maxChunk, total - first));
        part.tensor->readFloats(begin + first, buffer);
        sink(buffer);
      }
    }
}

void ParameterRecipe::streamRows(int64_t layer, Sink sink) const {
  std::vector<float> buffer;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t first = 0; first < paddedColumns; first += maxChunk) {
      buffer.assign(std::min(maxChunk, paddedColumns - first), 0.0f);
      int64_t count = std::min<int64_t>(buffer.size(),
                                        std::max<int64_t>(columns - first, 0));
      readRow(layer, row, first,
              llvm::MutableArrayRef(buffer).take_front(count));
      sink(buffer);
    }
  // A padded vector; whole rows are not padded.
  if (int64_t zeros = (paddedRows - rows) * paddedColumns) {
    buffer.assign(zeros, 0.0f);
    sink(buffer);
  }
}

void ParameterRecipe::streamPanels(int64_t layer, Sink sink) const {
  // A block of a panel is read row by row and written column by column; both
  // copies stay in the L1 cache. The rows of a block are set apart by one more
  // cache line, lest they compete for the same sets.
  constexpr int64_t blockColumns = 256, stride = blockColumns + 16;
  std::vector<float> block(panel * stride), columnMajor;
  for (int64_t firstRow = 0; firstRow < paddedRows; firstRow += panel) {
    int64_t blockRows = std::min(panel, rows - firstRow);
    for (int64_t first = 0; first < paddedColumns;) {
      int64_t width = std::min({blockColumns, paddedColumns - first,
                                std::max<int64_t>(maxChunk / panel, 1)});
      int64_t count = std::clamp<int64_t>(columns - first, 0, width);
      columnMajor.assign(width * panel, 0.0f);
      if (transposed) {
        for (int64_t c = 0; c < count; ++c)
          readColumn(
              layer, first + c, firstRow,
              llvm::MutableArrayRef(columnMajor).slice(c * panel, blockRows));
      } else {
        for (int64_t r = 0; r < blockRows; ++r)
          readRow(layer, firstRow + r, first,
                  llvm::MutableArrayRef(block).slice(r * stride, count));
        for (int64_t c = 0; c < count; ++c)
          for (int64_t r = 0; r < blockRows; ++r)
            columnMajor[c * panel + r] = block[r * stride + c];
      }
      sink(columnMajor);
      first += width;
    }
  }
}

void ParameterRecipe::streamSource(int64_t layer, Sink sink) const {
  if (panel)
    streamPanels(layer, sink);
  else if (isPlain() && !transposed && hasAllColumns && !grid)
    streamPlain(layer, sink);
  else
    streamRows(layer, sink);
}

//===----------------------------------------------------------------------===//
// Rounding
//===----------------------------------------------------------------------===//

std::optional<StoredType> ParameterRecipe::getSourceType() const {
  StoredType type = parts.front().tensor->type;
  if (llvm::any_of(parts,
                   [&](const Part &part) { return part.tensor->type != type; }))
    return std::nullopt;
  return type;
}

template <StoredType type> static float round(float value) {
  return type == StoredType::BF16 ? widenBF16(narrowToBF16(value))
                                  : widenF16(narrowToF16(value));
}

/// Rounds elements; false if a finite one became infinite.
template <StoredType type>
static bool roundAll(ArrayRef<float> from, llvm::MutableArrayRef<float> to) {
  bool fits = true;
  for (auto [value, rounded] : llvm::zip_equal(from, to)) {
    rounded = round<type>(value);
    fits &= !std::isinf(rounded) || std::isinf(value);
  }
  return fits;
}

LogicalResult ParameterRecipe::reportTooLarge(int64_t layer) const {
  bool isHalf = elementType == StoredType::F16;
  std::vector<float> elements(columns);
  for (int64_t row = 0; row < rows; ++row) {
    readRow(layer, row, 0, elements);
    for (float value : elements) {
      float rounded = isHalf ? round<StoredType::F16>(value)
                             : round<StoredType::BF16>(value);
      if (std::isinf(value) || !std::isinf(rounded))
        continue;
      const Part &part = grid ? parts.front() : *findPart(layer, row);
      std::string found;
      llvm::raw_string_ostream(found) << llvm::format("%g", value);
      return mlir::emitError(parameter.getLoc(), "parameter @")
             << parameter.getSymName() << ": expected elements that fit "
             << getStoredTypeName(elementType) << ", found " << found
             << " in layer " << layer << ", tensor '" << part.tensor->name
             << "'";
    }
  }
  llvm_unreachable("there is an element that does not fit");
}

LogicalResult ParameterRecipe::stream(int64_t layer, Sink sink) const {
  if (elementType == StoredType::F32) {
    streamSource(layer, sink);
    return success();
  }
  bool fits = true;
  std::vector<float> rounded;
  streamSource(layer, [&](ArrayRef<float> chunk) {
    rounded.resize(chunk.size());
    fits &= elementType == StoredType::BF16
                ? roundAll<StoredType::BF16>(chunk, rounded)
                : roundAll<StoredType::F16>(chunk, rounded);
    sink(rounded);
  });
  return fits ? success() : reportTooLarge(layer);
}

FailureOr<std::vector<double>> ParameterRecipe::readLayer(int64_t layer) const {
  std::vector<double> elements;
  elements.reserve(getLayerElements());
  LogicalResult read = stream(layer, [&](ArrayRef<float> chunk) {
    elements.insert(elements.end(), chunk.begin(), chunk.end());
  });
  if (failed(read))
    return failure();
  return elements;
}
