//===- CompiledModel.cpp - Models compiled and run in a test --------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledModel.h"
#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "hexad/Driver/Compile.h"
#include "hexad/Model/HalfFloats.h"
#include "hexad/Model/ModelReader.h"
#include "hexad/Model/Safetensors.h"
#include "hexad/Reference/Interpreter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/xxhash.h"
#include "llvm/TargetParser/Host.h"
#include <cmath>
#include <cstring>
#include <dlfcn.h>
#include <numeric>
#include <random>
#include <thread>

using namespace hexad;
using namespace hexad::test;

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

Call Call::of(llvm::ArrayRef<size_t> lengths) {
  Call call;
  for (size_t length : lengths) {
    call.rows.push_back({static_cast<uint32_t>(call.rows.size() + 1), length});
    call.seq = std::max(call.seq, length);
  }
  return call;
}

Call Call::padLeft() const {
  Call call = *this;
  for (Sequence &row : call.rows)
    row.first = seq - row.length;
  return call;
}

size_t Call::getTokens() const {
  size_t tokens = 0;
  for (const Sequence &row : rows)
    tokens += row.length;
  return tokens;
}

std::vector<int32_t> Call::getMask() const {
  std::vector<int32_t> mask(rows.size() * seq, 0);
  for (auto [index, row] : llvm::enumerate(rows))
    for (size_t i = 0; i < row.length; ++i)
      mask[index * seq + row.first + i] = 1;
  return mask;
}

std::vector<int32_t> Call::getIds(llvm::StringRef input, int64_t limit) const {
  std::vector<int32_t> ids(rows.size() * seq, std::numeric_limits<int>::min());
  for (auto [index, row] : llvm::enumerate(rows)) {
    std::minstd_rand random(row.seed * 7919 + llvm::xxh3_64bits(input) % 1000);
    for (size_t i = 0; i < row.length; ++i)
      ids[index * seq + row.first + i] = random() % limit;
  }
  return ids;
}

std::vector<float> Call::getPixels(const InputInfo &input) const {
  std::vector<float> pixels;
  for (const Sequence &row : rows) {
    std::mt19937 random(row.seed * 7919 + llvm::xxh3_64bits(input.name) % 1000);
    std::normal_distribution<float> normal;
    for (int64_t i = 0; i < input.channels * input.height * input.width; ++i)
      pixels.push_back(normal(random));
  }
  return pixels;
}

std::vector<int32_t> Call::getLabels(const InputInfo &input) const {
  std::vector<int32_t> labels = getIds(input.name, input.limit);
  for (auto [index, row] : llvm::enumerate(rows))
    for (size_t i = 0; i < row.length; ++i)
      if ((row.seed + i) % unlabelled == 0)
        labels[index * seq + row.first + i] = HEXAD_NO_LABEL;
  if (input.kind == HEXAD_INPUT_NEXT_LABELS)
    // No row has a segment's first label.
    for (auto [index, row] : llvm::enumerate(rows))
      if (row.length)
        labels[index * seq + row.first] = std::numeric_limits<int>::min();
  if (input.kind != HEXAD_INPUT_SEGMENT_LABELS)
    return labels;
  std::vector<int32_t> first;
  for (auto [index, row] : llvm::enumerate(rows))
    first.push_back(row.length ? labels[index * seq + row.first]
                               : std::numeric_limits<int>::min());
  return first;
}

std::vector<int32_t> Call::getInput(const InputInfo &input) const {
  switch (input.kind) {
  case HEXAD_INPUT_IMAGE:
    break; // getPixels
  case HEXAD_INPUT_MASK:
    return getMask();
  case HEXAD_INPUT_IDS:
    return getIds(input.name, input.limit);
  case HEXAD_INPUT_LABELS:
  case HEXAD_INPUT_NEXT_LABELS:
  case HEXAD_INPUT_SEGMENT_LABELS:
    return getLabels(input);
  }
  llvm_unreachable("every kind has a case");
}

/// What the elements of a batch row give each other, map by map.
static Floats getSequenceOfMaps(const OutputInfo &info, const Floats &all,
                                const Call &call, size_t row) {
  size_t first = call.rows[row].first, length = call.rows[row].length;
  Floats part;
  for (int64_t member = 0; member < info.count; ++member)
    for (int64_t head = 0; head < info.columns; ++head)
      for (size_t s = first; s < first + length; ++s) {
        size_t map = (member * call.rows.size() + row) * info.columns + head;
        auto begin = all.begin() + (map * call.seq + s) * call.seq + first;
        part.insert(part.end(), begin, begin + length);
      }
  return part;
}

