//===- VisionFoldersTest.cpp - Folders and descriptions of images ---------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FolderTest.h"

using namespace mlir;
using namespace hexad;

namespace {

/// `type` is that of the family; images of 4 x 6 in patches of 2 x 2.
std::string makeConfig(llvm::StringRef architecture, llvm::StringRef type,
                       llvm::StringRef rest) {
  return ("{\n  \"architectures\": [\"" + architecture +
          "\"],\n  \"model_type\": \"" + type + "\"," + R"(
  "hidden_size": 8,
  "image_size": [4, 6],
  "num_attention_heads": 2,
  "num_channels": 3,
  "num_hidden_layers": 2,
  "patch_size": 2)" +
          rest + "\n}\n")
      .str();
}

class VisionFolders : public FolderTest {
protected:
  void addLinear(std::string name, int64_t out, int64_t in) {
    add(name + ".weight", {out, in});
    add(name + ".bias", {out});
  }
  void addNorm(std::string name) {
    add(name + ".weight", {8});
    add(name + ".bias", {8});
  }
  void addEmbeddings(std::string prefix) {
    add(prefix + "embeddings.patch_embeddings.projection.weight", {8, 3, 2, 2});
    add(prefix + "embeddings.patch_embeddings.projection.bias", {8});
    add(prefix + "embeddings.cls_token", {1, 1, 8});
    add(prefix + "embeddings.position_embeddings", {1, 7, 8});
    addNorm(prefix + "layernorm");
    for (std::string i : {"0", "1"}) {
      std::string attention = prefix + "encoder.layer." + i + ".attention.";
      for (std::string part : {"query", "key", "value"})
        addLinear(attention + "attention." + part, 8, 8);
      addLinear(attention + "output.dense", 8, 8);
    }
  }
  void addVit(std::string prefix = "vit.") {
    addEmbeddings(prefix);
    for (std::string i : {"0", "1"}) {
      std::string layer = prefix + "encoder.layer." + i + ".";
      addNorm(layer + "layernorm_before");
      addNorm(layer + "layernorm_after");
      addLinear(layer + "intermediate.dense", 5, 8);
      addLinear(layer + "output.dense", 8, 5);
    }
  }
  void addDino(std::string prefix, bool gated) {
    addEmbeddings(prefix);
    add(prefix + "embeddings.mask_token", {1, 8});
    for (std::string i : {"0", "1"}) {
      std::string layer = prefix + "encoder.layer." + i + ".";
      for (std::string part : {"norm1", "norm2"})
        addNorm(layer + part);
      for (std::string part : {"layer_scale1", "layer_scale2"})
        add(layer + part + ".lambda1", {8});
      addLinear(layer + (gated ? "mlp.weights_in" : "mlp.fc1"),
                gated ? 2 * 24 : 32, 8);
      addLinear(layer + (gated ? "mlp.weights_out" : "mlp.fc2"), 8,
                gated ? 24 : 32);
    }
  }

  /// The folder with another size of images.
  OwningOpRef<ModuleOp> readResized(llvm::StringRef config, GridSize size) {
    store(config);
    diagnostics.clear();
    errors = 0;
    ReadOptions options;
    options.imageSize = size;
    llvm::SourceMgr sources;
    return readModel(folder.getPath(), options, sources, &context);
  }
  void expectText(ModuleOp module, llvm::StringRef text) {
    std::string printed = print(module);
    EXPECT_TRUE(llvm::StringRef(printed).contains(text))
        << "expected '" << text.str() << "' in: " << printed;
  }

  std::string vit =
      makeConfig("ViTModel", "vit", ",\n  \"intermediate_size\": 5");
};

TEST_F(VisionFolders, ReadsVit) {
  addVit("");
  addLinear("pooler.dense", 8, 8);
  OwningOpRef<ModuleOp> module = readFolder(vit);
  ASSERT_TRUE(module) << diagnostics;
  EXPECT_EQ(diagnostics, "");
  expectText(*module, "tensor<?x3x4x6xf32> {hexad.name = \"pixel_values\"}");
  expectText(*module, "hexad.name = \"pooler_output\"");
  expectText(*module, "{prefix = 1 : i64}");
  // Positions as they are stored.
  EXPECT_FALSE(llvm::StringRef(print(*module)).contains("grid"));
}

