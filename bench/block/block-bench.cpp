//===- block-bench.cpp - A block beside its bare kernels ------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints how long one transformer block takes, as a multiple of the time of its
// parts: the packed matmul of each projection's shape, and the attention
// compiled alone. What is more than 1 goes into norms, activations, residual
// sums, waiting for weights. Block and parts take turns. Pin it to a core.
//
//===----------------------------------------------------------------------===//

#include "Calls.h"
#include "Parts.h"
#include "common/Clock.h"
#include "common/FmaLoop.h"
#include "common/PackedMatmul.h"
#include "common/Report.h"
#include "common/Table.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

using namespace hexad;
using namespace hexad::bench;
using namespace llvm;

static cl::OptionCategory category("block-bench options");
static cl::opt<std::string> mcpu("mcpu", cl::desc("CPU to compile for"),
                                 cl::init("native"), cl::cat(category));
static cl::list<int64_t> tokenCounts(
    "tokens", cl::CommaSeparated,
    cl::desc("Lengths of the sequence (default: 128,512,1024 and for Llama's "
             "block 128,512)"),
    cl::cat(category));
static cl::opt<int> rounds("rounds", cl::desc("Rounds of measurement"),
                           cl::init(9), cl::cat(category));
static cl::opt<unsigned> threads("thread-count",
                                 cl::desc("Measure on so many threads too"),
                                 cl::init(1), cl::cat(category));
static cl::opt<bool> asJson("json", cl::desc("Print JSON"), cl::cat(category));

static cl::list<BlockKind> kinds(
    "only", cl::desc("Measure these alone (default: all)"), cl::CommaSeparated,
    cl::values(clEnumValN(BlockKind::Gpt2, "gpt2",
                          "768 columns, 12 heads, 3072 inner ones, causal"),
               clEnumValN(BlockKind::Llama, "llama",
                          "2048 columns, 32 and 8 heads, 5632 inner ones")),
    cl::cat(category));

static ExitOnError exitOnError("block-bench: ");

namespace {

/// Blocks of one shape and their kernels. A call has several blocks, and the
/// kernels run as often: copying what goes in and out is then little.
struct Block {
  static constexpr int64_t times = 4;

  Block(StringRef name, const BlockShape &shape, ArrayRef<int64_t> lengths)
      : name(name), shape(shape), lengths(lengths) {}

  void compile() {
    library = exitOnError(compileBlock(shape, times, mcpu));
    attention = exitOnError(
        compileAttention(shape.attention, times, /*isCached=*/false, mcpu));
  }

  std::string name;
  BlockShape shape;
  SmallVector<int64_t> lengths;
  std::unique_ptr<LoadedLibrary> library, attention;
};

/// One length.
class BlockRow {
public:
  BlockRow(const Block &block, int64_t tokens, const Target &target,
           Table &table)
      : vectorBits(target.vectorBits), table(table),
        line(table.addLine(block.name + " block " + std::to_string(tokens))),
        call(createCall(*block.library, tokens, 1)),
        attention(createCall(*block.attention, tokens, 1)) {
    if (threads > 1)
      threaded = createCall(*block.library, tokens, threads);
    operations = block.shape.attention.countOperations(tokens);
    for (auto [n, k] : block.shape.getProducts()) {
      matmuls.push_back(
          exitOnError(PackedMatmul::create(tokens, n, k, target)));
      operations += matmuls.back()->getOperations();
    }
  }

  void measure(bool warmsUp) {
    // Half of the kernels' runs before, half behind; so they have the machine
    // as the block has it.
    double loop = measureFmaLoop(vectorBits, /*milliseconds=*/2);
    double kernels = measureMatmuls(Block::times / 2);
    double attentions = measureCall(*attention) / 2;
    double seconds = measureCall(*call);
    attentions += measureCall(*attention) / 2;
    kernels += measureMatmuls(Block::times / 2);
    loop = (loop + measureFmaLoop(vectorBits, /*milliseconds=*/2)) / 2;
    double onThreads = threaded ? measureCall(*threaded) : 0;
    if (warmsUp)
      return;
    table.addYardstick("fma_loop_gflops", loop / 1e9);
    line.add("milliseconds", Unit::Time, seconds / Block::times);
    line.add("matmuls_milliseconds", Unit::Time, kernels / Block::times);
    line.add("attention_milliseconds", Unit::Time, attentions / Block::times);
    line.add("times_kernels", Unit::Ratio, seconds / (kernels + attentions));
    line.add("share_of_fma_loop", Unit::Share,
             Block::times * operations / seconds / loop);
    if (threaded)
      line.add("times_one_thread", Unit::Ratio, seconds / onThreads);
  }

private:
  static std::unique_ptr<ForwardCall>
  createCall(LoadedLibrary &library, int64_t tokens, unsigned threads) {
    return exitOnError(
        ForwardCall::create(library, /*batch=*/1, tokens, threads));
  }
  static double measureCall(ForwardCall &call) {
    double seconds = 0;
    restAfter(
        [&] { seconds = measureSeconds([&] { exitOnError(call.run()); }); });
    return seconds;
  }
  double measureMatmuls(int64_t runs) {
    double seconds = 0;
    restAfter([&] {
      seconds = measureSeconds([&] {
        for (int64_t i = 0; i < runs; ++i)
          for (std::unique_ptr<PackedMatmul> &matmul : matmuls)
            matmul->run();
      });
    });
    return seconds;
  }

  int64_t vectorBits;
  Table &table;
  Line &line;
  std::unique_ptr<ForwardCall> call, attention, threaded;
  std::vector<std::unique_ptr<PackedMatmul>> matmuls;
  double operations = 0;
};

} // namespace

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  parseOptions(
      argc, argv, category,
      "Time of one transformer block as a multiple of the time of its bare "
      "kernels\n\n"
      "  taskset -c 1 block-bench --only=gpt2 --tokens=128 --rounds=9\n");
  if (threads < 1 || rounds < 1)
    exitOnError(
        createStringError("--thread-count and --rounds must be positive"));
  for (int64_t tokens : tokenCounts)
    if (tokens < 1)
      exitOnError(createStringError("--tokens must be positive"));
  Target target = exitOnError(getRunnableTarget(mcpu));

  Table table("Blocks, median (quartiles)");
  table.addFact("cpu", target.cpu);
  table.addFact("vector_bits", target.vectorBits);
  table.addFact("rounds", int64_t(rounds));
  std::vector<Block> blocks;
  if (kinds.empty() || is_contained(kinds, BlockKind::Gpt2))
    blocks.emplace_back(
        "GPT-2",
        BlockShape{BlockKind::Gpt2, {12, 12, 64, /*isCausal=*/true}, 768, 3072},
        ArrayRef<int64_t>({128, 512, 1024}));
  if (kinds.empty() || is_contained(kinds, BlockKind::Llama))
    blocks.emplace_back(
        "Llama",
        BlockShape{
            BlockKind::Llama, {32, 8, 64, /*isCausal=*/true}, 2048, 5632},
        ArrayRef<int64_t>({128, 512}));
  std::vector<std::unique_ptr<BlockRow>> rows;
  for (Block &block : blocks) {
    block.compile();
    if (!tokenCounts.empty())
      block.lengths.assign(tokenCounts.begin(), tokenCounts.end());
    for (int64_t tokens : block.lengths)
      rows.push_back(std::make_unique<BlockRow>(block, tokens, target, table));
  }
  for (int round = 0; round <= rounds; ++round)
    for (std::unique_ptr<BlockRow> &row : rows)
      row->measure(/*warmsUp=*/round == 0);
  table.print(asJson);
  return 0;
}
