//===- DescriptionReaderTest.cpp - YAML descriptions and their mistakes ---===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelTestUtilities.h"
#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace hexad;

namespace {

/// A model of one table, one attention layer and one linear layer. Tests change
/// a piece of it.
constexpr llvm::StringLiteral goodText = R"(name: tiny
inputs:
  ids: "i32[batch, seq]"
weights: { file: w.safetensors }
layers:
  - embedding: { input: ids, entries: 7, dim: 4, tensors: table }
  - repeat: 2
    layers:
      - residual:
          - attention: { heads: 2, tensors: { query: "{i}.q", key: "{i}.k", value: "{i}.v", output: "{i}.o" } }
      - layer_norm: { eps: 1e-5, bias: false, tensors: "{i}.n" }
  - linear: { out: 3, bias: true, tensors: head }
  - output: logits
)";

class DescriptionReader : public ModelTest {
protected:
  DescriptionReader() {
    add("table.weight", {7, 4});
    for (std::string i : {"0", "1"}) {
      for (llvm::StringRef part : {".q", ".k", ".v", ".o"})
        add(i + part.str() + ".weight", {4, 4});
      add(i + ".n.weight", {4});
    }
    add("head.weight", {3, 4});
    add("head.bias", {3});
    store();
  }

  void add(std::string name, llvm::SmallVector<int64_t, 4> shape) {
    int64_t bytes = 4;
    for (int64_t size : shape)
      bytes *= size;
    tensors.push_back({name, StoredType::F32, shape,
                       ArrayRef<uint8_t>(zeros).take_front(bytes)});
  }
  void store() {
    llvm::Error error =
        writeSafetensors(folder.getPath("w.safetensors"), tensors);
    ASSERT_FALSE(!!error) << llvm::toString(std::move(error));
  }

  /// The good text with one piece replaced.
  static std::string change(llvm::StringRef from, llvm::StringRef to,
                            llvm::StringRef text = goodText) {
    size_t at = text.find(from);
    EXPECT_NE(at, llvm::StringRef::npos) << from.str();
    return (text.take_front(at) + to + text.drop_front(at + from.size())).str();
  }

  OwningOpRef<ModuleOp> readText(llvm::StringRef text,
                                 ArrayRef<std::string> outputs = {}) {
    diagnostics.clear();
    return read(folder.write("model.yaml", text), outputs);
  }
  /// `where` is "line:column".
  void expectTextError(llvm::StringRef text, llvm::StringRef where,
                       llvm::StringRef what,
                       ArrayRef<std::string> outputs = {}) {
    expectError(folder.write("model.yaml", text), getPlace("model.yaml", where),
                what, outputs);
  }

  TemporaryFolder folder;
  std::vector<uint8_t> zeros = std::vector<uint8_t>(4096);
  std::vector<TensorToWrite> tensors;
};

TEST_F(DescriptionReader, ReadsAModel) {
  OwningOpRef<ModuleOp> module = readText(goodText);
  ASSERT_TRUE(module) << diagnostics;
  EXPECT_EQ(diagnostics, "");
  std::string text = print(*module);
  for (llvm::StringRef line :
       {"module @tiny {",
        // Default names are the kinds'.
        "hexad.parameter @embedding.weight : tensor<7x4xf32> from "
        "\"w.safetensors\" [\"table.weight\"]",
        "hexad.parameter @attention.query.weight : tensor<2x4x4xf32> from "
        "\"w.safetensors\" [\"0.q.weight\", \"1.q.weight\"] {layers = 2 : i64}",
        "hexad.parameter @layer_norm.weight : tensor<2x4xf32>",
        // A mask is there even if it is not declared.
        "hexad.limit = 7 : i64, hexad.name = \"ids\"}",
        "hexad.name = \"attention_mask\", hexad.optional}",
        "heads = 2 : i64, kv_heads = 2 : i64, scale = 0.70710678118654",
        "-> (tensor<?x?x3xf32> {hexad.name = \"logits\"})"})
    EXPECT_TRUE(llvm::StringRef(text).contains(line))
        << line.str() << "\nin " << text;
  EXPECT_FALSE(llvm::StringRef(text).contains("position_limit"));
}

