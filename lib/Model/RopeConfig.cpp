//===- RopeConfig.cpp - Rotary embeddings in config.json ------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding",
// arXiv:2104.09864; Peng et al., "YaRN: Efficient Context Window Extension of
// Large Language Models", arXiv:2309.00071.
//
//===----------------------------------------------------------------------===//

#include "RopeConfig.h"
#include "hexad/Model/Json.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace hexad;

static constexpr llvm::StringLiteral readKeys[] = {
    "attention_factor",
    "beta_fast",
    "beta_slow",
    "factor",
    "high_freq_factor",
    "low_freq_factor",
    "mscale",
    "mscale_all_dim",
    "original_max_position_embeddings",
    "partial_rotary_factor",
    "rope_theta",
    "rope_type",
    "truncate",
    "type"};

static constexpr llvm::StringLiteral inertKeys[] = {"finetuned"};

static constexpr llvm::StringLiteral thetaKey[] = {"rope_theta"};
static constexpr llvm::StringLiteral partialKey[] = {"partial_rotary_factor"};

/// Reads a number that may stand under several keys; all must say the same.
static LogicalResult readNumber(const ConfigFile &config,
                                llvm::ArrayRef<llvm::StringLiteral> keys,
                                double &number, bool &given) {
  for (llvm::StringRef key : keys) {
    double found = number;
    if (failed(config.readPositive(key, found, number)))
      return failure();
    if (!config.find(key))
      continue;
    if (given && found != number)
      return config.expected(key, llvm::formatv("{0}, which another key gives",
                                                llvm::json::Value(number))
                                      .str());
    number = found;
    given = true;
  }
  return success();
}

/// What the paper takes for the factor of sines and cosines.
static double getYarnFactor(double factor, double scale) {
  return factor <= 1 ? 1.0 : 0.1 * scale * std::log(factor) + 1.0;
}

static LogicalResult readYarn(const ConfigFile &config,
                              const ConfigFile &parameters,
                              RopeScaling &scaling) {
  int64_t positions, original;
  if (failed(config.readSize("max_position_embeddings", maxDimension, positions,
                             maxDimension)) ||
      failed(parameters.readSize("original_max_position_embeddings",
                                 maxDimension, original, positions)))
    return failure();
  if (!parameters.find("original_max_position_embeddings") &&
      !config.find("max_position_embeddings"))
    return config.expected("max_position_embeddings",
                           "given, or original_max_position_embeddings");
  scaling.originalPositions = original;
  double scale, scaleOfAll;
  std::optional<double> byDefault;
  if (config.find("max_position_embeddings"))
    byDefault = static_cast<double>(positions) / original;
  if (failed(parameters.readPositive("factor", scaling.factor, byDefault)) ||
      failed(parameters.readPositive("beta_fast", scaling.betaFast, 32)) ||
      failed(parameters.readPositive("beta_slow", scaling.betaSlow, 1)) ||
      failed(parameters.readFlag("truncate", scaling.truncate, true)) ||
      failed(parameters.readNumber("mscale", scale, 0)) ||
      failed(parameters.readNumber("mscale_all_dim", scaleOfAll, 0)))
    return failure();
  if (parameters.find("attention_factor")) {
    double factor;
    if (failed(parameters.readPositive("attention_factor", factor)))
      return failure();
    scaling.attentionFactor = factor;
  } else if (scale != 0 && scaleOfAll != 0) {
    scaling.attentionFactor = getYarnFactor(scaling.factor, scale) /
                              getYarnFactor(scaling.factor, scaleOfAll);
  }
  return success();
}

static LogicalResult readScaling(const ConfigFile &config,
                                 const ConfigFile &parameters,
                                 RopeScaling &scaling) {
  std::string type, oldType;
  if (failed(parameters.readString("type", oldType, "default")) ||
      failed(parameters.readString("rope_type", type, oldType)))
    return failure();
  if (parameters.find("type") && type != oldType)
    return parameters.expected("type", quoteName(type) + " like rope_type");
  if (type == "default")
    return success();
  if (type == "linear") {
    scaling.kind = RopeScaling::Linear;
    return parameters.readPositive("factor", scaling.factor);
  }
  if (type == "yarn") {
    scaling.kind = RopeScaling::Yarn;
    return readYarn(config, parameters, scaling);
  }
  if (type == "proportional") {
    scaling.kind = RopeScaling::Proportional;
    return parameters.readPositive("factor", scaling.factor, 1);
  }
  if (type != "llama3")
    return parameters.expected(parameters.find("rope_type") ? "rope_type"
                                                            : "type",
                               "one of default, linear, llama3, yarn, "
                               "proportional");
  scaling.kind = RopeScaling::Llama3;
  if (failed(parameters.readPositive("factor", scaling.factor)) ||
      failed(parameters.readPositive("low_freq_factor",
                                     scaling.lowFrequencyFactor)) ||
      failed(parameters.readPositive("high_freq_factor",
                                     scaling.highFrequencyFactor)) ||
      failed(parameters.readSize("original_max_position_embeddings",
                                 maxDimension, scaling.originalPositions)))
    return failure();
  if (scaling.highFrequencyFactor <= scaling.lowFrequencyFactor)
    return parameters.expected("high_freq_factor", "more than low_freq_factor");
  return success();
}

