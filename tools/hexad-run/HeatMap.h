//===- HeatMap.h - Attention probabilities as a picture ---------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_TOOLS_HEXADRUN_HEATMAP_H
#define HEXAD_TOOLS_HEXADRUN_HEATMAP_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace hexad {

/// What each of `size` tokens (queries, a row each) gives each of them (keys).
struct HeatMap {
  std::string title;
  size_t size = 0;
  std::vector<float> values;       ///< size · size
  std::vector<std::string> labels; ///< of the tokens; none: their numbers
};

struct Color {
  uint8_t red, green, blue;
};

/// From white (0) to a dark blue (1). Lightness falls all the way, so that the
/// picture says the same in black and white.
Color getColor(double share);

/// Text for XML: markup escaped, what XML cannot hold (control characters,
/// broken UTF-8) replaced by what shows it; more than 20 characters are cut.
std::string getLabelText(llvm::StringRef label);

/// The picture as SVG. Colours go with the square root of the probability, from
/// 0 to the largest one: beside a token that gets nearly everything, small
/// shares still show. The legend has the numbers.
std::string drawHeatMap(const HeatMap &map);

} // namespace hexad

#endif // HEXAD_TOOLS_HEXADRUN_HEATMAP_H