TEST_F(DescriptionReader, PutsPlacesOfTheDescriptionIntoTheIR) {
  OwningOpRef<ModuleOp> module = readText(goodText);
  ASSERT_TRUE(module) << diagnostics;
  module->walk([](AttentionOp op) {
    auto loc = dyn_cast<FileLineColLoc>(op.getLoc());
    ASSERT_TRUE(loc);
    EXPECT_TRUE(loc.getFilename().getValue().ends_with("model.yaml"));
    EXPECT_EQ(loc.getLine(), 10u);
    EXPECT_EQ(loc.getColumn(), 13u);
  });
}

TEST_F(DescriptionReader, StacksHiddenStates) {
  OwningOpRef<ModuleOp> module = readText(goodText, {"hidden", "logits"});
  ASSERT_TRUE(module) << diagnostics;
  EXPECT_TRUE(llvm::StringRef(print(*module))
                  .contains("(tensor<?x?x3xf32> {hexad.name = \"logits\"}, "
                            "tensor<3x?x?x4xf32> {hexad.name = \"hidden\", "
                            "hexad.stacked})"))
      << print(*module);
}

TEST_F(DescriptionReader, TheLastHiddenStateMayBeANorms) {
  std::vector<std::string> outputs = {"hidden"};
  OwningOpRef<ModuleOp> off =
      readText(std::string(goodText) + "hidden_after_norm: false\n", outputs);
  OwningOpRef<ModuleOp> none = readText(goodText, outputs);
  ASSERT_TRUE(off && none) << diagnostics;
  EXPECT_EQ(print(*off), print(*none));
  expectTextError(std::string(goodText) + "hidden_after_norm: 1\n", "",
                  "expected true or false");
}

TEST_F(DescriptionReader, PoolsAndNormalizes) {
  OwningOpRef<ModuleOp> module =
      readText(change("  - output: logits", "  - output: tokens\n"
                                            "  - pool: mean\n"
                                            "  - l2_normalize: { eps: 1e-12 }\n"
                                            "  - softmax: {}\n"
                                            "  - output: embedding"));
  ASSERT_TRUE(module) << diagnostics;
  EXPECT_TRUE(llvm::StringRef(print(*module))
                  .contains("-> (tensor<?x?x3xf32> {hexad.name = \"tokens\"}, "
                            "tensor<?x3xf32> {hexad.name = \"embedding\"})"))
      << print(*module);
}

TEST_F(DescriptionReader, ReadsTheOptionsOfLinearAndAttention) {
  tensors.clear();
  add("table.weight", {7, 4});
  add("q.weight", {12, 4});
  add("k.weight", {6, 4});
  add("v.weight", {6, 4});
  add("o.weight", {4, 12});
  add("l.w", {4, 5});
  add("back.weight", {4, 5});
  add("h.b", {7});
  store();
  OwningOpRef<ModuleOp> module = readText(R"(name: tiny
inputs: { ids: "i32[batch,seq]", m: { type: "i32[batch, seq]", mask: true } }
weights: { file: w.safetensors }
layers:
  - embedding: { name: words, input: ids, entries: 7, dim: 4, tensors: table }
  - attention: { heads: 4, kv_heads: 2, head_dim: 3, scale: 0.5, tensors: { query: q, key: k, value: v, output: { weight: o.weight } } }
  - linear: { out: 5, transposed: true, tensors: { weight: l.w } }
  - linear: { out: 4, tensors: back }
  - linear: { out: 7, tied: words, bias: true, tensors: { bias: h.b } }
  - output: logits
)");
  ASSERT_TRUE(module) << diagnostics;
  std::string text = print(*module);
  for (llvm::StringRef part :
       {"head_dim = 3 : i64, heads = 4 : i64, kv_heads = 2 : i64, scale = "
        "5.000000e-01",
        "@linear.weight : tensor<5x4xf32> from \"w.safetensors\" [\"l.w\"] "
        "{transposed}",
        "@linear_2.weight : tensor<4x5xf32>",
        "%words.weight_0 bias %linear_3.bias", "hexad.name = \"m\"}"})
    EXPECT_TRUE(llvm::StringRef(text).contains(part))
        << part.str() << "\nin " << text;
  EXPECT_FALSE(llvm::StringRef(text).contains("attention_mask"));
}