TEST_F(VisionFolders, PoolerMayDiffer) {
  addVit();
  addLinear("vit.pooler.dense", 3, 8);
  OwningOpRef<ModuleOp> module =
      readFolder(change("\"hidden_size\"",
                        "\"pooler_act\": \"relu\", \"pooler_output_size\": 3, "
                        "\"hidden_size\"",
                        vit));
  ASSERT_TRUE(module) << diagnostics;
  expectText(*module, "hexad.activation relu");
  expectText(*module, "tensor<?x3xf32> {hexad.name = \"pooler_output\"}");
}

TEST_F(VisionFolders, ClassifierLeavesPoolerAndMaskAlone) {
  addVit();
  addLinear("classifier", 4, 8);
  add("vit.embeddings.mask_token", {1, 1, 8});
  OwningOpRef<ModuleOp> module = readFolder(
      change("ViTModel", "ViTForImageClassification",
             change("\"hidden_size\"",
                    "\"id2label\": {\"0\": \"a\", \"1\": \"b\", \"2\": \"c\", "
                    "\"3\": \"d\"}, \"hidden_size\"",
                    vit)));
  ASSERT_TRUE(module) << diagnostics;
  EXPECT_EQ(diagnostics, "");
  expectText(*module, "tensor<?x4xf32> {hexad.name = \"logits\"}");
}

TEST_F(VisionFolders, ProjectionsMayHaveNoBias) {
  addVit();
  addLinear("vit.pooler.dense", 8, 8);
  llvm::erase_if(tensors, [](const TensorToWrite &tensor) {
    llvm::StringRef name = tensor.name;
    return name.contains("attention.attention.") && name.ends_with("bias");
  });
  std::string config =
      change("\"hidden_size\"", "\"qkv_bias\": false, \"hidden_size\"", vit);
  OwningOpRef<ModuleOp> module = readFolder(config);
  ASSERT_TRUE(module) << diagnostics;
  expectText(*module, "@attention.output.bias");
  store(vit);
  expectError(folder.getPath(), "config.json:",
              "there is no tensor 'vit.encoder.layer.0.attention.attention."
              "query.bias'");
}

TEST_F(VisionFolders, ResizesPositions) {
  addVit();
  addLinear("vit.pooler.dense", 8, 8);
  OwningOpRef<ModuleOp> module = readResized(vit, {8, 10});
  ASSERT_TRUE(module) << diagnostics;
  expectText(*module, "tensor<?x3x8x10xf32> {hexad.name = \"pixel_values\"}");
  expectText(*module, "tensor<21x8xf32>");
  expectText(*module, "{grid = array<i64: 1, 0, 2, 3, 4, 5>}");
  EXPECT_FALSE(readResized(vit, {8, 9}));
  EXPECT_EQ(diagnostics, "--image-size: error: expected images in whole "
                         "patches of 2 x 2 pixels, found images of 8 x 9\n");
}

TEST_F(VisionFolders, ReadsDinov2) {
  addDino("dinov2.", /*gated=*/false);
  addLinear("classifier", 2, 16);
  OwningOpRef<ModuleOp> module =
      readFolder(makeConfig("Dinov2ForImageClassification", "dinov2", ""));
  ASSERT_TRUE(module) << diagnostics;
  EXPECT_EQ(diagnostics, "");
  expectText(*module, "@classifier.weight : tensor<2x8xf32> from "
                      "\"model.safetensors\" [\"classifier.weight\"] {columns "
                      "= array<i64: 0, 8, 0>}");
  expectText(*module, "@patches_classifier.weight : tensor<2x8xf32> from "
                      "\"model.safetensors\" [\"classifier.weight\"] {columns "
                      "= array<i64: 8, 8, 0>}");
  expectText(*module, "{skip = 1 : i64}");
}

