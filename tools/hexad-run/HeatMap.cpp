//===- HeatMap.cpp - Attention probabilities as a picture -----------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HeatMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace hexad;

//===----------------------------------------------------------------------===//
// Colours and text
//===----------------------------------------------------------------------===//

Color hexad::getColor(double share) {
  static constexpr Color stops[] = {{255, 255, 255}, {207, 227, 240},
                                    {134, 185, 217}, {63, 132, 183},
                                    {29, 78, 140},   {8, 24, 70}};
  double place = std::clamp(share, 0.0, 1.0) * (std::size(stops) - 1);
  size_t below = std::min<size_t>(place, std::size(stops) - 2);
  double part = place - below;
  auto mix = [&](uint8_t from, uint8_t to) {
    return static_cast<uint8_t>(std::lround(from + (to - from) * part));
  };
  const Color &from = stops[below], &to = stops[below + 1];
  return {mix(from.red, to.red), mix(from.green, to.green),
          mix(from.blue, to.blue)};
}

static constexpr size_t mostCharacters = 20;

/// The first character of `text`, one that XML can hold; `text` goes on behind.
static uint32_t takeCharacter(StringRef &text) {
  auto *begin = reinterpret_cast<const UTF8 *>(text.data()), *next = begin;
  UTF32 character = 0, *to = &character;
  // One character: there is no room for more, which is no error.
  ConvertUTF8toUTF32(&next, begin + text.size(), &to, to + 1, strictConversion);
  if (next == begin) {
    text = text.drop_front();
    return 0xfffd;
  }
  text = text.drop_front(next - begin);
  if (character < 0x20)
    return 0x2400 + character; // the picture of a control character
  if ((character >= 0x7f && character < 0xa0) || character == 0xfffe ||
      character == 0xffff)
    return 0xfffd;
  return character;
}

static std::string escape(StringRef text, size_t most) {
  std::string result;
  for (size_t count = 0; !text.empty(); ++count) {
    if (count == most) {
      result += "\u2026";
      break;
    }
    uint32_t character = takeCharacter(text);
    switch (character) {
    case '&':
      result += "&amp;";
      continue;
    case '<':
      result += "&lt;";
      continue;
    case '>':
      result += "&gt;";
      continue;
    case '"':
      result += "&quot;";
      continue;
    }
    char bytes[4], *end = bytes;
    ConvertCodePointToUTF8(character, end);
    result.append(bytes, end);
  }
  return result;
}

std::string hexad::getLabelText(StringRef label) {
  return escape(label, mostCharacters);
}

/// Columns that a text takes in a font of fixed width; wide characters count
/// double, broken ones too little at worst.
static size_t getWidth(StringRef label) {
  size_t width = 0;
  for (size_t count = 0; !label.empty() && count <= mostCharacters; ++count)
    width += takeCharacter(label) >= 0x1100 ? 2 : 1;
  return width;
}

/// Two significant digits, "0.034" or "1.0".
static std::string getNumber(double value) {
  int digits =
      value > 0 ? 1 - static_cast<int>(std::floor(std::log10(value))) : 1;
  std::string text;
  raw_string_ostream(text) << format("%.*f", std::clamp(digits, 1, 9), value);
  return text;
}

//===----------------------------------------------------------------------===//
// The picture
//===----------------------------------------------------------------------===//

namespace {

class Drawing {
public:
  explicit Drawing(const HeatMap &map) : map(map), os(text) {
    for (float value : map.values)
      if (std::isfinite(value))
        largest = std::max<double>(largest, value);
    // About 640 pixels, but cells that can be told apart.
    cell = std::clamp(640.0 / std::max<size_t>(map.size, 1), 4.0, 44.0);
    font = std::clamp(cell * 0.8, 9.0, 14.0);
    // Labels need as much room as their letters are high.
    step = std::max<size_t>(1, std::ceil(font * 1.1 / cell));
    // Those of keys stand at an angle of 45 degrees.
    keyStep = std::max<size_t>(1, std::ceil(font * 1.5 / cell));
    size_t widest = 1;
    for (size_t i = 0; i < map.size; i += step)
      widest = std::max(widest, getWidth(getLabel(i)));
    double longest = std::min<size_t>(widest, 2 * mostCharacters) * font * 0.62;
    left = 40 + longest;
    top = 72 + longest * 0.75;
    side = cell * map.size;
  }

  std::string draw();

private:
  static constexpr int levels = 64;

  std::string getLabel(size_t index) const {
    return map.labels.empty() ? std::to_string(index) : map.labels[index];
  }
  double getLegendHeight() const { return std::clamp(side, 120.0, 240.0); }
  double getShare(double value) const {
    return largest > 0 ? std::sqrt(std::max(value, 0.0) / largest) : 0;
  }
  static std::string getHex(Color color) {
    std::string text;
    raw_string_ostream(text)
        << format("#%02x%02x%02x", color.red, color.green, color.blue);
    return text;
  }
  void write(double x, double y, double size, StringRef anchor,
             const Twine &escaped, const Twine &more = "") {
    os << format("<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\"", x, y, size)
       << " text-anchor=\"" << anchor << "\"" << more << ">" << escaped
       << "</text>\n";
  }

  void drawCells();
  void drawNumbers();
  void drawLabels();
  void drawLegend();

  const HeatMap &map;
  double largest = 0;
  double cell, font, left, top, side;
  size_t step, keyStep; ///< each how many-th query and key has its label
  bool hasNaN = false;
  std::string text;
  raw_string_ostream os;
};

} // namespace

