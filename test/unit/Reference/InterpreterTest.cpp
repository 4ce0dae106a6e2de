//===- InterpreterTest.cpp - Models at their boundary ---------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Reference/Interpreter.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace hexad;
using namespace hexad::reference;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// A model with a mask and two kinds of ids, one of them optional. The output
/// is the sum of both embeddings: 10 · id + type.
constexpr const char *model = R"mlir(
hexad.parameter @words : tensor<4x1xf32> from "w.safetensors" ["words"]
hexad.parameter @types : tensor<2x1xf32> from "w.safetensors" ["types"]
func.func @forward(%ids: tensor<?x?xi32> {hexad.name = "ids", hexad.limit = 4 : i64},
                   %mask: tensor<?x?xi32> {hexad.name = "mask", hexad.optional},
                   %types: tensor<?x?xi32> {hexad.name = "types", hexad.limit = 2 : i64, hexad.optional})
    -> (tensor<?x?x1xf32> {hexad.name = "sum"}, tensor<2x?x?x1xf32> {hexad.name = "hidden", hexad.stacked})
    attributes {hexad.position_limit = 3 : i64} {
  %c0 = arith.constant 0 : index
  %segments = hexad.segments %mask : tensor<?x?xi32>
  %0 = hexad.pack_rows %ids, %segments : tensor<?x?xi32> -> tensor<?xi32>
  %1 = hexad.pack_rows %types, %segments : tensor<?x?xi32> -> tensor<?xi32>
  %words = hexad.load @words : tensor<4x1xf32>
  %kinds = hexad.load @types : tensor<2x1xf32>
  %x = hexad.embedding %0, %words : tensor<?xi32>, tensor<4x1xf32> -> tensor<?x1xf32>
  %y = hexad.embedding %1, %kinds : tensor<?xi32>, tensor<2x1xf32> -> tensor<?x1xf32>
  %z = hexad.add %x, %y : tensor<?x1xf32>
  %rows = tensor.dim %z, %c0 : tensor<?x1xf32>
  %s0 = tensor.empty(%rows) : tensor<2x?x1xf32>
  %s1 = tensor.insert_slice %x into %s0[0, 0, 0] [1, %rows, 1] [1, 1, 1] : tensor<?x1xf32> into tensor<2x?x1xf32>
  %s2 = tensor.insert_slice %z into %s1[1, 0, 0] [1, %rows, 1] [1, 1, 1] : tensor<?x1xf32> into tensor<2x?x1xf32>
  %sum = hexad.unpack_rows %z, %segments : tensor<?x1xf32> -> tensor<?x?x1xf32>
  %hidden = hexad.unpack_rows %s2, %segments : tensor<2x?x1xf32> -> tensor<2x?x?x1xf32>
  return %sum, %hidden : tensor<?x?x1xf32>, tensor<2x?x?x1xf32>
}
)mlir";

class Interpreter : public testing::Test {
protected:
  Interpreter() {
    context.loadDialect<HexadDialect, arith::ArithDialect,
                        cf::ControlFlowDialect, func::FuncDialect,
                        scf::SCFDialect, tensor::TensorDialect>();
  }

  OwningOpRef<ModuleOp> parse(const char *text) {
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(text, ParserConfig(&context));
    EXPECT_TRUE(module);
    return module;
  }

  /// Row i of `words` is 10 · i, of `types` i.
  static FailureOr<FloatTensor> parameters(ParameterOp parameter,
                                           std::optional<int64_t>) {
    FloatTensor tensor(parameter.getTensorType().getShape());
    double step = parameter.getSymName() == "words" ? 10 : 1;
    for (auto [i, element] : llvm::enumerate(tensor.elements))
      element = step * i;
    return tensor;
  }

  FailureOr<std::vector<Output>>
  run(const llvm::StringMap<IntegerTensor> &inputs) {
    OwningOpRef<ModuleOp> module = parse(model);
    return runModel(*module, inputs, parameters);
  }

  /// Runs `call`, expects it to fail, and returns its error.
  template <typename Call> std::string getError(Call call) {
    std::string message;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      message += diagnostic.str();
      return success();
    });
    EXPECT_TRUE(failed(call()));
    return message;
  }

  std::string getRunError(const llvm::StringMap<IntegerTensor> &inputs) {
    return getError([&] { return run(inputs); });
  }

  static IntegerTensor rectangle(int64_t batch, int64_t seq,
                                 std::vector<int64_t> elements) {
    IntegerTensor tensor({batch, seq});
    EXPECT_EQ(tensor.elements.size(), elements.size());
    tensor.elements = std::move(elements);
    return tensor;
  }

  MLIRContext context;
};

TEST_F(Interpreter, AllInputs) {
  FailureOr<std::vector<Output>> outputs =
      run({{"ids", rectangle(2, 2, {1, 2, 3, 0})},
           {"mask", rectangle(2, 2, {1, 1, 0, 1})},
           {"types", rectangle(2, 2, {1, 0, 0, 1})}});
  ASSERT_TRUE(succeeded(outputs));
  ASSERT_EQ(outputs->size(), 3u);
  EXPECT_EQ((*outputs)[0].name, "sum");
  EXPECT_THAT((*outputs)[0].value.shape, ElementsAre(2, 2, 1));
  EXPECT_THAT((*outputs)[0].value.elements, ElementsAre(11, 20, 0, 1));
}

