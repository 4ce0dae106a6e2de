//===- ExpertDescriptionsTest.cpp - Mixtures of experts in YAML -----------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FolderTest.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace hexad;

namespace {

/// A model of one layer of experts, four of which there are.
class ExpertDescriptions : public FolderTest {
protected:
  void SetUp() override {
    add("words.weight", {7, 8});
    add("router.weight", {4, 8});
    add("router.bias", {4});
    add("open", {4});
    add("factors", {4});
    add("n.weight", {8});
    add("gate_up", {4, 10, 8});
    add("gate_up_bias", {4, 10});
    add("gate_up_in_out", {4, 8, 10});
    add("down", {4, 8, 5});
    add("down_bias", {4, 8});
    add("down_in_out", {4, 5, 8});
    for (int64_t e = 0; e < 4; ++e) {
      std::string name = "e" + std::to_string(e);
      add(name + ".gate.weight", {5, 8});
      add(name + ".up.weight", {5, 8});
      add(name + ".down.weight", {8, 5});
    }
    add("s.gate.weight", {3, 8});
    add("s.up.weight", {3, 8});
    add("s.down.weight", {8, 3});
    add("s.router.weight", {1, 8});
    llvm::Error error =
        writeSafetensors(folder.getPath("model.safetensors"), tensors);
    ASSERT_FALSE(!!error) << llvm::toString(std::move(error));
  }