/// One path for each colour: 200 tokens have 40 000 cells. Neighbours of one
/// colour are one piece.
void Drawing::drawCells() {
  std::vector<std::string> paths(levels + 1);
  for (size_t s = 0; s < map.size; ++s)
    for (size_t t = 0; t < map.size;) {
      auto getLevel = [&](size_t key) {
        float value = map.values[s * map.size + key];
        if (!std::isfinite(value))
          return levels;
        return static_cast<int>(std::lround(getShare(value) * (levels - 1)));
      };
      int level = getLevel(t);
      size_t begin = t;
      while (t < map.size && getLevel(t) == level)
        ++t;
      if (level == levels) {
        for (size_t key = begin; key < t; ++key)
          raw_string_ostream(paths[level])
              << 'M' << key << ' ' << s << "l1 1m-1 0l1-1";
        continue;
      }
      raw_string_ostream(paths[level])
          << 'M' << begin << ' ' << s << 'h' << t - begin << "v1h-" << t - begin
          << 'z';
    }
  os << format("<g transform=\"translate(%.1f %.1f) scale(%.4f)\" "
               "shape-rendering=\"crispEdges\">\n",
               left, top, cell);
  // White is what lies below.
  for (int level = 1; level < levels; ++level)
    if (!paths[level].empty())
      os << "<path fill=\"" << getHex(getColor(double(level) / (levels - 1)))
         << "\" d=\"" << paths[level] << "\"/>\n";
  hasNaN = !paths[levels].empty();
  if (hasNaN)
    os << "<path fill=\"none\" stroke=\"#c00\" stroke-width=\"0.15\" d=\""
       << paths[levels] << "\"/>\n";
  os << "</g>\n";
  os << format("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
               "fill=\"none\" stroke=\"#444\"/>\n",
               left, top, side, side);
}

/// Where cells are large enough, what is in them.
void Drawing::drawNumbers() {
  if (cell < 36)
    return;
  for (size_t s = 0; s < map.size; ++s)
    for (size_t t = 0; t < map.size; ++t) {
      float value = map.values[s * map.size + t];
      if (!std::isfinite(value) || value == 0)
        continue;
      std::string number;
      raw_string_ostream(number) << format("%.2f", value);
      write(left + (t + 0.5) * cell, top + (s + 0.5) * cell + 4, 12, "middle",
            number, getShare(value) > 0.5 ? " fill=\"#fff\"" : "");
    }
}

void Drawing::drawLabels() {
  for (size_t i = 0; i < map.size; i += step) {
    double place = top + (i + 0.5) * cell;
    if (step > 1)
      os << format("<path stroke=\"#444\" d=\"M%.1f %.1fh-4\"/>\n", left,
                   place);
    write(left - 6, place + font * 0.35, font, "end",
          getLabelText(getLabel(i)));
  }
  for (size_t i = 0; i < map.size; i += keyStep) {
    double place = left + (i + 0.5) * cell;
    if (keyStep > 1)
      os << format("<path stroke=\"#444\" d=\"M%.1f %.1fv-4\"/>\n", place, top);
    os << format("<text transform=\"translate(%.1f %.1f) rotate(-45)\" "
                 "font-size=\"%.1f\">",
                 place + font * 0.3, top - 6, font)
       << getLabelText(getLabel(i)) << "</text>\n";
  }
  write(left + side / 2, 50, 13, "middle", "key: the token that is looked at");
  write(0, 0, 13, "middle", "query: the token that looks",
        Twine(" transform=\"translate(16 ") +
            std::to_string(std::lround(top + std::max(side, 170.0) / 2)) +
            ") rotate(-90)\"");
}

void Drawing::drawLegend() {
  const double x = left + side + 24, height = getLegendHeight();
  const int bars = 48;
  os << "<g id=\"legend\">\n";
  for (int i = 0; i < bars; ++i)
    os << format("<rect x=\"%.1f\" y=\"%.2f\" width=\"16\" height=\"%.2f\"", x,
                 top + height * (bars - 1 - i) / bars, height / bars + 0.5)
       << " fill=\"" << getHex(getColor((i + 0.5) / bars)) << "\"/>\n";
  os << format("<rect x=\"%.1f\" y=\"%.1f\" width=\"16\" height=\"%.1f\" "
               "fill=\"none\" stroke=\"#444\"/>\n",
               x, top, height);
  for (int i = 0; i <= 4; ++i) {
    double share = i / 4.0;
    write(x + 22, top + height * (1 - share) + 4, 12, "start",
          getNumber(largest * share * share));
  }
  write(x, top + height + 22, 12, "start", "probability");
  if (hasNaN) {
    os << format("<path fill=\"none\" stroke=\"#c00\" stroke-width=\"2\" "
                 "d=\"M%.1f %.1fl16 16m-16 0l16-16\"/>\n",
                 x, top + height + 34);
    write(x + 22, top + height + 46, 12, "start", "NaN");
  }
  os << "</g>\n";
}

std::string Drawing::draw() {
  std::string title = escape(map.title, 200);
  double width = std::max(left + side + 130, 20 + title.size() * 9.0);
  double height = top + std::max(side, getLegendHeight() + 52) + 24;
  os << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
     << format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
               "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" ",
               width, height, width, height)
     << "font-family=\"monospace\" xml:space=\"preserve\">\n<title>" << title
     << "</title>\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
  write(10, 26, 15, "start", title, " font-weight=\"bold\"");
  drawCells();
  drawNumbers();
  drawLabels();
  drawLegend();
  os << "</svg>\n";
  return text;
}

std::string hexad::drawHeatMap(const HeatMap &map) {
  assert(map.values.size() == map.size * map.size);
  assert(map.labels.empty() || map.labels.size() == map.size);
  return Drawing(map).draw();
}
