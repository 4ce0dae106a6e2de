//===- TilingInterfaceTest.cpp - Tiles of row-local ops -------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the transform dialect does not reach: tiles that come from an operand or
// a result, and those that are refused. test/Dialect/Hexad/IR/tiling.mlir has
// the rest.
//
//===----------------------------------------------------------------------===//

#include "mlir/Interfaces/TilingInterface.h"
#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "hexad/Dialect/Hexad/IR/TilingInterfaceImpl.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace hexad;

namespace {

class RowLocalTiling : public testing::Test {
protected:
  RowLocalTiling() : context(makeRegistry()), builder(&context) {
    module = parseSourceString<ModuleOp>(R"mlir(
func.func @f(%x: tensor<?x60xf32>, %y: tensor<?x171xf32>, %w: tensor<171x60xf32>) -> tensor<?x171xf32> {
  %0 = hexad.linear %x, %w : tensor<?x60xf32>, tensor<171x60xf32> -> tensor<?x171xf32>
  %1 = hexad.add %0, %y : tensor<?x171xf32>
  return %1 : tensor<?x171xf32>
}
)mlir",
                                         ParserConfig(&context));
    module->walk([&](LinearOp op) { linear = cast<TilingInterface>(*op); });
    module->walk([&](AddOp op) { add = cast<TilingInterface>(*op); });
    builder.setInsertionPoint(add);
  }

  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registry.insert<HexadDialect, func::FuncDialect, tensor::TensorDialect>();
    registerTilingInterfaceExternalModels(registry);
    return registry;
  }

  SmallVector<OpFoldResult> indices(ArrayRef<int64_t> values) {
    return getAsIndexOpFoldResult(&context, values);
  }
  static SmallVector<int64_t> constants(ArrayRef<OpFoldResult> values) {
    return llvm::map_to_vector(values, [](OpFoldResult value) {
      return getConstantIntValue(value).value_or(-1);
    });
  }

  /// The iteration domain's tile for tiles of operands.
  std::optional<std::pair<int64_t, int64_t>>
  tileFromOperands(TilingInterface op, ArrayRef<unsigned> numbers,
                   ArrayRef<SmallVector<OpFoldResult>> offsets,
                   ArrayRef<SmallVector<OpFoldResult>> sizes) {
    SmallVector<OpFoldResult> domainOffsets, domainSizes;
    LogicalResult result = op.getIterationDomainTileFromOperandTiles(
        builder, numbers, offsets, sizes, domainOffsets, domainSizes);
    EXPECT_EQ(succeeded(result),
              op.isOpFusableWithProducerSlices(numbers, offsets, sizes));
    if (failed(result))
      return std::nullopt;
    return std::pair(constants(domainOffsets).front(),
                     constants(domainSizes).front());
  }

  MLIRContext context;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
  TilingInterface linear, add;
};

TEST_F(RowLocalTiling, OneParallelLoopOverRows) {
  EXPECT_THAT(linear.getLoopIteratorTypes(),
              testing::ElementsAre(utils::IteratorType::parallel));
  EXPECT_EQ(linear.getIterationDomain(builder).size(), 1u);
}

TEST_F(RowLocalTiling, FromOperand) {
  EXPECT_EQ(
      tileFromOperands(linear, {0}, {indices({24, 0})}, {indices({12, 60})}),
      std::pair(int64_t(24), int64_t(12)));
  FailureOr<TilingResult> tile = linear.getTiledImplementationFromOperandTiles(
      builder, {0}, {indices({24, 0})}, {indices({12, 60})});
  ASSERT_TRUE(succeeded(tile));
  auto tiled = dyn_cast<LinearOp>(tile->tiledOps.front());
  ASSERT_TRUE(tiled);
  EXPECT_THAT(tiled.getResult().getType().getShape(),
              testing::ElementsAre(12, 171));
  EXPECT_EQ(tiled.getWeight(), cast<LinearOp>(*linear).getWeight());
  ASSERT_EQ(tile->generatedSlices.size(), 1u);
  auto slice = cast<tensor::ExtractSliceOp>(tile->generatedSlices.front());
  EXPECT_THAT(slice.getStaticOffsets(), testing::ElementsAre(24, 0));
  EXPECT_TRUE(succeeded(verify(*module)));
}

TEST_F(RowLocalTiling, FromBothOperands) {
  EXPECT_EQ(tileFromOperands(add, {0, 1}, {indices({24, 0}), indices({24, 0})},
                             {indices({12, 171}), indices({12, 171})}),
            std::pair(int64_t(24), int64_t(12)));
  // Other rows of the one than of the other.
  EXPECT_FALSE(tileFromOperands(add, {0, 1},
                                {indices({24, 0}), indices({36, 0})},
                                {indices({12, 171}), indices({12, 171})}));
}

TEST_F(RowLocalTiling, Refused) {
  // A part of the weight.
  EXPECT_FALSE(
      tileFromOperands(linear, {1}, {indices({0, 0})}, {indices({12, 60})}));
  // Parts of rows.
  EXPECT_FALSE(
      tileFromOperands(linear, {0}, {indices({24, 0})}, {indices({12, 32})}));
  EXPECT_FALSE(
      tileFromOperands(add, {0}, {indices({24, 1})}, {indices({12, 171})}));
  EXPECT_FALSE(tileFromOperands(linear, {}, {}, {}));
}

TEST_F(RowLocalTiling, FromResult) {
  SmallVector<OpFoldResult> offsets, sizes;
  ASSERT_TRUE(succeeded(linear.getIterationDomainTileFromResultTile(
      builder, 0, indices({24, 0}), indices({12, 171}), offsets, sizes)));
  EXPECT_THAT(constants(offsets), testing::ElementsAre(24));
  EXPECT_THAT(constants(sizes), testing::ElementsAre(12));
  EXPECT_TRUE(linear.isOpFusableWithConsumerSlice(0, indices({24, 0}),
                                                  indices({12, 171})));

  // A consumer that wants some columns cannot have a tile of whole rows.
  EXPECT_FALSE(linear.isOpFusableWithConsumerSlice(0, indices({24, 16}),
                                                   indices({12, 16})));
  EXPECT_TRUE(failed(linear.generateResultTileValue(
      builder, 0, indices({24, 16}), indices({12, 16}))));
}

TEST_F(RowLocalTiling, ResultPosition) {
  SmallVector<OpFoldResult> offsets, sizes;
  ASSERT_TRUE(succeeded(linear.getResultTilePosition(
      builder, 0, indices({24}), indices({12}), offsets, sizes)));
  EXPECT_THAT(constants(offsets), testing::ElementsAre(24, 0));
  EXPECT_THAT(constants(sizes), testing::ElementsAre(12, 171));
}

} // namespace
