//===- hexad-reference.cpp - A model in double precision ------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Model/ModelReader.h"
#include "hexad/Model/Safetensors.h"
#include "hexad/Model/SourceDiagnostics.h"
#include "hexad/Reference/Interpreter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"
#include <cmath>

using namespace mlir;
using namespace hexad;
using namespace hexad::reference;
namespace cl = llvm::cl;

static cl::OptionCategory category("Options");
static cl::opt<std::string>
    modelPath(cl::Positional, cl::Required, cl::cat(category),
              cl::desc("<model.yaml, checkpoint folder or .mlir file>"));
static cl::opt<std::string>
    inputsPath("inputs", cl::value_desc("file.safetensors"), cl::cat(category),
               cl::desc("The model's inputs: rectangles [batch, seq] of I32 or "
                        "I64, or images of F32. Without it, every function of "
                        "a .mlir file that "
                        "takes no arguments is run"));
static cl::opt<std::string> outputsPath(
    "outputs", cl::value_desc("file.safetensors"), cl::cat(category),
    cl::desc("Where the outputs go, rounded to F32. Without it they "
             "are printed"));
static cl::list<std::string>
    extraOutputs("outputs-extra", cl::value_desc("name,…"), cl::CommaSeparated,
                 cl::cat(category),
                 cl::desc("Outputs beside the model's own, e.g. hidden"));

/// Reports an error that has no location in the model; for `return`.
static LogicalResult report(llvm::Error error) {
  llvm::handleAllErrors(std::move(error), [](const llvm::ErrorInfoBase &info) {
    llvm::WithColor::error() << info.message() << '\n';
  });
  return failure();
}

namespace {
struct Inputs {
  llvm::StringMap<IntegerTensor> integers;
  llvm::StringMap<FloatTensor> images;
};
} // namespace

static FailureOr<Inputs> readInputs() {
  llvm::Expected<std::unique_ptr<SafetensorsFile>> file =
      SafetensorsFile::open(inputsPath);
  if (!file)
    return report(file.takeError());
  Inputs inputs;
  for (const StoredTensor &stored : (*file)->getTensors()) {
    bool isInteger =
        stored.type == StoredType::I32 || stored.type == StoredType::I64;
    if (!isInteger && !stored.isFloat())
      return report(
          llvm::createStringError(inputsPath + ": expected '" + stored.name +
                                  "' to be I32, I64, F32, F16 or BF16, found " +
                                  getStoredTypeName(stored.type)));
    if (!countElements(stored.shape))
      return report(llvm::createStringError(inputsPath + ": '" + stored.name +
                                            "' is too large"));
    if (isInteger) {
      IntegerTensor input(stored.shape);
      stored.readIntegers(0, input.elements);
      inputs.integers.try_emplace(stored.name, std::move(input));
      continue;
    }
    std::vector<float> floats(stored.getElementCount());
    stored.readFloats(0, floats);
    FloatTensor input(stored.shape);
    llvm::copy(floats, input.elements.begin());
    inputs.images.try_emplace(stored.name, std::move(input));
  }
  return inputs;
}

static LogicalResult writeOutputs(ArrayRef<Output> outputs) {
  std::vector<std::vector<float>> rounded;
  std::vector<TensorToWrite> tensors;
  for (const Output &output : outputs) {
    const std::vector<float> &floats = rounded.emplace_back(
        output.value.elements.begin(), output.value.elements.end());
    tensors.push_back(
        {output.name, StoredType::F32, output.value.shape,
         llvm::ArrayRef(reinterpret_cast<const uint8_t *>(floats.data()),
                        floats.size() * sizeof(float))});
  }
  if (llvm::Error error = writeSafetensors(outputsPath, tensors))
    return report(std::move(error));
  return success();
}

/// The shape, then a line for each row. Nine digits: more than f32 has, few
/// enough not to depend on the last bits of a double.
template <typename Element> static void print(const Tensor<Element> &tensor) {
  llvm::raw_ostream &out = llvm::outs();
  llvm::interleave(tensor.shape, out, "x");
  out << '\n';
  int64_t columns = tensor.shape.empty() ? 1 : tensor.shape.back();
  for (auto [i, element] : llvm::enumerate(tensor.elements)) {
    if constexpr (std::is_same_v<Element, double>) {
      if (std::isnan(element))
        out << "nan"; // without its sign
      else
        out << llvm::format("%.9g", element);
    } else {
      out << element;
    }
    out << (static_cast<int64_t>(i + 1) % columns == 0 ? '\n' : ' ');
  }
}

static void print(const RuntimeValue &value) {
  if (auto *integer = std::get_if<int64_t>(&value))
    llvm::outs() << *integer << '\n';
  else if (auto *floats =
               std::get_if<std::shared_ptr<const FloatTensor>>(&value))
    print(**floats);
  else if (auto *integers =
               std::get_if<std::shared_ptr<const IntegerTensor>>(&value))
    print(**integers);
  else
    for (const Segments &segments =
             *std::get<std::shared_ptr<const Segments>>(value);
         int64_t segment : llvm::seq(segments.getSegmentCount()))
      llvm::outs() << "segment " << segment << ": row "
                   << segments.first[segment] << ", length "
                   << segments.length[segment] << '\n';
}

/// Runs every function without arguments and prints `@name` and its results.
/// Goes on after a function that fails.
static LogicalResult runFunctions(llvm::SourceMgr &sources,
                                  MLIRContext *context) {
  OwningOpRef<ModuleOp> module = parseIR(modelPath, sources, context);
  if (!module)
    return failure();
  ParameterSource parameters = readParametersFrom(getSourceFolder(modelPath));
  LogicalResult result = success();
  for (auto function : module->getOps<func::FuncOp>()) {
    if (function.getNumArguments() != 0 || function.isExternal())
      continue;
    FailureOr<std::vector<RuntimeValue>> values =
        callFunction(function, {}, parameters);
    if (failed(values)) {
      result = failure();
      continue;
    }
    llvm::outs() << '@' << function.getName() << '\n';
    for (const RuntimeValue &value : *values)
      print(value);
  }
  return result;
}

/// Runs the model on the inputs of a file.
static LogicalResult runOnInputs(llvm::SourceMgr &sources,
                                 MLIRContext *context) {
  ReadOptions options;
  options.outputs.assign(extraOutputs.begin(), extraOutputs.end());
  OwningOpRef<ModuleOp> module =
      readModel(modelPath, options, sources, context);
  if (!module)
    return failure();
  FailureOr<Inputs> inputs = readInputs();
  if (failed(inputs))
    return failure();
  FailureOr<std::vector<Output>> outputs =
      runModel(*module, inputs->integers,
               readParametersFrom(getSourceFolder(modelPath)), inputs->images);
  if (failed(outputs))
    return failure();
  if (!outputsPath.empty())
    return writeOutputs(*outputs);
  for (const Output &output : *outputs) {
    llvm::outs() << output.name << '\n';
    print(output.value);
  }
  return success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Runs a model in double precision, op by op, as docs/Spec.md defines the "
      "ops\n");

  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false); // one line says it
  context.loadDialect<HexadDialect, arith::ArithDialect, func::FuncDialect,
                      scf::SCFDialect, tensor::TensorDialect>();
  llvm::SourceMgr sources;
  SourceDiagnostics handler(sources, &context);
  LogicalResult result = inputsPath.empty() ? runFunctions(sources, &context)
                                            : runOnInputs(sources, &context);
  return succeeded(result) ? 0 : 1;
}
