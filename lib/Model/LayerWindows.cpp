//===- LayerWindows.cpp - Which layers see a window -----------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerWindows.h"
#include "hexad/Model/Description.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace hexad;

/// What a configuration without the key means.
static int64_t getDefaultWindow(WindowRule rule) {
  return rule == WindowRule::PatternBeforeLast ? 512 : 4096;
}

/// The kinds of `layer_types`, which is there.
static LogicalResult readLayerTypes(const ConfigFile &config, int64_t layers,
                                    std::vector<bool> &isSliding) {
  const llvm::json::Array *types = config.find("layer_types")->getAsArray();
  if (!types || static_cast<int64_t>(types->size()) != layers)
    return config.expected("layer_types",
                           "a list of " + llvm::Twine(layers) +
                               " names, one for each of num_hidden_layers");
  isSliding.clear();
  for (const llvm::json::Value &value : *types) {
    llvm::StringRef type = value.getAsString().value_or("");
    if (type != "full_attention" && type != "sliding_attention")
      return emitError(config.getLocation("layer_types"),
                       "expected layer_types to hold \"full_attention\" and "
                       "\"sliding_attention\", found ")
             << llvm::formatv("{0}", value).str();
    isSliding.push_back(type == "sliding_attention");
  }
  return success();
}

/// The size, or none if the key is null.
static LogicalResult readWindow(const ConfigFile &config, WindowRule rule,
                                std::optional<int64_t> &size) {
  constexpr llvm::StringLiteral key = "sliding_window";
  if (config.contains(key) && !config.find(key))
    return success();
  return config.readSize(key, maxDimension, size.emplace(),
                         getDefaultWindow(rule));
}

static LogicalResult readPattern(const ConfigFile &config,
                                 std::vector<bool> &isSliding) {
  llvm::StringRef key = config.find("sliding_window_pattern")
                            ? "sliding_window_pattern"
                            : "_sliding_window_pattern";
  int64_t pattern;
  if (failed(config.readSize(key, maxDimension, pattern, 6)))
    return failure();
  for (size_t i = 0; i < isSliding.size(); ++i)
    isSliding[i] = (i + 1) % pattern != 0;
  return success();
}

LogicalResult hexad::readLayerWindows(const ConfigFile &config, WindowRule rule,
                                      int64_t layers, LayerWindows &windows) {
  windows.isSliding.assign(layers, false);
  if (rule == WindowRule::None)
    return success();
  bool used =
      rule != WindowRule::AllLayersIfGiven || config.find("sliding_window");
  bool isInAllLayers = rule == WindowRule::AllLayers ||
                       rule == WindowRule::AllLayersIfGiven ||
                       rule == WindowRule::AllLayersIfUsed;
  if ((rule == WindowRule::LastLayersIfUsed ||
       rule == WindowRule::AllLayersIfUsed) &&
      failed(config.readFlag("use_sliding_window", used, false)))
    return failure();
  if (used && failed(readWindow(config, rule, windows.size)))
    return failure();

  int64_t first;
  if (!isInAllLayers && config.find("layer_types")) {
    if (failed(readLayerTypes(config, layers, windows.isSliding)))
      return failure();
  } else if (rule == WindowRule::Pattern ||
             rule == WindowRule::PatternBeforeLast) {
    if (failed(readPattern(config, windows.isSliding)))
      return failure();
  } else if (isInAllLayers) {
    windows.isSliding.assign(layers, windows.size.has_value());
  } else if (windows.size) {
    if (failed(
            config.readInteger("max_window_layers", 0, maxRepeat, first, 28)))
      return failure();
    for (int64_t i = first; i < layers; ++i)
      windows.isSliding[i] = true;
  }
  if (rule == WindowRule::PatternBeforeLast)
    windows.isSliding.back() = false;
  if (!windows.size && llvm::is_contained(windows.isSliding, true))
    return used ? config.expected("sliding_window",
                                  "a number: there are layers with a window")
                : config.expected("use_sliding_window",
                                  "true: there are layers with a window");
  return success();
}
