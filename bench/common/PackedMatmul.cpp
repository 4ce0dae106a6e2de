//===- PackedMatmul.cpp - A matmul as compiled models do it ---------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "common/PackedMatmul.h"
#include "llvm/Support/Alignment.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <random>

using namespace hexad;
using namespace hexad::bench;
using namespace llvm;

RandomFloats::RandomFloats(int64_t count)
    : storage(count + 64 / sizeof(float)),
      aligned(reinterpret_cast<float *>(alignAddr(storage.data(), Align(64)))) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  for (float &x : storage)
    x = uniform(random);
}

// {0}: n, {1}: k, {2}: columns of a panel, {3}: rows of a block, {4}: rows of a
// register tile.
static constexpr const char *sourceFormat = R"(
!a = memref<?x{1}xf32>
!aBlock = memref<?x{1}xf32, strided<[{1}, 1], offset: ?>>
!b = memref<?x{1}x{2}xf32>
!c = memref<?x{0}xf32>
!cBlock = memref<?x{0}xf32, strided<[{0}, 1], offset: ?>>
func.func @matmul(%a: !a, %b: !b, %c: !c)
    attributes {{llvm.emit_c_interface} {{
  %c0 = arith.constant 0 : index
  %blockRows = arith.constant {3} : index
  %rows = memref.dim %a, %c0 : !a
  scf.for %m = %c0 to %rows step %blockRows {{
    %left = arith.subi %rows, %m : index
    %here = arith.minui %left, %blockRows : index
    %aBlock = memref.subview %a[%m, 0] [%here, {1}] [1, 1] : !a to !aBlock
    %cBlock = memref.subview %c[%m, 0] [%here, {0}] [1, 1] : !c to !cBlock
    hexad_kernel.matmul ins(%aBlock, %b : !aBlock, !b)
        outs(%cBlock : !cBlock)
        {{tile = #hexad_kernel.tile<rows = {4}, columns = {2}>}
  }
  return
}
)";

/// Rows of a block, as Tiler::getBlockRows has them for one thread: as few
/// blocks as possible, as equal as possible.
static int64_t getBlockRows(int64_t rows, const Target &target) {
  int64_t strips = divideCeil(rows, target.tileRows);
  int64_t blocks = divideCeil(strips, target.blockRows / target.tileRows);
  return divideCeil(strips, blocks) * target.tileRows;
}

Expected<std::unique_ptr<PackedMatmul>>
PackedMatmul::create(int64_t m, int64_t n, int64_t k, const Target &target) {
  if (n % target.tileColumns != 0)
    return createStringError("a packed matmul has a multiple of " +
                             Twine(target.tileColumns) + " columns, not " +
                             Twine(n));
  std::string source = formatv(sourceFormat, n, k, target.tileColumns,
                               getBlockRows(m, target), target.tileRows);
  auto jit = KernelJit::create(source, target);
  if (!jit)
    return jit.takeError();
  return std::unique_ptr<PackedMatmul>(
      new PackedMatmul(m, n, k, target, std::move(*jit)));
}

PackedMatmul::PackedMatmul(int64_t m, int64_t n, int64_t k,
                           const Target &target, std::unique_ptr<KernelJit> jit)
    : m(m), n(n), k(k), panelColumns(target.tileColumns), jit(std::move(jit)),
      a(m * k), b(n * k), c(m * n) {}

void PackedMatmul::run() {
  Buffer<float, 2> aBuffer(a.data(), {m, k});
  Buffer<float, 3> bBuffer(b.data(), {n / panelColumns, k, panelColumns});
  Buffer<float, 2> cBuffer(c.data(), {m, n});
  jit->call("matmul", &aBuffer, &bBuffer, &cBuffer);
}