Floats Outputs::getSequence(const std::string &name, const Call &call,
                            size_t row) const {
  const OutputInfo &info = infos.at(name);
  const Floats &all = values.at(name);
  if (info.kind == HEXAD_OUTPUT_MAPS)
    return getSequenceOfMaps(info, all, call, row);
  bool pooled = info.kind == HEXAD_OUTPUT_POOLED;
  size_t seq = pooled ? 1 : call.seq;
  size_t first = pooled ? 0 : call.rows[row].first;
  size_t length = pooled ? 1 : call.rows[row].length;
  Floats part;
  for (int64_t member = 0; member < info.count; ++member) {
    auto begin =
        all.begin() +
        ((member * call.rows.size() + row) * seq + first) * info.columns;
    part.insert(part.end(), begin, begin + length * info.columns);
  }
  return part;
}

bool hexad::test::areIdentical(const Floats &lhs, const Floats &rhs) {
  // Bit patterns, so that NaN equals itself; nothing has no address.
  return lhs.size() == rhs.size() &&
         (lhs.empty() ||
          std::memcmp(lhs.data(), rhs.data(), lhs.size() * sizeof(float)) == 0);
}

std::vector<std::string> hexad::test::getRunnableCpus() {
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  std::vector<std::string> cpus{"x86-64-v3"};
  if (llvm::all_of(std::initializer_list<const char *>{"avx512f", "avx512bw",
                                                       "avx512cd", "avx512dq",
                                                       "avx512vl"},
                   [&](const char *name) { return features.lookup(name); }))
    cpus.push_back("x86-64-v4");
  return cpus;
}

//===----------------------------------------------------------------------===//
// CompiledModel
//===----------------------------------------------------------------------===//

bool CompiledModel::load(const std::string &path) {
  handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    ADD_FAILURE() << dlerror();
    return false;
  }
  auto find = [&](const char *name, auto &function) {
    this->find(function, name);
    return function != nullptr;
  };
  hexad_status (*modelCreate)(const hexad_model_options *, hexad_model **);
  if (!find("model_create", modelCreate) ||
      !find("model_destroy", modelDestroy) ||
      !find("context_size", contextSize) ||
      !find("context_create", contextCreate) ||
      !find("context_destroy", contextDestroy) ||
      !find("context_message", contextMessage) || !find("forward", forward) ||
      !find("forward_on", forwardOn))
    return false;
  char message[512] = "";
  hexad_model_options options = {nullptr, message, sizeof(message),
                                 HEXAD_MAP_WEIGHTS};
  hexad_status status = modelCreate(&options, &model);
  EXPECT_EQ(status, HEXAD_OK) << message;
  return status == HEXAD_OK;
}

void *CompiledModel::findSymbol(const std::string &name) const {
  void *symbol = dlsym(handle, (info.prefix + "_" + name).c_str());
  if (!symbol)
    ADD_FAILURE() << "no function " << name;
  return symbol;
}

CompiledModel::~CompiledModel() {
  if (model)
    modelDestroy(model);
  if (handle)
    dlclose(handle);
}

hexad_context *
CompiledModel::createContext(const hexad_context_options &given) const {
  char message[512] = "";
  hexad_context_options options = given;
  options.message = message;
  options.message_size = sizeof(message);
  hexad_context *context = nullptr;
  EXPECT_EQ(contextCreate(model, &options, &context), HEXAD_OK) << message;
  return context;
}

void CompiledModel::destroyContext(hexad_context *context) const {
  contextDestroy(context);
}

size_t
CompiledModel::getContextSize(const hexad_context_options &options) const {
  size_t bytes = 0;
  EXPECT_EQ(contextSize(model, &options, &bytes), HEXAD_OK);
  return bytes;
}

Outputs CompiledModel::run(const Call &call, const ContextSettings &settings,
                           llvm::ArrayRef<std::string> wanted) const {
  hexad_context_options options = {};
  auto orNeeded = [](size_t given, size_t needed) {
    return given ? given : std::max<size_t>(needed, 1);
  };
  options.max_tokens = orNeeded(settings.tokens, call.getTokens());
  options.max_segments = orNeeded(settings.segments, call.rows.size());
  options.max_elements =
      orNeeded(settings.elements, call.rows.size() * call.seq);
  options.threads = settings.threads;
  options.caller_threads = settings.callerThreads;
  hexad_context *created = createContext(options);
  if (!created)
    return {};
  Outputs outputs = runIn(
      created, call, settings.callerThreads ? settings.threads : 0, wanted);
  contextDestroy(created);
  return outputs;
}

