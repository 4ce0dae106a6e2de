//===- generate-bench.cpp - Speed of a compiled language model ------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints how fast a compiled decoder takes in a prompt (prefill) and how fast
// it goes on behind it, token by token (decode). Prefill is a share of the FMA
// loop and of the packed matmul kernel, with attention and, when that is
// measured alone and taken away, without it; decode reads all weights for each
// token and is a share of the read loop, in bytes of weights and cache. All
// take turns: a measurement is compared with what its yardstick reached just
// before and just after it. Pin it to a core.
//
//===----------------------------------------------------------------------===//

#include "Calls.h"
#include "LibraryOptions.h"
#include "Parts.h"
#include "Yardsticks.h"
#include "common/Clock.h"
#include "common/ReadLoop.h"
#include "common/Report.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

using namespace hexad;
using namespace hexad::bench;
using namespace llvm;

static cl::OptionCategory category("generate-bench options");
static LibraryOptions options(category);
static cl::opt<unsigned> promptTokens("prompt", cl::desc("Tokens of prefill"),
                                      cl::init(512), cl::cat(category));
static cl::opt<unsigned>
    decodeTokens("decode", cl::desc("Tokens of one measurement of decode"),
                 cl::init(4), cl::cat(category));
static cl::opt<size_t>
    readMegabytes("read-megabytes", cl::init(1024), cl::cat(category),
                  cl::desc("Memory of the read loop; no cache may hold it"));
static ExitOnError exitOnError("generate-bench: ");

namespace {

/// A prompt as one call.
class PrefillRow {
public:
  PrefillRow(SessionCalls &calls, SessionCalls *threaded,
             const ModelSizes &sizes, Table &table)
      : calls(calls), threaded(threaded), table(table),
        line(table.addLine("prefill " + std::to_string(promptTokens))),
        linear(sizes.countLinear(promptTokens)),
        all(sizes.countOperations(promptTokens)) {}

  void measure(Yardsticks &yardsticks, ForwardCall &attention, bool warmsUp) {
    double seconds = 0, ofAttention = 0, onThreads = 0;
    Rates rates = yardsticks.measureAround([&] {
      seconds = measureSeconds([&] { exitOnError(calls.prefill()); });
    });
    restAfter([&] {
      ofAttention = measureSeconds([&] { exitOnError(attention.run()); });
    });
    if (threaded)
      restAfter([&] {
        onThreads = measureSeconds([&] { exitOnError(threaded->prefill()); });
      });
    if (warmsUp)
      return;
    table.addYardstick("fma_loop_gflops", rates.loop / 1e9);
    table.addYardstick("kernel_gflops", rates.kernel / 1e9);
    line.add("milliseconds", Unit::Time, seconds);
    line.add("tokens_per_second", Unit::Rate, promptTokens / seconds);
    line.add("share_of_fma_loop", Unit::Share, all / seconds / rates.loop);
    line.add("share_of_kernel", Unit::Share, all / seconds / rates.kernel);
    line.add("attention_milliseconds", Unit::Time, ofAttention);
    line.add("linear_share_of_kernel", Unit::Share,
             linear / (seconds - ofAttention) / rates.kernel);
    if (threaded)
      line.add("times_one_thread", Unit::Ratio, seconds / onThreads);
  }

private:
  SessionCalls &calls, *threaded;
  Table &table;
  Line &line;
  double linear, all;
};

/// Tokens one by one behind the prompt.
class DecodeRow {
public:
  DecodeRow(SessionCalls &calls, SessionCalls *threaded,
            const ModelSizes &sizes, int64_t weightBytes, Table &table)
      : calls(calls), threaded(threaded), table(table),
        line(table.addLine("decode behind " + std::to_string(promptTokens))),
        bytes(sizes.countDecodeBytes(promptTokens + (decodeTokens + 1) / 2.0,
                                     weightBytes)) {
    table.addFact("read_loop_streams", int64_t(read.getStreams()));
    table.addFact("decode_megabytes", bytes / 1e6);
  }

  void measure(bool warmsUp) {
    double before = read.measure();
    double seconds = measureDecode(calls);
    double rate = (before + read.measure()) / 2;
    double onThreads = threaded ? measureDecode(*threaded) : 0;
    if (warmsUp)
      return;
    table.addYardstick("read_loop_gigabytes", rate / 1e9);
    line.add("milliseconds", Unit::Time, seconds);
    line.add("tokens_per_second", Unit::Rate, 1 / seconds);
    line.add("share_of_read_loop", Unit::Share, bytes / seconds / rate);
    if (threaded)
      line.add("times_one_thread", Unit::Ratio, seconds / onThreads);
  }

private:
  /// Of one token.
  static double measureDecode(SessionCalls &calls) {
    return measureSeconds([&] { exitOnError(calls.decode()); }) / decodeTokens;
  }

  SessionCalls &calls, *threaded;
  Table &table;
  Line &line;
  double bytes;
  ReadLoop read{/*threads=*/1, readMegabytes << 20};
};

} // namespace

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  parseOptions(
      argc, argv, category,
      "Speed of a language model that hexad compiled\n\n"
      "  taskset -c 1 generate-bench out/libsmol.so --config smol/config.json "
      "--prompt=512\n");
  exitOnError(options.check());
  if (promptTokens < 1 || decodeTokens < 1 || readMegabytes < 1)
    exitOnError(createStringError(
        "--prompt, --decode and --read-megabytes must be positive"));
  ModelSizes sizes = exitOnError(ModelSizes::read(options.configPath));

  // First of all, so that it is a cold start but for the system's page cache.
  Table table("Text, median (quartiles)");
  std::unique_ptr<LoadedLibrary> library =
      exitOnError(options.open(sizes, table));
  const LibraryInfo &info = library->getInfo();
  std::unique_ptr<SessionCalls> calls, threaded;
  double first = measureSeconds([&] {
    calls = exitOnError(
        SessionCalls::create(*library, promptTokens, decodeTokens, 1));
    exitOnError(calls->prefill());
  });
  if (options.threads > 1) {
    threaded = exitOnError(SessionCalls::create(*library, promptTokens,
                                                decodeTokens, options.threads));
    exitOnError(threaded->prefill());
  }

  Target target = exitOnError(getRunnableTarget(info.cpu));
  auto yardsticks = exitOnError(Yardsticks::create(target));
  auto attentionLibrary = exitOnError(compileAttention(
      sizes.attention, sizes.layers, /*isCached=*/false, info.cpu));
  auto attention = exitOnError(
      ForwardCall::create(*attentionLibrary, /*batch=*/1, promptTokens, 1));

  table.addFact("first_prefill_milliseconds", first * 1e3);
  PrefillRow prefill(*calls, threaded.get(), sizes, table);
  int64_t weightBytes = info.weightsType == "f32" ? 4 : 2;
  DecodeRow decode(*calls, threaded.get(), sizes, weightBytes, table);
  for (int round = 0; round <= options.rounds; ++round) {
    bool warmsUp = round == 0;
    restAfter([&] { prefill.measure(*yardsticks, *attention, warmsUp); });
    restAfter([&] { decode.measure(warmsUp); });
  }
  table.print(options.asJson);
  return 0;
}
