//===- CheckpointFolderTest.cpp - Folders of model type bert --------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FolderTest.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace hexad;

namespace {

constexpr llvm::StringLiteral goodConfig = R"({
  "architectures": [ "BertModel" ],
  "hidden_act": "gelu",
  "hidden_size": 4,
  "intermediate_size": 6,
  "layer_norm_eps": 1e-12,
  "max_position_embeddings": 5,
  "model_type": "bert",
  "num_attention_heads": 2,
  "num_hidden_layers": 2,
  "torch_dtype": "float32",
  "type_vocab_size": 2,
  "vocab_size": 7
})";

class CheckpointFolder : public FolderTest {
protected:
  /// The tensors of the encoder, in the spelling of old checkpoints or new.
  void addEncoder(std::string prefix, bool old = false) {
    std::string weight = old ? ".gamma" : ".weight";
    std::string bias = old ? ".beta" : ".bias";
    auto addNorm = [&](std::string name) {
      add(prefix + name + weight, {4});
      add(prefix + name + bias, {4});
    };
    auto addLinear = [&](std::string name, int64_t out, int64_t in) {
      add(prefix + name + ".weight", {out, in});
      add(prefix + name + ".bias", {out});
    };
    add(prefix + "embeddings.word_embeddings.weight", {7, 4});
    add(prefix + "embeddings.token_type_embeddings.weight", {2, 4});
    add(prefix + "embeddings.position_embeddings.weight", {5, 4});
    addNorm("embeddings.LayerNorm");
    for (std::string layer : {"encoder.layer.0.", "encoder.layer.1."}) {
      for (std::string part : {"query", "key", "value"})
        addLinear(layer + "attention.self." + part, 4, 4);
      addLinear(layer + "attention.output.dense", 4, 4);
      addNorm(layer + "attention.output.LayerNorm");
      addLinear(layer + "intermediate.dense", 6, 4);
      addLinear(layer + "output.dense", 4, 6);
      addNorm(layer + "output.LayerNorm");
    }
  }
  void addPooler(std::string prefix = "") {
    add(prefix + "pooler.dense.weight", {4, 4});
    add(prefix + "pooler.dense.bias", {4});
  }
  void addHead() {
    add("cls.predictions.bias", {7});
    add("cls.predictions.transform.dense.weight", {4, 4});
    add("cls.predictions.transform.dense.bias", {4});
    add("cls.predictions.transform.LayerNorm.weight", {4});
    add("cls.predictions.transform.LayerNorm.bias", {4});
  }

  /// The good configuration with one piece replaced.
  static std::string change(llvm::StringRef from, llvm::StringRef to,
                            llvm::StringRef text = goodConfig) {
    return FolderTest::change(from, to, text);
  }
  OwningOpRef<ModuleOp> readFolder(llvm::StringRef config = goodConfig) {
    return FolderTest::readFolder(config);
  }
};

TEST_F(CheckpointFolder, ReadsEverySpelling) {
  std::string printed[2];
  for (bool old : {false, true}) {
    tensors.clear();
    addEncoder("", old);
    addPooler();
    OwningOpRef<ModuleOp> module =
        readFolder(old ? change("torch_dtype", "dtype") : goodConfig.str());
    ASSERT_TRUE(module) << diagnostics;
    EXPECT_EQ(diagnostics, "");
    printed[old] = print(*module);
  }
  EXPECT_TRUE(llvm::StringRef(printed[0]).contains("LayerNorm.weight"));
  EXPECT_TRUE(llvm::StringRef(printed[1]).contains("LayerNorm.gamma"));
}

TEST_F(CheckpointFolder, FindsThePrefix) {
  addEncoder("bert.");
  addPooler("bert.");
  EXPECT_TRUE(readFolder()) << diagnostics;
  EXPECT_EQ(diagnostics, "");
}

