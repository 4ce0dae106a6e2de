//===- RotaryTable.h - Frequencies of a rotary embedding --------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_MODEL_ROTARYTABLE_H
#define HEXAD_MODEL_ROTARYTABLE_H

#include "hexad/Model/Description.h"
#include <vector>

namespace hexad {

/// What `hexad.rotary` needs.
struct RotaryTable {
  std::vector<float> invFreq; ///< radians for each position
  double attentionFactor = 1; ///< of cosines and sines
};

/// The frequencies of `rotaryColumns` columns of a head, an even number. They
/// are made in float32, as transformers makes them: that belongs to the model.
RotaryTable makeRotaryTable(const RopeDescription &rope, int64_t rotaryColumns);

} // namespace hexad

#endif // HEXAD_MODEL_ROTARYTABLE_H
