//===- Interpreter.cpp - Executing functions and models -------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Reference/Interpreter.h"
#include "Evaluator.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace hexad;
using namespace hexad::reference;

//===----------------------------------------------------------------------===//
// Evaluator
//===----------------------------------------------------------------------===//

bool reference::fitsType(const RuntimeValue &value, Type type) {
  if (isa<IndexType, IntegerType>(type))
    return std::holds_alternative<int64_t>(value);
  if (isa<SegmentsType>(type))
    return std::holds_alternative<std::shared_ptr<const Segments>>(value);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return false;
  ArrayRef<int64_t> shape;
  if (isa<FloatType>(tensor.getElementType())) {
    auto *floats = std::get_if<std::shared_ptr<const FloatTensor>>(&value);
    if (!floats)
      return false;
    shape = (*floats)->shape;
  } else {
    auto *integers = std::get_if<std::shared_ptr<const IntegerTensor>>(&value);
    if (!integers)
      return false;
    shape = (*integers)->shape;
  }
  return succeeded(verifyCompatibleShape(tensor.getShape(), shape));
}

/// `2x3` or `an integer`, for messages.
static std::string describe(const RuntimeValue &value) {
  ArrayRef<int64_t> shape;
  if (auto *floats = std::get_if<std::shared_ptr<const FloatTensor>>(&value))
    shape = (*floats)->shape;
  else if (auto *integers =
               std::get_if<std::shared_ptr<const IntegerTensor>>(&value))
    shape = (*integers)->shape;
  else
    return std::holds_alternative<int64_t>(value) ? "an integer" : "segments";
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "a tensor of shape [";
  llvm::interleaveComma(shape, stream);
  stream << "]";
  return text;
}

const RuntimeValue &Evaluator::get(Value value) const {
  auto found = values.find(value);
  assert(found != values.end() && "used before it was computed");
  return found->second;
}

LogicalResult Evaluator::set(Value result, RuntimeValue value) {
  if (!fitsType(value, result.getType()))
    return emitError(result.getLoc(), "computed ")
           << describe(value) << ", which is not of type " << result.getType();
  values[result] = std::move(value);
  return success();
}

static LogicalResult evaluateOperation(Operation &op, Evaluator &evaluator) {
  return TypeSwitch<Operation *, LogicalResult>(&op)
      .Case<ActivationOp, AddOp, AttentionMapOp, AttentionOp, ClampOp,
            CrossEntropyOp, ElementsOp, EmbeddingOp, EmptyMapsOp, ExpertsOp,
            ImageSegmentsOp, L2NormalizeOp, LabelsOp, LayerNormOp, LinearOp,
            LoadOp, MeanLossOp, MultiplyOp, PackRowsOp, PatchesOp, PatchifyOp,
            PoolOp, PositionsOp, PrefixRowsOp, RmsNormOp, RopeOp, RotaryOp,
            RouteOp, RowsOp, ScaleColumnsOp, ScaleOp, SegmentsOp, SelectRowsOp,
            SoftcapOp, SoftmaxOp, UnpackRowsOp>(
          [&](auto hexadOp) { return evaluate(hexadOp, evaluator); })
      .Case<arith::AddIOp, arith::ConstantOp, arith::MulIOp, arith::SubIOp,
            scf::ForOp, tensor::CastOp, tensor::DimOp, tensor::EmptyOp,
            tensor::ExtractSliceOp, tensor::InsertSliceOp>(
          [&](auto builtinOp) { return evaluate(builtinOp, evaluator); })
      .Default([](Operation *op) {
        return op->emitOpError("is not known to the reference interpreter");
      });
}

FailureOr<std::vector<RuntimeValue>>
Evaluator::run(Block &block, ArrayRef<RuntimeValue> arguments) {
  assert(arguments.size() == block.getNumArguments());
  for (auto [argument, value] :
       llvm::zip_equal(block.getArguments(), arguments))
    if (failed(set(argument, value)))
      return failure();
  for (Operation &op : block.without_terminator())
    if (failed(evaluateOperation(op, *this)))
      return failure();
  std::vector<RuntimeValue> results;
  for (Value operand : block.getTerminator()->getOperands())
    results.push_back(get(operand));
  for (Value argument : block.getArguments())
    values.erase(argument);
  for (Operation &op : block)
    for (Value result : op.getResults())
      values.erase(result);
  return results;
}

LogicalResult reference::checkRows(Operation *op, StringRef what, int64_t rows,
                                   int64_t expected) {
  if (rows == expected)
    return success();
  return op->emitOpError("expected ")
         << expected << " rows in " << what << ", found " << rows;
}

