//===- ModelBuilder.h - Models for tests, op by op --------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes the text of a model in hexad IR: one method for each op, so that a
// test says in a few lines which ops in which order it is about.
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_TEST_E2E_MODELBUILDER_H
#define HEXAD_TEST_E2E_MODELBUILDER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <string>
#include <vector>

namespace hexad::test {

/// A value in the text: rows of tokens, or of segments if `pooled`.
struct Rows {
  std::string name;
  int64_t columns = 0;
  bool pooled = false;
};

/// Heads of an attention, and the columns at which query, key and value begin.
struct Heads {
  int64_t heads, kvHeads, headDim;
  int64_t queryOffset = 0, keyOffset = 0, valueOffset = 0;
  double scale = 0; ///< 0: 1 / √headDim
};

/// The model has inputs `input_ids` (below `idLimit`), `type_ids` (below
/// `typeLimit`, optional) and `attention_mask` (optional). Names of parameters
/// begin with `table`, `matrix`, `bias` or `gain`: that decides how
/// ModelFiles fills them.
class ModelBuilder {
public:
  static constexpr int64_t idLimit = 97, typeLimit = 3;

  explicit ModelBuilder(int64_t positionLimit = 0)
      : positionLimit(positionLimit) {}

  Rows embedWords(int64_t columns) { return embed("%ids", idLimit, columns); }
  Rows embedTypes(int64_t columns) {
    return embed("%types", typeLimit, columns);
  }
  /// The model must have a position limit of at most `entries - offset`.
  Rows embedPositions(int64_t columns, int64_t entries, int64_t offset = 0) {
    return embed("%positions", entries, columns, offset);
  }
  Rows embed(const std::string &ids, int64_t entries, int64_t columns,
             int64_t offset = 0);

  Rows linear(const Rows &x, int64_t columns, bool bias = true);
  /// With a weight (and bias) from newMatrix, newVector.
  Rows linearWith(const Rows &x, const std::string &weight, int64_t columns,
                  const std::string &bias = "");
  Rows activation(const char *kind, const Rows &x);
  Rows add(const Rows &lhs, const Rows &rhs);
  Rows layerNorm(const Rows &x, bool bias = true, double eps = 1e-6);
  /// `attributes` in their braces: "{groups = 2 : i64}".
  Rows rmsNorm(const Rows &x, int64_t groupSize,
               const std::string &attributes = "");
  Rows multiply(const Rows &lhs, const Rows &rhs);
  Rows scale(const Rows &x, double factor);
  Rows softcap(const Rows &x, double cap);
  /// Cosines and sines of the tokens' positions.
  Rows rotary(int64_t frequencies);
  Rows rope(const char *pairing, const Rows &x, const Rows &rotary,
            int64_t heads, int64_t headDim, int64_t offset = 0);
  Rows l2Normalize(const Rows &x, double eps = 1e-12);
  Rows softmax(const Rows &x);
  Rows attention(const Rows &query, const Rows &key, const Rows &value,
                 const Heads &heads);
  /// The map of an attention, alone in a stack; `attributes` follow others in
  /// the braces: ", causal". An output of the name `name`.
  void attentionMap(const Rows &query, const Rows &key, const Heads &heads,
                    const std::string &attributes, const std::string &name);
  Rows pool(const char *kind, const Rows &x);
  /// `attributes` in their braces, top_k among them; operands such as
  /// " selection_bias %b" stand in `vectors`, their types in `vectorTypes`.
  Rows route(const char *score, const Rows &logits, int64_t topK,
             const std::string &attributes = "",
             const std::string &vectors = "",
             const std::string &vectorTypes = "");
  /// `body` says what one of `count` experts does with its rows; parameters
  /// that it makes have a member for each expert (of each layer).
  Rows experts(const Rows &x, const Rows &routes, int64_t count,
               llvm::function_ref<Rows(const Rows &)> body);
  /// Adds the input `labels` (below `limit`, optional): of tokens, with `shift`
  /// of the next ones, or of segments. Once in a model.
  void takeLabels(int64_t limit, bool shift = false, bool pooled = false);
  /// The losses of rows, and their mean as the result `loss`.
  Rows crossEntropy(const Rows &logits);
  void outputLoss(const Rows &losses);
  /// Any op of the dialect, "op operands : types", that gives rows.
  Rows newRows(const std::string &op, int64_t columns, bool pooled = false);

  /// Loads a new parameter; in a loop one that has layers. Returns the value.
  std::string newParameter(const char *kind, llvm::ArrayRef<int64_t> shape);

  /// A loop of `count` iterations over `inits`; `body` gets what is carried and
  /// returns what is yielded.
  std::vector<Rows>
  repeat(int64_t count, const std::vector<Rows> &inits,
         llvm::function_ref<std::vector<Rows>(const std::vector<Rows> &)> body);
  Rows repeat(int64_t count, const Rows &init,
              llvm::function_ref<Rows(const Rows &)> body) {
    return repeat(count, std::vector<Rows>{init},
                  [&](const std::vector<Rows> &carried) {
                    return std::vector<Rows>{body(carried.front())};
                  })
        .front();
  }

  /// A result: a rectangle, or pooled rows as they are.
  void output(const Rows &x, const std::string &name);
  /// A result as it is in the text, for what the methods above do not make.
  void rawOutput(const std::string &value, const std::string &type,
                 const std::string &name, bool stacked = false);

  /// A line of text; `value` is `%name` of what it defines.
  void line(const std::string &text);
  const std::string &getLoopIndex() const { return loopIndex; }
  std::string newValue() { return "%v" + std::to_string(next++); }

  std::string getText() const;

private:
  struct Result {
    std::string value, type, attributes;
  };
  static std::string rowsType(int64_t columns);
  Rows emit(const std::string &op, int64_t columns, bool pooled,
            const std::string &types);

  int64_t positionLimit;
  unsigned next = 0;
  int64_t loopCount = 0; ///< iterations of the loop around, 0 outside
  std::string loopIndex;
  std::string parameters, body, indent = "    ", labels;
  std::vector<Result> results;
};

/// The shape of an encoder such as BERT (post-norm) or a pre-norm one.
struct EncoderShape {
  int64_t hidden = 64, heads = 4, kvHeads = 4, headDim = 16, feedForward = 100;
  int64_t layers = 2;
  const char *activation = "gelu";
  bool preNorm = false;
  bool bias = true;
  int64_t positionLimit = 0; ///< 0: no position embedding
};

/// Embeddings, norm, and the layers of an encoder.
Rows buildEncoder(ModelBuilder &builder, const EncoderShape &shape);

/// An encoder with outputs `last_hidden_state` and `pooled` (mean).
std::string getEncoderText(const EncoderShape &shape);

} // namespace hexad::test

#endif // HEXAD_TEST_E2E_MODELBUILDER_H
