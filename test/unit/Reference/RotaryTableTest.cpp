//===- RotaryTableTest.cpp - Frequencies against golden values ------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Model/RotaryTable.h"
#include "Golden.h"
#include <cmath>

using namespace hexad;
using namespace hexad::reference;

static RopeDescription readRope(const llvm::json::Object &attributes) {
  RopeDescription rope;
  rope.theta = *attributes.getNumber("theta");
  const llvm::json::Object *scaling = attributes.getObject("scaling");
  if (!scaling)
    return rope;
  llvm::StringRef kind = *scaling->getString("rope_type");
  rope.scaling.kind = kind == "linear"   ? RopeScaling::Linear
                      : kind == "llama3" ? RopeScaling::Llama3
                                         : RopeScaling::Yarn;
  auto read = [&](llvm::StringRef key, double &number) {
    number = scaling->getNumber(key).value_or(number);
  };
  read("factor", rope.scaling.factor);
  read("low_freq_factor", rope.scaling.lowFrequencyFactor);
  read("high_freq_factor", rope.scaling.highFrequencyFactor);
  read("beta_fast", rope.scaling.betaFast);
  read("beta_slow", rope.scaling.betaSlow);
  rope.scaling.originalPositions =
      scaling->getInteger("original_max_position_embeddings").value_or(0);
  return rope;
}

// The golden frequencies were computed in float64 and rounded once; a table is
// made in float32, in a handful of operations.
TEST(RotaryTable, FrequenciesAreGolden) {
  llvm::json::Value index = parseGoldenJson("ops.json");
  std::unique_ptr<SafetensorsFile> file = openGolden("ops/rope.safetensors");
  const llvm::json::Array *cases =
      index.getAsObject()->getObject("ops")->getObject("rope")->getArray(
          "cases");
  int compared = 0;
  for (const llvm::json::Value &value : *cases) {
    const llvm::json::Object &each = *value.getAsObject();
    std::string name = each.getString("name")->str();
    if (name.starts_with("longrope"))
      continue; // Not supported.
    SCOPED_TRACE(name);
    FloatTensor want = readFloats(*file->find(name + "/out/inv_freq"));
    RotaryTable table = makeRotaryTable(readRope(*each.getObject("attributes")),
                                        2 * want.elements.size());
    ASSERT_EQ(table.invFreq.size(), want.elements.size());
    for (auto [got, expected] : llvm::zip_equal(table.invFreq, want.elements))
      EXPECT_LE(std::abs(got - expected), 4 * std::ldexp(expected, -23))
          << got << " for " << expected;
    double factor =
        readFloats(*file->find(name + "/out/attention_factor")).elements[0];
    EXPECT_EQ(static_cast<float>(table.attentionFactor), factor);
    ++compared;
  }
  EXPECT_EQ(compared, 10);
}

// The first pairs turn as those of a whole head, the others stand still.
TEST(RotaryTable, Proportional) {
  RopeDescription rope;
  rope.theta = 1e6;
  RotaryTable whole = makeRotaryTable(rope, 20);
  rope.scaling.kind = RopeScaling::Proportional;
  rope.scaling.share = 0.45; // Four pairs and a half.
  rope.scaling.factor = 2;
  RotaryTable table = makeRotaryTable(rope, 20);
  ASSERT_EQ(table.invFreq.size(), 10u);
  for (size_t i = 0; i < 10; ++i)
    EXPECT_EQ(table.invFreq[i], i < 4 ? whole.invFreq[i] / 2 : 0.0f) << i;
  EXPECT_EQ(table.attentionFactor, 1.0);
}
