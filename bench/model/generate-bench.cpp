//===- generate-bench.cpp - Speed of a compiled language model ------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints how fast a compiled decoder takes in a prompt (prefill) and how fast
// it goes on behind it, token by token (decode). Prefill is a share of the FMA
// loop and of the packed matmul kernel; decode reads all weights for each token
// and is a share of the read loop, in bytes of weights and cache. All take
// turns: a measurement is compared with what its yardstick reached just before
// and just after it. Pin it to a core.
//
//===----------------------------------------------------------------------===//

#include "LoadedLibrary.h"
#include "common/Clock.h"
#include "common/FmaLoop.h"
#include "common/PackedMatmul.h"
#include "common/ReadLoop.h"
#include "common/Report.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace hexad;
using namespace hexad::bench;
using namespace llvm;

static cl::OptionCategory category("generate-bench options");
static cl::opt<std::string> libraryPath(cl::Positional, cl::Required,
                                        cl::desc("LIBRARY"), cl::cat(category));
static cl::opt<std::string>
    configPath("config", cl::Required, cl::value_desc("config.json"),
               cl::desc("The checkpoint's sizes, as Llama's, to count with"),
               cl::cat(category));
static cl::opt<unsigned> promptTokens("prompt", cl::desc("Tokens of prefill"),
                                      cl::init(512), cl::cat(category));
static cl::opt<unsigned>
    decodeTokens("decode", cl::desc("Tokens of one measurement of decode"),
                 cl::init(4), cl::cat(category));
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

static ExitOnError exitOnError("generate-bench: ");

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

namespace {

/// Sizes of a decoder of Llama's kind.
struct ModelSizes {
  int64_t layers, hidden, intermediate, heads, kvHeads, vocabulary, headSize;
  double weightBytes = sizeof(float); ///< of an element, see LibraryInfo

  static Expected<ModelSizes> read(StringRef path);

  /// Elements of the weight matrices of all layers.
  double countLayerWeights() const {
    double attention = double(hidden) * headSize * (2 * heads + 2 * kvHeads);
    double feedForward = 3.0 * hidden * intermediate;
    return layers * (attention + feedForward);
  }
  double countHeadWeights() const { return double(hidden) * vocabulary; }

  /// Floating-point operations of all matrix products of a prefill: linear
  /// layers, Q·Kᵀ and P·V of the keys that are seen, the head for the last
  /// token.
  double countPrefillOperations(double tokens) const {
    double seen = tokens * (tokens + 1) / 2;
    double attention = 2 * 2 * seen * heads * headSize;
    return 2 * tokens * countLayerWeights() + layers * attention +
           2 * countHeadWeights();
  }
  /// Bytes that one token of decode has to read: every weight once, keys and
  /// values of the positions so far, which are f32.
  double countDecodeBytes(double positions) const {
    double cache = 2.0 * layers * kvHeads * headSize * positions;
    return weightBytes * (countLayerWeights() + countHeadWeights()) +
           sizeof(float) * cache;
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
      !mapper.map("intermediate_size", sizes.intermediate) ||
      !mapper.map("num_attention_heads", sizes.heads) ||
      !mapper.map("vocab_size", sizes.vocabulary))
    return root.getError();
  sizes.kvHeads = sizes.heads;
  sizes.headSize = sizes.heads ? sizes.hidden / sizes.heads : 0;
  if (!mapper.mapOptional("num_key_value_heads", sizes.kvHeads) ||
      !mapper.mapOptional("head_dim", sizes.headSize))
    return root.getError();
  return sizes;
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

namespace {

/// One session that prefill and decode take turns with.
class Text {
public:
  explicit Text(LoadedLibrary &library) {
    const LibraryInfo &info = library.getInfo();
    if (info.caches.empty())
      exitOnError(createStringError("the library keeps no sessions"));
    auto logitsOutput = find_if(info.outputs, [](const OutputInfo &output) {
      return output.kind == HEXAD_OUTPUT_SELECTED;
    });
    logits.resize(logitsOutput->columns);
    for (unsigned i = 0; i < promptTokens + decodeTokens; ++i)
      tokens.push_back((i * 7919) % info.inputs.front().limit);
    context = exitOnError(
        library.createDecodingContext(promptTokens, /*sessions=*/1, threads));
    session = exitOnError(library.createSession(tokens.size()));
  }

