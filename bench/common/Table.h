//===- Table.h - Lines of figures, each with its spread ---------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What every benchmark prints: for each thing that was measured one line, for
// each kind of figure one column. As text for people, as JSON for measure.py.
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_BENCH_COMMON_TABLE_H
#define HEXAD_BENCH_COMMON_TABLE_H

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include <deque>
#include <string>
#include <vector>

namespace hexad::bench {

/// How the figures of a column are printed; a key of the JSON is the column's.
enum class Unit {
  Time,    ///< seconds in, milliseconds out
  PerItem, ///< seconds in, nanoseconds out
  Rate,    ///< of anything a second; GFLOP/s, GB/s are divided beforehand
  Share,   ///< of a yardstick; percent in text
  Ratio    ///< of two times
};

/// What the rounds of one line gave.
class Line {
public:
  Line(std::string name) : name(std::move(name)) {}

  /// Adds the figure of one round. `key`, a literal, names the column in JSON
  /// and, with spaces for underlines, in text.
  void add(llvm::StringRef key, Unit unit, double value);

private:
  friend class Table;
  struct Figures {
    Unit unit;
    std::vector<double> values;
  };
  std::string name;
  llvm::MapVector<llvm::StringRef, Figures> columns;
};

class Table {
public:
  explicit Table(std::string title) : title(std::move(title)) {}

  /// The line stays where it is when others are added.
  Line &addLine(std::string name);
  /// Something that holds for all lines: {"cpu", "znver5"}.
  void addFact(llvm::StringRef key, llvm::json::Value value);
  /// A yardstick's rate in one round; its median is a fact.
  void addYardstick(llvm::StringRef key, double value);
  /// Medians with quartiles.
  void print(bool asJson) const;

private:
  void printText() const;
  void printJson() const;

  std::string title;
  std::vector<std::pair<std::string, llvm::json::Value>> facts;
  llvm::MapVector<llvm::StringRef, std::vector<double>> yardsticks;
  std::deque<Line> lines;
};

} // namespace hexad::bench

#endif // HEXAD_BENCH_COMMON_TABLE_H
