//===- LayerWindows.h - Which layers see a window ---------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_LIB_MODEL_LAYERWINDOWS_H
#define HEXAD_LIB_MODEL_LAYERWINDOWS_H

#include "ConfigFile.h"

namespace hexad {

/// Which layers of a family see `sliding_window` keys alone.
enum class WindowRule {
  None,
  /// All, if it is not null.
  AllLayers,
  /// All, if it is there and not null.
  AllLayersIfGiven,
  /// All with `use_sliding_window`, if it is not null.
  AllLayersIfUsed,
  /// With `use_sliding_window`, those that `layer_types` names, or those from
  /// `max_window_layers` on.
  LastLayersIfUsed,
  /// Those that `layer_types` names, or all but every n-th by
  /// `sliding_window_pattern`.
  Pattern,
  /// The same, but that the last one never does; and 512 keys unless another
  /// number is given.
  PatternBeforeLast
};

struct LayerWindows {
  /// Keys that a layer with a window sees.
  std::optional<int64_t> size;
  std::vector<bool> isSliding; ///< by layer
};

mlir::LogicalResult readLayerWindows(const ConfigFile &config, WindowRule rule,
                                     int64_t layers, LayerWindows &windows);

} // namespace hexad

#endif // HEXAD_LIB_MODEL_LAYERWINDOWS_H