TEST_F(CheckpointFolder, ReadsHeads) {
  addEncoder("bert.");
  addHead();
  std::string config = change("BertModel", "BertForMaskedLM");
  // The pooler is not needed and not missed.
  OwningOpRef<ModuleOp> tied = readFolder(config);
  ASSERT_TRUE(tied) << diagnostics;
  EXPECT_TRUE(llvm::StringRef(print(*tied))
                  .contains("%words.weight_0 bias %decoder.bias"))
      << print(*tied);

  add("cls.predictions.decoder.weight", {7, 4});
  OwningOpRef<ModuleOp> untied = readFolder(
      change("\"vocab", "\"tie_word_embeddings\": false, \"vocab", config));
  ASSERT_TRUE(untied) << diagnostics;
  EXPECT_TRUE(llvm::StringRef(print(*untied))
                  .contains("[\"cls.predictions.decoder.weight\"]"));

  tensors.clear();
  addEncoder("bert.");
  addPooler("bert.");
  add("classifier.weight", {3, 4});
  add("classifier.bias", {3});
  std::string classifierConfig =
      change("BertModel", "BertForSequenceClassification",
             change("\"vocab", "\"id2label\": {\"0\": \"a\", \"1\": \"b\", "
                               "\"2\": \"c\"}, \"vocab"));
  OwningOpRef<ModuleOp> classifier = readFolder(classifierConfig);
  ASSERT_TRUE(classifier) << diagnostics;
  EXPECT_TRUE(llvm::StringRef(print(*classifier))
                  .contains("-> (tensor<?x3xf32> {hexad.name = \"logits\"})"));
  // Each segment has one label.
  OwningOpRef<ModuleOp> withLoss =
      FolderTest::readFolder(classifierConfig, {"loss"});
  ASSERT_TRUE(withLoss) << diagnostics;
  EXPECT_TRUE(
      llvm::StringRef(print(*withLoss))
          .contains("tensor<?xi32> {hexad.limit = 3 : i64, hexad.name = "
                    "\"labels\", hexad.optional}"));
}

TEST_F(CheckpointFolder, ReadsHalfPrecision) {
  addEncoder("");
  addPooler();
  for (StoredType type : {StoredType::F16, StoredType::BF16}) {
    std::vector<TensorToWrite> halves = tensors;
    for (TensorToWrite &tensor : halves) {
      tensor.type = type;
      tensor.bytes = tensor.bytes.take_front(tensor.bytes.size() / 2);
    }
    std::swap(tensors, halves);
    EXPECT_TRUE(readFolder()) << diagnostics;
    std::swap(tensors, halves);
  }
}

TEST_F(CheckpointFolder, ReadsShards) {
  addEncoder("");
  addPooler();
  std::vector<TensorToWrite> all = tensors;
  std::string index = "{\"weight_map\": {";
  for (auto [i, tensor] : llvm::enumerate(all))
    index += (i ? ", \"" : "\"") + tensor.name + "\": \"shard" +
             std::to_string(i % 2) + ".safetensors\"";
  folder.write("model.safetensors.index.json", index + "}}");
  for (unsigned shard : {0, 1}) {
    tensors.clear();
    for (unsigned i = shard; i < all.size(); i += 2)
      tensors.push_back(all[i]);
    store(goodConfig, "shard" + std::to_string(shard) + ".safetensors");
  }
  OwningOpRef<ModuleOp> module = read(folder.getPath());
  ASSERT_TRUE(module) << diagnostics;
  EXPECT_TRUE(llvm::StringRef(print(*module))
                  .contains("from \"model.safetensors.index.json\""));
}

TEST_F(CheckpointFolder, WarnsOfUnreadTensors) {
  addEncoder("");
  addPooler();
  add("embeddings.position_ids", {1, 5}, StoredType::I64);
  add("cls.seq_relationship.weight", {2, 4});
  EXPECT_TRUE(readFolder()) << diagnostics;
  EXPECT_EQ(diagnostics, "");
  add("encoder.layer.2.output.dense.bias", {4});
  EXPECT_TRUE(readFolder()) << diagnostics;
  EXPECT_EQ(diagnostics,
            "config.json:2:3: warning: 1 of the stored tensors are not read: "
            "'encoder.layer.2.output.dense.bias'\n");
}

TEST_F(CheckpointFolder, RefusesTiedTablesThatDiffer) {
  addEncoder("bert.");
  addHead();
  add("cls.predictions.decoder.weight", {7, 4});
  std::string config = change("BertModel", "BertForMaskedLM");
  EXPECT_TRUE(readFolder(config)) << diagnostics;
  std::vector<uint8_t> ones(7 * 4 * 4, 1);
  tensors.back().bytes = ones;
  expectConfigError(config, "2:3",
                    "'cls.predictions.decoder.weight' differs from "
                    "'bert.embeddings.word_embeddings.weight'");
}

