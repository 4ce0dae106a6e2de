//===- MatmulTest.cpp - hexad_kernel.matmul to the bit --------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelTest.h"
#include "ScalarReference.h"
#include <optional>

using namespace hexad;
using namespace hexad::test;

namespace {

/// One matmul kernel: its shape and its epilogue.
struct Kernel {
  int64_t depth, columns;
  bool hasBias = false, hasResidual = false, hasFold = false;
  std::optional<Activation> activation = std::nullopt;
  bool depthIsDynamic = false, residualIsDestination = false;

  int64_t stride() const { return columns + 16; }

  std::string panelType() const {
    return "memref<" +
           (depthIsDynamic ? std::string("?") : std::to_string(depth)) + "x" +
           std::to_string(columns) + "xf32, strided<[" +
           std::to_string(stride()) + ", 1], offset: ?>>";
  }

  std::string source(const std::string &name, const Target &target) const {
    Floats a(1, depth, depth + 3), c(1, columns, stride());
    std::string fold = "memref<6x?xf32, strided<[64, 1], offset: ?>>";
    std::string op = "hexad_kernel.matmul ins(%a, %panel : " + a.type() + ", " +
                     panelType() + ")";
    if (hasBias)
      op += " bias(%bias : " + vectorType(columns) + ")";
    if (residualIsDestination)
      op += " residual(%c : " + c.type() + ")";
    else if (hasResidual)
      op += " residual(%residual : " + c.type() + ")";
    if (hasFold)
      op += " fold(%fold : " + fold + ")";
    op += " outs(%c : " + c.type() + ") {";
    if (activation)
      op += "activation = #hexad.activation<" +
            stringifyActivation(*activation).str() + ">, ";
    op +=
        "tile = #hexad_kernel.tile<rows = " + std::to_string(target.tileRows) +
        ", columns = " + std::to_string(target.tileColumns) + ">}";
    return makeFunction(name,
                        "%a: " + a.type() + ", %panel: " + panelType() +
                            ", %bias: " + vectorType(columns) +
                            ", %residual: " + c.type() + ", %fold: " + fold +
                            ", %c: " + c.type(),
                        op);
  }

  std::string describe() const {
    std::string text =
        "K " + std::to_string(depth) + " NR " + std::to_string(columns);
    for (auto [isSet, word] : {std::pair(hasBias, " bias"),
                               {hasResidual, " residual"},
                               {residualIsDestination, " residual in place"},
                               {hasFold, " fold"},
                               {depthIsDynamic, " dynamic"}})
      if (isSet)
        text += word;
    if (activation)
      text += " " + stringifyActivation(*activation).str();
    return text;
  }
};

class MatmulTest : public KernelTest {
protected:
  void check(llvm::ArrayRef<Kernel> kernels, llvm::ArrayRef<int64_t> rowCounts,
             llvm::ArrayRef<Data> dataKinds) {
    std::string source;
    for (size_t i = 0; i < kernels.size(); ++i)
      source += kernels[i].source("f" + std::to_string(i), target);
    auto jit = compile(source);
    ASSERT_TRUE(jit);
    for (size_t i = 0; i < kernels.size(); ++i)
      for (int64_t rows : rowCounts)
        for (Data data : dataKinds)
          run(*jit, "f" + std::to_string(i), kernels[i], rows, data);
  }

  void run(KernelJit &jit, const std::string &name, const Kernel &kernel,
           int64_t rows, Data data) {
    int64_t columns = kernel.columns, stride = kernel.stride();
    Floats a(rows, kernel.depth, kernel.depth + 3);
    Floats panel(kernel.depth, columns, stride), bias(1, columns);
    Floats residual(rows, columns, stride), fold(6, rows, 64);
    Floats actual(rows, columns, stride);
    for (Floats *matrix : {&a, &panel, &bias, &residual, &fold, &actual})
      fill(*matrix, random, data);
    Floats expected = actual;
    reference(kernel, a, panel, bias, residual, fold, expected);
    auto aBuffer = a.buffer(), panelBuffer = panel.buffer(),
         residualBuffer = residual.buffer(), foldBuffer = fold.buffer(),
         actualBuffer = actual.buffer();
    auto biasBuffer = bias.row();
    jit.call(name, &aBuffer, &panelBuffer, &biasBuffer, &residualBuffer,
             &foldBuffer, &actualBuffer);
    expectSame(actual, expected,
               kernel.describe() + " M " + std::to_string(rows));
  }

