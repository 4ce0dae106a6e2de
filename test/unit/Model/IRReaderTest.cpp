//===- IRReaderTest.cpp - Models in .mlir files ---------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelTestUtilities.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace hexad;

namespace {

constexpr llvm::StringLiteral goodText = R"(module @tiny {
  hexad.parameter @table : tensor<7x4xf32> from "w.safetensors" ["table"]
  func.func @forward(%ids: tensor<?x?xi32> {hexad.name = "ids", hexad.limit = 7 : i64},
                     %mask: tensor<?x?xi32> {hexad.name = "mask", hexad.optional})
      -> (tensor<?x?x4xf32> {hexad.name = "rows"}) {
    %segments = hexad.segments %mask : tensor<?x?xi32>
    %0 = hexad.pack_rows %ids, %segments : tensor<?x?xi32> -> tensor<?xi32>
    %1 = hexad.load @table : tensor<7x4xf32>
    %2 = hexad.embedding %0, %1 : tensor<?xi32>, tensor<7x4xf32> -> tensor<?x4xf32>
    %3 = hexad.unpack_rows %2, %segments : tensor<?x4xf32> -> tensor<?x?x4xf32>
    return %3 : tensor<?x?x4xf32>
  }
}
)";

class IRReader : public ModelTest {
protected:
  IRReader() {
    std::vector<uint8_t> zeros(7 * 4 * 4);
    llvm::Error error =
        writeSafetensors(folder.getPath("w.safetensors"),
                         {{"table", StoredType::F32, {7, 4}, zeros}});
    EXPECT_FALSE(!!error) << llvm::toString(std::move(error));
  }

  static std::string change(llvm::StringRef from, llvm::StringRef to,
                            llvm::StringRef text = goodText) {
    size_t at = text.find(from);
    EXPECT_NE(at, llvm::StringRef::npos) << from.str();
    return (text.take_front(at) + to + text.drop_front(at + from.size())).str();
  }
  void expectTextError(llvm::StringRef text, llvm::StringRef where,
                       llvm::StringRef what,
                       ArrayRef<std::string> outputs = {}) {
    expectError(folder.write("model.mlir", text), ("model.mlir:" + where).str(),
                what, outputs);
  }

  TemporaryFolder folder;
};

TEST_F(IRReader, ReadsWhatItPrints) {
  OwningOpRef<ModuleOp> module =
      read(folder.write("model.mlir", goodText), {"rows"});
  ASSERT_TRUE(module) << diagnostics;
  std::string text = print(*module);
  OwningOpRef<ModuleOp> again = read(folder.write("again.mlir", text));
  ASSERT_TRUE(again) << diagnostics;
  EXPECT_EQ(print(*again), text);
}

TEST_F(IRReader, ReadsThePrintedGoldenModel) {
  OwningOpRef<ModuleOp> module = read(getGolden("bert"), {"hidden"});
  ASSERT_TRUE(module) << diagnostics;
  folder.copy(getGolden("bert") + "/model.safetensors", "model.safetensors");
  std::string text = print(*module);
  OwningOpRef<ModuleOp> again =
      read(folder.write("bert.mlir", text), {"hidden"});
  ASSERT_TRUE(again) << diagnostics;
  EXPECT_EQ(print(*again), text);
}

TEST_F(IRReader, NamesModels) {
  OwningOpRef<ModuleOp> module =
      read(folder.write("my-model.mlir", change(" @tiny", "")));
  ASSERT_TRUE(module) << diagnostics;
  EXPECT_EQ(module->getSymName(), "my_model");
}

TEST_F(IRReader, RefusesTexts) {
  expectTextError("", "1:1: error: ", "found an empty file");
  expectTextError(" \n", "1:1: error: ", "found an empty file");
  expectTextError("// nothing\n", "", "expected a module with one function");
  expectTextError("garbage", "1:1: error: ", "");
  expectTextError("ML\xefRgarbage", "1:1: error: ", "expected a text");
  expectTextError(llvm::StringRef("a\0b", 3),
                  "1:1: error: ", "expected a text");
  expectTextError("module {", "", "");
}

