//===- BertFamily.cpp - Checkpoint folders of model type bert -------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers",
// arXiv:1810.04805.
//
//===----------------------------------------------------------------------===//

#include "Family.h"

using namespace mlir;
using namespace hexad;

static constexpr NameStem stems[] = {
    {"words", "embeddings.word_embeddings", true},
    {"token_types", "embeddings.token_type_embeddings", true},
    {"positions", "embeddings.position_embeddings", true},
    {"embedding_norm", "embeddings.LayerNorm", true},
    {"attention.query", "encoder.layer.{i}.attention.self.query", true},
    {"attention.key", "encoder.layer.{i}.attention.self.key", true},
    {"attention.value", "encoder.layer.{i}.attention.self.value", true},
    {"attention.output", "encoder.layer.{i}.attention.output.dense", true},
    {"attention_norm", "encoder.layer.{i}.attention.output.LayerNorm", true},
    {"up", "encoder.layer.{i}.intermediate.dense", true},
    {"down", "encoder.layer.{i}.output.dense", true},
    {"feed_forward_norm", "encoder.layer.{i}.output.LayerNorm", true},
    {"pooler", "pooler.dense", true},
    {"classifier", "classifier", false},
    {"transform", "cls.predictions.transform.dense", false},
    {"transform_norm", "cls.predictions.transform.LayerNorm", false},
    {"decoder", "cls.predictions", false}, // The bias' own name.
    {"decoder", "cls.predictions.decoder", false}};

static constexpr llvm::StringLiteral leftovers[] = {
    "embeddings.position_ids", "pooler.dense.*", "cls.predictions.*",
    "cls.seq_relationship.*"};

static constexpr llvm::StringLiteral readKeys[] = {"architectures",
                                                   "hidden_act",
                                                   "hidden_size",
                                                   "id2label",
                                                   "intermediate_size",
                                                   "layer_norm_eps",
                                                   "max_position_embeddings",
                                                   "model_type",
                                                   "num_attention_heads",
                                                   "num_hidden_layers",
                                                   "num_labels",
                                                   "tie_word_embeddings",
                                                   "type_vocab_size",
                                                   "vocab_size"};

static constexpr FixedKey fixedKeys[] = {
    {"add_cross_attention", "false"},
    {"is_decoder", "false"},
    {"is_encoder_decoder", "false"},
    {"position_embedding_type", "\"absolute\""},
    {"pruned_heads", "{}"},
    {"tie_encoder_decoder", "false"}};

static constexpr llvm::StringLiteral inertKeys[] = {
    "attention_probs_dropout_prob", "chunk_size_feed_forward",
    "cross_attention_hidden_size",  "directionality",
    "hidden_dropout_prob",          "pooler_fc_size",
    "pooler_num_attention_heads",   "pooler_num_fc_layers",
    "pooler_size_per_head",         "pooler_type"};

static constexpr llvm::StringLiteral architectures[] = {
    "BertForMaskedLM", "BertForSequenceClassification", "BertModel"};

static LogicalResult describeBert(const ConfigFile &config,
                                  llvm::StringRef architecture,
                                  Description &description) {
  int64_t hidden, intermediate, layers, heads, vocabulary, types, positions;
  int64_t labels;
  double eps;
  Activation activation;
  bool tied;
  if (failed(config.readSize("hidden_size", maxDimension, hidden)) ||
      failed(
          config.readSize("intermediate_size", maxDimension, intermediate)) ||
      failed(config.readSize("num_hidden_layers", maxRepeat, layers)) ||
      failed(config.readSize("num_attention_heads", maxDimension, heads)) ||
      failed(config.readSize("vocab_size", maxDimension, vocabulary)) ||
      failed(config.readSize("type_vocab_size", maxDimension, types, 2)) ||
      failed(config.readSize("max_position_embeddings", maxDimension,
                             positions)) ||
      failed(config.readNumber("layer_norm_eps", eps, 1e-12)) ||
      failed(config.readActivation("hidden_act", activation, "gelu")) ||
      failed(config.readFlag("tie_word_embeddings", tied, true)) ||
      failed(config.readLabelCount(labels)))
    return failure();
  if (hidden % heads != 0)
    return emitError(config.getLocation("num_attention_heads"),
                     "expected num_attention_heads to divide hidden_size ")
           << hidden << ", found " << heads;

  auto at = [&](llvm::StringRef key) { return config.getLocation(key); };
  auto norm = [&](std::string name) {
    return Layer{at("layer_norm_eps"), LayerNormLayer{name, eps}};
  };
  auto linear = [&](llvm::StringRef key, std::string name, int64_t out,
                    std::string tiedTo = "") {
    LinearLayer layer{name, out, /*bias=*/true};
    layer.tied = tiedTo;
    return Layer{at(key), layer};
  };
  Layer act{at("hidden_act"), ActivationLayer{activation}};
  AttentionLayer attention{"attention", heads};
  attention.bias = true;

  description.inputs = {
      {"input_ids", at("vocab_size")},
      {"attention_mask", description.loc, /*isMask=*/true, /*optional=*/true},
      {"token_type_ids", at("type_vocab_size"), /*isMask=*/false,
       /*optional=*/true}};
  std::vector<Layer> &model = description.layers;
  model.push_back(
      {at("hidden_size"),
       SumLayer{
           {{at("vocab_size"),
             EmbeddingLayer{"words", "input_ids", vocabulary, hidden}},
            {at("type_vocab_size"),
             EmbeddingLayer{"token_types", "token_type_ids", types, hidden}},
            {at("max_position_embeddings"),
             PositionsLayer{"positions", positions, hidden}}}}});
  model.push_back(norm("embedding_norm"));
  model.push_back(
      {at("num_hidden_layers"),
       RepeatLayer{layers,
                   {{{at("num_attention_heads"),
                      ResidualLayer{{{at("num_attention_heads"), attention}}}},
                     norm("attention_norm"),
                     {at("intermediate_size"),
                      ResidualLayer{
                          {linear("intermediate_size", "up", intermediate), act,
                           linear("intermediate_size", "down", hidden)}}},
                     norm("feed_forward_norm")}}}});

  Location head = at("architectures");
  auto addOutput = [&](std::string name) {
    model.push_back({head, OutputLayer{name}});
  };
  if (architecture == "BertForMaskedLM") {
    model.push_back(linear("architectures", "transform", hidden));
    model.push_back(act);
    model.push_back(norm("transform_norm"));
    model.push_back(
        linear("architectures", "decoder", vocabulary, tied ? "words" : ""));
    addOutput("logits");
    return success();
  }
  if (architecture == "BertModel")
    addOutput("last_hidden_state");
  model.push_back({head, PoolLayer{Pooling::First}});
  model.push_back(linear("architectures", "pooler", hidden));
  model.push_back({head, ActivationLayer{Activation::Tanh}});
  if (architecture == "BertModel") {
    addOutput("pooler_output");
    return success();
  }
  model.push_back(linear("architectures", "classifier", labels));
  addOutput("logits");
  return success();
}

const Family hexad::bertFamily = {{"bert", "bert.", stems, leftovers},
                                  {readKeys, fixedKeys, inertKeys},
                                  architectures,
                                  describeBert};
