//===- MutationTest.cpp - Files of decoders with random mistakes ----------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every changed file is either read or refused with errors that have a place,
// in little time. The environment variables HEXAD_MUTATIONS (changes of each
// file) and HEXAD_MUTATION_SEED make a longer search of it.
//
//===----------------------------------------------------------------------===//

#include "DecoderTest.h"
#include "Mutator.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Process.h"
#include <ctime>

using namespace mlir;
using namespace hexad;

/// A description of everything that decoders are made of.
static constexpr llvm::StringLiteral description = R"(name: all
inputs:
  input_ids: "i32[batch, seq]"
  attention_mask: { type: "i32[batch, seq]", mask: true, optional: true }
weights: { file: model.safetensors, names: llama, unused: ["spare.*"] }
hidden_after_norm: true
layers:
  - sum:
      - embedding: { name: words, input: input_ids, entries: 7, dim: 8, tensors: words }
      - positions: { entries: 64, tensors: { weight: places } }
  - scale: 2.5
  - repeat: 3
    period:
      - - residual:
            - rms_norm: { eps: 1e-6, unit_offset: true, tensors: "{i}.norm" }
            - attention:
                heads: 4
                kv_heads: 2
                head_dim: 4
                scale: 0.25
                bias: true
                output_bias: false
                causal: true
                window: 5
                softcap: 50
                qk_norm: { of: projection, eps: 1e-6, unit_offset: true }
                rope:
                  theta: 10000
                  rotary: 2
                  pairing: interleaved
                  scaling: { kind: yarn, factor: 4, beta_fast: 32, beta_slow: 1, truncate: false, original_positions: 16 }
                tensors: { query: "{i}.q", key: "{i}.k", value: "{i}.v", output: "{i}.o", query_norm: "{i}.qn", key_norm: "{i}.kn" }
        - residual:
            - swiglu: { hidden: 6, tensors: { gate: "{i}.gate", up: "{i}.up", down: { weight: "{i}.down.weight" } } }
      - - parallel:
            - - layer_norm: { eps: 1e-5, bias: false, tensors: "{i}.norm" }
              - attention:
                  heads: 4
                  causal: true
                  fused: heads
                  transposed: true
                  qk_norm: { of: heads, eps: 1e-6 }
                  rope:
                    theta: 5e5
                    scaling: { kind: llama3, factor: 8, low_frequency_factor: 1, high_frequency_factor: 4, original_positions: 16 }
                  tensors: { qkv: "{i}.qkv", output: "{i}.o", query_norm: "{i}.qn", key_norm: "{i}.kn" }
            - - linear: { name: up, out: 6, bias: true, tensors: "{i}.up" }
              - gelu_tanh: {}
              - linear: { name: down, out: 8, transposed: true, tensors: "{i}.down" }
              - gated: { name: gate, hidden: 6, activation: relu, tensors: { gate: "{i}.gate", up: "{i}.up2", down: "{i}.down2" } }
  - rms_norm: { name: final_norm, eps: 1e-6, tensors: norm }
  - linear: { name: head, out: 7, tied: words }
  - softcap: 30
  - output: logits
)";

namespace {

uint64_t getVariable(llvm::StringRef name, uint64_t byDefault) {
  uint64_t number;
  std::optional<std::string> text = llvm::sys::Process::GetEnv(name);
  return text && !llvm::StringRef(*text).getAsInteger(10, number) ? number
                                                                  : byDefault;
}

class Mutations : public DecoderTest {
protected:
  void addAll() {
    add("words.weight", {7, 8});
    add("places", {64, 8});
    for (std::string layer : {"0.", "2."}) {
      add(layer + "norm.weight", {8});
      for (auto [name, rows] : {std::pair("q", 16), {"k", 8}, {"v", 8}}) {
        add(layer + name + ".weight", {rows, 8});
        add(layer + name + ".bias", {rows});
      }
      add(layer + "o.weight", {8, 16});
      add(layer + "qn.weight", {16});
      add(layer + "kn.weight", {8});
      add(layer + "gate.weight", {6, 8});
      add(layer + "up.weight", {6, 8});
      add(layer + "down.weight", {8, 6});
    }
    add("1.norm.weight", {8});
    add("1.qkv.weight", {8, 24});
    add("1.o.weight", {8, 8});
    add("1.qn.weight", {2});
    add("1.kn.weight", {2});
    addPair("1.up", 6, 8);
    add("1.down.weight", {6, 8});
    add("1.gate.weight", {6, 8});
    add("1.up2.weight", {6, 8});
    add("1.down2.weight", {8, 6});
    add("norm.weight", {8});
    add("spare.weight", {1});
  }