TEST_F(VisionFolders, ReadsRegisters) {
  addDino("", /*gated=*/true);
  add("embeddings.register_tokens", {1, 4, 8});
  std::string config =
      makeConfig("Dinov2WithRegistersModel", "dinov2_with_registers",
                 ",\n  \"use_swiglu_ffn\": true");
  OwningOpRef<ModuleOp> module = readFolder(config);
  ASSERT_TRUE(module) << diagnostics;
  EXPECT_EQ(diagnostics, "");
  expectText(*module, "@patches.prefix : tensor<5x8xf32> from "
                      "\"model.safetensors\" [\"embeddings.cls_token\", "
                      "\"embeddings.register_tokens\"]");
  expectText(*module, "@positions.weight : tensor<11x8xf32> from "
                      "\"model.safetensors\" [\"embeddings.position_embeddings"
                      "\"] {antialias, grid = array<i64: 1, 4, 2, 3, 2, 3>}");
  // Gate in front of up.
  expectText(*module, "picks = [array<i64: 0, 24, 24, 1>]");
  expectText(*module, "picks = [array<i64: 24, 24, 24, 1>]");
  // Patches begin behind the registers.
  addLinear("classifier", 2, 16);
  OwningOpRef<ModuleOp> classifier =
      readFolder(change("Model", "ForImageClassification", config));
  ASSERT_TRUE(classifier) << diagnostics;
  expectText(*classifier, "{skip = 5 : i64}");
}

TEST_F(VisionFolders, RefusesWhatDoesNotFit) {
  addVit();
  addLinear("vit.pooler.dense", 8, 8);
  expectConfigError(change("[4, 6]", "[4, 7]", vit), "5:3",
                    "expected images in whole patches of 2 x 2 pixels, found "
                    "images of 4 x 7");
  expectConfigError(change("[4, 6]", "[4]", vit), "5:3",
                    "expected image_size to be an integer from 1 to "
                    "2147483647, or two of them, found an array");
  expectConfigError(change("[4, 6]", "1", vit), "5:3",
                    "expected images of at least one patch");
  expectConfigError(change("[4, 6]", "[6, 6]", vit), "5:3",
                    "parameter @positions.weight: expected shape [10, 8], "
                    "found [7, 8]");
  expectConfigError(change("\"num_channels\": 3", "\"num_channels\": 1", vit),
                    "9:3",
                    "parameter @patches.weight: expected shape [8, 1, 2, 2], "
                    "found [8, 3, 2, 2]");
  expectConfigError(change("heads\": 2", "heads\": 3", vit), "6:3",
                    "to divide hidden_size 8, found 3");
  expectConfigError(
      change("\"hidden_size\"", "\"window\": 1, \"hidden_size\"", vit), "4:3",
      "unknown key");
  llvm::erase_if(tensors, [](const TensorToWrite &tensor) {
    return llvm::StringRef(tensor.name).ends_with("cls_token");
  });
  expectConfigError(vit, "9:3",
                    "there is no tensor 'vit.embeddings.cls_token'");
}

TEST_F(VisionFolders, SizesAreOfImages) {
  ReadOptions options;
  options.imageSize = GridSize{4, 4};
  llvm::SourceMgr sources;
  EXPECT_FALSE(readModel(getGolden("bert"), options, sources, &context));
  EXPECT_EQ(diagnostics, "--image-size: error: an image size is given to a "
                         "model without an input of images\n");
  diagnostics.clear();
  EXPECT_FALSE(readModel(getGolden("vit"), options, sources, &context));
  EXPECT_EQ(diagnostics, "--image-size: error: expected images in whole "
                         "patches of 8 x 8 pixels, found images of 4 x 4\n");
}

//===----------------------------------------------------------------------===//
// Descriptions
//===----------------------------------------------------------------------===//

constexpr llvm::StringLiteral goodText = R"(name: tiny
inputs: { pixels: "f32[batch, 2, 4, 6]" }
weights: { file: model.safetensors }
layers:
  - sum:
      - patchify: { input: pixels, patch: [2, 3], dim: 3, class_token: true, bias: false, tensors: { projection: p, class_token: c } }
      - positions: { entries: 5, tensors: t }
  - output: rows
  - pool: { kind: mean, skip: 1 }
  - output: pooled
)";

