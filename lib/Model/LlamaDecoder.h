//===- LlamaDecoder.h - Models like llama -----------------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_LIB_MODEL_LLAMADECODER_H
#define HEXAD_LIB_MODEL_LLAMADECODER_H

#include "ConfigFile.h"
#include "ExpertsConfig.h"
#include "LayerWindows.h"
#include "hexad/Model/Description.h"

namespace hexad::llama {

/// Of a branch: in front of its layers, behind them, or both.
enum class Norms { Before, Behind, Around };

enum class AttentionBias {
  None,
  Key,             ///< of all four projections, as `attention_bias` says
  QueryKeyAndValue ///< not of the output
};

struct Traits {
  double eps = 1e-6;
  Norms norms = Norms::Before;
  QkNorm qkNorm = QkNorm::None;
  /// Norms multiply by 1 + weight.
  bool unitOffset = false;
  AttentionBias attentionBias = AttentionBias::None;
  WindowRule windows = WindowRule::None;
  /// Columns of a head if nothing is said; `hidden_size` by heads if absent.
  std::optional<int64_t> headDim = {};
  bool tied = false;
  /// Base of the rotary frequencies if nothing is said.
  double theta = 1e4;
  ExpertsRule experts = ExpertsRule::None;
  llvm::StringLiteral activationKey = "hidden_act";
  llvm::StringLiteral activation = "silu";
  /// The family gemma: embeddings times the root of their size, scores scaled
  /// by a number of its own, caps, and rotary embeddings by kind of layer.
  bool isGemma = false;
};

/// Adds the inputs and layers of a model that differs from others like it in
/// what `traits` say.
mlir::LogicalResult describeDecoder(const ConfigFile &config,
                                    llvm::StringRef architecture,
                                    const Traits &traits,
                                    Description &description);

} // namespace hexad::llama

#endif // HEXAD_LIB_MODEL_LLAMADECODER_H