TEST_F(DescriptionReader, RefusesTexts) {
  expectTextError("", "1:1",
                  "expected the mapping of a model's description, "
                  "found nothing");
  expectTextError("# nothing\n", "", "found nothing");
  expectTextError("- a\n", "1:1", "found a sequence");
  expectTextError("name: [\n", "", "malformed YAML");
  expectTextError("name: tiny\n\tinputs: {}\n", "", "malformed YAML");
  expectTextError("{ name: tiny }}", "1:15", "malformed YAML");
  expectTextError("name: \"\xff\"\n", "1:8", "expected valid UTF-8");
  expectTextError("name: \"\\ud83d\"\n", "1:7", "");
  expectTextError(std::string(100'000, '['), "1:66",
                  "nested deeper than 64 levels");
  std::string deep;
  for (int i = 0; i < 2000; ++i)
    deep += std::string(i, ' ') + "a:\n";
  expectTextError(deep, "", "nested deeper than 64 levels");
  std::string deepInline;
  for (int i = 0; i < 100'000; ++i)
    deepInline += "{a: ";
  expectTextError(deepInline, "", "nested deeper than 64 levels");
  std::string deepKey;
  for (int i = 0; i < 100'000; ++i)
    deepKey += "? ";
  expectTextError(deepKey, "1:3", "expected a key");
  expectTextError((goodText + "---\nname: other\n").str(), "15:1",
                  "expected one document");
  expectTextError((goodText + "name: again\n").str(), "14:1",
                  "the key 'name' occurs twice");
}

TEST_F(DescriptionReader, RefusesYamlThatSurprises) {
  expectTextError(change("tiny", "&a tiny"), "1:10", "anchors");
  expectTextError(change("tiny", "!!str tiny"), "1:13", "tags");
  expectTextError(change("tiny", "*a"), "1:1", "aliases");
  expectTextError(change("tiny", "|\n  tiny"), "1:1", "block scalars");
  expectTextError(change("bias: true", "bias: yes"), "",
                  "expected true or false, found 'yes'");
  expectTextError(change("out: 3", "out: 03"), "",
                  "expected an integer from 1 to 2147483647, found '03'");
  expectTextError(change("out: 3", "out: \"3\""), "", "expected an integer");
  expectTextError(change("out: 3", "out: 3.0"), "", "expected an integer");
  expectTextError(change("out: 3", "out: 0x3"), "", "expected an integer");
  expectTextError(change("eps: 1e-5", "eps: .5"), "", "expected a number");
  expectTextError(change("eps: 1e-5", "eps: .inf"), "", "expected a number");
  expectTextError(change("eps: 1e-5", "eps: 1e999"), "", "expected a number");
  expectTextError(change("eps: 1e-5", "eps: -1"), "", "expected a number");
}

TEST_F(DescriptionReader, RefusesKeys) {
  expectTextError(change("name: tiny", "nam: tiny"), "1:1",
                  "unknown key 'nam' in a model's description; expected one of "
                  "name, inputs, weights, layers, hidden_after_norm");
  expectTextError(change("name: tiny\n", ""), "1:1", "needs the key 'name'");
  expectTextError(change("tiny", "7"), "1:7", "expected a name of letters");
  expectTextError(change("tiny", "a-b"), "1:7", "found 'a-b'");
  expectTextError(change("tiny", "int"), "1:7", "no word of C");
  expectTextError(change("file: w.safetensors", "files: w"), "4:12",
                  "unknown key 'files'");
  expectTextError(change("file: w.safetensors", "file: x.safetensors"), "4:18",
                  "x.safetensors: ");
  expectTextError(change("file: w.safetensors", "file: ../w.safetensors"),
                  "4:18", "inside the model's folder");
  expectTextError(
      change("file: w.safetensors", "file: w.safetensors, names: gpt9"), "",
      "expected one of bert, dinov2, dinov2_with_registers, gemma3_text, "
      "gemma4, gemma4_text, gpt2, gpt_neox, "
      "llama, "
      "mistral, mixtral, olmo2, qwen2, qwen3, qwen3_moe, vit, found 'gpt9'");
  expectTextError(
      change("file: w.safetensors", "file: w.safetensors, unused: all"), "",
      "expected a sequence of tensors' names, found 'all'");
  expectTextError(change("out: 3", "out: 3, wide: 1"), "",
                  "unknown key 'wide' in linear");
  expectTextError(change("out: 3, ", ""), "", "linear needs the key 'out'");
  expectTextError(change("out: 3", "out: 0"), "", "found '0'");
  expectTextError(change("out: 3", "out: 2147483648"), "",
                  "expected an integer from 1 to 2147483647");
  expectTextError(change("out: 3", "out: 99999999999999999999"), "",
                  "expected an integer");
  expectTextError(change("out: 3", "out: [3]"), "", "found a sequence");
}

TEST_F(DescriptionReader, RefusesInputs) {
  llvm::StringRef good = "\"i32[batch, seq]\"";
  expectTextError(change(good, "i64"), "3:8",
                  "expected the type \"i32[batch, seq]\", or \"f32[batch, "
                  "CHANNELS, HEIGHT, WIDTH]\" with numbers, found 'i64'");
  expectTextError(change("  ids: \"i32[batch, seq]\"", "  {}"), "",
                  "expected a mapping of names to types");
  expectTextError(change("ids:", "\"a b\":"), "3:3", "found 'a b'");
  expectTextError(change(good, "{ optional: true }"), "",
                  "an input needs the key 'type'");
  expectTextError(
      change(good, "{ type: \"i32[batch, seq]\", optional: maybe }"), "",
      "expected true or false, found 'maybe'");
  expectTextError(change(good, (good + "\n  more: " + good).str()), "4:3",
                  "no embedding reads input 'more'");
  expectTextError(
      change(good, (good + "\n  a: { type: " + good +
                    ", mask: true }\n  b: { type: " + good + ", mask: true }")
                       .str()),
      "5:3", "there can be only one mask");
  expectTextError(change("input: ids", "input: idx"), "6:5",
                  "expected the name of an input of ids, found 'idx'");
}

TEST_F(DescriptionReader, RefusesLayers) {
  expectTextError(change("linear:", "liner:"), "12:5",
                  "unknown layer 'liner'; expected one of embedding, ");
  expectTextError(change("linear:", "liner:"), "12:5", "gelu_tanh");
  expectTextError(change("- output: logits", "- output"), "13:5",
                  "expected a layer");
  expectTextError(change("  - output: logits",
                         "  - output: logits\n    linear: { out: 3 }"),
                  "14:5",
                  "expected one key for each layer, found 'linear' "
                  "beside 'output'");
  expectTextError(change("  - output: logits\n", ""), "12:5",
                  "expected 'output' as the last layer");
  expectTextError(
      change("- output: logits", "- output: logits\n  - output: logits"),
      "14:5", "two outputs of the name 'logits'");
  expectTextError(change("repeat: 2", "repeat: 0"), "7:13",
                  "expected an integer from 1 to 4096, found '0'");
  expectTextError(change("repeat: 2", "repeat: 5000"), "7:13",
                  "expected an integer from 1 to 4096");
  expectTextError(change("    layers:\n", "    layer:\n"), "8:5",
                  "unknown key 'layer' in repeat");
  expectTextError(change("      - layer_norm",
                         "      - repeat: 2\n        layers: []\n"
                         "      - layer_norm"),
                  "11:9", "a repeat cannot stand inside another");
  expectTextError(
      change("      - layer_norm", "      - output: x\n      - layer_norm"),
      "11:9", "cannot stand inside another");
  expectTextError(
      change("      - layer_norm", "      - pool: mean\n      - layer_norm"),
      "7:5", "'pool' cannot stand inside a repeat");
  expectTextError(change("  - output: logits", "  - pool: last\n"
                                               "  - output: logits"),
                  "13:11", "expected first or mean, found 'last'");
  expectTextError(change("  - output: logits",
                         "  - pool: mean\n  - pool: mean\n  - output: x"),
                  "14:5", "one row already");
  expectTextError(change("  - output: logits", "  - relu: { slope: 1 }\n"
                                               "  - output: logits"),
                  "13:13", "unknown key 'slope' in relu; expected none");
  expectTextError(change("  - embedding: { input: ids, entries: 7, dim: 4, "
                         "tensors: table }\n",
                         ""),
                  "6:5", "expected 'embedding', 'patchify' or 'sum' in front");
  expectTextError(change("  - output: logits",
                         "  - positions: { entries: 3, dim: 3, tensors: head }"
                         "\n  - output: logits"),
                  "13:5", "cannot stand behind another layer");
}

TEST_F(DescriptionReader, ReadsLayersOfDecoders) {
  std::string layers =
      "- rms_norm: { eps: 1e-6, unit_offset: true, tensors: n }"
      "\n  - scale: 0.5\n"
      "  - parallel:\n"
      "      - [ swiglu: { hidden: 5, tensors: { gate: g, up: "
      "u, down: d } } ]\n"
      "      - [ gated: { hidden: 5, activation: relu, "
      "tensors: { gate: g, up: u, down: d } } ]\n"
      "  - softcap: 30\n"
      "  - linear";
  add("n.weight", {4});
  add("g.weight", {5, 4});
  add("u.weight", {5, 4});
  add("d.weight", {4, 5});
  store();
  OwningOpRef<ModuleOp> module = readText(change("- linear", layers));
  ASSERT_TRUE(module) << diagnostics;
  std::string text = print(*module);
  for (llvm::StringRef part :
       {"eps 9.9999999999999995E-7 {unit_offset}", "by 5.000000e-01",
        "hexad.activation silu", "hexad.activation relu", "hexad.multiply",
        "cap 3.000000e+01", "@swiglu.gate.weight", "@gated.down.weight"})
    EXPECT_TRUE(llvm::StringRef(text).contains(part)) << part.str() << text;
}

TEST_F(DescriptionReader, RefusesLayersOfDecoders) {
  auto expectLayerError = [&](llvm::StringRef layer, llvm::StringRef where,
                              llvm::StringRef what) {
    expectTextError(change("- linear", (layer + "\n  - linear").str()), where,
                    what);
  };
  expectLayerError("- rms_norm: { tensors: n }", "12:5",
                   "rms_norm needs the key 'eps'");
  expectLayerError("- rms_norm: { eps: 1e-6, bias: true }", "",
                   "unknown key 'bias' in rms_norm");
  expectLayerError("- scale: x", "12:12", "expected a number, found 'x'");
  expectLayerError("- softcap: 0", "12:14", "expected a number above 0");
  expectLayerError("- parallel: [ [ tanh: {} ] ]", "12:5",
                   "expected a sequence of two or more branches");
  expectLayerError("- swiglu: { bias: true }", "12:5",
                   "swiglu needs the key 'hidden'");
  expectLayerError("- swiglu: { hidden: 5, activation: silu }", "",
                   "unknown key 'activation' in swiglu");
  expectLayerError("- gated: { hidden: 5 }", "12:5",
                   "gated needs the key 'activation'");
  expectLayerError("- gated: { hidden: 5, activation: step }", "12:37",
                   "expected an activation, found 'step'");
  expectLayerError("- geglu: { hidden: 5, tensors: { gate: g, up: u } }", "",
                   "tensors needs the key 'down'");
}

TEST_F(DescriptionReader, RefusesAttentionOfDecoders) {
  auto expectFieldError = [&](std::string fields, llvm::StringRef where,
                              llvm::StringRef what) {
    expectTextError(change("heads: 2", "heads: 2, " + fields), where, what);
  };
  expectFieldError("causal: 1", "10:44", "expected true or false, found '1'");
  expectFieldError("window: 0", "10:44", "expected an integer from 1");
  expectFieldError("softcap: 0", "10:45", "expected a number above 0");
  expectFieldError("fused: rows", "10:43",
                   "expected blocks or heads, found 'rows'");
  expectFieldError("fused: heads", "10:61", "unknown key 'query' in tensors");
  expectFieldError("qk_norm: { eps: 1e-6 }", "10:36",
                   "qk_norm needs the key 'of'");
  expectFieldError("qk_norm: { of: keys, eps: 1e-6 }", "10:51",
                   "expected heads or projection, found 'keys'");
  expectFieldError("qk_norm: { of: heads, eps: 1e-6 }", "10:71",
                   "tensors needs the key 'query_norm'");
  expectFieldError("rope: { theta: 0 }", "10:51", "expected a number above 0");
  expectFieldError("rope: { base: 1 }", "10:44", "unknown key 'base' in rope");
  expectFieldError("rope: { pairing: odd }", "10:53",
                   "expected half or interleaved");
  expectFieldError(
      "rope: { scaling: { kind: ntk, factor: 2 } }", "10:61",
      "expected linear, llama3, yarn or proportional, found 'ntk'");
  expectFieldError("rope: { scaling: { kind: linear } }", "10:44",
                   "scaling needs the key 'factor'");
  expectFieldError("rope: { scaling: { kind: linear, factor: 2, beta_slow: 1 "
                   "} }",
                   "10:80", "unknown key 'beta_slow' in this kind of scaling");
  expectFieldError("rope: { scaling: { kind: yarn, factor: 2 } }", "10:44",
                   "scaling needs the key 'original_positions'");
  expectFieldError("rope: { scaling: { kind: llama3, factor: 2, "
                   "original_positions: 9, low_frequency_factor: 4 } }",
                   "10:44", "expected high_frequency_factor to be more");
  expectFieldError("rope: { scaling: { kind: linear, factor: 2, share: 1 } }",
                   "10:80", "unknown key 'share' in this kind of scaling");
  expectFieldError("rope: { scaling: { kind: proportional, share: 1.5 } }",
                   "10:82", "expected a number of at most 1, found '1.5'");
  // Refused before a table of a billion frequencies is made.
  expectFieldError("head_dim: 1073741822, rope: {}", "10:13",
                   "an even number of at most 65536 columns of a head, found "
                   "1073741822");
}

/// What takes time by the square of its size.
TEST_F(DescriptionReader, RefusesDescriptionsThatAreTooLong) {
  std::string layers, keys;
  for (int i = 0; i < 4096; ++i)
    layers += "  - gelu: {}\n";
  expectTextError(goodText.str() + layers, "4103:5",
                  "expected at most 4096 layers, found another");
  for (int i = 0; i < 20'000; ++i)
    keys += "k" + std::to_string(i) + ": 1\n";
  expectTextError(goodText.str() + keys, "14:1", "unknown key 'k0'");
  keys += "k19999: 1\n";
  expectTextError(goodText.str() + keys, "20014:1", "'k19999' occurs twice");
  expectTextError(goodText.str() + std::string(4 << 20, '#'), "0:0",
                  "expected a text of at most 4194304 bytes");
}

TEST_F(DescriptionReader, RefusesKeysAndValuesOfDecoders) {
  auto expectFieldError = [&](std::string fields, llvm::StringRef where,
                              llvm::StringRef what) {
    expectTextError(change("heads: 2", "heads: 2, " + fields), where, what);
  };
  expectFieldError("keys_of: -1", "10:45",
                   "expected the number of a layer, from 0 to 4095");
  expectFieldError("keys_of: 0, fused: blocks", "10:48",
                   "'fused' cannot stand beside 'keys_of'");
  expectFieldError("keys_of: 0, value_norm: { eps: 1 }", "10:48",
                   "'value_norm' cannot stand beside 'keys_of'");
  expectFieldError("value_from_key: true, fused: blocks", "10:36",
                   "'value_from_key' cannot stand beside 'fused'");
  expectFieldError("value_norm: {}", "10:36", "value_norm needs the key 'eps'");
  expectFieldError("value_from_key: true", "",
                   "unknown key 'value' in tensors");
  expectFieldError("keys_of: 0", "", "unknown key 'key' in tensors");
}

TEST_F(DescriptionReader, RefusesPeriods) {
  expectTextError(change("    layers:\n", "    period: []\n    layers:\n"), "",
                  "unknown key 'layers' in repeat");
  llvm::StringRef text = goodText;
  std::string head = text.take_front(text.find("    layers:\n")).str();
  std::string tail = text.drop_front(text.find("  - linear")).str();
  expectTextError(head + "    period: []\n" + tail, "8:5",
                  "expected a sequence of one or more sequences of layers");
  expectTextError(head +
                      "    period: [ [ tanh: {} ], [ tanh: {} ], [ relu: {} "
                      "] ]\n" +
                      tail,
                  "8:5", "at most as many as there are repeats");
  expectTextError(head + "    period: [ tanh: {} ]\n" + tail, "8:15",
                  "expected a sequence of layers");
}

TEST_F(DescriptionReader, RefusesSums) {
  llvm::StringRef embedding =
      "embedding: { input: ids, entries: 7, dim: 4, tensors: table }";
  expectTextError(
      change(embedding, "sum: [ softmax: {} ]"), "6:5",
      "expected a sequence of two or more terms, found a sequence of 1");
  expectTextError(
      change(embedding, ("sum: [ " + embedding + ", softmax: {} ]").str()), "",
      "expected 'embedding', 'patchify' or 'positions' as a term");
  expectTextError(
      change(embedding, ("sum: [ " + embedding +
                         ", positions: { entries: 3, dim: 5, tensors: p } ]")
                            .str()),
      "6:75", "expected a term of 4 columns like the one before, found 5");
  expectTextError(
      change(embedding, "embedding: { input: ids, entries: 7, tensors: t }"),
      "6:5", "embedding needs the key 'dim'");
}

TEST_F(DescriptionReader, RefusesShapesThatDoNotFit) {
  expectTextError(change("heads: 2", "heads: 3"), "10:13",
                  "expected 4 columns to be a multiple of 3 heads");
  expectTextError(change("heads: 2", "heads: 2, kv_heads: 3, head_dim: 2"),
                  "10:13",
                  "expected 2 heads to be a multiple of kv_heads, "
                  "found 3");
  expectTextError(change("heads: 2", "heads: 2147483647, head_dim: 2147483647"),
                  "10:13", "at most 2147483647 columns");
  expectTextError(change("      - layer_norm", "      - linear: { out: 5, "
                                               "tensors: \"{i}.n\" }\n"
                                               "      - layer_norm"),
                  "7:5",
                  "expected the layers of a repeat to give 4 columns "
                  "like its input, found 5");
  expectTextError(change("      - layer_norm",
                         "          - linear: { out: 5, tensors: \"{i}.n\" }\n"
                         "      - layer_norm"),
                  "9:9",
                  "expected the layers of a residual to give 4 columns "
                  "like its input, found 5");
  expectTextError(change("out: 3", "out: 4"), "12:5",
                  "parameter @linear.weight: expected shape [4, 4], found "
                  "[3, 4] in tensor 'head.weight'");
  expectTextError(change("entries: 7", "entries: 8"), "6:5",
                  "expected shape [8, 4], found [7, 4]");
}

TEST_F(DescriptionReader, RefusesNamesOfTensors) {
  expectTextError(change("tensors: head", "tensors: tail"), "12:5",
                  "there is no tensor 'tail.weight' in w.safetensors");
  expectTextError(change(", tensors: head", ""), "12:5",
                  "layer 'linear' needs 'tensors', or the weights need "
                  "'names'");
  expectTextError(change("tensors: head", "tensors: \"{i}.head\""), "",
                  "without {i} outside a repeat");
  expectTextError(change("\"{i}.n\"", "\"0.n\""), "",
                  "a name with {i}, the iteration of the repeat");
  expectTextError(change("\"{i}.n\"", "\"{i}{j}.n\""), "",
                  "no '{' but that of {i}");
  expectTextError(change("output: \"{i}.o\" }", "out: \"{i}.o\" }"), "",
                  "unknown key 'out' in tensors");
  expectTextError(change(", output: \"{i}.o\" }", " }"), "",
                  "tensors needs the key 'output'");
  expectTextError(change("bias: true, tensors: head",
                         "tensors: { weight: head.weight, bias: head.bias }"),
                  "", "unknown key 'bias' in tensors; expected weight");
  expectTextError(
      change(", tensors: head", "",
             change("file: w.safetensors", "file: w.safetensors, names: bert")),
      "12:5",
      "the names of 'bert' know no layer 'linear'; expected one of "
      "'words', 'token_types', ");
}

TEST_F(DescriptionReader, RefusesTiedLayers) {
  llvm::StringRef head = "out: 3, bias: true, tensors: head";
  expectTextError(change(head, "out: 7, tied: words"), "12:5",
                  "expected 'tied' to name an embedding in front of this "
                  "layer, found 'words'");
  expectTextError(change(head, "out: 7, tied: embedding, transposed: true"), "",
                  "'tied' cannot stand inside a repeat or beside 'transposed'");
  expectTextError(
      change(head, "out: 7, tied: embedding, tensors: { weight: x }"), "",
      "unknown key 'weight' in tensors; expected none");
  expectTextError(
      change(head, "name: embedding, out: 3, bias: true, tensors: head"), "",
      "there are two layers of the name 'embedding'");
}

TEST_F(DescriptionReader, RefusesTensorsThatNothingReads) {
  add("extra.weight", {3});
  store();
  expectTextError(goodText, "4:18",
                  "no layer reads the stored tensor 'extra.weight'");
  EXPECT_TRUE(readText(change("file: w.safetensors",
                              "file: w.safetensors, unused: [ \"ex*.w*t\" ]")))
      << diagnostics;
  expectTextError(change("file: w.safetensors",
                         "file: w.safetensors, unused: [ \"extra\" ]"),
                  "4:18", "'extra.weight'");
}

TEST_F(DescriptionReader, RefusesOutputs) {
  auto expectOutputError = [&](llvm::StringRef text, llvm::StringRef what,
                               ArrayRef<std::string> outputs) {
    expectError(folder.write("model.yaml", text), "--outputs: error: ", what,
                outputs);
  };
  expectOutputError(
      goodText,
      "there is no output 'hiden'; expected 'hidden', 'attention', "
      "'loss', 'router_logits', 'logits'",
      {"hiden"});
  tensors.resize(1);
  store();
  expectOutputError("name: tiny\ninputs: { ids: \"i32[batch, seq]\" }\n"
                    "weights: { file: w.safetensors }\nlayers:\n"
                    "  - embedding: { input: ids, entries: 7, dim: 4, tensors: "
                    "table }\n  - output: x\n",
                    "output 'hidden' needs one 'repeat' of layers", {"hidden"});
  std::string start = "name: tiny\ninputs: { ids: \"i32[batch, seq]\" }\n"
                      "weights: { file: w.safetensors }\nlayers:\n"
                      "  - embedding: { input: ids, entries: 7, dim: 4, "
                      "tensors: table }\n";
  expectOutputError(start + "  - output: x\n",
                    "output 'attention' needs a layer 'attention'",
                    {"attention"});
  std::string names = "query: q, key: k, value: v, output: o";
  expectOutputError(start + "  - attention: { heads: 2, tensors: { " + names +
                        " } }\n  - attention: { name: second, heads: 4, "
                        "tensors: { " +
                        names + " } }\n  - output: x\n",
                    "output 'attention' needs layers of as many heads each, "
                    "expected 2, found 4",
                    {"attention"});
}

TEST_F(DescriptionReader, RefusesPaths) {
  expectError(folder.getPath("none.yaml"),
              "none.yaml:0:0: error: ", "No such file");
  expectError(folder.write("model.txt", goodText),
              "model.txt:0:0: error: ", "expected a YAML description");
  expectError("/dev/null.yaml", "null.yaml:0:0: error: ", "No such file");
}

} // namespace