Outputs CompiledModel::runIn(hexad_context *context, const Call &call,
                             size_t callerThreads,
                             llvm::ArrayRef<std::string> wanted) const {
  std::vector<std::vector<int32_t>> inputs;
  Floats pixels;
  std::vector<void *> storage(sizeof(hexad_arguments) / sizeof(void *) +
                              info.inputs.size() + info.outputs.size());
  auto *arguments = reinterpret_cast<hexad_arguments *>(storage.data());
  arguments->batch = call.rows.size();
  arguments->seq = call.seq;
  void **pointer = arguments->pointers;
  for (const InputInfo &input : info.inputs) {
    if (input.kind == HEXAD_INPUT_IMAGE) {
      pixels = call.getPixels(input);
      *pointer++ = pixels.data();
      continue;
    }
    bool isMask = input.kind == HEXAD_INPUT_MASK;
    inputs.push_back(call.getInput(input));
    *pointer++ = isMask && !call.withMask ? nullptr : inputs.back().data();
  }

  // Elements that the library leaves alone, or writes behind the end, show.
  constexpr float untouched = 12345.0f;
  constexpr size_t guard = 64;
  Outputs outputs;
  for (const OutputInfo &output : info.outputs) {
    if (!wanted.empty() && !llvm::is_contained(wanted, output.name)) {
      *pointer++ = nullptr;
      continue;
    }
    size_t rows = 1;
    if (output.kind != HEXAD_OUTPUT_SCALAR)
      rows = call.rows.size() *
             (output.kind == HEXAD_OUTPUT_POOLED ? 1 : call.seq);
    Floats &values = outputs.values[output.name];
    if (output.kind == HEXAD_OUTPUT_MAPS)
      rows *= call.seq;
    values.assign(output.count * rows * output.columns + guard, untouched);
    outputs.infos[output.name] = output;
    *pointer++ = values.data();
  }

  hexad_status status = HEXAD_OK;
  if (callerThreads) {
    std::vector<std::thread> threads;
    std::vector<hexad_status> statuses(callerThreads);
    for (size_t i = 0; i < callerThreads; ++i)
      threads.emplace_back(
          [&, i] { statuses[i] = forwardOn(context, i, arguments); });
    for (std::thread &thread : threads)
      thread.join();
    status = statuses.front();
    for (hexad_status other : statuses)
      EXPECT_EQ(other, status);
  } else {
    status = forward(context, arguments);
  }
  EXPECT_EQ(status, HEXAD_OK) << contextMessage(context);
  for (auto &[name, values] : outputs.values) {
    for (size_t i = values.size() - guard; i < values.size(); ++i)
      EXPECT_EQ(values[i], untouched) << name << ": written behind its end";
    values.resize(values.size() - guard);
    EXPECT_FALSE(llvm::is_contained(values, untouched))
        << name << ": not all written";
  }
  return outputs;
}

//===----------------------------------------------------------------------===//
// ModelFiles
//===----------------------------------------------------------------------===//

ModelFiles::ModelFiles(const std::string &text, Edit edit, StoredType type) {
  input = folder.write("model.mlir", text);
  context
      .loadDialect<HexadDialect, mlir::func::FuncDialect, mlir::scf::SCFDialect,
                   mlir::arith::ArithDialect, mlir::tensor::TensorDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      text, mlir::ParserConfig(&context));
  if (!module) {
    ADD_FAILURE() << "the test's model is not valid IR:\n" << text;
    return;
  }
  writeWeights(*module, edit, type);
}

ModelFiles::ModelFiles(Existing existing, llvm::ArrayRef<std::string> outputs)
    : input(existing.path), outputs(outputs) {}

/// The bytes of elements of F32, BF16 or F16.
static std::vector<uint8_t> toBytes(const Floats &values, StoredType type) {
  std::vector<uint8_t> bytes(values.size() * getStoredTypeBytes(type));
  auto write = [&](auto convert) {
    auto *to = reinterpret_cast<decltype(convert(0.0f)) *>(bytes.data());
    llvm::transform(values, to, convert);
  };
  if (type == StoredType::BF16)
    write(narrowToBF16);
  else if (type == StoredType::F16)
    write(narrowToF16);
  else
    write([](float value) { return value; });
  return bytes;
}

