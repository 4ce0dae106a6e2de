//===- ModelReaderTest.cpp - Folders, descriptions, IR --------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelTestUtilities.h"

using namespace mlir;
using namespace hexad;

namespace {

class GoldenModels : public ModelTest,
                     public ::testing::WithParamInterface<const char *> {};

TEST_P(GoldenModels, FolderEqualsDescription) {
  std::string folder = getGolden(GetParam());
  std::string yaml = folder + "/" + GetParam() + ".yaml";
  std::vector<std::string> hidden = {"hidden"}, loss = {"loss", "hidden"};
  // Encoders have no logits.
  llvm::StringRef name = GetParam();
  if (name == "bert" || name == "dinov2-swiglu")
    loss.clear();
  for (ArrayRef<std::string> outputs :
       {ArrayRef<std::string>(), ArrayRef(hidden), ArrayRef(loss)}) {
    OwningOpRef<ModuleOp> fromFolder = read(folder, outputs);
    ASSERT_TRUE(fromFolder) << diagnostics;
    OwningOpRef<ModuleOp> fromYaml = read(yaml, outputs);
    ASSERT_TRUE(fromYaml) << diagnostics;
    EXPECT_EQ(print(*fromFolder), print(*fromYaml));
    EXPECT_EQ(diagnostics, "");
  }
}

TEST_P(GoldenModels, WeightsOfFolderAndDescriptionAreEqual) {
  std::string folder = getGolden(GetParam());
  OwningOpRef<ModuleOp> fromFolder = read(folder);
  OwningOpRef<ModuleOp> fromYaml = read(folder + "/" + GetParam() + ".yaml");
  ASSERT_TRUE(fromFolder && fromYaml) << diagnostics;
  std::string weights = writeWeights(*fromFolder, folder);
  EXPECT_GT(weights.size(), 200'000u);
  EXPECT_TRUE(weights == writeWeights(*fromYaml, folder));
}

/// The type that tensors have, where all of a parameter's have one of 16 bits.
TEST_F(ModelTest, WeightsOfTheStoredType) {
  TemporaryFolder folder;
  std::vector<uint8_t> zeros(200);
  auto tensor = [&](const char *name, StoredType type, int64_t rows,
                    int64_t columns) {
    size_t bytes = rows * columns * getStoredTypeBytes(type);
    return TensorToWrite{
        name, type, {rows, columns}, llvm::ArrayRef(zeros).take_front(bytes)};
  };
  llvm::cantFail(writeSafetensors(folder.getPath("w.safetensors"),
                                  {tensor("bf16", StoredType::BF16, 4, 3),
                                   tensor("a", StoredType::BF16, 2, 3),
                                   tensor("b", StoredType::F16, 3, 3),
                                   tensor("f16", StoredType::F16, 4, 5),
                                   tensor("f32", StoredType::F32, 2, 4)}));
  std::string path = folder.write("m.mlir", R"(module @m {
  hexad.parameter @table : tensor<4x3xf32> from "w.safetensors" ["bf16"]
  hexad.parameter @mixed : tensor<5x3xf32> from "w.safetensors" ["a", "b"]
  hexad.parameter @half : tensor<4x5xf32> from "w.safetensors" ["f16"]
  hexad.parameter @wide : tensor<2x4xf32> from "w.safetensors" ["f32"]
  hexad.parameter @given : tensor<2x4xf32> from "w.safetensors" ["f32"] {storage = f16}
  func.func @forward(%ids: tensor<?x?xi32> {hexad.name = "ids", hexad.limit = 4 : i64},
                     %mask: tensor<?x?xi32> {hexad.name = "attention_mask", hexad.optional})
      -> (tensor<?x?x2xf32> {hexad.name = "y"}) {
    %s = hexad.segments %mask : tensor<?x?xi32>
    %i = hexad.pack_rows %ids, %s : tensor<?x?xi32> -> tensor<?xi32>
    %t = hexad.load @table : tensor<4x3xf32>
    %m = hexad.load @mixed : tensor<5x3xf32>
    %h = hexad.load @half : tensor<4x5xf32>
    %w = hexad.load @wide : tensor<2x4xf32>
    %g = hexad.load @given : tensor<2x4xf32>
    %0 = hexad.embedding %i, %t : tensor<?xi32>, tensor<4x3xf32> -> tensor<?x3xf32>
    %1 = hexad.linear %0, %m : tensor<?x3xf32>, tensor<5x3xf32> -> tensor<?x5xf32>
    %2 = hexad.linear %1, %h : tensor<?x5xf32>, tensor<4x5xf32> -> tensor<?x4xf32>
    %3 = hexad.linear %2, %w : tensor<?x4xf32>, tensor<2x4xf32> -> tensor<?x2xf32>
    %4 = hexad.linear %2, %g : tensor<?x4xf32>, tensor<2x4xf32> -> tensor<?x2xf32>
    %5 = hexad.add %3, %4 : tensor<?x2xf32>
    %y = hexad.unpack_rows %5, %s : tensor<?x2xf32> -> tensor<?x?x2xf32>
    return %y : tensor<?x?x2xf32>
  }
})");
  ReadOptions options;
  auto getStorages = [&](WeightsType type) {
    options.weightsType = type;
    llvm::SourceMgr sources;
    OwningOpRef<ModuleOp> module = readModel(path, options, sources, &context);
    std::string text;
    llvm::raw_string_ostream stream(text);
    if (!module)
      return diagnostics;
    for (auto parameter : module->getOps<ParameterOp>())
      stream << parameter.getStoredElementType() << ' ';
    return text;
  };
  EXPECT_EQ(getStorages(WeightsType::F32), "f32 f32 f32 f32 f16 ");
  EXPECT_EQ(getStorages(WeightsType::Stored), "bf16 f32 f16 f32 f16 ");
  EXPECT_EQ(getStorages(WeightsType::BF16), "bf16 bf16 bf16 bf16 bf16 ");
}

/// The first example of the documentation is a golden model.
TEST_F(ModelTest, DocumentationIsTrue) {
  auto document = llvm::MemoryBuffer::getFile(HEXAD_TEST_DIR
                                              "/../docs/ModelDescription.md");
  ASSERT_TRUE(!!document);
  llvm::StringRef example =
      (*document)->getBuffer().split("```yaml\n").second.split("```").first;
  TemporaryFolder folder;
  folder.copy(getGolden("bert") + "/model.safetensors", "model.safetensors");
  OwningOpRef<ModuleOp> described = read(folder.write("bert.yaml", example));
  ASSERT_TRUE(described) << diagnostics;
  OwningOpRef<ModuleOp> golden = read(getGolden("bert"));
  ASSERT_TRUE(golden) << diagnostics;
  EXPECT_EQ(print(*described), print(*golden));
}

INSTANTIATE_TEST_SUITE_P(Bert, GoldenModels,
                         ::testing::Values("bert", "bert-mlm"));
INSTANTIATE_TEST_SUITE_P(Vision, GoldenModels,
                         ::testing::Values("dinov2", "dinov2-swiglu", "vit"));

class LossReader : public ModelTest {
protected:
  std::string readWithLoss(llvm::StringRef name) {
    OwningOpRef<ModuleOp> module = read(getGolden(name), {"loss"});
    EXPECT_TRUE(module) << diagnostics;
    return module ? print(*module) : "";
  }
};

/// Logits and loss have the layers behind the last norm twice, and one weight.
TEST_F(LossReader, DecodersHaveTheLabelOfTheNextToken) {
  std::string text = readWithLoss("gpt2");
  llvm::StringRef ir = text;
  EXPECT_TRUE(ir.contains("tensor<?x?xi32> {hexad.limit = 127 : i64, "
                          "hexad.name = \"labels\", hexad.optional}"))
      << text;
  EXPECT_TRUE(ir.contains(" {shift} : tensor<?x?xi32> -> tensor<?xi32>"));
  EXPECT_TRUE(ir.contains("tensor<f32> {hexad.name = \"loss\"}"));
  EXPECT_EQ(ir.count("hexad.select_rows"), 1u);
  EXPECT_EQ(ir.count("hexad.cross_entropy"), 1u);
  EXPECT_EQ(ir.count("hexad.parameter"),
            llvm::StringRef(print(*read(getGolden("gpt2"))))
                .count("hexad.parameter"));
}

/// Its logits are of selected rows then: a call may want none.
TEST_F(LossReader, MaskedModelsHaveTheirOwnLabels) {
  std::string text = readWithLoss("bert-mlm");
  llvm::StringRef ir = text;
  EXPECT_TRUE(ir.contains("hexad.labels"));
  EXPECT_FALSE(ir.contains("{shift}"));
  EXPECT_EQ(ir.count("hexad.select_rows"), 1u);
  EXPECT_FALSE(llvm::StringRef(print(*read(getGolden("bert-mlm"))))
                   .contains("hexad.select_rows"));
}

TEST_F(LossReader, NeedsLogits) {
  expectError(getGolden("bert"), "--outputs: error: ",
              "output 'loss' needs an output 'logits', which it compares with "
              "labels",
              {"loss"});
}

} // namespace
