//===- Description.h - What a model is, before any IR -----------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The YAML reader and the families of checkpoint folders make a Description;
// one builder makes hexad IR of it. docs/ModelDescription.md explains each
// field as the YAML key that it is.
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_MODEL_DESCRIPTION_H
#define HEXAD_MODEL_DESCRIPTION_H

#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "hexad/Model/Safetensors.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace hexad {

/// Most iterations of a `repeat`.
inline constexpr int64_t maxRepeat = 4096;
/// Most rows or columns of anything, so that products of two fit 64 bits.
inline constexpr int64_t maxDimension = (int64_t(1) << 31) - 1;

/// The stored tensors that one layer reads; `{i}` stands for the iteration of
/// the `repeat` around it. Empty: to be found by the family's names.
struct TensorNames {
  std::string weight, bias;
};

struct InputDescription {
  std::string name;
  mlir::Location loc;
  /// Says which elements are real; the others are ids.
  bool isMask = false;
  bool optional = false;
};

/// Rows of a table, chosen by the ids of an input.
struct EmbeddingLayer {
  std::string name, input;
  int64_t entries, dim;
  TensorNames tensors = {};
};

/// Rows of a table, chosen by the position in the segment.
struct PositionsLayer {
  std::string name;
  int64_t entries, dim;
  TensorNames tensors = {};
};

struct LayerNormLayer {
  std::string name;
  double eps;
  bool bias = true;
  TensorNames tensors = {};
};

struct LinearLayer {
  std::string name;
  int64_t out;
  bool bias = false;
  /// Stored as [in, out].
  bool transposed = false;
  /// Name of the embedding whose table is the weight; empty: its own.
  std::string tied = {};
  TensorNames tensors = {};
};

/// Projections, attention of each segment with itself, and the projection back.
struct AttentionLayer {
  std::string name;
  int64_t heads;
  /// As many as `heads` if absent.
  std::optional<int64_t> kvHeads = {};
  /// Columns of the input by `heads` if absent.
  std::optional<int64_t> headDim = {};
  /// 1 / sqrt(head_dim) if absent.
  std::optional<double> scale = {};
  bool bias = false;
  TensorNames query = {}, key = {}, value = {}, output = {};
};

struct ActivationLayer {
  Activation kind;
};

struct PoolLayer {
  Pooling kind;
};

struct L2NormalizeLayer {
  double eps;
};

struct SoftmaxLayer {};

/// Marks what the layers so far give as an output of the model.
struct OutputLayer {
  std::string name;
};

struct Layer;

/// The sum of embeddings.
struct SumLayer {
  std::vector<Layer> terms;
};

/// x + layers(x).
struct ResidualLayer {
  std::vector<Layer> layers;
};

/// The same layers `count` times, each time with other weights.
struct RepeatLayer {
  int64_t count;
  std::vector<Layer> layers;
};

struct Layer {
  mlir::Location loc;
  std::variant<EmbeddingLayer, PositionsLayer, SumLayer, LayerNormLayer,
               LinearLayer, AttentionLayer, ActivationLayer, PoolLayer,
               L2NormalizeLayer, SoftmaxLayer, OutputLayer, ResidualLayer,
               RepeatLayer>
      kind;
};

/// A model. Every name in it is an identifier.
struct Description {
  std::string name;
  mlir::Location loc;
  std::vector<InputDescription> inputs;
  /// Safetensors file or index, relative to the description's folder.
  std::string weightsFile;
  std::vector<Layer> layers;
};

/// Calls `visit` for every layer that is not made of layers, in order of
/// execution.
void forEachLayer(llvm::MutableArrayRef<Layer> layers,
                  llvm::function_ref<void(Layer &)> visit);

/// Makes hexad IR (docs/Architecture.md) of a description. `outputs` are asked
/// for beside the model's own: `hidden` or names of its own. Emits a diagnostic
/// and gives null if the layers do not fit each other.
mlir::OwningOpRef<mlir::ModuleOp>
buildModule(const Description &description, llvm::ArrayRef<std::string> outputs,
            mlir::MLIRContext *context);

/// Whether `name` can be the name of an input, output, layer or model: it
/// becomes part of C identifiers.
bool isIdentifier(llvm::StringRef name);
/// `name` with everything that an identifier cannot hold replaced by `_`.
std::string makeIdentifier(llvm::StringRef name);

} // namespace hexad

#endif // HEXAD_MODEL_DESCRIPTION_H
