//===- ExpertsConfig.cpp - Which layers have experts ----------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExpertsConfig.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace hexad;

/// The number of experts, which has two names.
static LogicalResult readCount(const ConfigFile &config, int64_t byDefault,
                               int64_t &count) {
  constexpr llvm::StringLiteral key = "num_local_experts",
                                other = "num_experts";
  llvm::StringRef given = config.find(key) ? key : other;
  if (failed(config.readSize(given, maxExperts, count, byDefault)))
    return failure();
  int64_t same;
  if (failed(config.readSize(other, maxExperts, same, count)))
    return failure();
  if (same != count)
    return config.expected(other,
                           llvm::Twine(count) + " like num_local_experts");
  return success();
}

/// The layers that have experts by the rule SparseSteps.
static LogicalResult readSparseSteps(const ConfigFile &config,
                                     std::vector<bool> &isSparse) {
  int64_t layers = isSparse.size(), step;
  if (failed(config.readSize("decoder_sparse_step", maxRepeat, step, 1)))
    return failure();
  for (int64_t i = 0; i < layers; ++i)
    isSparse[i] = (i + 1) % step == 0;
  constexpr llvm::StringLiteral key = "mlp_only_layers";
  const llvm::json::Value *dense = config.find(key);
  if (!dense)
    return success();
  if (!dense->getAsArray())
    return config.expected(key, "a list of numbers of layers");
  for (const llvm::json::Value &number : *dense->getAsArray()) {
    std::optional<int64_t> layer = number.getAsInteger();
    if (!layer || *layer < 0 || *layer >= layers)
      return emitError(config.getLocation(key), "expected ")
             << key << " to hold numbers of layers, from 0 to " << layers - 1
             << ", found " << llvm::formatv("{0}", number).str();
    isSparse[*layer] = false;
  }
  return success();
}

LogicalResult hexad::readLayerExperts(const ConfigFile &config,
                                      ExpertsRule rule, int64_t layers,
                                      LayerExperts &experts) {
  experts.isSparse.assign(layers, rule == ExpertsRule::AllLayers);
  if (rule == ExpertsRule::None)
    return success();
  bool isInAllLayers = rule == ExpertsRule::AllLayers;
  MoeLayer &layer = experts.layer.emplace();
  layer.name = "experts";
  if (failed(readCount(config, isInAllLayers ? 8 : 128, layer.experts)) ||
      failed(config.readSize("num_experts_per_tok", maxExperts,
                             layer.router.topK, isInAllLayers ? 2 : 8)))
    return failure();
  if (layer.router.topK > layer.experts)
    return config.expected("num_experts_per_tok",
                           "at most the number of experts, " +
                               llvm::Twine(layer.experts));
  if (isInAllLayers) {
    layer.router.renormalize = true;
    return config.readSize("intermediate_size", maxDimension, layer.hidden);
  }
  return success(succeeded(config.readFlag("norm_topk_prob",
                                           layer.router.renormalize, false)) &&
                 succeeded(config.readSize("moe_intermediate_size",
                                           maxDimension, layer.hidden, 768)) &&
                 succeeded(readSparseSteps(config, experts.isSparse)));
}
