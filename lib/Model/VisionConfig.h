//===- VisionConfig.h - What vision transformers share ----------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_LIB_MODEL_VISIONCONFIG_H
#define HEXAD_LIB_MODEL_VISIONCONFIG_H

#include "ConfigFile.h"
#include "hexad/Model/Description.h"

namespace hexad {

/// The keys that the families of vision transformers have in common.
struct VisionConfig {
  int64_t hidden, layers, heads, channels, labels;
  GridSize image, patch;
  double eps;
  Activation activation;
  bool qkvBias;

  /// `eps` and `patch` are what no mention of them means. Emits a diagnostic on
  /// failure.
  mlir::LogicalResult read(const ConfigFile &config, double eps, int64_t patch);

  /// The input, and the sum of patches and positions behind a class token and
  /// `registers`.
  void addPatches(const ConfigFile &config, int64_t registers, bool antialias,
                  Description &description) const;
  Layer makeNorm(const ConfigFile &config, std::string name) const;
  Layer makeAttention(const ConfigFile &config) const;
};

} // namespace hexad

#endif // HEXAD_LIB_MODEL_VISIONCONFIG_H