  void prefill() {
    exitOnError(session->rewind(0));
    extend(0, promptTokens);
  }
  /// Behind a prefill.
  void decode() {
    exitOnError(session->rewind(promptTokens));
    for (unsigned i = 0; i < decodeTokens; ++i)
      extend(promptTokens + i, 1);
  }

private:
  void extend(size_t first, size_t count) {
    hexad_extension extension = {session->get(), &tokens[first], count,
                                 HEXAD_LAST_LOGITS};
    exitOnError(context->extend(extension, logits.data()));
  }

  std::vector<int32_t> tokens;
  std::vector<float> logits;
  std::unique_ptr<LoadedContext> context;
  std::unique_ptr<LoadedSession> session;
};

struct Measurements {
  double loadSeconds = 0, firstTokenSeconds = 0;
  unsigned streams = 0;
  std::vector<double> loopRates, kernelRates, readRates;
  std::vector<double> prefillSeconds, prefillOfLoop, prefillOfKernel;
  std::vector<double> decodeSeconds, decodeOfRead; ///< of one token
};

} // namespace

static void measure(Text &text, const ModelSizes &sizes, PackedMatmul &kernel,
                    int64_t vectorBits, Measurements &result) {
  ReadLoop read(threads);
  result.streams = read.getStreams();
  const double operations = sizes.countPrefillOperations(promptTokens);
  const double bytes =
      sizes.countDecodeBytes(promptTokens + (decodeTokens + 1) / 2.0);
  constexpr int kernelRuns = 4;
  auto measureCompute = [&] {
    double loop = measureFmaLoop(vectorBits, /*milliseconds=*/4);
    double seconds = measureSeconds([&] {
      for (int i = 0; i < kernelRuns; ++i)
        kernel.run();
    });
    return std::pair(loop, kernelRuns * kernel.getOperations() / seconds);
  };
  auto measurePrefill = [&] {
    auto [loopBefore, kernelBefore] = measureCompute();
    double seconds = measureSeconds([&] { text.prefill(); });
    auto [loopAfter, kernelAfter] = measureCompute();
    double loop = (loopBefore + loopAfter) / 2;
    double kernelRate = (kernelBefore + kernelAfter) / 2;
    double rate = operations / seconds / threads;
    result.loopRates.push_back(loop);
    result.kernelRates.push_back(kernelRate);
    result.prefillSeconds.push_back(seconds);
    result.prefillOfLoop.push_back(rate / loop);
    result.prefillOfKernel.push_back(rate / kernelRate);
  };
  auto measureDecode = [&] {
    double before = read.measure();
    double seconds = measureSeconds([&] { text.decode(); }) / decodeTokens;
    double rate = (before + read.measure()) / 2;
    result.readRates.push_back(rate);
    result.decodeSeconds.push_back(seconds);
    result.decodeOfRead.push_back(bytes / seconds / rate);
  };
  measureCompute(); // warms up
  for (int round = 0; round < rounds; ++round) {
    restAfter(measurePrefill);
    restAfter(measureDecode);
  }
}

//===----------------------------------------------------------------------===//
// Report
//===----------------------------------------------------------------------===//

static void printJson(const LibraryInfo &info, const Measurements &result) {
  outs() << formatv(
      "{0:2}\n",
      json::Value(json::Object{
          {"library", libraryPath.getValue()},
          {"cpu", info.cpu},
          {"vector_bits", info.vectorBits},
          {"threads", int64_t(threads)},
          {"rounds", int64_t(rounds)},
          {"load_milliseconds", result.loadSeconds * 1e3},
          {"first_token_milliseconds", result.firstTokenSeconds * 1e3},
          {"fma_loop_gflops", median(result.loopRates) / 1e9},
          {"kernel_gflops", median(result.kernelRates) / 1e9},
          {"read_loop_gigabytes", median(result.readRates) / 1e9},
          {"read_loop_streams", int64_t(result.streams)},
          {"prefill",
           json::Object{{"tokens", int64_t(promptTokens)},
                        {"milliseconds", median(result.prefillSeconds) * 1e3},
                        {"tokens_per_second",
                         promptTokens / median(result.prefillSeconds)},
                        {"share_of_fma_loop", describe(result.prefillOfLoop)},
                        {"share_of_kernel", describe(result.prefillOfKernel)}}},
          {"decode",
           json::Object{
               {"context", int64_t(promptTokens)},
               {"milliseconds", median(result.decodeSeconds) * 1e3},
               {"tokens_per_second", 1 / median(result.decodeSeconds)},
               {"share_of_read_loop", describe(result.decodeOfRead)}}}}));
}

static void printTable(const LibraryInfo &info, const Measurements &result) {
  double prefill = median(result.prefillSeconds);
  double decode = median(result.decodeSeconds);
  outs() << format("%s for %s, %d-bit vectors, threads %u, median (quartiles) "
                   "of %d rounds\n",
                   info.name.c_str(), info.cpu.c_str(), int(info.vectorBits),
                   unsigned(threads), int(rounds));
  outs() << format("  FMA loop %.1f GFLOP/s, packed matmul 512x768x768 %.1f; "
                   "read loop %.1f GB/s in %u streams\n",
                   median(result.loopRates) / 1e9,
                   median(result.kernelRates) / 1e9,
                   median(result.readRates) / 1e9, result.streams);
  outs() << format("  prefill of %u tokens   %8.2f ms %8.1f tokens/s ",
                   unsigned(promptTokens), prefill * 1e3,
                   promptTokens / prefill)
         << formatShares(result.prefillOfLoop) << " of the FMA loop, "
         << formatShares(result.prefillOfKernel) << " of the kernel\n";
  outs() << format("  decode behind %u       %8.2f ms %8.1f tokens/s ",
                   unsigned(promptTokens), decode * 1e3, 1 / decode)
         << formatShares(result.decodeOfRead) << " of the read loop\n";
  outs() << format("  loading %.1f ms, context, session and first prefill "
                   "%.1f ms\n",
                   result.loadSeconds * 1e3, result.firstTokenSeconds * 1e3);
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv, "Speed of a language model that hexad compiled\n");
  if (threads < 1 || rounds < 1 || promptTokens < 1 || decodeTokens < 1)
    exitOnError(createStringError("--thread-count, --rounds, --prompt and "
                                  "--decode must be positive"));
  ModelSizes sizes = exitOnError(ModelSizes::read(configPath));

  // First of all, so that it is a cold start but for the system's page cache.
  Measurements result;
  std::unique_ptr<LoadedLibrary> library;
  result.loadSeconds = measureSeconds([&] {
    library = exitOnError(LoadedLibrary::open(libraryPath, weightsMemory));
  });
  std::unique_ptr<Text> text;
  result.firstTokenSeconds = measureSeconds([&] {
    text = std::make_unique<Text>(*library);
    text->prefill();
  });
  const LibraryInfo &info = library->getInfo();
  if (info.weightsType != "f32")
    sizes.weightBytes = sizeof(uint16_t);
  Target target = exitOnError(getRunnableTarget(info.cpu));
  std::unique_ptr<PackedMatmul> kernel =
      exitOnError(PackedMatmul::create(512, 768, 768, target));
  measure(*text, sizes, *kernel, target.vectorBits, result);
  asJson ? printJson(info, result) : printTable(info, result);
  return 0;
}
