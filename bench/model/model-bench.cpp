//===- model-bench.cpp - Speed of a compiled model ------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints how fast a compiled library runs, as a share of the FMA loop and of
// the packed matmul kernel at 512 x 768 x 768. Absolute times mean little on a
// shared machine: all take turns, and a forward pass is compared with what the
// loop and the kernel reached just before and just after it. Pin it to a core.
//
//===----------------------------------------------------------------------===//

#include "LoadedLibrary.h"
#include "common/Clock.h"
#include "common/FmaLoop.h"
#include "common/PackedMatmul.h"
#include "common/Report.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include <fstream>

using namespace hexad;
using namespace hexad::bench;
using namespace llvm;

static cl::OptionCategory category("model-bench options");
static cl::opt<std::string> libraryPath(cl::Positional, cl::Required,
                                        cl::desc("LIBRARY"), cl::cat(category));
static cl::opt<std::string>
    configPath("config", cl::Required, cl::value_desc("config.json"),
               cl::desc("The BERT checkpoint's sizes, to count operations"),
               cl::cat(category));
static cl::list<int64_t>
    tokenCounts("tokens", cl::CommaSeparated,
                cl::desc("Lengths of the one sequence (default 128,512)"),
                cl::list_init<int64_t>({128, 512}), cl::cat(category));
static cl::opt<unsigned> threads("thread-count", cl::desc("Threads of a call"),
                                 cl::init(1), cl::cat(category));
static cl::opt<hexad_weights_memory> weightsMemory(
    "weights-memory", cl::desc("Where the weights lie"),
    cl::values(clEnumValN(HEXAD_MAP_WEIGHTS, "map", "In the page cache"),
               clEnumValN(HEXAD_COPY_WEIGHTS, "copy",
                          "In huge pages of the model's own")),
    cl::init(HEXAD_MAP_WEIGHTS), cl::cat(category));
static cl::opt<int> rounds("rounds", cl::desc("Rounds of measurement"),
                           cl::init(9), cl::cat(category));
static cl::opt<bool> asJson("json", cl::desc("Print JSON"), cl::cat(category));

static ExitOnError exitOnError("model-bench: ");

//===----------------------------------------------------------------------===//
// Counting operations
//===----------------------------------------------------------------------===//

namespace {

/// Sizes of a BERT encoder.
struct ModelSizes {
  int64_t layers, hidden, intermediate;

  static Expected<ModelSizes> read(StringRef path);

  /// Floating-point operations of all matrix products of a forward pass over
  /// one sequence: linear layers, Q·Kᵀ and P·V, pooler. Nothing else counts.
  double countOperations(double tokens) const {
    double linear =
        2 * tokens * (4.0 * hidden * hidden + 2.0 * hidden * intermediate);
    double attention = 2 * 2 * tokens * tokens * hidden;
    double pooler = 2.0 * hidden * hidden;
    return layers * (linear + attention) + pooler;
  }
};

} // namespace

Expected<ModelSizes> ModelSizes::read(StringRef path) {
  auto file = MemoryBuffer::getFile(path);
  if (!file)
    return createStringError("cannot read '" + path +
                             "': " + file.getError().message());
  Expected<json::Value> value = json::parse((*file)->getBuffer());
  if (!value)
    return value.takeError();
  ModelSizes sizes;
  json::Path::Root root(path);
  json::ObjectMapper mapper(*value, root);
  if (!mapper || !mapper.map("num_hidden_layers", sizes.layers) ||
      !mapper.map("hidden_size", sizes.hidden) ||
      !mapper.map("intermediate_size", sizes.intermediate))
    return root.getError();
  return sizes;
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

/// Bytes of memory of this process that no file backs.
static int64_t getAnonymousBytes() {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    StringRef rest = line;
    int64_t kilobytes;
    if (rest.consume_front("RssAnon:") &&
        !rest.ltrim().consumeInteger(10, kilobytes))
      return kilobytes * 1024;
  }
  return 0;
}