TEST_F(Interpreter, StackIsSplit) {
  FailureOr<std::vector<Output>> outputs = run(
      {{"ids", rectangle(1, 2, {1, 2})}, {"types", rectangle(1, 2, {1, 1})}});
  ASSERT_TRUE(succeeded(outputs));
  EXPECT_EQ((*outputs)[1].name, "hidden.0");
  EXPECT_THAT((*outputs)[1].value.shape, ElementsAre(1, 2, 1));
  EXPECT_THAT((*outputs)[1].value.elements, ElementsAre(10, 20));
  EXPECT_EQ((*outputs)[2].name, "hidden.1");
  EXPECT_THAT((*outputs)[2].value.elements, ElementsAre(11, 21));
}

TEST_F(Interpreter, AbsentOptionalInputs) {
  // Everything is real, types are 0.
  FailureOr<std::vector<Output>> outputs =
      run({{"ids", rectangle(1, 3, {1, 0, 3})}});
  ASSERT_TRUE(succeeded(outputs));
  EXPECT_THAT((*outputs)[0].value.elements, ElementsAre(10, 0, 30));
}

TEST_F(Interpreter, EmptyBatch) {
  FailureOr<std::vector<Output>> outputs = run({{"ids", rectangle(0, 3, {})}});
  ASSERT_TRUE(succeeded(outputs));
  EXPECT_THAT((*outputs)[0].value.shape, ElementsAre(0, 3, 1));
}

TEST_F(Interpreter, IdsAtPaddingMayBeAnything) {
  FailureOr<std::vector<Output>> outputs = run(
      {{"ids", rectangle(1, 2, {3, -100})}, {"mask", rectangle(1, 2, {1, 0})}});
  ASSERT_TRUE(succeeded(outputs));
  EXPECT_THAT((*outputs)[0].value.elements, ElementsAre(30, 0));
}

TEST_F(Interpreter, BadInputs) {
  EXPECT_THAT(getRunError({}), HasSubstr("input 'ids' is missing"));
  EXPECT_THAT(getRunError({{"ids", rectangle(1, 1, {1})},
                           {"idz", rectangle(1, 1, {1})}}),
              HasSubstr("the model has no input 'idz'"));
  EXPECT_THAT(getRunError({{"ids", rectangle(1, 2, {1, 4})}}),
              HasSubstr("input 'ids': expected ids from 0 to 3, found 4 at "
                        "[0, 1]"));
  EXPECT_THAT(getRunError({{"ids", rectangle(1, 2, {-1, 2})}}),
              HasSubstr("expected ids from 0 to 3, found -1 at [0, 0]"));
  EXPECT_THAT(getRunError({{"ids", rectangle(1, 2, {1, 2})},
                           {"types", rectangle(2, 1, {0, 0})}}),
              HasSubstr("input 'types': expected the shape of 'ids', 1 x 2, "
                        "found 2 x 1"));
  EXPECT_THAT(getRunError({{"ids", IntegerTensor({2})}}),
              HasSubstr("expected a rectangle [batch, seq], found rank 1"));
  EXPECT_THAT(getRunError({{"ids", rectangle(1, 1, {int64_t(1) << 32})}}),
              HasSubstr("4294967296 does not fit in 32 bits"));
  EXPECT_THAT(getRunError({{"ids", rectangle(1, 4, {0, 0, 0, 0})}}),
              HasSubstr("expected sequences of at most 3 tokens, found 4 in "
                        "batch row 0"));
  EXPECT_THAT(getRunError({{"ids", rectangle(1, 3, {0, 0, 0})},
                           {"mask", rectangle(1, 3, {1, 0, 1})}}),
              HasSubstr("found a hole at element 1"));
}

TEST_F(Interpreter, BadModels) {
  auto getModelError = [&](const char *text) {
    OwningOpRef<ModuleOp> module = parse(text);
    return getError([&] {
      return runModel(*module, {{"ids", rectangle(1, 1, {0})}}, noParameters());
    });
  };
  EXPECT_THAT(getModelError(""),
              HasSubstr("expected a model to have a function"));
  EXPECT_THAT(getModelError("func.func @f() { return }\n"
                            "func.func @g() { return }"),
              HasSubstr("expected a model to be one function"));
  EXPECT_THAT(getModelError("func.func private @f()"),
              HasSubstr("expected a function with a body"));
  EXPECT_THAT(getModelError("func.func @f(%x: index) { return }"),
              HasSubstr("expected argument 0 to be a rectangle of i32 with a "
                        "hexad.name, found 'index'"));
  EXPECT_THAT(
      getModelError("func.func @f(%x: tensor<?x?xi32> {hexad.name = \"ids\"}, "
                    "%y: tensor<?x?xi32> {hexad.name = \"ids\"}) { return }"),
      HasSubstr("two arguments have the name 'ids'"));
  EXPECT_THAT(
      getModelError("func.func @f(%x: tensor<?x?xi32> {hexad.name = \"ids\"}) "
                    "-> tensor<?x?xi32> { return %x : tensor<?x?xi32> }"),
      HasSubstr("expected result 0 to be a tensor of f32 with a hexad.name"));
  EXPECT_THAT(
      getModelError("func.func @f(%x: tensor<3x?xi32> {hexad.name = \"ids\"}) "
                    "{ return }"),
      HasSubstr("input 'ids': expected 'tensor<3x?xi32>', found a tensor of "
                "shape [1, 1]"));
  EXPECT_THAT(
      getModelError("func.func @f(%x: tensor<?x?xi32> {hexad.name = \"ids\"}) "
                    "{ cf.br ^bb1\n ^bb1: return }"),
      HasSubstr("expected a function of one block"));
  EXPECT_THAT(
      getModelError(
          "hexad.parameter @w : tensor<3xf32> from \"w.safetensors\" [\"w\"]\n"
          "func.func @f(%x: tensor<?x?xi32> {hexad.name = \"ids\"}) {\n"
          "  %w = hexad.load @w : tensor<3xf32>\n  return\n}"),
      HasSubstr("has no values here"));
}

} // namespace
