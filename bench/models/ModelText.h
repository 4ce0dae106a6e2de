//===- ModelText.h - A model to be measured, in hexad IR --------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parts of models (attention alone, one block) are measured as compiled models
// are: this writes such a part as the IR that descriptions become, with random
// weights, and compiles it by the driver.
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_BENCH_MODELS_MODELTEXT_H
#define HEXAD_BENCH_MODELS_MODELTEXT_H

#include "LoadedLibrary.h"
#include <string>
#include <vector>

namespace hexad::bench {

/// A value of the text: rows of so many columns.
struct Rows {
  std::string name;
  int64_t columns;
};

/// Sizes of an attention; each token sees all keys or those up to its own.
struct AttentionShape {
  int64_t heads, kvHeads, headDim;
  bool isCausal;

  int64_t getQueryColumns() const { return heads * headDim; }
  int64_t getKeyColumns() const { return kvHeads * headDim; }
  /// Operations of Q·Kᵀ and P·V of pairs that are seen, for one sequence.
  double countOperations(double tokens) const {
    double pairs = isCausal ? tokens * (tokens + 1) / 2 : tokens * tokens;
    return 2 * 2 * pairs * getQueryColumns();
  }
};

/// A model of ids, written op by op.
class ModelText {
public:
  /// Ids lie below.
  static constexpr int64_t idLimit = 251;

  /// Rows of a table, one for each id. What a part begins with: a copy.
  Rows embed(int64_t columns);
  /// Ops until `endLoop` run `count` times, each time with the same weights, on
  /// the rows that the time before gave. Loops do not nest.
  Rows beginLoop(int64_t count, const Rows &rows);
  Rows endLoop(const Rows &result);
  Rows linear(const Rows &x, int64_t columns, bool hasBias);
  Rows layerNorm(const Rows &x);
  Rows rmsNorm(const Rows &x);
  Rows activation(llvm::StringRef kind, const Rows &x);
  Rows add(const Rows &lhs, const Rows &rhs);
  Rows multiply(const Rows &lhs, const Rows &rhs);
  /// Rotary embedding of heads, as Llama's.
  Rows rope(const Rows &x, int64_t heads, int64_t headDim);
  /// `isCached`: sessions keep keys and values, of each time of the loop.
  Rows attention(const Rows &query, const Rows &key, const Rows &value,
                 const AttentionShape &shape, bool isCached = false);

  /// Compiles the model whose output `result` is. `isDecoder`: calls say which
  /// rows they want, as those of language models.
  llvm::Expected<std::unique_ptr<LoadedLibrary>>
  compile(const Rows &result, bool isDecoder, llvm::StringRef cpu) const;

private:
  std::string newName() { return "%" + std::to_string(valueCount++); }
  /// A parameter of its own, and its value.
  std::string load(llvm::ArrayRef<int64_t> shape);
  Rows elementwise(llvm::StringRef op, const Rows &lhs, const Rows &rhs);
  std::string write(const Rows &result, bool isDecoder) const;

  struct Parameter {
    std::string name;
    llvm::SmallVector<int64_t, 4> shape;
  };
  std::vector<Parameter> parameters;
  std::string symbols, body, rotary;
  int64_t loopCount = 0;
  unsigned valueCount = 0;
};

} // namespace hexad::bench

#endif // HEXAD_BENCH_MODELS_MODELTEXT_H
