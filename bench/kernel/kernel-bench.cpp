//===- kernel-bench.cpp - Speed of the micro-kernels ----------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints what share of a loop of register FMAs each kernel reaches on one core.
// Absolute times mean little on a shared machine: kernels and the FMA loop take
// turns, and a round's share is what counts. Pin it to a core.
//
//===----------------------------------------------------------------------===//

#include "common/Clock.h"
#include "common/FmaLoop.h"
#include "common/PackedMatmul.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <functional>
#include <vector>

using namespace hexad;
using namespace hexad::bench;
using namespace llvm;

static cl::OptionCategory category("kernel-bench options");
static cl::opt<std::string> mcpu("mcpu", cl::desc("CPU to compile for"),
                                 cl::init("native"), cl::cat(category));
static cl::opt<int> rounds("rounds", cl::desc("Rounds of measurement"),
                           cl::init(41), cl::cat(category));
static cl::opt<bool> asJson("json", cl::desc("Print JSON"), cl::cat(category));

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

namespace {

/// Something that is measured. `work` is floating-point operations (its share
/// of the peak is printed) or, for elementwise kernels, elements.
struct Candidate {
  std::string name;
  double work;
  bool isElementwise;
  std::function<void()> run;
  std::vector<double> shares, nanoseconds;
};

} // namespace

static std::string rowsType(int64_t columns) {
  return "memref<?x" + std::to_string(columns) + "xf32>";
}

static std::unique_ptr<KernelJit> compile(const std::string &source,
                                          const Target &target) {
  ExitOnError exitOnError("kernel-bench: ");
  return exitOnError(KernelJit::create(source, target));
}

static Candidate makeMatmul(int64_t m, int64_t n, int64_t k,
                            const Target &target) {
  ExitOnError exitOnError("kernel-bench: ");
  std::shared_ptr<PackedMatmul> matmul =
      exitOnError(PackedMatmul::create(m, n, k, target));
  return {("matmul " + Twine(m) + "x" + Twine(n) + "x" + Twine(k)).str(),
          matmul->getOperations(),
          /*isElementwise=*/false,
          [=] { matmul->run(); },
          {},
          {}};
}

static Candidate makeActivation(StringRef kind, const Target &target) {
  constexpr int64_t rows = 48, columns = 768;
  std::string type = rowsType(columns);
  std::shared_ptr<KernelJit> jit = compile(
      "func.func @f(%x: " + type + ", %y: " + type +
          ") attributes {llvm.emit_c_interface} {\n"
          "  hexad_kernel.activation ins(%x : " +
          type + ") outs(%y : " + type + ") {kind = #hexad.activation<" +
          kind.str() + ">}\n  return\n}\n",
      target);
  auto x = std::make_shared<RandomFloats>(rows * columns);
  auto y = std::make_shared<RandomFloats>(rows * columns);
  auto run = [=] {
    Buffer<float, 2> xBuffer(x->data(), {rows, columns});
    Buffer<float, 2> yBuffer(y->data(), {rows, columns});
    jit->call("f", &xBuffer, &yBuffer);
  };
  return {kind.str(), double(rows * columns), /*isElementwise=*/true, run, {},
          {}};
}

static Candidate makeSoftmaxPage(const Target &target) {
  int64_t rows = target.queryTile, keys = target.page,
          padded = alignTo(rows, 16);
  std::string type = rowsType(keys);
  std::string statistics = "memref<6x" + std::to_string(padded) + "xf32>";
  std::shared_ptr<KernelJit> jit = compile(
      "func.func @f(%m: index, %t: index, %x: " + type + ", %s: " + statistics +
          ") attributes {llvm.emit_c_interface} {\n"
          "  hexad_kernel.softmax_page ins(%m, %t : index, index) outs(%x, %s "
          ": " +
          type + ", " + statistics + ")\n  return\n}\n",
      target);
  auto x = std::make_shared<RandomFloats>(rows * keys);
  auto s = std::make_shared<RandomFloats>(6 * padded);
  auto run = [=] {
    Buffer<float, 2> xBuffer(x->data(), {rows, keys});
    Buffer<float, 2> sBuffer(s->data(), {6, padded});
    for (int visit = 0; visit < 4; ++visit)
      jit->call("f", rows, keys, &xBuffer, &sBuffer);
  };
  return {
      "softmax_page", 4.0 * rows * keys, /*isElementwise=*/true, run, {}, {}};
}

//===----------------------------------------------------------------------===//
// Report
//===----------------------------------------------------------------------===//

static void print(const Target &target, ArrayRef<double> peaks,
                  ArrayRef<Candidate> candidates) {
  if (asJson) {
    json::Array results;
    for (const Candidate &candidate : candidates) {
      json::Object result{{"name", candidate.name}};
      if (candidate.isElementwise) {
        result["ns_per_element"] = median(candidate.nanoseconds);
        result["best_ns_per_element"] =
            *llvm::min_element(candidate.nanoseconds);
      } else {
        result["share_of_fma_loop"] = median(candidate.shares);
        result["best_share_of_fma_loop"] = *llvm::max_element(candidate.shares);
      }
      results.push_back(std::move(result));
    }
    outs() << formatv("{0:2}\n", json::Value(json::Object{
                                     {"cpu", target.cpu},
                                     {"vector_bits", target.vectorBits},
                                     {"fma_loop_gflops", median(peaks) / 1e9},
                                     {"kernels", std::move(results)}}));
    return;
  }
  outs() << target.cpu << ", " << target.vectorBits << "-bit vectors, FMA loop "
         << format("%.1f GFLOP/s (median of %d rounds)\n", median(peaks) / 1e9,
                   int(peaks.size()));
  for (const Candidate &candidate : candidates) {
    outs() << left_justify(candidate.name, 24);
    if (candidate.isElementwise)
      outs() << format("%6.3f ns/element, best %.3f\n",
                       median(candidate.nanoseconds),
                       *llvm::min_element(candidate.nanoseconds));
    else
      outs() << format("%5.1f %% of the FMA loop, best %.1f %%\n",
                       100 * median(candidate.shares),
                       100 * *llvm::max_element(candidate.shares));
  }
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "Speed of Hexad's micro-kernels\n");
  ExitOnError exitOnError("kernel-bench: ");
  Target target = exitOnError(Target::get(mcpu));
  Target host = exitOnError(Target::get("native"));
  if ((target.cpuFeatures & ~host.cpuFeatures) != 0) {
    errs() << "kernel-bench: this machine cannot run code for " << target.cpu
           << "\n";
    return 1;
  }

  std::vector<Candidate> candidates;
  candidates.push_back(makeMatmul(512, 768, 768, target));
  candidates.push_back(makeMatmul(512, 3072, 768, target));
  candidates.push_back(makeMatmul(512, 768, 3072, target));
  candidates.push_back(makeMatmul(128, 2048, 2048, target));
  candidates.push_back(makeSoftmaxPage(target));
  for (StringRef kind : {"gelu", "gelu_tanh", "silu", "tanh"})
    candidates.push_back(makeActivation(kind, target));

  std::vector<double> peaks;
  for (int round = 0; round <= rounds; ++round)
    for (Candidate &candidate : candidates) {
      double before = measureFmaLoop(target.vectorBits);
      double seconds = measureSeconds(candidate.run);
      double peak = (before + measureFmaLoop(target.vectorBits)) / 2;
      if (round == 0) // warms up
        continue;
      peaks.push_back(peak);
      candidate.shares.push_back(candidate.work / seconds / peak);
      candidate.nanoseconds.push_back(seconds * 1e9 / candidate.work);
    }
  print(target, peaks, candidates);
  return 0;
}
