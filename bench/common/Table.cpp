//===- Table.cpp - Lines of figures, each with its spread -----------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "common/Table.h"
#include "common/Clock.h"
#include "common/Report.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace hexad::bench;
using namespace llvm;

void Line::add(StringRef key, Unit unit, double value) {
  double factor = unit == Unit::Time ? 1e3 : unit == Unit::PerItem ? 1e9 : 1;
  Figures &figures = columns[key];
  figures.unit = unit;
  figures.values.push_back(value * factor);
}

Line &Table::addLine(std::string name) {
  return lines.emplace_back(std::move(name));
}

void Table::addFact(StringRef key, json::Value value) {
  facts.emplace_back(key.str(), std::move(value));
}

void Table::addYardstick(StringRef key, double value) {
  yardsticks[key].push_back(value);
}

void Table::print(bool asJson) const { asJson ? printJson() : printText(); }

void Table::printJson() const {
  json::Object result;
  for (const auto &[key, value] : facts)
    result[key] = value;
  for (const auto &[key, values] : yardsticks)
    result[key] = describe(values);
  json::Array rows;
  for (const Line &line : lines) {
    json::Object row{{"name", line.name}};
    for (const auto &[key, figures] : line.columns)
      row[key] = describe(figures.values);
    rows.push_back(std::move(row));
  }
  result["rows"] = std::move(rows);
  outs() << formatv("{0:2}\n", json::Value(std::move(result)));
}

static std::string formatFigures(Unit unit, ArrayRef<double> values) {
  if (unit == Unit::Share)
    return formatShares(values);
  std::string text;
  raw_string_ostream stream(text);
  double middle = median(values);
  switch (unit) {
  case Unit::Time:
  case Unit::PerItem:
    stream << format("%.3f", middle);
    break;
  case Unit::Rate:
    stream << format("%.1f", middle);
    break;
  case Unit::Ratio:
  case Unit::Share:
    stream << format("%.2f (%.2f … %.2f)", middle, quantile(values, 0.25),
                     quantile(values, 0.75));
    break;
  }
  return text;
}

/// Columns that `text` takes on a terminal: "…" is one of them, and three
/// bytes.
static size_t getWidth(StringRef text) {
  return count_if(text, [](char c) { return (c & 0xC0) != 0x80; });
}

void Table::printText() const {
  outs() << title << "\n";
  for (const auto &[key, value] : facts) {
    outs() << "  " << key << ": ";
    std::optional<double> number = value.getAsNumber();
    if (number && !value.getAsInteger())
      outs() << format("%.4g\n", *number);
    else
      outs() << formatv("{0}\n", value);
  }
  for (const auto &[key, values] : yardsticks)
    outs() << "  " << key << ": " << format("%.1f\n", median(values));

  SetVector<StringRef> keys;
  for (const Line &line : lines)
    for (const auto &[key, figures] : line.columns)
      keys.insert(key);
  std::vector<std::vector<std::string>> cells(1, {""});
  for (StringRef key : keys) {
    std::string heading = key.str();
    llvm::replace(heading, '_', ' ');
    cells.front().push_back(std::move(heading));
  }
  for (const Line &line : lines) {
    std::vector<std::string> row = {line.name};
    for (StringRef key : keys) {
      auto found = line.columns.find(key);
      row.push_back(
          found == line.columns.end()
              ? ""
              : formatFigures(found->second.unit, found->second.values));
    }
    cells.push_back(std::move(row));
  }
  std::vector<size_t> widths(keys.size() + 1, 0);
  for (const std::vector<std::string> &row : cells)
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], getWidth(row[i]));
  for (const std::vector<std::string> &row : cells) {
    for (size_t i = 0; i < row.size(); ++i) {
      std::string gap(widths[i] - getWidth(row[i]), ' ');
      // Names to the left, figures to the right.
      outs() << "  " << (i == 0 ? row[i] + gap : gap + row[i]);
    }
    outs() << "\n";
  }
}