TEST_F(IRReader, RefusesDeepTexts) {
  auto repeat = [](llvm::StringRef piece, int count) {
    std::string text;
    for (int i = 0; i < count; ++i)
      text += piece;
    return text;
  };
  constexpr llvm::StringLiteral deep = "nested deeper than 200 levels";
  expectTextError(repeat("module {", 5000), "", deep);
  expectTextError("module attributes {a = " + repeat("[", 100'000), "", deep);
  expectTextError("module attributes {a = " + repeat("{a = ", 100'000), "",
                  deep);
  expectTextError("module attributes {a = " + repeat("tuple<", 100'000), "",
                  deep);
  expectTextError(repeat("(", 100'000), "", deep);
  expectTextError("module attributes {a = affine_map<(d0) -> (" +
                      repeat("-", 100'000) + "d0)>}",
                  "", "an affine_map cannot be part of a model");
  std::string aliases = "#a0 = [1]\n";
  for (int i = 1; i < 10'000; ++i)
    aliases +=
        "#a" + std::to_string(i) + " = [#a" + std::to_string(i - 1) + "]\n";
  expectTextError(aliases, "", "aliases nested deeper than 200 levels");
  // Brackets in strings and comments nest nothing.
  EXPECT_TRUE(read(folder.write(
      "model.mlir", change("module", "// " + repeat("[", 1000) + "\nmodule"))))
      << diagnostics;
}

TEST_F(IRReader, RefusesOtherModules) {
  expectTextError("module {}", "1:1: error: ",
                  "expected a module with one function, found none");
  expectTextError(change("func.func @", "func.func private @other()\n"
                                        "  func.func @"),
                  "", "expected one function, found another");
  expectTextError(change("func.func @", "func.func private @"),
                  "3:3: error: ", "expected a public function with a body");
  expectTextError(change("%3 = hexad", "%t = math.exp %2 : tensor<?x4xf32>\n"
                                       "    %3 = hexad"),
                  "", "");
  expectTextError(
      change("    return", "    scf.execute_region { scf.yield }\n    return"),
      "", "op 'scf.execute_region' cannot be part of a model");
}

TEST_F(IRReader, RefusesInterfaces) {
  expectTextError(change("hexad.name = \"ids\", ", ""),
                  "3:22: error: ", "expected hexad.name on argument 0");
  expectTextError(change("\"ids\"", "\"a b\""), "3:22: error: ", "found 'a b'");
  expectTextError(change("\"ids\"", "\"mask\""),
                  "4:22: error: ", "the name 'mask' of argument 1 is taken");
  expectTextError(change("\"rows\"", "\"ids\""), "",
                  "the name 'ids' of result 0 is taken");
  expectTextError(change(" {hexad.name = \"rows\"}", ""), "",
                  "expected hexad.name on result 0");
  expectTextError(change("limit = 7 : i64", "limit = 0 : i64"), "",
                  "expected a positive i64 as hexad.limit");
  expectTextError(change("limit = 7 : i64", "limit = 7 : i32"), "",
                  "expected a positive i64 as hexad.limit");
  expectTextError(change("limit = 7 : i64", "limit = 2147483648 : i64"), "",
                  "expected a limit of at most 2147483647");
  expectTextError(change(", hexad.limit = 7 : i64", ""), "7:10: error: ",
                  "expected argument 0, without hexad.limit, to be used by "
                  "hexad.segments only");
  expectTextError(change("hexad.optional", "hexad.limit = 3 : i64"),
                  "6:17: error: ",
                  "expected argument 1, with hexad.limit, to be used by "
                  "hexad.pack_rows only");
  // Labels.
  std::string withLabels = change(
      "hexad.optional})", "hexad.optional}, %l: tensor<?x?xi32> {hexad.name = "
                          "\"labels\", hexad.limit = 4 : i64})");
  withLabels = change("    return",
                      "    %4 = hexad.labels %l, %segments : tensor<?x?xi32> "
                      "-> tensor<?xi32>\n    return",
                      withLabels);
  EXPECT_TRUE(read(folder.write("model.mlir", withLabels))) << diagnostics;
  expectTextError(change(", hexad.limit = 4 : i64", "", withLabels), "",
                  "expected hexad.limit on argument 2, which is labels");
  expectTextError(change("    return",
                         "    %5 = hexad.pack_rows %l, %segments : "
                         "tensor<?x?xi32> -> tensor<?xi32>\n    return",
                         withLabels),
                  "",
                  "expected argument 2, which is labels, to be used by "
                  "hexad.labels only");
  expectTextError(
      change("hexad.labels %l, %segments : tensor<?x?xi32>",
             "hexad.labels %l, %segments : tensor<7xi32>",
             change("%l: tensor<?x?xi32>", "%l: tensor<7xi32>", withLabels)),
      "",
      "expected argument 2 to be a tensor<?x?xi32> or a "
      "tensor<?xi32>, found 'tensor<7xi32>'");
  expectTextError(change("hexad.optional", "hexad.optional = 1 : i64"), "",
                  "expected hexad.optional to stand without a value");
  expectTextError(change("%ids: tensor<?x?xi32>", "%x: tensor<3x3xi32> "
                                                  "{hexad.name = \"x\"}, "
                                                  "%ids: tensor<?x?xi32>"),
                  "", "expected argument 0 to be a tensor<?x?xi32>");
  expectTextError(
      change("(tensor<?x?x4xf32> {", "(tensor<?x?x4xf32> {hexad.stacked, "), "",
      "expected result 0 to be a stack");
  expectTextError(
      change("{hexad.name = \"rows\"}) {",
             "{hexad.name = \"rows\"}) attributes {hexad.position_limit = "
             "\"x\"} {"),
      "", "expected hexad.position_limit to be a positive i64");
  expectError(folder.write("model.mlir", goodText), "--outputs: error: ",
              "there is no output 'hidden'; expected 'rows'", {"hidden"});
}

TEST_F(IRReader, RefusesParameters) {
  expectTextError(change("\"w.safetensors\"", "\"x.safetensors\""),
                  "2:3: error: ", "x.safetensors: ");
  expectTextError(change("\"w.safetensors\"", "\"../w.safetensors\""),
                  "2:3: error: ", "inside the model's folder");
  expectTextError(change("[\"table\"]", "[\"chair\"]"),
                  "2:3: error: ", "there is no tensor 'chair'");
  expectTextError(
      change("tensor<7x4xf32> from", "tensor<1x4x8xf32> from",
             change("[\"table\"]", "[\"table\"] {panel = 8 : i64}")),
      "", "");
}

} // namespace
