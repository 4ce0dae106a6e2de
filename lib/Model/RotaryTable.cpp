//===- RotaryTable.cpp - Frequencies of a rotary embedding ----------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Model/RotaryTable.h"
#include <algorithm>
#include <cmath>
#include <numbers>

using namespace hexad;

/// llama3: slow frequencies are divided, fast ones stay, those between are
/// blended. Meta, Llama 3.1.
static void scaleLlama3(const RopeScaling &scaling,
                        std::vector<float> &invFreq) {
  double low = scaling.lowFrequencyFactor, high = scaling.highFrequencyFactor;
  for (float &frequency : invFreq) {
    double turns =
        scaling.originalPositions * frequency / (2 * std::numbers::pi);
    double blend = std::clamp((turns - low) / (high - low), 0.0, 1.0);
    frequency = static_cast<float>((1 - blend) * frequency / scaling.factor +
                                   blend * frequency);
  }
}

/// YaRN: Peng et al., arXiv:2309.00071.
static void scaleYarn(const RopeScaling &scaling, double theta,
                      int64_t rotaryColumns, std::vector<float> &invFreq) {
  // The column whose frequency makes so many turns in the original positions.
  auto columnOf = [&](double turns) {
    return rotaryColumns *
           std::log(scaling.originalPositions /
                    (turns * 2 * std::numbers::pi)) /
           (2 * std::log(theta));
  };
  double low = columnOf(scaling.betaFast), high = columnOf(scaling.betaSlow);
  if (scaling.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, static_cast<double>(rotaryColumns - 1));
  if (low == high)
    high += 0.001;
  for (auto [i, frequency] : llvm::enumerate(invFreq)) {
    float ramp = static_cast<float>(
        std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0));
    float scaled = frequency / static_cast<float>(scaling.factor);
    frequency = scaled * ramp + frequency * (1 - ramp);
  }
}

RotaryTable hexad::makeRotaryTable(const RopeDescription &rope,
                                   int64_t rotaryColumns) {
  const RopeScaling &scaling = rope.scaling;
  RotaryTable table;
  for (int64_t column = 0; column < rotaryColumns; column += 2) {
    float exponent =
        static_cast<float>(column) / static_cast<float>(rotaryColumns);
    float power = static_cast<float>(std::pow(rope.theta, exponent));
    table.invFreq.push_back(1.0f / power);
  }
  switch (scaling.kind) {
  case RopeScaling::None:
    break;
  case RopeScaling::Linear:
    for (float &frequency : table.invFreq)
      frequency /= static_cast<float>(scaling.factor);
    break;
  case RopeScaling::Proportional:
    for (auto [i, frequency] : llvm::enumerate(table.invFreq)) {
      bool turns = static_cast<int64_t>(i) <
                   static_cast<int64_t>(scaling.share * rotaryColumns / 2);
      frequency = turns ? frequency / static_cast<float>(scaling.factor) : 0.0f;
    }
    break;
  case RopeScaling::Llama3:
    scaleLlama3(scaling, table.invFreq);
    break;
  case RopeScaling::Yarn:
    scaleYarn(scaling, rope.theta, rotaryColumns, table.invFreq);
    table.attentionFactor = scaling.attentionFactor.value_or(
        scaling.factor <= 1 ? 1.0 : 0.1 * std::log(scaling.factor) + 1.0);
    break;
  }
  return table;
}