  /// Reads `path` and checks what is said of it.
  bool check(llvm::StringRef path) {
    unsigned mistakes = 0;
    std::string messages;
    // A context of its own, since it keeps all attributes and locations.
    MLIRContext fresh(MLIRContext::Threading::DISABLED);
    ScopedDiagnosticHandler handler(&fresh, [&](Diagnostic &diagnostic) {
      llvm::raw_string_ostream stream(messages);
      stream << diagnostic.getLocation() << ": " << diagnostic << "\n";
      mistakes += diagnostic.getSeverity() == DiagnosticSeverity::Error;
      auto place = dyn_cast<FileLineColLoc>(diagnostic.getLocation());
      EXPECT_TRUE(place && place.getLine() > 0 && place.getColumn() > 0)
          << "no place: " << messages;
      EXPECT_NE(diagnostic.str(), "");
      return success();
    });
    // The process's time, which other processes do not make longer.
    std::clock_t begin = std::clock();
    ReadOptions options;
    options.outputs = {"hidden"};
    llvm::SourceMgr sources;
    bool accepted(readModel(path, options, sources, &fresh));
    EXPECT_LT(std::clock() - begin, 5 * CLOCKS_PER_SEC);
    EXPECT_EQ(accepted, mistakes == 0) << messages;
    return accepted;
  }