class VisionDescriptions : public FolderTest {
protected:
  VisionDescriptions() {
    add("p.weight", {3, 2, 2, 3});
    add("c", {1, 3});
    add("t.weight", {5, 3});
    EXPECT_FALSE(
        !!writeSafetensors(folder.getPath("model.safetensors"), tensors));
  }
  void expectTextError(llvm::StringRef from, llvm::StringRef to,
                       llvm::StringRef where, llvm::StringRef what) {
    expectError(folder.write("model.yaml", change(from, to, goodText)),
                getPlace("model.yaml", where), what);
  }
};

TEST_F(VisionDescriptions, AreRead) {
  OwningOpRef<ModuleOp> module = read(folder.write("model.yaml", goodText));
  ASSERT_TRUE(module) << diagnostics;
  std::string printed = print(*module);
  EXPECT_TRUE(llvm::StringRef(printed).contains("length = 5 : i64")) << printed;
}

TEST_F(VisionDescriptions, RefuseWhatDoesNotFit) {
  expectTextError("f32[batch, 2, 4, 6]", "f32[batch, 2, 4]", "2:19",
                  "expected the type \"i32[batch, seq]\", or \"f32[batch, "
                  "CHANNELS, HEIGHT, WIDTH]\" with numbers");
  expectTextError("f32[batch, 2, 4, 6]", "f32[batch, 2, 0, 6]", "2:19",
                  "CHANNELS, HEIGHT, WIDTH");
  expectTextError("4, 6]\"", "4, 6]\", ids: \"i32[batch, seq]\"", "2:11",
                  "expected an input of images to be the only input");
  expectTextError("\"f32[batch, 2, 4, 6]\"",
                  "{ type: \"f32[batch, 2, 4, 6]\", optional: true }", "2:11",
                  "neither a mask nor optional");
  expectTextError("4, 6]\"", "4, 7]\"", "2:11",
                  "expected images in whole patches of 2 x 3 pixels, found "
                  "images of 4 x 7");
  expectTextError("4, 6]\"", "46340, 46341]\"", "2:11",
                  "expected images of fewer than 2^31 elements");
  expectTextError("input: pixels", "input: pixel", "6:9",
                  "expected the name of an input of images, found 'pixel'");
  expectTextError("patch: [2, 3]", "patch: [2]", "6:36",
                  "expected a size, or height and width");
  expectTextError("entries: 5", "entries: 6", "7:9",
                  "expected a position for each of the 5 tokens of an image, "
                  "found 6; 'grid' resizes them");
  expectTextError("entries: 5", "entries: 5, grid: 2", "",
                  "unknown key 'entries'");
  expectTextError("kind: mean", "kind: first", "9:26",
                  "'skip' can only stand beside 'kind: mean'");
  expectTextError("kind: mean", "kind: max", "9:19", "expected first or mean");
}

TEST_F(VisionDescriptions, PatchesAreOfImages) {
  add("w.weight", {9, 3});
  EXPECT_FALSE(
      !!writeSafetensors(folder.getPath("model.safetensors"), tensors));
  std::string text = change("f32[batch, 2, 4, 6]", "i32[batch, seq]", goodText);
  expectError(folder.write("model.yaml", text), getPlace("model.yaml", "6:9"),
              "expected the name of an input of images, found 'pixels'");
  std::string embedding = R"(name: tiny
inputs: { ids: "i32[batch, seq]" }
weights: { file: model.safetensors, unused: [ p.weight, c ] }
layers:
  - sum:
      - embedding: { input: ids, entries: 9, dim: 3, tensors: w }
      - positions: { grid: 2, tensors: t }
  - output: rows
)";
  expectError(folder.write("model.yaml", embedding),
              getPlace("model.yaml", "7:9"),
              "a grid of positions needs an input of images");
}

TEST_F(VisionDescriptions, BranchesGiveTheSame) {
  std::string text = change(R"(  - pool: { kind: mean, skip: 1 }
)",
                            R"(  - branches:
      - - pool: first
      - - scale: 2
)",
                            goodText);
  expectError(folder.write("model.yaml", text), getPlace("model.yaml", ""),
              "expected a branch to give rows like those of the one before: 3 "
              "columns of each sequence, found 3 of each token");
}

} // namespace
