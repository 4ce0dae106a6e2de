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
  int64_t depth, panels, columns; ///< columns of a panel
  bool hasBias = false, hasFactor = false, hasResidual = false, hasFold = false;
  std::optional<Activation> activation = std::nullopt;
  bool depthIsDynamic = false;
  bool factorIsDestination = false, residualIsDestination = false;
  std::string element = "f32"; ///< of the panels

  int64_t width() const { return panels * columns; }
  int64_t stride() const { return width() + 16; }
  /// Between panels there is something else.
  int64_t panelRows() const { return depth + 2; }

  std::string panelsType() const {
    return "memref<?x" +
           (depthIsDynamic ? std::string("?") : std::to_string(depth)) + "x" +
           std::to_string(columns) + "x" + element + ", strided<[" +
           std::to_string(panelRows() * columns) + ", " +
           std::to_string(columns) + ", 1], offset: ?>>";
  }

  std::string source(const std::string &name, const Target &target) const {
    Floats a(1, depth, depth + 3), c(1, width(), stride());
    std::string fold = "memref<6x?xf32, strided<[64, 1], offset: ?>>";
    std::string op = "hexad_kernel.matmul ins(%a, %panels : " + a.type() +
                     ", " + panelsType() + ")";
    if (hasBias)
      op += " bias(%bias : " + vectorType(width()) + ")";
    if (factorIsDestination)
      op += " factor(%c : " + c.type() + ")";
    else if (hasFactor)
      op += " factor(%factor : " + c.type() + ")";
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
                        "%a: " + a.type() + ", %panels: " + panelsType() +
                            ", %bias: " + vectorType(width()) + ", %factor: " +
                            c.type() + ", %residual: " + c.type() +
                            ", %fold: " + fold + ", %c: " + c.type(),
                        op);
  }

  template <typename Element>
  Buffer<Element, 3> panelsBuffer(Matrix<Element> &matrix) const {
    Buffer<Element, 3> buffer(matrix.storage.data(), {panels, depth, columns});
    buffer.offset = Floats::margin;
    buffer.strides[0] = panelRows() * columns;
    return buffer;
  }

  std::string describe() const {
    std::string text = "K " + std::to_string(depth) + " P " +
                       std::to_string(panels) + " NR " +
                       std::to_string(columns) + " of " + element;
    for (auto [isSet, word] : {std::pair(hasBias, " bias"),
                               {hasFactor, " factor"},
                               {factorIsDestination, " factor in place"},
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
    int64_t columns = kernel.columns, width = kernel.width();
    int64_t stride = kernel.stride();
    Floats a(rows, kernel.depth, kernel.depth + 3);
    Floats panels(kernel.panels * kernel.panelRows(), columns, columns);
    Floats bias(1, width), factor(rows, width, stride);
    Floats residual(rows, width, stride), fold(6, rows, 64);
    Floats actual(rows, width, stride);
    for (Floats *matrix :
         {&a, &panels, &bias, &factor, &residual, &fold, &actual})
      fill(*matrix, random, data);
    Halves halves(0, columns);
    if (kernel.element != "f32")
      halves = narrow(panels, kernel.element);
    Floats expected = actual;
    reference(kernel, a, panels, bias, factor, residual, fold, expected);
    auto aBuffer = a.buffer(), factorBuffer = factor.buffer(),
         residualBuffer = residual.buffer(), foldBuffer = fold.buffer(),
         actualBuffer = actual.buffer();
    auto biasBuffer = bias.row();
    auto panelsBuffer = kernel.panelsBuffer(panels);
    auto halvesBuffer = kernel.panelsBuffer(halves);
    void *panelsArgument = &panelsBuffer;
    if (kernel.element != "f32")
      panelsArgument = &halvesBuffer;
    jit.call(name, &aBuffer, panelsArgument, &biasBuffer, &factorBuffer,
             &residualBuffer, &foldBuffer, &actualBuffer);
    expectSame(actual, expected,
               kernel.describe() + " M " + std::to_string(rows));
  }

  static void reference(const Kernel &kernel, const Floats &a,
                        const Floats &panels, const Floats &bias,
                        const Floats &factor, const Floats &residual,
                        const Floats &fold, Floats &c) {
    for (int64_t m = 0; m < c.rows; ++m)
      for (int64_t n = 0; n < c.columns; ++n) {
        int64_t first = n / kernel.columns * kernel.panelRows();
        float s = 0;
        for (int64_t k = 0; k < kernel.depth; ++k)
          s = std::fma(a.at(m, k), panels.at(first + k, n % kernel.columns), s);
        if (kernel.hasBias)
          s = s + bias.at(0, n);
        if (kernel.activation)
          s = activation(*kernel.activation, s);
        if (kernel.factorIsDestination)
          s = s * c.at(m, n);
        else if (kernel.hasFactor)
          s = s * factor.at(m, n);
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

/// Every kind of last strip, and more than one whole one.
const int64_t allRows[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
                           13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25};

TEST_P(MatmulTest, DepthsAroundTheUnrolledLoop) {
  std::vector<Kernel> kernels;
  for (int64_t columns : panelWidths())
    for (bool depthIsDynamic : {false, true})
      for (int64_t depth : {1, 2, 3, 4, 5, 7, 8, 60, 171}) {
        Kernel kernel{depth, 2, columns};
        kernel.depthIsDynamic = depthIsDynamic;
        kernels.push_back(kernel);
      }
  int64_t rows = target.tileRows;
  check(kernels, {1, 2, rows, 2 * rows + 3, 5 * rows}, {Data::Random});
}

TEST_P(MatmulTest, EveryNumberOfRowsAndPanels) {
  std::vector<Kernel> kernels;
  for (int64_t columns : panelWidths())
    for (bool depthIsDynamic : {false, true})
      for (int64_t panels : {1, 2, 3, 5}) {
        Kernel kernel{7, panels, columns, /*hasBias=*/true};
        kernel.depthIsDynamic = depthIsDynamic;
        kernels.push_back(kernel);
      }
  check(kernels, allRows, {Data::Random});
}

TEST_P(MatmulTest, LargePanelsAreFetchedAhead) {
  std::vector<Kernel> kernels;
  for (int64_t columns : panelWidths())
    kernels.push_back({301, 5, columns, /*hasBias=*/true});
  check(kernels, {0, 1, 2, 3, 4, 13, 25}, {Data::Random});
}

/// All ways of a matmul with panels of 16 bits, which are those of f32 with
/// elements rounded before: bits are compared.
TEST_P(MatmulTest, PanelsOf16Bits) {
  for (const char *element : {"bf16", "f16"}) {
    std::vector<Kernel> kernels;
    for (int64_t columns : panelWidths())
      for (int64_t panels : {1, 2, 3, 5, 9})
        for (int64_t depth : {1, 7, 60}) {
          Kernel kernel{depth, panels, columns, /*hasBias=*/true};
          kernel.element = element;
          kernel.depthIsDynamic = depth == 7;
          kernels.push_back(kernel);
        }
    check(kernels, allRows, {Data::Random});

    // Some of them large enough to be fetched ahead.
    kernels.clear();
    for (int64_t columns : panelWidths())
      for (int64_t depth : {9, 601}) {
        Kernel kernel{depth, 5, columns, true, true, true};
        kernel.element = element;
        kernel.activation = Activation::Silu;
        kernels.push_back(kernel);
      }
    check(kernels, {1, 2, 4, target.tileRows, 2 * target.tileRows + 5},
          allData);
  }
}

TEST_P(MatmulTest, EveryKindOfData) {
  std::vector<Kernel> kernels;
  for (int64_t columns : panelWidths())
    kernels.push_back({9, 3, columns, /*hasBias=*/true});
  check(kernels, {1, target.tileRows + 1}, allData);
}

TEST_P(MatmulTest, NoDepthGivesTheEpilogueOfZero) {
  Kernel kernel{0, 3, 16, /*hasBias=*/true};
  kernel.depthIsDynamic = true;
  check({kernel}, {1, target.tileRows}, {Data::Random});
}

TEST_P(MatmulTest, NoPanelsWriteNothing) {
  check({Kernel{5, 0, 16}}, {1, target.tileRows}, {Data::Random});
}

TEST_P(MatmulTest, Epilogues) {
  std::vector<Kernel> kernels;
  int64_t columns = panelWidths().back();
  for (int set = 0; set < 16; ++set)
    kernels.push_back({5, 3, columns, (set & 1) != 0, (set & 2) != 0,
                       (set & 4) != 0, (set & 8) != 0});
  for (bool fold : {false, true}) {
    Kernel kernel{5, 3, columns, /*hasBias=*/true, false, false, fold};
    kernel.residualIsDestination = true;
    kernels.push_back(kernel);
    kernel.factorIsDestination = true;
    kernels.push_back(kernel);
    kernel.residualIsDestination = false;
    kernels.push_back(kernel);
  }
  check(kernels, {1, 2, 3, 4, 2 * target.tileRows, 2 * target.tileRows + 5},
        {Data::Random, Data::WithZeros});
}

TEST_P(MatmulTest, Activations) {
  std::vector<Kernel> kernels;
  for (uint32_t kind = 0; kind <= getMaxEnumValForActivation(); ++kind) {
    Kernel kernel{6, 5, 16, /*hasBias=*/true};
    kernel.activation = static_cast<Activation>(kind);
    kernels.push_back(kernel);
  }
  // An activation before operands that may be the destination.
  Kernel kernel{6, 5, panelWidths().back(), true};
  kernel.activation = Activation::Gelu;
  kernel.factorIsDestination = true;
  kernels.push_back(kernel);
  kernel.residualIsDestination = true;
  kernels.push_back(kernel);
  kernel.hasFold = true;
  kernels.push_back(kernel);
  check(kernels, {1, 2, 3, target.tileRows, 2 * target.tileRows + 3}, allData);
}

/// A row's bits do not depend on the rows beside it, whatever they hold.
TEST_P(MatmulTest, RowsAloneAreTheRowsTogether) {
  constexpr int64_t rows = 25;
  int64_t columns = panelWidths().back();
  Kernel kernel{131, 5, columns, /*hasBias=*/true, false, true};
  kernel.activation = Activation::Silu;
  kernel.factorIsDestination = true;
  auto jit = compile(kernel.source("f", target));
  ASSERT_TRUE(jit);
  Floats a(rows, kernel.depth, kernel.depth + 3);
  Floats panels(kernel.panels * kernel.panelRows(), columns, columns);
  Floats bias(1, kernel.width()), fold(6, rows, 64);
  Floats residual(rows, kernel.width(), kernel.stride());
  Floats together(rows, kernel.width(), kernel.stride());
  for (Floats *matrix : {&a, &panels, &bias, &residual, &together})
    fill(*matrix, random, Data::Random);
  Floats alone = together;
  auto biasBuffer = bias.row();
  auto panelsBuffer = kernel.panelsBuffer(panels);
  auto multiply = [&](Floats &c, int64_t first, int64_t count) {
    auto getRows = [&](Floats &matrix) {
      auto buffer = matrix.buffer();
      buffer.offset += first * matrix.stride;
      buffer.sizes[0] = count;
      return buffer;
    };
    auto aBuffer = getRows(a), residualBuffer = getRows(residual),
         cBuffer = getRows(c);
    auto foldBuffer = fold.buffer();
    jit->call("f", &aBuffer, &panelsBuffer, &biasBuffer, &residualBuffer,
              &residualBuffer, &foldBuffer, &cBuffer);
  };
  multiply(together, 0, rows);
  for (int64_t row = 0; row < rows; ++row)
    multiply(alone, row, 1);
  expectSame(alone, together, "row by row");
}

HEXAD_INSTANTIATE_KERNEL_TEST(MatmulTest);

} // namespace