/// `parameters` may be null.
static LogicalResult readRope(const ConfigFile &config,
                              const ConfigFile *parameters,
                              const RopeKeys &keys, int64_t headDim,
                              RopeDescription &rope) {
  double partial = keys.partialFactor;
  bool hasTheta = false, hasPartial = false;
  rope.theta = keys.theta;
  if (failed(readNumber(config, keys.thetaKeys, rope.theta, hasTheta)) ||
      failed(readNumber(config, keys.partialKeys, partial, hasPartial)))
    return failure();
  if (parameters &&
      (failed(parameters->checkKeys({readKeys, {}, inertKeys})) ||
       failed(readNumber(*parameters, thetaKey, rope.theta, hasTheta)) ||
       failed(readNumber(*parameters, partialKey, partial, hasPartial)) ||
       failed(readScaling(config, *parameters, rope.scaling))))
    return failure();

  Location loc = config.getLocation("head_dim");
  const ConfigFile *owner = &config;
  llvm::StringRef key = "partial_rotary_factor";
  for (llvm::StringRef candidate : keys.partialKeys)
    if (config.find(candidate))
      key = candidate;
  if (parameters && parameters->find("partial_rotary_factor")) {
    owner = parameters;
    key = "partial_rotary_factor";
  }
  // Not the first columns of a head turn, but the first pairs of all.
  if (rope.scaling.kind == RopeScaling::Proportional && partial <= 1) {
    rope.scaling.share = partial;
    if (headDim % 2 == 0)
      return success();
    return emitError(loc, "expected an even number of columns of a head to "
                          "turn, found ")
           << headDim;
  }
  if (partial > 1 || (partial != 1 && keys.partialKeys.empty()))
    return owner->expected(key, keys.partialKeys.empty() ? "1" : "at most 1");
  int64_t rotary = static_cast<int64_t>(headDim * partial);
  if (rotary < 2 || rotary % 2 != 0)
    return emitError(partial == 1 ? loc : owner->getLocation(key),
                     "expected an even number of columns of a head to turn, "
                     "found ")
           << rotary << " of " << headDim;
  if (rotary != headDim)
    rope.rotary = rotary;
  return success();
}

/// Opens `rope_parameters`, or `rope_scaling` where that is absent.
static LogicalResult openParameters(const ConfigFile &config,
                                    std::optional<ConfigFile> &current,
                                    std::optional<ConfigFile> &old) {
  if (failed(config.openObject("rope_parameters", current)) ||
      failed(config.openObject("rope_scaling", old)))
    return failure();
  if (current && old)
    return config.expected("rope_scaling", "absent beside rope_parameters");
  return success();
}

LogicalResult hexad::readRope(const ConfigFile &config, const RopeKeys &keys,
                              int64_t headDim, RopeDescription &rope) {
  std::optional<ConfigFile> current, old;
  if (failed(openParameters(config, current, old)))
    return failure();
  const ConfigFile *parameters = current ? &*current : old ? &*old : nullptr;
  return ::readRope(config, parameters, keys, headDim, rope);
}

LogicalResult
hexad::readRopeOfLayerTypes(const ConfigFile &config, const RopeKeys &fullKeys,
                            const RopeKeys &slidingKeys, int64_t fullHeadDim,
                            int64_t slidingHeadDim, RopeDescription &full,
                            RopeDescription &sliding) {
  std::optional<ConfigFile> current, old, ofFull, ofSliding;
  if (failed(openParameters(config, current, old)))
    return failure();
  if (current) {
    constexpr llvm::StringLiteral types[] = {"full_attention",
                                             "sliding_attention"};
    if (failed(current->checkKeys({types, {}, {}})) ||
        failed(current->openObject("full_attention", ofFull)) ||
        failed(current->openObject("sliding_attention", ofSliding)))
      return failure();
  }
  const ConfigFile *fullParameters = ofFull ? &*ofFull : old ? &*old : nullptr;
  const ConfigFile *slidingParameters = ofSliding ? &*ofSliding : nullptr;
  auto read = [&](const ConfigFile *parameters, const RopeKeys &keys,
                  int64_t headDim, RopeDescription &rope) {
    return headDim == 0 ? success()
                        : ::readRope(config, parameters, keys, headDim, rope);
  };
  return success(
      succeeded(read(fullParameters, fullKeys, fullHeadDim, full)) &&
      succeeded(read(slidingParameters, slidingKeys, slidingHeadDim, sliding)));
}