LogicalResult reference::checkSize(Operation *op, ArrayRef<int64_t> shape) {
  if (countElements(shape))
    return success();
  InFlightDiagnostic diagnostic = op->emitOpError("a tensor of shape [");
  llvm::interleaveComma(shape, diagnostic);
  return diagnostic << "] is more than the " << maxElements
                    << " elements that the reference interpreter holds";
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

FailureOr<std::vector<RuntimeValue>>
reference::callFunction(func::FuncOp function, ArrayRef<RuntimeValue> arguments,
                        const ParameterSource &parameters) {
  if (function.isExternal())
    return function.emitError("expected a function with a body");
  if (!function.getBody().hasOneBlock())
    return function.emitError("expected a function of one block");
  if (arguments.size() != function.getNumArguments())
    return function.emitError("expected ")
           << function.getNumArguments() << " arguments, found "
           << arguments.size();
  Evaluator evaluator(parameters);
  return evaluator.run(function.getBody().front(), arguments);
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

/// The one function of a module.
static FailureOr<func::FuncOp> findModelFunction(ModuleOp module) {
  func::FuncOp found;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (found) {
      InFlightDiagnostic diagnostic =
          function.emitError("expected a model to be one function");
      diagnostic.attachNote(found.getLoc()) << "the other one";
      return diagnostic;
    }
    found = function;
  }
  if (!found)
    return module.emitError("expected a model to have a function");
  if (found.isExternal())
    return found.emitError("expected a function with a body");
  return found;
}

/// Whether the argument decides which elements of the rectangle are real.
static bool isMask(BlockArgument argument) {
  return llvm::any_of(argument.getUsers(),
                      [](Operation *user) { return isa<SegmentsOp>(user); });
}

/// Reports ids outside `[0, limit)`, wherever the mask is not 0.
static LogicalResult checkIds(func::FuncOp function, StringRef name,
                              const IntegerTensor &ids,
                              const IntegerTensor &mask, int64_t limit) {
  for (auto [element, id] : llvm::enumerate(ids.elements)) {
    if (mask.elements[element] != 0 && (id < 0 || id >= limit))
      return function.emitError("input '")
             << name << "': expected ids from 0 to " << limit - 1 << ", found "
             << id << " at ["
             << static_cast<int64_t>(element) / ids.getColumns() << ", "
             << static_cast<int64_t>(element) % ids.getColumns() << "]";
  }
  return success();
}

/// Reports labels outside `[0, limit)` of rows that have one.
static LogicalResult checkLabels(func::FuncOp function, StringRef name,
                                 LabelsOp op, const IntegerTensor &labels,
                                 const IntegerTensor &mask, int64_t limit) {
  auto isReal = [&](int64_t row, int64_t column) {
    return column >= 0 && mask.getRow(row)[column] != 0;
  };
  auto check = [&](bool counts, int64_t label,
                   const Twine &place) -> LogicalResult {
    if (!counts || label == LabelsOp::ignored || (label >= 0 && label < limit))
      return success();
    return function.emitError("input '")
           << name << "': expected labels from 0 to " << limit - 1 << " or "
           << LabelsOp::ignored << ", found " << label << " at [" << place
           << "]";
  };
  for (int64_t row = 0; row < mask.getRows(); ++row) {
    if (op.isOfSegments()) {
      bool counts = llvm::any_of(mask.getRow(row),
                                 [](int64_t element) { return element != 0; });
      if (failed(check(counts, labels.elements[row], Twine(row))))
        return failure();
      continue;
    }
    for (int64_t column = 0; column < mask.getColumns(); ++column) {
      bool counts =
          isReal(row, column) && (!op.getShift() || isReal(row, column - 1));
      if (failed(check(counts, labels.getRow(row)[column],
                       Twine(row) + ", " + Twine(column))))
        return failure();
    }
  }
  return success();
}

/// Reports a segment that has more rows than the model has positions.
static LogicalResult checkPositions(func::FuncOp function,
                                    const IntegerTensor &mask, int64_t limit) {
  for (int64_t batch = 0; batch < mask.getRows(); ++batch) {
    int64_t length = llvm::count_if(
        mask.getRow(batch), [](int64_t element) { return element != 0; });
    if (length > limit)
      return function.emitError("expected sequences of at most ")
             << limit << " tokens, found " << length << " in batch row "
             << batch;
  }
  return success();
}

/// Whether the argument is images.
static bool isImages(BlockArgument argument) {
  return llvm::any_of(argument.getUsers(), llvm::IsaPred<ImageSegmentsOp>);
}

/// The labels of a batch of images, each of which has one; all of them are
/// ignored if none are given.
static FailureOr<RuntimeValue>
bindImageLabels(func::FuncOp function, BlockArgument argument, StringRef name,
                int64_t batch, const llvm::StringMap<IntegerTensor> &integers) {
  auto found = integers.find(name);
  auto value = found != integers.end()
                   ? std::make_shared<const IntegerTensor>(found->second)
                   : std::make_shared<const IntegerTensor>(
                         ArrayRef<int64_t>(batch), LabelsOp::ignored);
  if (ArrayRef<int64_t>(value->shape) != ArrayRef<int64_t>(batch))
    return function.emitError("input '")
           << name << "': expected one label for each of " << batch
           << " images, found " << describe(value);
  auto limit = function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(),
                                                      "hexad.limit");
  if (limit &&
      failed(checkLabels(function, name, getLabelsOp(argument), *value,
                         IntegerTensor({batch, 1}, 1), limit.getInt())))
    return failure();
  return RuntimeValue(value);
}

