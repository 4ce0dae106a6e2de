//===- ExpertsConfig.h - Which layers have experts --------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_LIB_MODEL_EXPERTSCONFIG_H
#define HEXAD_LIB_MODEL_EXPERTSCONFIG_H

#include "ConfigFile.h"
#include "hexad/Model/Description.h"

namespace hexad {

/// Which layers of a family have experts instead of one feed-forward layer.
enum class ExpertsRule {
  None,
  /// All, of `intermediate_size`; the weights of the chosen ones sum to 1.
  AllLayers,
  /// Every `decoder_sparse_step`th but those of `mlp_only_layers`, of
  /// `moe_intermediate_size`.
  SparseSteps
};

struct LayerExperts {
  /// Of a layer that has experts. Its activation is left to the caller.
  std::optional<MoeLayer> layer;
  std::vector<bool> isSparse; ///< by layer
};

mlir::LogicalResult readLayerExperts(const ConfigFile &config, ExpertsRule rule,
                                     int64_t layers, LayerExperts &experts);

} // namespace hexad

#endif // HEXAD_LIB_MODEL_EXPERTSCONFIG_H