void ModelFiles::writeWeights(mlir::ModuleOp module, Edit edit,
                              StoredType type) {
  std::map<std::string, std::pair<llvm::SmallVector<int64_t, 4>, Floats>>
      tensors;
  for (auto parameter : module.getOps<ParameterOp>()) {
    llvm::StringRef kind = parameter.getSymName();
    llvm::ArrayRef<int64_t> shape = parameter.getLayerType().getShape();
    for (llvm::StringRef name :
         parameter.getTensors().getAsValueRange<mlir::StringAttr>()) {
      auto [tensor, isNew] = tensors.try_emplace(name.str());
      if (!isNew)
        continue;
      auto &[tensorShape, values] = tensor->second;
      tensorShape.assign(shape.begin(), shape.end());
      values.resize(parameter.getLayerType().getNumElements());
      std::mt19937 random(llvm::xxh3_64bits(name));
      std::normal_distribution<float> normal;
      // Sizes such that values stay near 1 on their way through the model.
      for (float &value : values) {
        value = normal(random);
        if (kind.starts_with("gain"))
          value = 1 + 0.2f * value;
        else if (kind.starts_with("bias"))
          value *= 0.3f;
        else if (kind.starts_with("matrix"))
          value /= std::sqrt(static_cast<float>(values.size() / shape[0]));
      }
      if (edit)
        edit(name, values);
    }
  }
  std::vector<std::vector<uint8_t>> bytes;
  std::vector<TensorToWrite> written;
  for (auto &[name, tensor] : tensors) {
    // What it points to stays where it is.
    bytes.push_back(toBytes(tensor.second, type));
    written.push_back({name, type, tensor.first, bytes.back()});
  }
  llvm::Error error =
      writeSafetensors(folder.getPath("model.safetensors"), written);
  EXPECT_FALSE(static_cast<bool>(error));
  llvm::consumeError(std::move(error));
}

std::unique_ptr<CompiledModel> ModelFiles::compile(const std::string &cpu) {
  CompileOptions options;
  options.input = input;
  options.outputDir = folder.getPath("out" + std::to_string(compiled++));
  options.name = "model";
  options.cpu = cpu;
  options.outputs = outputs;
  options.weightsType = weightsType;
  CompileResult result;
  testing::internal::CaptureStderr();
  mlir::LogicalResult status = compileModel(options, result);
  messages = testing::internal::GetCapturedStderr();
  if (failed(status))
    return nullptr;
  std::string path = options.outputDir + "/libmodel.so";
  llvm::Expected<LibraryInfo> info = readLibraryInfo(path);
  if (!info) {
    ADD_FAILURE() << llvm::toString(info.takeError());
    return nullptr;
  }
  std::unique_ptr<CompiledModel> model(new CompiledModel(std::move(*info)));
  return model->load(path) ? std::move(model) : nullptr;
}

bool ModelFiles::readReference() {
  if (reference)
    return true;
  llvm::SourceMgr sources;
  ReadOptions options;
  options.outputs = outputs;
  options.weightsType = weightsType;
  reference = readModel(input, options, sources, &context);
  EXPECT_TRUE(reference);
  return static_cast<bool>(reference);
}

/// A chain of n float32 operations on numbers of size 1 rounds n times by at
/// most u = 2⁻²⁴; roundings are independent, their sum has a standard deviation
/// of less than u/√3·√n. Chains one behind the other add up to one of the sum
/// of their lengths, as long as no step enlarges errors much: norms do by the
/// ratio of their gain to the spread of a row, which is near 1 here, and
/// numbers inside a sum are smaller than the largest of the output, to which
/// the error is related. 3·u·√n is five standard deviations: the largest of
/// some thousand errors stays below. A wrong or missing term would be 10³ times
/// larger.
double ModelFiles::getErrorBound(size_t longestSequence) {
  if (!readReference())
    return 0;
  double operations = 1;
  reference->walk([&](mlir::Operation *op) {
    double chain = 0;
    if (auto linear = llvm::dyn_cast<LinearOp>(op))
      chain = linear.getWeight().getType().getDimSize(1);
    else if (auto patchify = llvm::dyn_cast<PatchifyOp>(op))
      chain = patchify.getWeight().getType().getNumElements() /
              patchify.getWeight().getType().getDimSize(0);
    else if (auto attention = llvm::dyn_cast<AttentionOp>(op))
      chain = attention.getHeadDim() + longestSequence;
    else if (llvm::isa<RowLocalOpInterface>(op))
      chain = 8 + llvm::cast<mlir::RankedTensorType>(op->getResult(0).getType())
                          .getShape()
                          .back() /
                      8;
    else if (llvm::isa<PoolOp>(op))
      chain = longestSequence;
    if (auto loop = op->getParentOfType<mlir::scf::ForOp>())
      chain *= loop.getStaticTripCount()->getSExtValue();
    operations += chain;
  });
  return 3 * std::sqrt(operations) * std::ldexp(1.0, -24);
}