TEST_F(CheckpointFolder, RefusesConfigurations) {
  addEncoder("");
  addPooler();
  ASSERT_TRUE(readFolder()) << diagnostics;
  expectConfigError("", "1:1", "malformed JSON");
  expectConfigError("{\n  \"hidden_size\": ,\n}", "2:19", "malformed JSON");
  expectConfigError("[]", "1:1", "expected an object, found an array");
  expectConfigError("{}", "1:1",
                    "expected model_type to be a string, but the "
                    "key is missing");
  expectConfigError(std::string(100'000, '['), "1:33",
                    "nested deeper than 32 levels");
  expectConfigError(change("\"vocab_size\": 7", "\"a\": {\"x\": 1, \"x\": 1}"),
                    "13:17", "the name 'x' occurs twice");
  expectConfigError(change("\"bert\"", "\"gpt9\""), "8:3",
                    "model_type 'gpt9' is not supported; expected one of bert");
  expectConfigError(change("\"bert\"", "7"), "8:3",
                    "expected model_type to be a string, found 7");
  for (llvm::StringRef architecture :
       {"[ \"BertForQuestionAnswering\" ]", "[]", "\"BertModel\"", "null",
        "[ \"BertModel\", \"BertModel\" ]"})
    expectConfigError(change("[ \"BertModel\" ]", architecture), "2:3",
                      "BertForMaskedLM, BertForSequenceClassification, "
                      "BertModel");
  expectConfigError(change("\"gelu\"", "\"mish\""), "3:3",
                    "expected hidden_act to be one of gelu, ");
  expectConfigError(
      change("vocab_size\": 7", "vocab_size\": 7,\n  \"rope\": 1"), "14:3",
      "unknown key 'rope': it may change what the model "
      "computes");
  expectConfigError(
      change("vocab_size\": 7", "vocab_size\": 7,\n  \"is_decoder\": true"),
      "14:3", "expected is_decoder to be false, found true");
  expectConfigError(change("vocab_size\": 7",
                           "vocab_size\": 7,\n  \"position_embedding_type\": "
                           "\"relative_key\""),
                    "14:3",
                    "expected position_embedding_type to be "
                    "\"absolute\", found \"relative_key\"");
  EXPECT_TRUE(readFolder(change(
      "vocab_size\": 7", "vocab_size\": 7, \"position_embedding_type\": null")))
      << diagnostics;
}

TEST_F(CheckpointFolder, RefusesSizes) {
  addEncoder("");
  addPooler();
  for (llvm::StringRef size :
       {"\"4\"", "0", "-4", "4.5", "true", "[4]", "1e30", "2147483648"})
    expectConfigError(
        change("hidden_size\": 4", ("hidden_size\": " + size).str()), "4:3",
        "expected hidden_size to be an integer from 1 to");
  expectConfigError(change("  \"hidden_size\": 4,\n", ""), "1:1",
                    "expected hidden_size to be an integer from 1 to "
                    "2147483647, but the key is missing");
  expectConfigError(change("heads\": 2", "heads\": 3"), "9:3",
                    "expected num_attention_heads to divide hidden_size 4, "
                    "found 3");
  expectConfigError(change("layers\": 2", "layers\": 1000000000"), "10:3",
                    "from 1 to 4096");
  expectConfigError(change("layers\": 2", "layers\": 3"), "9:3",
                    "there is no tensor "
                    "'encoder.layer.2.attention.self.query.weight'");
  expectConfigError(change("1e-12", "-1"), "6:3", "a number of at least 0");
  expectConfigError(change("\"vocab_size\": 7", "\"vocab_size\": 8"), "13:3",
                    "parameter @words.weight: expected shape [8, 4], found "
                    "[7, 4]");
  expectConfigError(change("intermediate_size\": 6", "intermediate_size\": 8"),
                    "5:3", "expected layers of shape [8, 4], found [6, 4]");
}

TEST_F(CheckpointFolder, RefusesFolders) {
  expectError(folder.getPath(), "config.json:0:0: error: ", "No such file");
  folder.write("config.json", goodConfig);
  expectError(folder.getPath(), "config.json:2:3: error: ",
              "expected model.safetensors or model.safetensors.index.json");
  folder.write("model.safetensors", "{}");
  expectError(folder.getPath(), "config.json:2:3: error: ",
              "model.safetensors: expected a safetensors file");
}

} // namespace