  static void reference(const Kernel &kernel, const Floats &a,
                        const Floats &panel, const Floats &bias,
                        const Floats &residual, const Floats &fold, Floats &c) {
    for (int64_t m = 0; m < c.rows; ++m)
      for (int64_t n = 0; n < c.columns; ++n) {
        float s = 0;
        for (int64_t k = 0; k < kernel.depth; ++k)
          s = std::fma(a.at(m, k), panel.at(k, n), s);
        if (kernel.hasBias)
          s = s + bias.at(0, n);
        if (kernel.activation)
          s = activation(*kernel.activation, s);
        if (kernel.residualIsDestination)
          s = s + c.at(m, n);
        else if (kernel.hasResidual)
          s = s + residual.at(m, n);
        if (kernel.hasFold) {
          float page = s * fold.at(5, m);
          s = std::fma(c.at(m, n), fold.at(4, m), page);
        }
        c.at(m, n) = s;
      }
  }

  std::vector<int64_t> panelWidths() const {
    if (target.tileColumns == 16)
      return {16};
    return {16, target.tileColumns};
  }
};

TEST_P(MatmulTest, DepthsAroundTheUnrolledLoop) {
  std::vector<Kernel> kernels;
  for (int64_t columns : panelWidths())
    for (bool depthIsDynamic : {false, true})
      for (int64_t depth : {1, 2, 3, 4, 5, 7, 8, 60, 171}) {
        Kernel kernel{depth, columns};
        kernel.depthIsDynamic = depthIsDynamic;
        kernels.push_back(kernel);
      }
  int64_t rows = target.tileRows;
  check(kernels, {rows, 2 * rows, 5 * rows}, {Data::Random});
}

TEST_P(MatmulTest, EveryKindOfData) {
  std::vector<Kernel> kernels;
  for (int64_t columns : panelWidths())
    kernels.push_back({9, columns, /*hasBias=*/true});
  check(kernels, {target.tileRows}, allData);
}

TEST_P(MatmulTest, NoDepthGivesTheEpilogueOfZero) {
  Kernel kernel{0, 16, /*hasBias=*/true};
  kernel.depthIsDynamic = true;
  check({kernel}, {target.tileRows}, {Data::Random});
}

TEST_P(MatmulTest, NoRowsWriteNothing) {
  check({Kernel{5, 16}}, {0}, {Data::Random});
}

TEST_P(MatmulTest, Epilogues) {
  std::vector<Kernel> kernels;
  for (int64_t columns : panelWidths())
    for (bool bias : {false, true}) {
      kernels.push_back({6, columns, bias, /*hasResidual=*/true});
      kernels.push_back({6, columns, bias, false, /*hasFold=*/true});
      kernels.push_back({6, columns, bias, true, true});
      Kernel inPlace{6, columns, bias};
      inPlace.residualIsDestination = true;
      kernels.push_back(inPlace);
    }
  check(kernels, {2 * target.tileRows}, {Data::Random, Data::WithZeros});
}

TEST_P(MatmulTest, Activations) {
  std::vector<Kernel> kernels;
  for (int32_t kind = 0; kind <= getMaxEnumValForActivation(); ++kind) {
    Kernel kernel{6, 16, /*hasBias=*/true};
    kernel.activation = static_cast<Activation>(kind);
    kernels.push_back(kernel);
  }
  // An activation before a residual that may be the destination.
  Kernel kernel{6, panelWidths().back(), true};
  kernel.activation = Activation::Gelu;
  kernel.residualIsDestination = true;
  kernels.push_back(kernel);
  kernel.hasFold = true;
  kernels.push_back(kernel);
  check(kernels, {2 * target.tileRows}, allData);
}

HEXAD_INSTANTIATE_KERNEL_TEST(MatmulTest);

} // namespace
