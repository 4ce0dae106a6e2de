//===- kernel-bench.cpp - Speed of the micro-kernels
//------------------------===//
//
// Part of the Hexad project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints what share of a loop of register FMAs each kernel reaches on one core.
// Absolute times mean little on a shared machine: kernels and the FMA loop take
// turns, and a round's share is what counts. Pin it to a core.
//
//===----------------------------------------------------------------------===//

#include "hexad/CodeGen/KernelJit.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <functional>
#include <random>
#include <vector>

using namespace hexad;
using namespace llvm;

static cl::OptionCategory category("kernel-bench options");
static cl::opt<std::string> mcpu("mcpu", cl::desc("CPU to compile for"),
                                 cl::init("native"), cl::cat(category));
static cl::opt<int> rounds("rounds", cl::desc("Rounds of measurement"),
                           cl::init(41), cl::cat(category));
static cl::opt<bool> asJson("json", cl::desc("Print JSON"), cl::cat(category));

//===----------------------------------------------------------------------===//
// The yardstick
//===----------------------------------------------------------------------===//

// 12 independent chains hide the latency of two FMAs a cycle.
#define HEXAD_FMA_LOOP(BITS, REGISTER)                                         \
  static void runFma##BITS(int64_t iterations) {                               \
    asm volatile("1:\n"                                                        \
                 ".irp n, 0,1,2,3,4,5,6,7,8,9,10,11\n"                         \
                 "vfmadd231ps %%" REGISTER "14, %%" REGISTER "15, %%" REGISTER \
                 "\\n\n"                                                       \
                 ".endr\n"                                                     \
                 "dec %0\n"                                                    \
                 "jnz 1b\n"                                                    \
                 "vzeroupper\n"                                                \
                 : "+r"(iterations)                                            \
                 :                                                             \
                 : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",       \
                   "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",  \
                   "xmm13", "xmm14", "xmm15");                                 \
  }
HEXAD_FMA_LOOP(256, "ymm")
HEXAD_FMA_LOOP(512, "zmm")
#undef HEXAD_FMA_LOOP

static double measureSeconds(function_ref<void()> body) {
  auto start = std::chrono::steady_clock::now();
  body();
  std::chrono::duration<double> elapsed =
      std::chrono::steady_clock::now() - start;
  return elapsed.count();
}

/// Floating-point operations a second of the FMA loop, now.
static double measurePeak(const Target &target) {
  constexpr int64_t iterations = 300000;
  double operations = 2.0 * 12 * (target.vectorBits / 32) * iterations;
  double seconds = measureSeconds([&] {
    target.vectorBits == 512 ? runFma512(iterations) : runFma256(iterations);
  });
  return operations / seconds;
}

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

/// Random rows that live as long as the program.
struct Memory {
  explicit Memory(int64_t elements) : data(elements) {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
    for (float &x : data)
      x = uniform(random);
  }
  std::vector<float> data;
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

/// C = A · B as compiled models do it: for each block of rows, for each panel
/// of packed columns, one matmul kernel.
static Candidate makeMatmul(int64_t m, int64_t n, int64_t k,
                            const Target &target) {
  int64_t nr = target.tileColumns, rows = alignTo(m, target.tileRows);
  auto number = [](int64_t value) { return std::to_string(value); };
  std::string cTile = "memref<?x" + number(nr) + "xf32, strided<[" + number(n) +
                      ", 1], offset: ?>>";
  std::string aTile = "memref<?x" + number(k) + "xf32, strided<[" + number(k) +
                      ", 1], offset: ?>>";
  std::string panel = "memref<" + number(k) + "x" + number(nr) +
                      "xf32, strided<[" + number(nr) + ", 1], offset: ?>>";
  std::string panels = "memref<?x" + number(k) + "x" + number(nr) + "xf32>";
  std::string source =
      "func.func @matmul(%a: " + rowsType(k) + ", %b: " + panels +
      ", %c: " + rowsType(n) +
      ") attributes {llvm.emit_c_interface} {\n"
      "  %c0 = arith.constant 0 : index\n"
      "  %c1 = arith.constant 1 : index\n"
      "  %block = arith.constant " +
      number(target.blockRows) +
      " : index\n"
      "  %nr = arith.constant " +
      number(nr) +
      " : index\n"
      "  %panels = memref.dim %b, %c0 : " +
      panels +
      "\n"
      "  %rows = memref.dim %a, %c0 : " +
      rowsType(k) +
      "\n"
      "  scf.for %m = %c0 to %rows step %block {\n"
      "    %left = arith.subi %rows, %m : index\n"
      "    %here = arith.minui %left, %block : index\n"
      "    %as = memref.subview %a[%m, 0] [%here, " +
      number(k) + "] [1, 1] : " + rowsType(k) + " to " + aTile +
      "\n"
      "    scf.for %p = %c0 to %panels step %c1 {\n"
      "      %n = arith.muli %p, %nr : index\n"
      "      %bs = memref.subview %b[%p, 0, 0] [1, " +
      number(k) + ", " + number(nr) + "] [1, 1, 1] : " + panels + " to " +
      panel + "\n      %cs = memref.subview %c[%m, %n] [%here, " + number(nr) +
      "] [1, 1] : " + rowsType(n) + " to " + cTile +
      "\n      hexad_kernel.matmul ins(%as, %bs : " + aTile + ", " + panel +
      ") outs(%cs : " + cTile +
      ") {tile = #hexad_kernel.tile<rows = " + number(target.tileRows) +
      ", columns = " + number(nr) + ">}\n    }\n  }\n  return\n}\n";
  std::shared_ptr<KernelJit> jit = compile(source, target);
  auto a = std::make_shared<Memory>(rows * k);
  auto b = std::make_shared<Memory>(n * k);
  auto c = std::make_shared<Memory>(rows * n);
  auto run = [=] {
    Buffer<float, 2> aBuffer(a->data.data(), {rows, k});
    Buffer<float, 3> bBuffer(b->data.data(), {n / nr, k, nr});
    Buffer<float, 2> cBuffer(c->data.data(), {rows, n});
    jit->call("matmul", &aBuffer, &bBuffer, &cBuffer);
  };
  return {("matmul " + Twine(m) + "x" + Twine(n) + "x" + Twine(k)).str(),
          2.0 * m * n * k,
          /*isElementwise=*/false,
          run,
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
  auto x = std::make_shared<Memory>(rows * columns);
  auto y = std::make_shared<Memory>(rows * columns);
  auto run = [=] {
    Buffer<float, 2> xBuffer(x->data.data(), {rows, columns});
    Buffer<float, 2> yBuffer(y->data.data(), {rows, columns});
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
  auto x = std::make_shared<Memory>(rows * keys);
  auto s = std::make_shared<Memory>(6 * padded);
  auto run = [=] {
    Buffer<float, 2> xBuffer(x->data.data(), {rows, keys});
    Buffer<float, 2> sBuffer(s->data.data(), {6, padded});
    for (int visit = 0; visit < 4; ++visit)
      jit->call("f", rows, keys, &xBuffer, &sBuffer);
  };
  return {
      "softmax_page", 4.0 * rows * keys, /*isElementwise=*/true, run, {}, {}};
}

//===----------------------------------------------------------------------===//
// Report
//===----------------------------------------------------------------------===//

static double median(std::vector<double> values) {
  llvm::sort(values);
  return values[values.size() / 2];
}

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
      double before = measurePeak(target);
      double seconds = measureSeconds(candidate.run);
      double peak = (before + measurePeak(target)) / 2;
      if (round == 0) // warms up
        continue;
      peaks.push_back(peak);
      candidate.shares.push_back(candidate.work / seconds / peak);
      candidate.nanoseconds.push_back(seconds * 1e9 / candidate.work);
    }
  print(target, peaks, candidates);
  return 0;
}