/// The arguments of a call of a model of images: these, perhaps labels of them,
/// and nothing else.
static FailureOr<SmallVector<RuntimeValue>>
bindImages(func::FuncOp function,
           const llvm::StringMap<IntegerTensor> &integers,
           const llvm::StringMap<FloatTensor> &images) {
  auto getName = [&](unsigned number) {
    return number < function.getNumArguments()
               ? function.getArgAttrOfType<StringAttr>(number, "hexad.name")
               : StringAttr();
  };
  StringAttr name = getName(0), labelsName = getName(1);
  bool hasLabels = function.getNumArguments() == 2 && labelsName &&
                   getLabelsOp(function.getArgument(1)) &&
                   getLabelsOp(function.getArgument(1)).isOfSegments();
  if (!name || (function.getNumArguments() != 1 && !hasLabels))
    return function.emitError("expected images with a hexad.name to be the "
                              "only argument beside labels of them");
  auto found = images.find(name);
  if (found == images.end() && integers.contains(name))
    return function.emitError("input '")
           << name.getValue() << "': expected floats, found integers";
  for (const auto &input : integers)
    if (!hasLabels || input.first() != labelsName)
      return function.emitError("the model has no input '")
             << input.first() << "'";
  for (const auto &input : images)
    if (input.first() != name)
      return function.emitError("the model has no input '")
             << input.first() << "'";
  if (found == images.end())
    return function.emitError("input '") << name.getValue() << "' is missing";
  RuntimeValue value = std::make_shared<const FloatTensor>(found->second);
  Type type = function.getArgument(0).getType();
  if (!fitsType(value, type))
    return function.emitError("input '")
           << name.getValue() << "': expected " << type << ", found "
           << describe(value);
  SmallVector<RuntimeValue> arguments = {value};
  if (hasLabels) {
    FailureOr<RuntimeValue> labels =
        bindImageLabels(function, function.getArgument(1), labelsName,
                        found->second.shape.front(), integers);
    if (failed(labels))
      return failure();
    arguments.push_back(*labels);
  }
  return arguments;
}

