//===- kernel-bench.cpp - Speed of the micro-kernels ----------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints what share of a loop of register FMAs each kernel reaches on one core,
// and how much faster than OpenBLAS a product is. Absolute times mean little on
// a shared machine: a kernel, its yardsticks and its rival take turns, and a
// round's share is what counts. Pin it to a core.
//
//===----------------------------------------------------------------------===//

#include "Rows.h"
#include "common/Report.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

using namespace hexad;
using namespace hexad::bench;
using namespace llvm;

static cl::OptionCategory category("kernel-bench options");
static cl::opt<std::string> mcpu("mcpu", cl::desc("CPU to compile for"),
                                 cl::init("native"), cl::cat(category));
static cl::opt<int> rounds("rounds", cl::desc("Rounds of measurement"),
                           cl::init(21), cl::cat(category));
static cl::opt<unsigned>
    threads("thread-count",
            cl::desc("Measure attention on so many threads too"), cl::init(1),
            cl::cat(category));
static cl::opt<std::string> blasCore(
    "openblas-core", cl::cat(category),
    cl::desc(
        "Kernels that OpenBLAS takes, e.g. SkylakeX, or auto (default: "
        "auto, and Haswell where vectors are narrower than the machine's)"));
static cl::opt<bool> asJson("json", cl::desc("Print JSON"), cl::cat(category));

namespace {
enum class Group { Matmul, Attention, Query, Elementwise };
} // namespace
static cl::list<Group> groups(
    "only", cl::desc("Measure these alone (default: all)"), cl::CommaSeparated,
    cl::values(clEnumValN(Group::Matmul, "matmul",
                          "Packed matmuls beside OpenBLAS"),
               clEnumValN(Group::Attention, "attention",
                          "Attention alone, of 12 heads"),
               clEnumValN(Group::Query, "query", "One query on 2048 keys"),
               clEnumValN(Group::Elementwise, "elementwise",
                          "Activations and softmax")),
    cl::cat(category));

static bool isWanted(Group group) {
  return groups.empty() || is_contained(groups, group);
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  parseOptions(
      argc, argv, category,
      "Speed of Hexad's micro-kernels on one core, as shares of a loop of FMAs "
      "on registers\nand as times faster than OpenBLAS.\n\n"
      "  taskset -c 1 kernel-bench --only=matmul --rounds=9\n");
  ExitOnError exitOnError("kernel-bench: ");
  if (rounds < 1 || threads < 1)
    exitOnError(
        createStringError("--rounds and --thread-count must be positive"));
  Target target = exitOnError(getRunnableTarget(mcpu));

  Table table("Kernels, one thread, median (quartiles)");
  table.addFact("cpu", target.cpu);
  table.addFact("vector_bits", target.vectorBits);
  table.addFact("rounds", int64_t(rounds));
  KernelRows rows;
  std::unique_ptr<OpenBlas> blas;
  if (isWanted(Group::Matmul)) {
    if (blasCore.empty()) {
      Target host = exitOnError(Target::get("native"));
      blasCore = target.vectorBits < host.vectorBits ? "Haswell" : "auto";
    }
    auto opened = OpenBlas::open(blasCore);
    if (opened)
      blas = std::move(*opened);
    table.addFact("openblas", blas ? "kernels " + blas->getCore()
                                   : toString(opened.takeError()));
    exitOnError(addMatmulRows(target, blas.get(), table, rows));
  }
  if (isWanted(Group::Attention))
    exitOnError(addAttentionRows(mcpu, target, threads, table, rows));
  if (isWanted(Group::Query))
    exitOnError(addQueryRow(mcpu, table, rows));
  if (isWanted(Group::Elementwise))
    exitOnError(addElementwiseRows(target, table, rows));

  for (int round = 0; round <= rounds; ++round)
    for (std::unique_ptr<KernelRow> &row : rows)
      restAfter([&] { row->measure(/*warmsUp=*/round == 0); });
  table.print(asJson);
  return 0;
}
