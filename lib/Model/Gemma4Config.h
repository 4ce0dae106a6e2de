//===- Gemma4Config.h - config.json of Gemma 4 ------------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_LIB_MODEL_GEMMA4CONFIG_H
#define HEXAD_LIB_MODEL_GEMMA4CONFIG_H

#include "ConfigFile.h"
#include "hexad/Model/Description.h"

namespace hexad {

/// In what layers differ.
struct LayerShape {
  bool sliding;
  int64_t headDim, kvHeads;
  int64_t intermediate;
  /// The layer whose keys are attended to.
  std::optional<int64_t> keysOf = {};

  bool operator==(const LayerShape &) const = default;
};

/// What a config.json says of a model.
struct Gemma4Config {
  int64_t hidden, heads, vocabulary;
  double eps;
  Activation activation;
  bool tied, attentionBias, valueFromKey;
  std::optional<double> headCap;
  std::optional<int64_t> window;
  /// Columns of each layer's input, 0 if there is none, and its entries.
  int64_t layerInput, layerInputEntries;
  /// Experts beside the feed-forward layer, 0 if there are none, their width
  /// and how many each row goes to.
  int64_t experts, expertHidden, topExperts;
  std::vector<LayerShape> layers;
  /// Layers in front of those that attend to the keys of others.
  int64_t ownLayers;
  RopeDescription rope, slidingRope;
};

/// Reads the sizes of a model and of each of its layers.
mlir::LogicalResult readGemma4Config(const ConfigFile &config,
                                     Gemma4Config &model);

} // namespace hexad

#endif // HEXAD_LIB_MODEL_GEMMA4CONFIG_H
