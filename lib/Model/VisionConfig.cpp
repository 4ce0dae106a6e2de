//===- VisionConfig.cpp - What vision transformers share ------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VisionConfig.h"

using namespace mlir;
using namespace hexad;

/// A number for both, or [height, width].
static LogicalResult readGridSize(const ConfigFile &config, llvm::StringRef key,
                                  int64_t byDefault, GridSize &size) {
  const llvm::json::Value *value = config.find(key);
  const llvm::json::Array *pair = value ? value->getAsArray() : nullptr;
  std::optional<int64_t> height = byDefault, width = byDefault;
  if (pair && pair->size() == 2) {
    height = (*pair)[0].getAsInteger();
    width = (*pair)[1].getAsInteger();
  } else if (value) {
    height = width = value->getAsInteger();
  }
  if (!height || !width || *height < 1 || *height > maxDimension ||
      *width < 1 || *width > maxDimension)
    return config.expected(key, "an integer from 1 to " +
                                    llvm::Twine(maxDimension) +
                                    ", or two of them");
  size = {*height, *width};
  return success();
}

LogicalResult VisionConfig::read(const ConfigFile &config, double usualEps,
                                 int64_t usualPatch) {
  if (failed(config.readSize("hidden_size", maxDimension, hidden)) ||
      failed(config.readSize("num_hidden_layers", maxRepeat, layers)) ||
      failed(config.readSize("num_attention_heads", maxDimension, heads)) ||
      failed(config.readSize("num_channels", maxDimension, channels, 3)) ||
      failed(readGridSize(config, "image_size", 224, image)) ||
      failed(readGridSize(config, "patch_size", usualPatch, patch)) ||
      failed(config.readNumber("layer_norm_eps", eps, usualEps)) ||
      failed(config.readActivation("hidden_act", activation, "gelu")) ||
      failed(config.readFlag("qkv_bias", qkvBias, true)) ||
      failed(config.readLabelCount(labels)))
    return failure();
  if (hidden % heads != 0)
    return emitError(config.getLocation("num_attention_heads"),
                     "expected num_attention_heads to divide hidden_size ")
           << hidden << ", found " << heads;
  if (image.height < patch.height || image.width < patch.width)
    return emitError(config.getLocation("image_size"),
                     "expected images of at least one patch");
  return success();
}

void VisionConfig::addPatches(const ConfigFile &config, int64_t registers,
                              bool antialias, Description &description) const {
  Location imageLoc = config.getLocation("image_size");
  Location patchLoc = config.getLocation("patch_size");
  InputDescription input{"pixel_values", imageLoc};
  input.image = ImageShape{channels, image};
  description.inputs = {input};

  PatchifyLayer patches{"patches", input.name, hidden, patch};
  patches.hasClassToken = true;
  patches.registers = registers;
  PositionsLayer positions{"positions", /*entries=*/0, hidden};
  // A convolution leaves the pixels behind the last whole patch out.
  positions.grid =
      GridSize{image.height / patch.height, image.width / patch.width};
  positions.antialias = antialias;
  description.layers.push_back(
      {patchLoc, SumLayer{{{patchLoc, patches}, {imageLoc, positions}}}});
}

Layer VisionConfig::makeNorm(const ConfigFile &config, std::string name) const {
  return {config.getLocation("layer_norm_eps"), LayerNormLayer{name, eps}};
}

Layer VisionConfig::makeAttention(const ConfigFile &config) const {
  AttentionLayer attention{"attention", heads};
  attention.bias = qkvBias;
  attention.outputBias = true;
  return {config.getLocation("num_attention_heads"), attention};
}