  /// Changes `text`, which `write` stores, and reads it behind `path`.
  void search(llvm::StringRef path, llvm::StringRef text, uint64_t count,
              llvm::function_ref<void(llvm::StringRef)> write) {
    write(text);
    ASSERT_TRUE(check(path));
    Mutator mutator(getVariable("HEXAD_MUTATION_SEED", 1));
    count = getVariable("HEXAD_MUTATIONS", count);
    uint64_t accepted = 0;
    for (uint64_t i = 0; i < count && !HasFailure(); ++i) {
      std::string changed = mutator.mutate(text);
      write(changed);
      accepted += check(path);
      EXPECT_FALSE(HasFailure()) << "change " << i << ":\n" << changed;
    }
    // Most changes are mistakes, but not all.
    EXPECT_GT(accepted, 0u);
    EXPECT_LT(accepted, count / 2);
    RecordProperty("accepted", std::to_string(accepted));
  }
  void searchConfig(const std::string &config, uint64_t count = 60) {
    store(config);
    search(folder.getPath(), config, count,
           [&](llvm::StringRef text) { folder.write("config.json", text); });
  }
};

TEST_F(Mutations, OfADescription) {
  addAll();
  store("");
  std::string path = folder.getPath("model.yaml");
  search(path, description, 200,
         [&](llvm::StringRef text) { folder.write("model.yaml", text); });
}

TEST_F(Mutations, OfAConfigurationOfLlama) {
  addLlama({});
  searchConfig(makeLlama(R"(,
  "rope_theta": 5e5,
  "rope_scaling": {
    "rope_type": "llama3",
    "factor": 8.0,
    "high_freq_factor": 4.0,
    "low_freq_factor": 1.0,
    "original_max_position_embeddings": 16
  },
  "attention_bias": false,
  "hidden_act": "silu",
  "tie_word_embeddings": false)"));
}

TEST_F(Mutations, OfAConfigurationOfQwen2) {
  addLlama({.queryBias = true});
  searchConfig(makeConfig("Qwen2ForCausalLM", "qwen2", R"(,
  "use_sliding_window": true,
  "sliding_window": 5,
  "max_window_layers": 1,
  "layer_types": ["full_attention", "full_attention", "sliding_attention"],
  "rope_scaling": {
    "type": "yarn",
    "factor": 4.0,
    "beta_fast": 32,
    "beta_slow": 1,
    "mscale": 0.7,
    "mscale_all_dim": 0.7,
    "original_max_position_embeddings": 16
  })"));
}

TEST_F(Mutations, OfAConfigurationOfGemma3) {
  addGemma();
  searchConfig(makeGemma(R"(,
  "sliding_window_pattern": 2,
  "query_pre_attn_scalar": 16,
  "attn_logit_softcapping": 50,
  "final_logit_softcapping": 30,
  "rope_parameters": {
    "full_attention": {"rope_type": "linear", "factor": 8, "rope_theta": 3e6},
    "sliding_attention": {"rope_type": "default", "rope_theta": 2e4}
  })"));
}

TEST_F(Mutations, OfAConfigurationOfGpt2) {
  addGpt2();
  searchConfig(makeGpt2(R"(,
  "n_inner": 32,
  "layer_norm_epsilon": 1e-5,
  "activation_function": "gelu_new",
  "tie_word_embeddings": true
)"));
}

TEST_F(Mutations, OfAConfigurationOfGptNeox) {
  addGptNeox();
  searchConfig(makeGptNeox(R"(,
  "rotary_pct": 1.0,
  "rotary_emb_base": 20000,
  "layer_norm_eps": 1e-5,
  "use_parallel_residual": true)"));
}

TEST_F(Mutations, OfAHeaderOfTensors) {
  addLlama({});
  store(makeLlama());
  std::string path = folder.getPath("model.safetensors");
  auto buffer = llvm::MemoryBuffer::getFile(path);
  ASSERT_TRUE(buffer);
  std::string file = (*buffer)->getBuffer().str();
  uint64_t size = llvm::support::endian::read64le(file.data());
  llvm::StringRef data = llvm::StringRef(file).drop_front(8 + size);
  search(folder.getPath(), llvm::StringRef(file).substr(8, size), 100,
         [&](llvm::StringRef header) {
           std::string length(8, '\0');
           llvm::support::endian::write64le(length.data(), header.size());
           folder.write("model.safetensors",
                        length + header.str() + data.str());
         });
}

TEST_F(Mutations, OfAnIndexOfTensors) {
  addLlama({});
  folder.write("config.json", makeLlama());
  llvm::ArrayRef<TensorToWrite> all = tensors;
  std::string index = "{\n  \"weight_map\": {\n";
  for (auto [name, part] : {std::pair("1.safetensors", all.take_front(9)),
                            {"2.safetensors", all.drop_front(9)}}) {
    llvm::Error error = writeSafetensors(folder.getPath(name), part);
    ASSERT_FALSE(!!error) << llvm::toString(std::move(error));
    for (const TensorToWrite &tensor : part)
      index += "    \"" + tensor.name + "\": \"" + name + "\",\n";
  }
  index.resize(index.size() - 2);
  search(folder.getPath(), index + "\n  }\n}\n", 100,
         [&](llvm::StringRef text) {
           folder.write("model.safetensors.index.json", text);
         });
}

/// Length of the header, header and data alike.
TEST_F(Mutations, OfAFileOfTensors) {
  addLlama({});
  store(makeLlama());
  std::string path = folder.getPath("model.safetensors");
  auto buffer = llvm::MemoryBuffer::getFile(path);
  ASSERT_TRUE(buffer);
  std::string file = (*buffer)->getBuffer().str();
  Mutator mutator(getVariable("HEXAD_MUTATION_SEED", 1));
  uint64_t count = getVariable("HEXAD_MUTATIONS", 60);
  for (uint64_t i = 0; i < count && !HasFailure(); ++i) {
    std::string changed = file;
    if (i % 2 == 0)
      changed.resize(mutator.pick(file.size()));
    for (uint64_t j = 0; j < 3 && !changed.empty(); ++j)
      changed[mutator.pick(std::min<uint64_t>(
          changed.size(), j == 0 ? 8 : 4096))] = char(mutator.pick(256));
    folder.write("model.safetensors", changed);
    check(folder.getPath());
  }
}

} // namespace