  std::string writeYaml(llvm::StringRef moe) {
    return folder.write("model.yaml", (R"(name: model
inputs: { input_ids: "i32[batch, seq]" }
weights: { file: model.safetensors, unused: [ "*" ] }
layers:
  - embedding: { input: input_ids, entries: 7, dim: 8, tensors: words }
  - moe: )" + moe + "\n  - output: rows\n")
                                          .str());
  }
  /// Expects pieces of the IR, in this order.
  void expectText(llvm::StringRef moe,
                  std::initializer_list<llvm::StringRef> parts) {
    diagnostics.clear();
    OwningOpRef<ModuleOp> module = read(writeYaml(moe), {});
    ASSERT_TRUE(module) << diagnostics << moe.str();
    std::string text = print(*module);
    size_t at = 0;
    for (llvm::StringRef part : parts) {
      size_t found = llvm::StringRef(text).find(part, at);
      EXPECT_NE(found, llvm::StringRef::npos) << part.str() << "\n" << text;
      at = found == llvm::StringRef::npos ? at : found + part.size();
    }
  }
  void expectMoeError(llvm::StringRef moe, llvm::StringRef where,
                      llvm::StringRef what) {
    expectError(writeYaml(moe), getPlace("model.yaml", where), what);
  }
};

constexpr llvm::StringLiteral byExpert =
    "gate: \"e{e}.gate\", up: \"e{e}.up\", down: \"e{e}.down\"";

std::string makeMoe(llvm::StringRef router, llvm::StringRef rest,
                    llvm::StringRef tensors) {
  return ("{ experts: 4, hidden: 5, activation: silu, router: { top_k: 2" +
          router + " }" + rest + ", tensors: { router: router, " + tensors +
          " } }")
      .str();
}

TEST_F(ExpertDescriptions, ReadsRouters) {
  expectText(makeMoe("", "", byExpert),
             {"@moe.gate.weight : tensor<4x5x8xf32>",
              "[\"e0.gate.weight\", \"e1.gate.weight\", \"e2.gate.weight\", "
              "\"e3.gate.weight\"] {layers = 4 : i64}",
              "hexad.route softmax", "{top_k = 2 : i64}", "count 4",
              "hexad.load @moe.gate.weight[%arg2]", "hexad.activation silu"});
  expectText(
      makeMoe(", score: sigmoid, bias: true, selection_bias: true, "
              "expert_scale: true, renormalize: true, scaling: 2.5, groups: 2, "
              "top_groups: 1",
              "",
              "selection_bias: { weight: open }, expert_scale: { weight: "
              "factors }, " +
                  byExpert.str()),
      {"hexad.linear %1, %moe.router.weight bias %moe.router.bias",
       "hexad.route sigmoid %2 selection_bias %moe.router.selection_bias "
       "scales %moe.router.expert_scale {groups = 2 : i64, renormalize, "
       "scaling "
       "= 2.500000e+00 : f64, top_groups = 1 : i64, top_k = 2 : i64}"});
}

/// The router and the experts get the rows by ways of their own.
TEST_F(ExpertDescriptions, ReadsLayersInFront) {
  expectText(makeMoe(", layers: [ scale: 0.5 ]",
                     ", layers: [ rms_norm: { eps: 1e-6, tensors: n } ]",
                     byExpert),
             {"%2 = hexad.scale %1 by", "hexad.linear %2, %moe.router.weight",
              "%5 = hexad.rms_norm %1", "hexad.experts %5, %4"});
}

/// As gpt-oss has it: fused, in turn, stored [in, out], clamped.
TEST_F(ExpertDescriptions, ReadsClampedExperts) {
  expectText(
      "{ experts: 4, hidden: 5, activation: quick_gelu, limit: 7, "
      "unit_offset: true, bias: true, fused: interleaved, transposed: "
      "true, router: { top_k: 2, renormalize: true, bias: true }, "
      "tensors: { router: router, gate_up: { weight: gate_up_in_out, "
      "bias: gate_up_bias }, down: { weight: down_in_out, bias: "
      "down_bias } } }",
      {"@moe.gate.weight : tensor<4x5x8xf32>",
       "[\"gate_up_in_out\"] {layers = 4 : i64, members = 4 : i64, picks "
       "= [array<i64: 0, 1, 2, 5>], transposed}",
       "@moe.gate.bias : tensor<4x5xf32>", "[\"gate_up_bias\"]",
       "picks = [array<i64: 0, 1, 2, 5>]}", "@moe.up.weight",
       "picks = [array<i64: 1, 1, 2, 5>], transposed}",
       "@moe.down.weight : tensor<4x8x5xf32>",
       "%8 = hexad.clamp %6 {upper = 7.000000e+00 : f64}",
       "%9 = hexad.clamp %7 {lower = -7.000000e+00 : f64, upper = "
       "7.000000e+00 : f64}",
       "%10 = hexad.activation quick_gelu %8", "%11 = hexad.multiply %10, %9",
       "hexad.add %11, %10"});
}

TEST_F(ExpertDescriptions, ReadsFusedBlocks) {
  expectText(makeMoe("", ", fused: blocks",
                     "gate_up: { weight: gate_up }, down: { weight: down }"),
             {"[\"gate_up\"] {layers = 4 : i64, members = 4 : i64, picks = "
              "[array<i64: 0, 5, 5, 1>]}",
              "[\"gate_up\"] {layers = 4 : i64, members = 4 : i64, picks = "
              "[array<i64: 5, 5, 5, 1>]}",
              "[\"down\"] {layers = 4 : i64, members = 4 : i64}"});
}

TEST_F(ExpertDescriptions, ReadsSharedExperts) {
  std::string names = byExpert.str() +
                      ", shared_gate: s.gate, shared_up: s.up, shared_down: "
                      "s.down";
  expectText(makeMoe("", ", shared: { hidden: 3 }", names),
             {"%4 = hexad.experts", "hexad.linear %1, %moe.shared.gate.weight",
              "hexad.activation silu", "hexad.add %4, "});
  expectText(makeMoe("", ", shared: { hidden: 3, gated: true }",
                     names + ", shared_router: s.router"),
             {"%4 = hexad.experts",
              "hexad.linear %1, %moe.shared.router.weight",
              "hexad.route sigmoid %5 {top_k = 1 : i64}",
              "%7 = hexad.experts %1, %6 count 1", "@moe.shared.gate.weight",
              "hexad.add %4, %7"});
}

TEST_F(ExpertDescriptions, RefusesKeys) {
  expectMoeError("{ hidden: 5 }", "6:5", "moe needs the key 'experts'");
  expectMoeError("{ experts: 4, hidden: 5, activation: silu }", "6:5",
                 "moe needs the key 'router'");
  expectMoeError("{ experts: 0, hidden: 5, activation: silu, router: {} }",
                 "6:21", "expected an integer from 1 to 131072, found '0'");
  expectMoeError("{ experts: 4, hidden: 5, activation: step, router: {} }", "",
                 "expected an activation, found 'step'");
  expectMoeError("{ experts: 4, hidden: 5, activation: silu, router: {} }", "",
                 "router needs the key 'top_k'");
  expectMoeError(makeMoe(", score: top", "", byExpert), "",
                 "expected softmax or sigmoid, found 'top'");
  expectMoeError(makeMoe(", scaling: 0", "", byExpert), "",
                 "expected a number above 0");
  expectMoeError(makeMoe(", temperature: 1", "", byExpert), "",
                 "unknown key 'temperature' in router");
  expectMoeError(makeMoe("", ", fused: heads", byExpert), "",
                 "expected blocks or interleaved, found 'heads'");
  expectMoeError(makeMoe("", ", fused: blocks", byExpert), "",
                 "unknown key 'gate' in tensors");
  expectMoeError(makeMoe("", ", shared: { gated: true }", byExpert), "",
                 "shared needs the key 'hidden'");
  expectMoeError(makeMoe("", ", shared: { hidden: 3 }", byExpert), "",
                 "tensors needs the key 'shared_gate'");
  expectMoeError(makeMoe("", "", "gate: \"{x}\", up: u, down: d"), "",
                 "expected no '{' but those of {i} and {e}");
  expectMoeError("{ experts: 4, hidden: 5, activation: silu, router: { top_k: "
                 "2 }, tensors: { router: \"e{e}\" } }",
                 "", "expected no '{' but that of {i}");
}

/// Without a family that completes them, both are named, or the stem.
TEST_F(ExpertDescriptions, RefusesHalfOfTheNames) {
  auto getText = [](llvm::StringRef router, llvm::StringRef down) {
    return ("{ experts: 4, hidden: 5, activation: silu, bias: true, fused: "
            "blocks, router: { top_k: 2, bias: true }, tensors: { router: " +
            router +
            ", gate_up: { weight: gate_up, bias: gate_up_bias }, down: " +
            down + " } }")
        .str();
  };
  expectMoeError(
      getText("{ weight: router.weight }", "{ weight: down, bias: down_bias }"),
      "6:5",
      "expected 'tensors' of 'moe.router' to name 'weight' and "
      "'bias', found 'weight' alone, 'router.weight'");
  expectMoeError(getText("router", "{ bias: down_bias }"), "6:5",
                 "expected 'tensors' of 'moe.down' to name 'weight' and "
                 "'bias', found 'bias' alone, 'down_bias'");
}

TEST_F(ExpertDescriptions, RefusesFusedShapes) {
  auto getText = [](llvm::StringRef hidden, llvm::StringRef layout) {
    return ("{ experts: 4, hidden: " + hidden +
            ", activation: silu, fused: " + layout +
            ", router: { top_k: 2 }, tensors: { router: router, gate_up: { "
            "weight: gate_up }, down: { weight: down } } }")
        .str();
  };
  expectMoeError(getText("6", "blocks"), "6:5",
                 "parameter @moe.up.weight: layer 0 takes rows 6 to 11 of "
                 "tensor 'gate_up', which has shape [10, 8]");
  expectMoeError(getText("6", "interleaved"), "6:5",
                 "parameter @moe.gate.weight: layer 0 takes row 0, 6 times, 2 "
                 "apart, up to row 10, of tensor 'gate_up', which "
                 "has shape [10, 8]");
}

TEST_F(ExpertDescriptions, RefusesRouters) {
  expectMoeError(makeMoe(", top_groups: 1", "", byExpert), "6:5",
                 "expected groups of experts and the number of open ones "
                 "together");
  constexpr llvm::StringLiteral softmax = "expected the score sigmoid beside a "
                                          "bias of the selection or groups";
  expectMoeError(makeMoe(", groups: 2, top_groups: 1", "", byExpert), "6:5",
                 softmax);
  expectMoeError(makeMoe(", selection_bias: true", "",
                         "selection_bias: { weight: open }, " + byExpert.str()),
                 "6:5", softmax);
  auto expectGroupError = [&](llvm::StringRef words, llvm::StringRef what) {
    expectMoeError(makeMoe((", score: sigmoid, " + words).str(), "", byExpert),
                   "6:5", what);
  };
  expectGroupError("groups: 3, top_groups: 1",
                   "expected 4 experts in groups of two or more, found 3");
  expectGroupError("groups: 4, top_groups: 1",
                   "expected 4 experts in groups of two or more, found 4");
  expectGroupError("groups: 2, top_groups: 3",
                   "expected enough open groups of 2 experts to choose 2 from, "
                   "and at most 2, found 3");
  expectMoeError("{ experts: 4, hidden: 5, activation: silu, router: { top_k: "
                 "5 }, tensors: { router: router, " +
                     byExpert.str() + " } }",
                 "6:5",
                 "expected at most 4 experts for each row, as there are no "
                 "more, found 5");
  expectMoeError(makeMoe(", layers: [ pool: mean ]", "", byExpert), "6:5",
                 "'pool' cannot stand in front of a router");
  expectMoeError(makeMoe("", ", layers: [ pool: mean ]", byExpert), "6:5",
                 "'pool' cannot stand in front of experts");
}

/// Two layers of experts in the loop and one behind it, and one in front.
TEST_F(ExpertDescriptions, StacksRouterLogits) {
  for (int64_t i = 0; i < 5; ++i) {
    std::string layer = "l" + std::to_string(i);
    add(layer + ".router.weight", {4, 8});
    for (int64_t e = 0; e < 4; ++e) {
      std::string name = layer + ".e" + std::to_string(e);
      add(name + ".gate.weight", {5, 8});
      add(name + ".up.weight", {5, 8});
      add(name + ".down.weight", {8, 5});
    }
  }
  llvm::Error error =
      writeSafetensors(folder.getPath("model.safetensors"), tensors);
  ASSERT_FALSE(!!error) << llvm::toString(std::move(error));
  auto makeLayer = [](llvm::StringRef name, llvm::StringRef stem,
                      llvm::StringRef router) {
    std::string text = "{ moe: { name: " + name.str() +
                       ", experts: 4, hidden: 5, activation: silu, router: { "
                       "top_k: 2" +
                       router.str() + " }, tensors: { router: \"" + stem.str() +
                       "router\"";
    for (const char *part : {"gate", "up", "down"})
      text += llvm::formatv(", {0}: \"{1}e{{e}.{0}\"", part, stem).str();
    return text + " } } }";
  };
  std::string path = folder.write("model.yaml", R"(name: model
inputs: { input_ids: "i32[batch, seq]" }
weights: { file: model.safetensors, unused: [ "*" ] }
layers:
  - embedding: { input: input_ids, entries: 7, dim: 8, tensors: words }
  - )" + makeLayer("a", "", "") + R"(
  - repeat: 5
    period:
      - [ )" + makeLayer("b", "l{i}.", ", reported: softmax") +
                                                    R"( ]
      - [ { scale: 2 } ]
      - [ )" + makeLayer("c", "l{i}.", ", reported: softmax") +
                                                    R"( ]
  - output: rows
)");
  std::vector<std::string> outputs = {"router_logits"};
  OwningOpRef<ModuleOp> module = read(path, outputs);
  ASSERT_TRUE(module) << diagnostics;
  std::string text = print(*module);
  // One in front, two in the one iteration, one of the two layers behind.
  EXPECT_NE(text.find("tensor<4x?x?x4xf32> {hexad.name = \"router_logits\", "
                      "hexad.stacked}"),
            std::string::npos)
      << text;
  int64_t softmaxes = 0, kept = 0;
  module->walk([&](SoftmaxOp) { ++softmaxes; });
  module->walk([&](tensor::InsertSliceOp) { ++kept; });
  EXPECT_EQ(softmaxes, 3);
  EXPECT_EQ(kept, 4);
}

TEST_F(ExpertDescriptions, RefusesRouterLogits) {
  std::vector<std::string> outputs = {"router_logits"};
  auto expectOutputError = [&](llvm::StringRef layers, llvm::StringRef what) {
    std::string path = folder.write("model.yaml", (R"(name: model
inputs: { input_ids: "i32[batch, seq]" }
weights: { file: model.safetensors, unused: [ "*" ] }
layers:
  - embedding: { input: input_ids, entries: 7, dim: 8, tensors: words }
)" + layers + "  - output: logits\n")
                                                      .str());
    diagnostics.clear();
    expectError(path, "--outputs: error: ", what, outputs);
  };
  std::string moe = "  - moe: " + makeMoe("", "", byExpert) + "\n";
  expectOutputError("  - scale: 2\n",
                    "output 'router_logits' needs a layer 'moe'");
  expectOutputError(moe +
                        "  - moe: { name: second, experts: 2, hidden: 5, "
                        "activation: silu, router: { top_k: 1 }, tensors: { "
                        "router: router, " +
                        byExpert.str() + " } }\n",
                    "output 'router_logits' needs layers of as many experts "
                    "each, expected 4, found 2");
  expectOutputError("  - pool: mean\n" + moe,
                    "output 'router_logits' needs experts that get a row for "
                    "each token");
  outputs.push_back("loss");
  expectOutputError("  - linear: { name: head, out: 8, tensors: head }\n" + moe,
                    "output 'router_logits' needs experts in front of the "
                    "head, which is computed for some rows only, found one "
                    "behind it");
  expectMoeError(makeMoe(", reported: scores", "", byExpert), "",
                 "expected logits or softmax, found 'scores'");
}

} // namespace
