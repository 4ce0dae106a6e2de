//===- HeatMapTests.cpp - Attention probabilities as a picture ------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HeatMap.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace hexad;
using testing::HasSubstr;
using testing::Not;

namespace {

HeatMap makeMap(size_t size) {
  HeatMap map;
  map.title = "model: layer 1, head 2";
  map.size = size;
  for (size_t s = 0; s < size; ++s)
    for (size_t t = 0; t < size; ++t)
      map.values.push_back(t <= s ? 1.0f / (s + 1) : 0.0f);
  return map;
}

size_t count(llvm::StringRef text, llvm::StringRef what) {
  return text.count(what);
}

/// Lightness of sRGB, which is what a print in black and white keeps.
double getLuminance(Color color) {
  auto linear = [](uint8_t part) { return std::pow(part / 255.0, 2.2); };
  return 0.2126 * linear(color.red) + 0.7152 * linear(color.green) +
         0.0722 * linear(color.blue);
}

TEST(HeatMap, ColoursDarkenAllTheWay) {
  for (int i = 0; i < 64; ++i)
    EXPECT_GT(getLuminance(getColor(i / 64.0)),
              getLuminance(getColor((i + 1) / 64.0)))
        << i;
  EXPECT_EQ(getLuminance(getColor(0)), getLuminance({255, 255, 255}));
  EXPECT_LT(getLuminance(getColor(1)), 0.02);
}

TEST(HeatMap, EscapesLabels) {
  EXPECT_EQ(getLabelText("<a&\"b\">"), "&lt;a&amp;&quot;b&quot;&gt;");
  EXPECT_EQ(getLabelText("\xe2\x96\x81the"), "\xe2\x96\x81the");
  // Control characters and broken UTF-8 are no XML.
  EXPECT_EQ(getLabelText("a\n\x01"), "a\xe2\x90\x8a\xe2\x90\x81");
  EXPECT_EQ(getLabelText("\xff\xe2\x96"),
            "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(getLabelText("\xed\xa0\x80"),
            "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(getLabelText(std::string(20, 'x')), std::string(20, 'x'));
  EXPECT_EQ(getLabelText(std::string(21, '&')), [] {
    std::string text;
    for (int i = 0; i < 20; ++i)
      text += "&amp;";
    return text + "\xe2\x80\xa6";
  }());
  EXPECT_EQ(getLabelText(""), "");
}

TEST(HeatMap, Few) {
  HeatMap map = makeMap(5);
  map.title += " <&>";
  map.labels = {"a", "<b>", "c", "d", "e"};
  std::string svg = drawHeatMap(map);
  EXPECT_THAT(svg, HasSubstr("<title>model: layer 1, head 2 &lt;&amp;&gt;<"));
  EXPECT_THAT(svg, Not(HasSubstr("<b>")));
  // Beside the rows and above the columns.
  EXPECT_EQ(count(svg, ">&lt;b&gt;</text>"), 2u);
  EXPECT_EQ(count(svg, "rotate(-45)"), 5u);
  // What cells hold: a number in each that is not 0.
  EXPECT_EQ(count(svg, ">0.20</text>"), 5u);
  EXPECT_EQ(count(svg, ">0.50</text>"), 2u);
  // The legend ends at the largest probability.
  EXPECT_THAT(svg, HasSubstr(">1.0</text>"));
  EXPECT_THAT(svg, HasSubstr(">0.25</text>"));
  EXPECT_THAT(svg, HasSubstr("probability"));
  EXPECT_THAT(svg, Not(HasSubstr("NaN")));
  // Equal neighbours are one piece: query 4 has one of width 5.
  EXPECT_THAT(svg, HasSubstr("M0 4h5v1h-5z"));
  EXPECT_THAT(svg, Not(HasSubstr("M1 0h")));
}

TEST(HeatMap, Many) {
  std::string svg = drawHeatMap(makeMap(200));
  // Not every token has a label, and none are nearer than their letters allow.
  EXPECT_EQ(count(svg, "rotate(-45)"), 50u);
  EXPECT_THAT(svg, HasSubstr(">198</text>"));
  EXPECT_THAT(svg, Not(HasSubstr(">197</text>")));
  EXPECT_LT(svg.size(), 1u << 20);
  EXPECT_THAT(svg, HasSubstr("scale(4.0000)"));
}

TEST(HeatMap, NothingAndNaN) {
  EXPECT_THAT(drawHeatMap(makeMap(0)), HasSubstr("</svg>"));
  HeatMap map = makeMap(3);
  map.values[5] = NAN;
  std::string svg = drawHeatMap(map);
  EXPECT_THAT(svg, HasSubstr("M2 1l1 1m-1 0l1-1"));
  EXPECT_THAT(svg, HasSubstr(">NaN</text>"));
  map.values.assign(9, 0.0f);
  EXPECT_THAT(drawHeatMap(map), Not(HasSubstr("nan")));
}

} // namespace
