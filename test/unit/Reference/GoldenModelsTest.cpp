//===- GoldenModelsTest.cpp - The reference against golden models ---------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Golden.h"
#include "hexad/Dialect/Hexad/Transforms/Passes.h"
#include "hexad/Model/ModelReader.h"
#include "hexad/Reference/Interpreter.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace hexad;
using namespace hexad::reference;

namespace {

/// Every case of a golden model: all of its outputs, hidden states and the loss
/// included, and no output beside them.
class GoldenModels : public testing::TestWithParam<const char *> {};
class GoldenImageModels : public testing::TestWithParam<const char *> {};

void expectGoldenCases(StringRef model) {
  std::string folder = goldenPath(("models/" + model).str());
  MLIRContext context;
  llvm::SourceMgr sources;
  ReadOptions options;
  options.outputs = {"hidden"};
  bool hasLogits = model != "bert" && model != "dinov2-swiglu";
  if (hasLogits)
    options.outputs.push_back("loss");
  if (model == "qwen3-moe")
    options.outputs.push_back("router_logits");
  OwningOpRef<ModuleOp> module = readModel(folder, options, sources, &context);
  ASSERT_TRUE(module);
  ParameterSource parameters = readParametersFrom(folder);

  std::string prefix = ("models/" + model).str();
  std::unique_ptr<SafetensorsFile> file =
      openGolden(prefix + "/cases.safetensors");
  llvm::json::Value index = parseGoldenJson(prefix + "/cases.json");
  ASSERT_TRUE(file && index.getAsObject());
  const llvm::json::Array *cases = index.getAsObject()->getArray("cases");
  ASSERT_TRUE(cases && !cases->empty());
  int64_t compared = 0, hidden = 0, storedHidden = 0, losses = 0,
          storedLosses = 0, routers = 0;
  for (const llvm::json::Value &value : *cases) {
    const llvm::json::Object &object = *value.getAsObject();
    std::string name = object.getString("name")->str();
    // Tokens that a loop around the model chooses.
    if (object.get("generate"))
      continue;
    SCOPED_TRACE(name);
    llvm::StringMap<IntegerTensor> inputs;
    llvm::StringMap<FloatTensor> images;
    for (const auto &input : *object.getObject("inputs")) {
      const StoredTensor &stored =
          *file->find(name + "/in/" + input.first.str());
      if (stored.isFloat())
        images.try_emplace(input.first, readFloats(stored));
      else if (input.first != "position_ids") // They follow from the mask.
        inputs.try_emplace(input.first, readIntegers(stored));
    }
    FailureOr<std::vector<Output>> outputs =
        runModel(*module, inputs, parameters, images);
    ASSERT_TRUE(succeeded(outputs));
    const llvm::json::Object &expected = *object.getObject("outputs");
    for (Output &output : *outputs) {
      const StoredTensor *want = file->find(name + "/out/" + output.name);
      bool isHidden = StringRef(output.name).starts_with("hidden.");
      // Hidden states are stored for one of the cases, losses for some.
      if (!want && isHidden)
        continue;
      if (!want && output.name == "loss") {
        EXPECT_TRUE(std::isnan(output.value.elements[0])); // without labels
        continue;
      }
      ASSERT_TRUE(want) << output.name;
      if (StringRef(output.name).starts_with("router_logits.")) {
        // Stored as rows of all tokens, [batch * seq, experts].
        auto &shape = output.value.shape;
        ASSERT_EQ(shape.size(), 3u);
        shape = {shape[0] * shape[1], shape[2]};
        ++routers;
      }
      // Pooled outputs have no padding.
      auto mask = inputs.find("attention_mask");
      bool isRectangle = output.value.shape.size() == 3;
      expectGolden(output.value, *want, 1e-12,
                   isRectangle && mask != inputs.end() ? &mask->second
                                                       : nullptr);
      ++compared;
      hidden += isHidden;
      losses += output.name == "loss";
    }
    // What the model does not give: probabilities, means of its rows.
    for (const auto &entry : expected) {
      StringRef wanted = entry.first;
      bool computed = llvm::any_of(*outputs, [&](const Output &output) {
        return output.name == wanted;
      });
      storedHidden += wanted.starts_with("hidden.");
      storedLosses += wanted == "loss";
      EXPECT_TRUE(computed || wanted.starts_with("attention.") ||
                  wanted.starts_with("mean_of_"))
          << wanted.str();
    }
  }
  EXPECT_GE(compared, 4);
  EXPECT_EQ(hidden, storedHidden);
  EXPECT_EQ(losses, storedLosses);
  // Two layers of three have experts.
  EXPECT_EQ(routers, model == "qwen3-moe" ? 2 * 4 : 0);
  EXPECT_GE(hidden, 3); // what enters the first layer, what leaves each
}

TEST_P(GoldenModels, Equal) { expectGoldenCases(GetParam()); }
TEST_P(GoldenImageModels, Equal) { expectGoldenCases(GetParam()); }

/// The phase `rows` computes the same, to the bit: projections are fused, ops
/// stand in blocks, but no sum has changed.
TEST_P(GoldenModels, RowsPhase) {
  std::string folder = goldenPath(std::string("models/") + GetParam());
  MLIRContext context;
  llvm::SourceMgr sources;
  OwningOpRef<ModuleOp> module = readModel(folder, {}, sources, &context);
  ASSERT_TRUE(module);
  llvm::StringMap<IntegerTensor> inputs;
  IntegerTensor ids({2, 5}, 3), mask({2, 5}, 1);
  for (auto [i, id] : llvm::enumerate(ids.elements))
    id += 7 * i;
  mask.getRow(1)[0] = 0;
  mask.getRow(1)[4] = 0;
  inputs.try_emplace("input_ids", ids);
  inputs.try_emplace("attention_mask", mask);
  FailureOr<std::vector<Output>> before =
      runModel(*module, inputs, readParametersFrom(folder));
  ASSERT_TRUE(succeeded(before));

  PassManager manager(&context);
  manager.addPass(createFuseProjectionsPass());
  manager.addNestedPass<func::FuncOp>(createFormRowsPass());
  ASSERT_TRUE(succeeded(manager.run(*module)));
  bool hasBlocks = false;
  module->walk([&](RowsOp) { hasBlocks = true; });
  ASSERT_TRUE(hasBlocks);
  FailureOr<std::vector<Output>> after =
      runModel(*module, inputs, readParametersFrom(folder));
  ASSERT_TRUE(succeeded(after));
  ASSERT_EQ(after->size(), before->size());
  for (auto [one, other] : llvm::zip_equal(*before, *after)) {
    EXPECT_EQ(one.name, other.name);
    EXPECT_EQ(one.value.elements, other.value.elements) << one.name;
  }
}

std::string getTestName(const testing::TestParamInfo<const char *> &info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(, GoldenModels,
                         testing::Values("bert", "bert-mlm", "gemma3",
                                         "gemma4-per-layer-input", "gpt-neox",
                                         "gpt2", "llama-yarn", "qwen3-moe"),
                         getTestName);
INSTANTIATE_TEST_SUITE_P(, GoldenImageModels,
                         testing::Values("dinov2", "dinov2-swiglu", "vit"),
                         getTestName);

} // namespace
