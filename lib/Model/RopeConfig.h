//===- RopeConfig.h - Rotary embeddings in config.json ----------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_LIB_MODEL_ROPECONFIG_H
#define HEXAD_LIB_MODEL_ROPECONFIG_H

#include "ConfigFile.h"
#include "hexad/Model/Description.h"

namespace hexad {

/// How a family spells its rotary embedding outside of `rope_parameters` and
/// `rope_scaling`, and what counts where nothing is said.
struct RopeKeys {
  double theta = 10000;
  llvm::ArrayRef<llvm::StringLiteral> thetaKeys;
  /// Columns of a head that turn, by all. Without keys all turn.
  double partialFactor = 1;
  llvm::ArrayRef<llvm::StringLiteral> partialKeys = {};
};

/// Reads `rope_parameters`, or the older spelling of it: `rope_scaling` and the
/// keys of `keys`.
mlir::LogicalResult readRope(const ConfigFile &config, const RopeKeys &keys,
                             int64_t headDim, RopeDescription &rope);

/// The same for a model whose layers have two kinds of rotary embedding, in
/// `rope_parameters` by the name of the kind; `rope_scaling` is that of the
/// full ones alone. A head of no columns says that there are no such layers.
mlir::LogicalResult
readRopeOfLayerTypes(const ConfigFile &config, const RopeKeys &fullKeys,
                     const RopeKeys &slidingKeys, int64_t fullHeadDim,
                     int64_t slidingHeadDim, RopeDescription &full,
                     RopeDescription &sliding);

} // namespace hexad

#endif // HEXAD_LIB_MODEL_ROPECONFIG_H
