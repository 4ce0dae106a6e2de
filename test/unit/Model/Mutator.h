//===- Mutator.h - Random changes of texts ----------------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_TEST_UNIT_MODEL_MUTATOR_H
#define HEXAD_TEST_UNIT_MODEL_MUTATOR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include <random>
#include <string>
#include <vector>

namespace hexad {

/// Changes texts of YAML and JSON. Equal seeds give equal changes.
class Mutator {
public:
  explicit Mutator(uint64_t seed) : random(seed) {}

  /// `text` with one or two changes.
  std::string mutate(llvm::StringRef text) {
    std::string changed = text.str();
    // One more often than two: mistakes hide each other.
    for (uint64_t changes = pick(3) / 2 + 1; changes > 0; --changes)
      changed = mutateOnce(changed);
    return changed;
  }

  /// A number below `limit`, which is not 0.
  uint64_t pick(uint64_t limit) { return random() % limit; }

private:
  using Pieces = std::vector<std::string>;

  std::string mutateOnce(llvm::StringRef text) {
    switch (pick(6)) {
    case 0:
      return mutateBytes(text);
    case 1:
    case 2:
      return mutateLines(text);
    default:
      return mutateWords(text);
    }
  }

  static bool isOfWord(char c) {
    return llvm::isAlnum(c) || llvm::StringRef("_.+-").contains(c);
  }
  static Pieces splitWords(llvm::StringRef text) {
    Pieces pieces;
    while (!text.empty()) {
      size_t size = std::max<size_t>(text.take_while(isOfWord).size(), 1);
      pieces.push_back(text.take_front(size).str());
      text = text.drop_front(size);
    }
    return pieces;
  }
  /// A piece that is a word, or a number, or any if there is none.
  std::string &pickWord(Pieces &pieces, bool isNumber) {
    std::vector<size_t> words;
    for (size_t i = 0; i < pieces.size(); ++i)
      if (isNumber ? llvm::isDigit(pieces[i].front())
                   : isOfWord(pieces[i].front()))
        words.push_back(i);
    return pieces[words.empty() ? pick(pieces.size())
                                : words[pick(words.size())]];
  }

  std::string mutateWords(llvm::StringRef text) {
    static constexpr llvm::StringLiteral values[] = {
        "0",     "-1",     "1",          "2",          "3",
        "0.5",   "-0.5",   "4097",       "65536",      "2147483647",
        "-0",    "1e-300", "1073741824", "1e-46",      "2147483648",
        "1e300", "1e400",  "1e39",       "true",       "9223372036854775807",
        "false", "null",   "~",          "[]",         "{}",
        "\"\"",  "\"x\"",  "[1, 2]",     "{ a: 1 }",   "18446744073709551616",
        "'",     "\"",     "{i}",        "\"{i}{i}\"", "nan"};
    Pieces pieces = splitWords(text);
    if (pieces.empty())
      return "";
    bool isNumber = pick(2) == 0;
    std::string &word = pickWord(pieces, isNumber);
    switch (pick(5)) {
    case 0:
      word.clear();
      break;
    case 1:
    case 2:
      word = std::string(pickWord(pieces, isNumber));
      break;
    default:
      word = values[pick(std::size(values))];
      break;
    }
    return llvm::join(pieces, "");
  }

  std::string mutateLines(llvm::StringRef text) {
    llvm::SmallVector<llvm::StringRef> split;
    text.split(split, '\n');
    Pieces lines(split.begin(), split.end());
    std::string &line = lines[pick(lines.size())];
    switch (pick(5)) {
    case 0:
      line.clear();
      break;
    case 1:
      std::swap(line, lines[pick(lines.size())]);
      break;
    case 2:
      line = "  " + line;
      break;
    case 3:
      line = llvm::StringRef(line).drop_front(std::min<size_t>(2, line.size()));
      break;
    default: {
      // Some lines once more, somewhere.
      size_t first = pick(lines.size());
      size_t last = first + pick(std::min<size_t>(lines.size() - first, 8)) + 1;
      Pieces copy(lines.begin() + first, lines.begin() + last);
      lines.insert(lines.begin() + pick(lines.size()), copy.begin(),
                   copy.end());
      break;
    }
    }
    return llvm::join(lines, "\n");
  }

  std::string mutateBytes(llvm::StringRef text) {
    static constexpr char bytes[] =
        "\0\t\n\r #&*!|>%@`'\"[]{},:-?\\\x7f\x80\xff";
    std::string changed = text.str();
    size_t at = pick(text.size() + 1);
    char byte = bytes[pick(sizeof bytes - 1)];
    switch (pick(4)) {
    case 0:
      changed.insert(at, 1, byte);
      break;
    case 1:
      changed.resize(at);
      break;
    case 2:
      changed.erase(at, pick(4) + 1);
      break;
    default:
      if (at < changed.size())
        changed[at] = byte;
      break;
    }
    return changed;
  }

  std::mt19937_64 random;
};

} // namespace hexad

#endif // HEXAD_TEST_UNIT_MODEL_MUTATOR_H