namespace {

/// Calls of one sequence length, and what was measured of them.
class ForwardCalls {
public:
  ForwardCalls(LoadedLibrary &library, int64_t tokens, const ModelSizes &sizes)
      : tokens(tokens), operations(sizes.countOperations(tokens)) {
    const LibraryInfo &info = library.getInfo();
    for (const InputInfo &input : info.inputs) {
      std::vector<int32_t> values(tokens, 1);
      if (input.kind == HEXAD_INPUT_IDS)
        for (int64_t i = 0; i < tokens; ++i)
          values[i] = (i * 7919) % input.limit;
      inputs.push_back(std::move(values));
    }
    for (const OutputInfo &output : info.outputs) {
      int64_t rows = output.kind == HEXAD_OUTPUT_ROWS   ? tokens
                     : output.kind == HEXAD_OUTPUT_MAPS ? tokens * tokens
                                                        : 1;
      outputs.emplace_back(output.count * rows * output.columns);
    }
    for (std::vector<int32_t> &values : inputs)
      pointers.push_back(values.data());
    for (std::vector<float> &values : outputs)
      pointers.push_back(values.data());

    int64_t before = getAnonymousBytes();
    context = exitOnError(
        library.createContext(/*batch=*/1, tokens, tokens, threads));
    firstSeconds = measureSeconds([&] { run(); });
    contextBytes = getAnonymousBytes() - before;
  }

  void run() { exitOnError(context->forward(/*batch=*/1, tokens, pointers)); }

  int64_t tokens;
  double operations;
  double firstSeconds;  ///< the first call's: touches weights and memory
  int64_t contextBytes; ///< that creation and the first call touched
  std::vector<double> seconds, sharesOfLoop, sharesOfKernel;

private:
  std::vector<std::vector<int32_t>> inputs;
  std::vector<std::vector<float>> outputs;
  std::vector<void *> pointers;
  std::unique_ptr<LoadedContext> context;
};

/// What was measured of the yardsticks, and what a forward pass is compared
/// with.
struct Measurements {
  std::vector<double> loopRates, kernelRates, kernelShares;
  double loadSeconds = 0;
};

} // namespace

static void measure(std::vector<std::unique_ptr<ForwardCalls>> &calls,
                    PackedMatmul &kernel, int64_t vectorBits,
                    Measurements &result) {
  constexpr int kernelRuns = 4;
  auto measureYardsticks = [&] {
    double loop = measureFmaLoop(vectorBits, /*milliseconds=*/4);
    double seconds = measureSeconds([&] {
      for (int i = 0; i < kernelRuns; ++i)
        kernel.run();
    });
    return std::pair(loop, kernelRuns * kernel.getOperations() / seconds);
  };
  auto measureCall = [&](ForwardCalls &call) {
    auto [loopBefore, kernelBefore] = measureYardsticks();
    double seconds = measureSeconds([&] { call.run(); });
    auto [loopAfter, kernelAfter] = measureYardsticks();
    double loop = (loopBefore + loopAfter) / 2;
    double kernel = (kernelBefore + kernelAfter) / 2;
    double rate = call.operations / seconds;
    result.loopRates.push_back(loop);
    result.kernelRates.push_back(kernel);
    result.kernelShares.push_back(kernel / loop);
    call.seconds.push_back(seconds);
    call.sharesOfLoop.push_back(rate / loop / threads);
    call.sharesOfKernel.push_back(rate / kernel / threads);
  };
  measureYardsticks(); // warms up
  for (int round = 0; round < rounds; ++round)
    for (std::unique_ptr<ForwardCalls> &call : calls)
      restAfter([&] { measureCall(*call); });
}

//===----------------------------------------------------------------------===//
// Report
//===----------------------------------------------------------------------===//

