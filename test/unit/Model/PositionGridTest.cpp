//===- PositionGridTest.cpp - Learned positions, resized ------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Model/PositionGrid.h"
#include "ModelTestUtilities.h"
#include "hexad/Model/ParameterRecipe.h"
#include "mlir/Parser/Parser.h"
#include <cmath>
#include <map>

using namespace mlir;
using namespace hexad;

namespace {

/// k of docs/Spec.md, term by term.
double getKernel(double distance, double a) {
  double d = std::abs(distance);
  if (d <= 1)
    return (a + 2) * std::pow(d, 3) - (a + 3) * std::pow(d, 2) + 1;
  if (d < 2)
    return a * std::pow(d, 3) - 5 * a * std::pow(d, 2) + 8 * a * d - 4 * a;
  return 0;
}

struct GridCase {
  int64_t kept, zeros, height, width, newHeight, newWidth;
  bool antialias;
};

/// Weights along an axis over all elements of it and around it.
std::map<int64_t, double> getAxis(int64_t index, int64_t stored, int64_t wanted,
                                  bool antialias) {
  double scale = double(stored) / double(wanted);
  double place = (double(index) + 0.5) * scale - 0.5;
  double stretch = antialias && scale > 1 ? scale : 1;
  std::map<int64_t, double> weights;
  double sum = 0;
  for (int64_t i = -4 * stored - 4; i < 5 * stored + 4; ++i) {
    double weight =
        getKernel((place - double(i)) / stretch, antialias ? -0.5 : -0.75);
    bool isInside = i >= 0 && i < stored;
    if (antialias && !isInside)
      continue;
    weights[std::clamp<int64_t>(i, 0, stored - 1)] += weight;
    sum += weight;
  }
  for (auto &entry : weights)
    entry.second /= antialias ? sum : 1;
  return weights;
}

class PositionGrids : public ::testing::TestWithParam<GridCase> {};

TEST_P(PositionGrids, FollowsTheFormula) {
  GridCase grid = GetParam();
  PositionGrid rows({grid.kept, grid.zeros, grid.height, grid.width,
                     grid.newHeight, grid.newWidth},
                    grid.antialias);
  ASSERT_EQ(rows.getStoredRows(), grid.kept + grid.height * grid.width);
  ASSERT_EQ(rows.getRows(),
            grid.kept + grid.zeros + grid.newHeight * grid.newWidth);
  for (int64_t row = 0; row < rows.getRows(); ++row) {
    std::map<int64_t, double> expected, found;
    int64_t patch = row - grid.kept - grid.zeros;
    if (row < grid.kept)
      expected[row] = 1;
    if (patch >= 0)
      for (auto [y, down] : getAxis(patch / grid.newWidth, grid.height,
                                    grid.newHeight, grid.antialias))
        for (auto [x, across] : getAxis(patch % grid.newWidth, grid.width,
                                        grid.newWidth, grid.antialias))
          expected[grid.kept + y * grid.width + x] += down * across;
    double sum = 0;
    for (PositionGrid::Term term : rows.getTerms(row)) {
      EXPECT_NE(term.weight, 0);
      found[term.row] += term.weight;
      sum += term.weight;
    }
    if (patch >= 0)
      EXPECT_NEAR(sum, 1, 1e-14);
    for (auto [stored, weight] : expected)
      EXPECT_NEAR(found[stored], weight, 1e-14) << row << " of " << stored;
    for (auto [stored, weight] : found)
      EXPECT_TRUE(expected.count(stored)) << row << " of " << stored;
  }
}

INSTANTIATE_TEST_SUITE_P(, PositionGrids,
                         ::testing::Values(GridCase{1, 0, 4, 6, 4, 6, false},
                                           GridCase{1, 4, 4, 6, 4, 6, true},
                                           GridCase{1, 0, 4, 6, 7, 3, false},
                                           GridCase{0, 0, 3, 3, 8, 8, false},
                                           GridCase{2, 3, 9, 5, 2, 11, true},
                                           GridCase{1, 0, 37, 37, 16, 16,
                                                    false},
                                           GridCase{1, 4, 37, 37, 16, 16, true},
                                           GridCase{0, 1, 1, 1, 3, 2, false},
                                           GridCase{0, 0, 2, 1, 1, 1, true}));

/// By hand: half between two elements the weights are -3/32, 19/32, 19/32,
/// -3/32.
TEST(PositionGrid, HalvesAnAxis) {
  PositionGrid grid({0, 0, 1, 4, 1, 2}, /*antialias=*/false);
  std::vector<PositionGrid::Term> terms = grid.getTerms(0);
  // The place is 1/2: elements -1 (that is 0), 0, 1, 2.
  ASSERT_EQ(terms.size(), 3u);
  EXPECT_DOUBLE_EQ(terms[0].weight, -3.0 / 32 + 19.0 / 32);
  EXPECT_DOUBLE_EQ(terms[1].weight, 19.0 / 32);
  EXPECT_DOUBLE_EQ(terms[2].weight, -3.0 / 32);
}

class GridParameter : public ModelTest {
protected:
  /// Stores a matrix [5, 3] as `w` of rank 3 and reads `attributes` of it.
  FailureOr<std::vector<double>> read(llvm::StringRef type,
                                      llvm::StringRef attributes) {
    std::vector<float> values;
    for (int i = 0; i < 15; ++i)
      values.push_back(float(i * i));
    llvm::ArrayRef<uint8_t> bytes(
        reinterpret_cast<const uint8_t *>(values.data()), 60);
    TensorToWrite tensor{"w", StoredType::F32, {1, 5, 3}, bytes};
    EXPECT_FALSE(!!writeSafetensors(folder.getPath("w.safetensors"), tensor));
    context.loadDialect<HexadDialect>();
    module = parseSourceString<ModuleOp>(("hexad.parameter @p : " + type +
                                          " from \"w.safetensors\" [\"w\"] {" +
                                          attributes + "}")
                                             .str(),
                                         &context);
    if (!module)
      return failure();
    TensorSources sources(folder.getPath());
    auto recipe = ParameterRecipe::resolve(
        *module->getOps<ParameterOp>().begin(), sources);
    if (failed(recipe))
      return failure();
    return *recipe->readLayer(0);
  }

  TemporaryFolder folder;
  OwningOpRef<ModuleOp> module;
};

TEST_F(GridParameter, IsReadAndPadded) {
  auto rows = read("tensor<4x5xf32>", "grid = array<i64: 1, 1, 2, 2, 1, 2>");
  ASSERT_TRUE(succeeded(rows)) << diagnostics;
  auto stored = [](int row, int column) {
    int i = row * 3 + column;
    return double(i * i);
  };
  for (int c = 0; c < 5; ++c) {
    bool isPadding = c >= 3;
    EXPECT_EQ((*rows)[c], isPadding ? 0 : stored(0, c));
    EXPECT_EQ((*rows)[5 + c], 0);
    for (int x = 0; x < 2; ++x)
      // Half between the rows of the grid, at its edges: both weigh a half.
      EXPECT_EQ((*rows)[5 * (2 + x) + c],
                isPadding ? 0 : (stored(1 + x, c) + stored(3 + x, c)) / 2);
  }
}

TEST_F(GridParameter, NeedsItsRows) {
  EXPECT_TRUE(
      failed(read("tensor<3x3xf32>", "grid = array<i64: 1, 0, 3, 2, 1, 2>")));
  EXPECT_TRUE(llvm::StringRef(diagnostics)
                  .contains("parameter @p: expected the 7 rows of a grid, "
                            "found shape [5, 3] in tensor 'w'"))
      << diagnostics;
}

} // namespace