/// The arguments of a call: named inputs in the order of the function's, and
/// what stands in for optional ones that are absent.
static FailureOr<SmallVector<RuntimeValue>>
bindInputs(func::FuncOp function,
           const llvm::StringMap<IntegerTensor> &inputs) {
  SmallVector<StringRef> names;
  for (BlockArgument argument : function.getArguments()) {
    unsigned number = argument.getArgNumber();
    auto name = function.getArgAttrOfType<StringAttr>(number, "hexad.name");
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    bool fits = type && (type.getRank() == 2 ||
                         (type.getRank() == 1 && getLabelsOp(argument)));
    if (!name || !fits || !type.getElementType().isInteger(32))
      return function.emitError("expected argument ")
             << number << " to be a rectangle of i32 with a hexad.name, found "
             << argument.getType();
    if (llvm::is_contained(names, name.getValue()))
      return function.emitError("two arguments have the name '")
             << name.getValue() << "'";
    names.push_back(name.getValue());
    if (!inputs.contains(name.getValue()) &&
        !function.getArgAttr(number, "hexad.optional"))
      return function.emitError("input '") << name.getValue() << "' is missing";
  }

  // Labels of segments have no shape that others could share.
  auto isVector = [](BlockArgument argument) {
    return cast<RankedTensorType>(argument.getType()).getRank() == 1;
  };
  const IntegerTensor *first = nullptr;
  StringRef firstName;
  for (auto [argument, name] :
       llvm::zip_equal(function.getArguments(), names)) {
    auto found = inputs.find(name);
    if (found == inputs.end() || isVector(argument))
      continue;
    const IntegerTensor &input = found->second;
    if (input.shape.size() != 2)
      return function.emitError("input '")
             << name << "': expected a rectangle [batch, seq], found rank "
             << input.shape.size();
    if (first && input.shape != first->shape)
      return function.emitError("input '")
             << name << "': expected the shape of '" << firstName << "', "
             << first->shape[0] << " x " << first->shape[1] << ", found "
             << input.shape[0] << " x " << input.shape[1];
    if (!first) {
      first = &input;
      firstName = name;
    }
  }
  if (!first)
    return function.emitError("no input is given");
  for (const auto &input : inputs)
    for (int64_t element : input.second.elements)
      if (!llvm::isInt<32>(element))
        return function.emitError("input '")
               << input.first() << "': " << element
               << " does not fit in 32 bits";
  for (const auto &input : inputs)
    if (!llvm::is_contained(names, input.first()))
      return function.emitError("the model has no input '")
             << input.first() << "'";

  SmallVector<RuntimeValue> arguments;
  const IntegerTensor *mask = nullptr;
  for (auto [argument, name] :
       llvm::zip_equal(function.getArguments(), names)) {
    auto found = inputs.find(name);
    ArrayRef<int64_t> shape = first->shape;
    if (isVector(argument))
      shape = shape.take_front();
    if (found != inputs.end() && found->second.shape != shape)
      return function.emitError("input '")
             << name << "': expected one label for each of " << shape[0]
             << " segments, found "
             << describe(std::make_shared<const IntegerTensor>(found->second));
    auto value = found != inputs.end()
                     ? std::make_shared<const IntegerTensor>(found->second)
                     : std::make_shared<const IntegerTensor>(
                           shape, getLabelsOp(argument) ? LabelsOp::ignored
                                  : isMask(argument)    ? 1
                                                        : 0);
    if (isMask(argument))
      mask = value.get();
    if (!fitsType(value, argument.getType()))
      return function.emitError("input '")
             << name << "': expected " << argument.getType() << ", found "
             << describe(value);
    arguments.push_back(std::move(value));
  }

  IntegerTensor everything(first->shape, 1);
  const IntegerTensor &real = mask ? *mask : everything;
  for (auto [argument, name, value] :
       llvm::zip_equal(function.getArguments(), names, arguments)) {
    auto limit = function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(),
                                                        "hexad.limit");
    if (!limit)
      continue;
    const IntegerTensor &ids =
        *std::get<std::shared_ptr<const IntegerTensor>>(value);
    LabelsOp labels = getLabelsOp(argument);
    if (failed(labels ? checkLabels(function, name, labels, ids, real,
                                    limit.getInt())
                      : checkIds(function, name, ids, real, limit.getInt())))
      return failure();
  }
  auto limit = function->getAttrOfType<IntegerAttr>("hexad.position_limit");
  if (limit && failed(checkPositions(function, real, limit.getInt())))
    return failure();
  return arguments;
}

/// The members of a stack `[count, …]`, named `name.0`, `name.1`, ….
static void splitStack(StringRef name, const FloatTensor &stack,
                       std::vector<Output> &outputs) {
  int64_t count = stack.shape.front();
  for (int64_t i = 0; i < count; ++i) {
    FloatTensor member(ArrayRef<int64_t>(stack.shape).drop_front());
    llvm::copy(llvm::ArrayRef(stack.elements)
                   .slice(i * member.elements.size(), member.elements.size()),
               member.elements.begin());
    outputs.push_back({(name + "." + Twine(i)).str(), std::move(member)});
  }
}

FailureOr<std::vector<Output>>
reference::runModel(ModuleOp module,
                    const llvm::StringMap<IntegerTensor> &inputs,
                    const ParameterSource &parameters,
                    const llvm::StringMap<FloatTensor> &images) {
  FailureOr<func::FuncOp> function = findModelFunction(module);
  if (failed(function))
    return failure();
  bool takesImages = llvm::any_of(function->getArguments(), isImages);
  if (!takesImages && !images.empty())
    return function->emitError("input '")
           << images.begin()->first() << "': expected integers, found floats";
  FailureOr<SmallVector<RuntimeValue>> arguments =
      takesImages ? bindImages(*function, inputs, images)
                  : bindInputs(*function, inputs);
  if (failed(arguments))
    return failure();
  FailureOr<std::vector<RuntimeValue>> results =
      callFunction(*function, *arguments, parameters);
  if (failed(results))
    return failure();

  std::vector<Output> outputs;
  for (auto [number, result] : llvm::enumerate(*results)) {
    auto name = function->getResultAttrOfType<StringAttr>(number, "hexad.name");
    auto *value = std::get_if<std::shared_ptr<const FloatTensor>>(&result);
    if (!name || !value)
      return function->emitError("expected result ")
             << number << " to be a tensor of f32 with a hexad.name";
    if (function->getResultAttr(number, "hexad.stacked"))
      splitStack(name.getValue(), **value, outputs);
    else
      outputs.push_back({name.str(), **value});
  }
  return outputs;
}