static void printJson(const LibraryInfo &info, const Measurements &yardsticks,
                      ArrayRef<std::unique_ptr<ForwardCalls>> calls) {
  json::Array forward;
  for (const std::unique_ptr<ForwardCalls> &call : calls)
    forward.push_back(json::Object{
        {"tokens", call->tokens},
        {"gflop", call->operations / 1e9},
        {"milliseconds", median(call->seconds) * 1e3},
        {"best_milliseconds", *llvm::min_element(call->seconds) * 1e3},
        {"first_milliseconds", call->firstSeconds * 1e3},
        {"context_bytes", call->contextBytes},
        {"share_of_fma_loop", describe(call->sharesOfLoop)},
        {"share_of_kernel", describe(call->sharesOfKernel)}});
  outs() << formatv(
      "{0:2}\n",
      json::Value(json::Object{
          {"library", libraryPath.getValue()},
          {"cpu", info.cpu},
          {"vector_bits", info.vectorBits},
          {"threads", int64_t(threads)},
          {"rounds", int64_t(rounds)},
          {"load_milliseconds", yardsticks.loadSeconds * 1e3},
          {"fma_loop_gflops", median(yardsticks.loopRates) / 1e9},
          {"kernel_gflops", median(yardsticks.kernelRates) / 1e9},
          {"kernel_share_of_fma_loop", describe(yardsticks.kernelShares)},
          {"forward", std::move(forward)}}));
}

static void printTable(const LibraryInfo &info, const Measurements &yardsticks,
                       ArrayRef<std::unique_ptr<ForwardCalls>> calls) {
  outs() << format("%s for %s, %d-bit vectors, threads %u, median (quartiles) "
                   "of %d rounds\n",
                   info.name.c_str(), info.cpu.c_str(), int(info.vectorBits),
                   unsigned(threads), int(rounds));
  outs() << format("  FMA loop                      %7.1f GFLOP/s\n",
                   median(yardsticks.loopRates) / 1e9);
  outs() << format("  packed matmul 512x768x768     %7.1f GFLOP/s, ",
                   median(yardsticks.kernelRates) / 1e9);
  outs() << formatShares(yardsticks.kernelShares) << " of the FMA loop\n";
  for (const std::unique_ptr<ForwardCalls> &call : calls) {
    double seconds = median(call->seconds);
    outs() << format("  %5d tokens, %8.2f ms       %7.1f GFLOP/s, ",
                     int(call->tokens), seconds * 1e3,
                     call->operations / seconds / 1e9);
    outs() << formatShares(call->sharesOfLoop) << " of the FMA loop, "
           << formatShares(call->sharesOfKernel) << " of the kernel\n";
  }
  outs() << format("  loading %.1f ms", yardsticks.loadSeconds * 1e3);
  for (const std::unique_ptr<ForwardCalls> &call : calls)
    outs() << format("; %d tokens: first call %.1f ms, context %.1f MB",
                     int(call->tokens), call->firstSeconds * 1e3,
                     call->contextBytes / 1e6);
  outs() << "\n";
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv, "Speed of a library that hexad compiled from a BERT\n");
  ModelSizes sizes = exitOnError(ModelSizes::read(configPath));
  if (threads < 1 || rounds < 1)
    exitOnError(
        createStringError("--thread-count and --rounds must be positive"));

  // First of all, so that it is a cold start but for the system's page cache.
  Measurements yardsticks;
  std::unique_ptr<LoadedLibrary> library;
  yardsticks.loadSeconds = measureSeconds([&] {
    library = exitOnError(LoadedLibrary::open(libraryPath, weightsMemory));
  });
  const LibraryInfo &info = library->getInfo();
  std::vector<std::unique_ptr<ForwardCalls>> calls;
  for (int64_t tokens : tokenCounts) {
    if (tokens < 1 || (info.positionLimit && tokens > info.positionLimit))
      exitOnError(createStringError("--tokens: the model has " +
                                    Twine(info.positionLimit) +
                                    " positions, not " + Twine(tokens)));
    calls.push_back(std::make_unique<ForwardCalls>(*library, tokens, sizes));
  }

  Target target = exitOnError(getRunnableTarget(info.cpu));
  std::unique_ptr<PackedMatmul> kernel =
      exitOnError(PackedMatmul::create(512, 768, 768, target));
  measure(calls, *kernel, target.vectorBits, yardsticks);
  asJson ? printJson(info, yardsticks, calls)
         : printTable(info, yardsticks, calls);
  return 0;
}
