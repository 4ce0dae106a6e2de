//===- ConvolutionTest.cpp - Numbers stay as patches become a convolution -===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorEvaluator.h"
#include "hexad/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace hexad;
using namespace hexad::test;

namespace {

struct Shape {
  int64_t batch, channels, height, width, filters, p, q;
};

constexpr Shape shapes[] = {{1, 1, 1, 1, 1, 1, 1}, {2, 3, 4, 6, 5, 2, 3},
                            {3, 2, 6, 4, 4, 3, 1}, {1, 4, 7, 5, 2, 7, 5},
                            {2, 1, 2, 8, 3, 1, 4}, {0, 3, 4, 4, 2, 2, 2}};

/// Small whole numbers, whose sums are exact in any order.
Tensor makeNumbers(std::vector<int64_t> shape, uint32_t seed) {
  Tensor tensor(std::move(shape));
  for (double &element : tensor.elements)
    element = int((seed = seed * 1664525 + 1013904223) >> 28) - 7;
  return tensor;
}

class Convolution : public testing::TestWithParam<Shape> {
protected:
  Convolution() {
    context.loadDialect<HexadDialect, arith::ArithDialect, func::FuncDialect,
                        linalg::LinalgDialect, tensor::TensorDialect>();
  }

  std::vector<Tensor> makeArguments() {
    Shape s = GetParam();
    return {makeNumbers({s.batch, s.channels, s.height, s.width}, 1),
            makeNumbers({s.filters, s.channels, s.p, s.q}, 2),
            makeNumbers({s.filters}, 3)};
  }

  /// What the function gives stays the same; no op of the name `gone` is left.
  void check(const std::string &text, std::unique_ptr<Pass> pass,
             llvm::StringRef gone) {
    auto module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module) << text;
    auto function = *module->getOps<func::FuncOp>().begin();
    std::optional<Tensor> before = evaluate(function, makeArguments());
    PassManager passes(&context);
    passes.addNestedPass<func::FuncOp>(std::move(pass));
    ASSERT_TRUE(succeeded(passes.run(*module)));
    function.walk(
        [&](Operation *op) { EXPECT_NE(gone, op->getName().getStringRef()); });
    std::optional<Tensor> after = evaluate(function, makeArguments());
    ASSERT_TRUE(before && after);
    EXPECT_EQ(before->shape, after->shape);
    EXPECT_EQ(before->elements, after->elements);
  }

  MLIRContext context;
};

TEST_P(Convolution, OfPatches) {
  Shape s = GetParam();
  int64_t patches = s.height / s.p * (s.width / s.q);
  for (int64_t prefix : {0, 1, 3})
    for (bool bias : {false, true}) {
      std::string text = llvm::formatv(
          "func.func @f(%i: tensor<?x{0}x{1}x{2}xf32>, %w: "
          "tensor<{3}x{0}x{4}x{5}xf32>, %b: tensor<{3}xf32>) -> "
          "tensor<?x?x{3}xf32> {{\n"
          "  %s = hexad.image_segments %i {{length = {6} : i64} : "
          "tensor<?x{0}x{1}x{2}xf32>\n"
          "  %x = hexad.patchify %i, %w {7}, %s {8} : "
          "tensor<?x{0}x{1}x{2}xf32>, tensor<{3}x{0}x{4}x{5}xf32>{9} -> "
          "tensor<?x{3}xf32>\n"
          "  %y = hexad.unpack_rows %x, %s : tensor<?x{3}xf32> -> "
          "tensor<?x?x{3}xf32>\n"
          "  return %y : tensor<?x?x{3}xf32>\n}",
          s.channels, s.height, s.width, s.filters, s.p, s.q, prefix + patches,
          bias ? "bias %b" : "",
          prefix ? llvm::formatv("{{prefix = {0} : i64}", prefix).str() : "",
          bias ? llvm::formatv(", tensor<{0}xf32>", s.filters).str() : "");
      check(text, createPatchifyToConvolutionPass(), "hexad.patchify");
    }
}

TEST_P(Convolution, IntoPatches) {
  Shape s = GetParam();
  for (bool bias : {false, true}) {
    std::string type = llvm::formatv("tensor<{0}x{1}x{2}x{3}xf32>", s.batch,
                                     s.filters, s.height / s.p, s.width / s.q);
    std::string start =
        "linalg.fill ins(%z : f32) outs(%e : " + type + ") -> " + type;
    if (bias)
      start = llvm::formatv("linalg.broadcast ins(%b : tensor<{0}xf32>) "
                            "outs(%e : {1}) dimensions = [0, 2, 3]",
                            s.filters, type);
    std::string text = llvm::formatv(
        "func.func @f(%i: tensor<{0}x{1}x{2}x{3}xf32>, %w: "
        "tensor<{4}x{1}x{5}x{6}xf32>, %b: tensor<{4}xf32>) -> {7} {{\n"
        "  %z = arith.constant 0.0 : f32\n"
        "  %e = tensor.empty() : {7}\n"
        "  %s = {8}\n"
        "  %y = linalg.conv_2d_nchw_fchw {{dilations = dense<1> : "
        "tensor<2xi64>, strides = dense<[{5}, {6}]> : tensor<2xi64>} ins(%i, "
        "%w : tensor<{0}x{1}x{2}x{3}xf32>, tensor<{4}x{1}x{5}x{6}xf32>) "
        "outs(%s : {7}) -> {7}\n"
        "  return %y : {7}\n}",
        s.batch, s.channels, s.height, s.width, s.filters, s.p, s.q, type,
        start);
    check(text, createConvolutionToPatchifyPass(), "linalg.conv_2d_nchw_fchw");
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Convolution, testing::ValuesIn(shapes));

} // namespace
