//===- model-bench.cpp - Speed of a compiled encoder ----------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints how fast a compiled library runs, as a share of the FMA loop and of
// the packed matmul kernel at 512 x 768 x 768: all products, and the linear
// layers alone, in what is left of the time when the attention of all layers,
// which is compiled and measured beside it, is taken away. Absolute times mean
// little on a shared machine: all take turns, and a forward pass is compared
// with what the loop and the kernel reached just before and just after it. Pin
// it to a core.
//
//===----------------------------------------------------------------------===//

#include "Calls.h"
#include "LibraryOptions.h"
#include "Parts.h"
#include "Yardsticks.h"
#include "common/Clock.h"
#include "common/Report.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include <fstream>

using namespace hexad;
using namespace hexad::bench;
using namespace llvm;

static cl::OptionCategory category("model-bench options");
static LibraryOptions options(category);
static cl::list<std::string>
    callSizes("tokens", cl::CommaSeparated, cl::value_desc("N|BATCHxN,..."),
              cl::desc("Tokens of a sequence, and how many sequences; 0: an "
                       "image's (default 128,512, or of images 0)"),
              cl::cat(category));
static ExitOnError exitOnError("model-bench: ");

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

/// Calls of one size.
class ModelRow {
public:
  /// Touches weights and memory for the first time; that is measured too.
  ModelRow(LoadedLibrary &library, int64_t batch, int64_t tokens,
           const ModelSizes &sizes, Table &table)
      : table(table) {
    int64_t before = getAnonymousBytes();
    double first = measureSeconds([&] {
      call = exitOnError(ForwardCall::create(library, batch, tokens, 1));
      exitOnError(call->run());
    });
    tokens = call->getTokens();
    std::string times = batch > 1 ? std::to_string(batch) + "x" : "";
    line = &table.addLine(times + std::to_string(tokens) + " tokens");
    line->add("first_milliseconds", Unit::Time, first);
    line->add("context_megabytes", Unit::Rate,
              (getAnonymousBytes() - before) / 1e6);
    if (options.threads > 1)
      threaded = exitOnError(
          ForwardCall::create(library, batch, tokens, options.threads));
    linear = batch * sizes.countLinear(tokens);
    all = batch * sizes.countOperations(tokens);
  }

  void addAttention(LoadedLibrary &library) {
    attention = exitOnError(
        ForwardCall::create(library, call->getBatch(), call->getTokens(), 1));
  }

  void measure(Yardsticks &yardsticks, bool warmsUp) {
    double seconds = 0, ofAttention = 0, onThreads = 0;
    Rates rates = yardsticks.measureAround(
        [&] { seconds = measureSeconds([&] { exitOnError(call->run()); }); });
    restAfter([&] {
      ofAttention = measureSeconds([&] { exitOnError(attention->run()); });
    });
    if (threaded)
      restAfter([&] {
        onThreads = measureSeconds([&] { exitOnError(threaded->run()); });
      });
    if (warmsUp)
      return;
    table.addYardstick("fma_loop_gflops", rates.loop / 1e9);
    table.addYardstick("kernel_gflops", rates.kernel / 1e9);
    line->add("milliseconds", Unit::Time, seconds);
    line->add("gflops", Unit::Rate, all / seconds / 1e9);
    line->add("share_of_fma_loop", Unit::Share, all / seconds / rates.loop);
    line->add("share_of_kernel", Unit::Share, all / seconds / rates.kernel);
    line->add("attention_milliseconds", Unit::Time, ofAttention);
    line->add("linear_share_of_kernel", Unit::Share,
              linear / (seconds - ofAttention) / rates.kernel);
    if (threaded)
      line->add("times_one_thread", Unit::Ratio, seconds / onThreads);
  }

private:
  Table &table;
  Line *line;
  double linear, all;
  std::unique_ptr<ForwardCall> call, attention, threaded;
};

struct CallSize {
  int64_t batch, tokens;
};

} // namespace

/// `128` or `8x128`.
static CallSize parseCallSize(StringRef text) {
  auto [first, second] = text.split('x');
  CallSize size = {1, 0};
  bool isBatch = text.contains('x');
  if ((isBatch && (first.getAsInteger(10, size.batch) || size.batch < 1)) ||
      (isBatch ? second : first).getAsInteger(10, size.tokens) ||
      size.tokens < 0)
    exitOnError(createStringError("--tokens: expected 128 or 8x128, found '" +
                                  text + "'"));
  return size;
}

static std::vector<CallSize> getCallSizes(const LibraryInfo &info) {
  if (callSizes.empty())
    return info.getImageTokens() ? std::vector<CallSize>{{1, 0}}
                                 : std::vector<CallSize>{{1, 128}, {1, 512}};
  std::vector<CallSize> sizes;
  for (StringRef text : callSizes)
    sizes.push_back(parseCallSize(text));
  return sizes;
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  parseOptions(
      argc, argv, category,
      "Speed of a library that hexad compiled from an encoder (BERT, ViT); "
      "generate-bench is for\nlanguage models\n\n"
      "  taskset -c 1 model-bench out/libbert.so --config bert/config.json "
      "--tokens=128,8x128\n");
  exitOnError(options.check());
  ModelSizes sizes = exitOnError(ModelSizes::read(options.configPath));

  // First of all, so that it is a cold start but for the system's page cache.
  Table table("Forward passes, median (quartiles)");
  std::unique_ptr<LoadedLibrary> attention,
      library = exitOnError(options.open(sizes, table));
  const LibraryInfo &info = library->getInfo();
  std::vector<std::unique_ptr<ModelRow>> rows;
  for (auto [batch, tokens] : getCallSizes(info))
    rows.push_back(
        std::make_unique<ModelRow>(*library, batch, tokens, sizes, table));

  Target target = exitOnError(getRunnableTarget(info.cpu));
  auto yardsticks = exitOnError(Yardsticks::create(target));
  attention = exitOnError(compileAttention(sizes.attention, sizes.layers,
                                           /*isCached=*/false, info.cpu));
  for (std::unique_ptr<ModelRow> &row : rows)
    row->addAttention(*attention);
  for (int round = 0; round <= options.rounds; ++round)
    for (std::unique_ptr<ModelRow> &row : rows)
      restAfter([&] { row->measure(*yardsticks, /*warmsUp=*/round == 0); });
  table.print(options.asJson);
  return 0;
}
