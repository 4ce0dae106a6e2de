//===- MatmulRows.cpp - The packed matmul beside OpenBLAS -----------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rows.h"
#include "common/Clock.h"
#include "common/FmaLoop.h"
#include "common/PackedMatmul.h"

using namespace hexad;
using namespace hexad::bench;
using namespace llvm;

namespace {

struct Shape {
  int64_t m, n, k;
};

/// One shape. Hexad's weights are packed beforehand, as in a compiled model;
/// OpenBLAS, which keeps nothing between calls, packs in each.
class MatmulRow : public KernelRow {
public:
  MatmulRow(Shape shape, std::unique_ptr<PackedMatmul> matmul,
            int64_t vectorBits, const OpenBlas *blas, Table &table, Line &line)
      : shape(shape), matmul(std::move(matmul)), vectorBits(vectorBits),
        blas(blas), table(table), line(line), a(shape.m * shape.k),
        b(shape.n * shape.k), c(shape.m * shape.n) {}

  void measure(bool warmsUp) override {
    double before = measureFmaLoop(vectorBits, /*milliseconds=*/1);
    double seconds = measureSeconds([&] { matmul->run(); });
    double loop = (before + measureFmaLoop(vectorBits, /*milliseconds=*/1)) / 2;
    double blasSeconds = 0;
    if (blas)
      blasSeconds = measureSeconds([&] {
        blas->multiply(shape.m, shape.n, shape.k, a.data(), b.data(), c.data());
      });
    if (warmsUp)
      return;
    table.addYardstick("fma_loop_gflops", loop / 1e9);
    line.add("milliseconds", Unit::Time, seconds);
    line.add("share_of_fma_loop", Unit::Share,
             matmul->getOperations() / seconds / loop);
    if (blas)
      line.add("times_openblas", Unit::Ratio, blasSeconds / seconds);
  }

private:
  Shape shape;
  std::unique_ptr<PackedMatmul> matmul;
  int64_t vectorBits;
  const OpenBlas *blas;
  Table &table;
  Line &line;
  RandomFloats a, b, c;
};

} // namespace

Error bench::addMatmulRows(const Target &target, const OpenBlas *blas,
                           Table &table, KernelRows &rows) {
  constexpr Shape shapes[] = {{512, 768, 768},   {512, 3072, 768},
                              {512, 768, 3072},  {128, 2048, 2048},
                              {512, 2048, 2048}, {512, 512, 8192}};
  for (Shape shape : shapes) {
    auto matmul = PackedMatmul::create(shape.m, shape.n, shape.k, target);
    if (!matmul)
      return matmul.takeError();
    Line &line = table.addLine(("matmul " + Twine(shape.m) + "x" +
                                Twine(shape.n) + "x" + Twine(shape.k))
                                   .str());
    rows.push_back(std::make_unique<MatmulRow>(
        shape, std::move(*matmul), target.vectorBits, blas, table, line));
  }
  return Error::success();
}