void ModelFiles::expectTrue(const CompiledModel &model, const Call &call,
                            const ContextSettings &settings) {
  Outputs got = model.run(call, settings);
  if (!readReference())
    return;
  llvm::StringMap<reference::IntegerTensor> inputs;
  llvm::StringMap<reference::FloatTensor> images;
  llvm::SmallVector<int64_t> shape{static_cast<int64_t>(call.rows.size()),
                                   static_cast<int64_t>(call.seq)};
  for (const InputInfo &input : model.getInfo().inputs) {
    if (input.kind == HEXAD_INPUT_IMAGE) {
      reference::FloatTensor tensor(
          {shape[0], input.channels, input.height, input.width});
      Floats values = call.getPixels(input);
      tensor.elements.assign(values.begin(), values.end());
      images.try_emplace(input.name, std::move(tensor));
      continue;
    }
    bool isMask = input.kind == HEXAD_INPUT_MASK;
    if (isMask && !call.withMask)
      continue;
    std::vector<int32_t> values = call.getInput(input);
    reference::IntegerTensor tensor(llvm::ArrayRef(shape).take_front(
        input.kind == HEXAD_INPUT_SEGMENT_LABELS ? 1 : 2));
    tensor.elements.assign(values.begin(), values.end());
    inputs.try_emplace(input.name, std::move(tensor));
  }
  auto want = reference::runModel(
      *reference, inputs, reference::readParametersFrom(getSourceFolder(input)),
      images);
  ASSERT_TRUE(succeeded(want));

  std::map<std::string, std::vector<double>> expected;
  for (const reference::Output &output : *want) {
    std::string name = output.name;
    // A stack's members follow each other.
    if (!got.values.count(name))
      name = llvm::StringRef(name).rsplit('.').first.str();
    llvm::append_range(expected[name], output.value.elements);
  }
  size_t longest = 0;
  for (const Sequence &row : call.rows)
    longest = std::max(longest, row.length);
  double relative = getErrorBound(longest);
  std::vector<int32_t> mask = call.getMask();
  ASSERT_EQ(expected.size(), got.values.size());
  for (auto &[name, values] : got.values) {
    const std::vector<double> &truth = expected[name];
    const OutputInfo &info = got.infos[name];
    ASSERT_EQ(values.size(), truth.size()) << name;
    double largest = 0, worst = 0;
    for (double value : truth)
      largest = std::max(largest, std::abs(value));
    for (size_t i = 0; i < values.size(); ++i) {
      size_t element = i / info.columns % std::max<size_t>(mask.size(), 1);
      // Padding, and keys that are not seen.
      bool isRectangle =
          info.kind != HEXAD_OUTPUT_POOLED && info.kind != HEXAD_OUTPUT_SCALAR;
      if (info.kind == HEXAD_OUTPUT_MAPS) {
        if (truth[i] == 0)
          ASSERT_TRUE(values[i] == 0 && !std::signbit(values[i]))
              << name << " where nothing is seen, element " << i << ": "
              << values[i];
      } else if (isRectangle && !mask[element])
        ASSERT_TRUE(values[i] == 0 && !std::signbit(values[i]))
            << name << " at padding, element " << i << ": " << values[i];
      double error = std::abs(values[i] - truth[i]);
      worst = std::max(worst, error);
      ASSERT_LE(error, relative * largest) // NaN fails
          << name << ", element " << i << " of " << values.size() << ": got "
          << values[i] << ", expected " << truth[i];
    }
    if (std::getenv("HEXAD_E2E_PRINT_ERRORS") && largest)
      llvm::errs() << name << ": error " << worst / largest << ", bound "
                   << relative << "\n";
  }
}

void hexad::test::expectRight(const std::string &text,
                              llvm::ArrayRef<Call> calls) {
  ModelFiles files(text);
  for (const std::string &cpu : getRunnableCpus()) {
    SCOPED_TRACE(cpu);
    std::unique_ptr<CompiledModel> model = files.compile(cpu);
    ASSERT_TRUE(model) << files.messages << text;
    for (const Call &call : calls) {
      std::string lengths;
      for (const Sequence &row : call.rows)
        lengths += " " + std::to_string(row.length);
      SCOPED_TRACE("lengths" + lengths + " in " + std::to_string(call.seq));
      files.expectTrue(*model, call);
      if (testing::Test::HasFatalFailure())
        return;
    }
  }
}
