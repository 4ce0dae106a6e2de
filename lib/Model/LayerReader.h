//===- LayerReader.h - Layers of YAML descriptions -------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A new kind of layer is a `read` here, a line of the table in LayerReader.cpp
// and a definition: with weights in LayerReaderParameters.cpp, without in
// LayerReaderPlain.cpp, made of layers in LayerReaderContainers.cpp, or in a
// file of its own.
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_LIB_MODEL_LAYERREADER_H
#define HEXAD_LIB_MODEL_LAYERREADER_H

#include "YamlTree.h"
#include "hexad/Model/Description.h"
#include "llvm/ADT/StringSet.h"

namespace hexad {

/// Reads sequences of layers (docs/ModelDescription.md). Every function emits a
/// located diagnostic on failure, behind which the reader is of no more use.
class LayerReader {
public:
  mlir::LogicalResult readLayers(const YamlNode &node,
                                 std::vector<Layer> &layers);

private:
  mlir::LogicalResult readLayer(const YamlNode &item,
                                std::vector<Layer> &layers);
  /// Reads a layer of one type and adds it.
  template <typename LayerType>
  mlir::LogicalResult add(const YamlEntry &entry, std::vector<Layer> &layers);

  // Layers with weights.
  mlir::LogicalResult read(const YamlEntry &entry, EmbeddingLayer &layer);
  mlir::LogicalResult read(const YamlEntry &entry, PositionsLayer &layer);
  mlir::LogicalResult read(const YamlEntry &entry, LayerNormLayer &layer);
  mlir::LogicalResult read(const YamlEntry &entry, RmsNormLayer &layer);
  mlir::LogicalResult read(const YamlEntry &entry, LinearLayer &layer);
  mlir::LogicalResult read(const YamlEntry &entry, GatedLayer &layer);
  mlir::LogicalResult read(const YamlEntry &entry, ScaleColumnsLayer &layer);
  mlir::LogicalResult read(const YamlEntry &entry, PerLayerInputLayer &layer);

  // Attention.
  mlir::LogicalResult read(const YamlEntry &entry, AttentionLayer &layer);
  mlir::LogicalResult readRope(const YamlNode &node, RopeDescription &rope);
  mlir::LogicalResult readAttentionTensors(const YamlNode &names,
                                           AttentionLayer &layer);

  // Mixtures of experts.
  mlir::LogicalResult read(const YamlEntry &entry, MoeLayer &layer);
  mlir::LogicalResult readRouter(const YamlNode &node,
                                 RouterDescription &router);
  mlir::LogicalResult readExpertTensors(const YamlNode &names, MoeLayer &layer);

  // Images.
  mlir::LogicalResult read(const YamlEntry &entry, PatchifyLayer &layer);

  // Layers without weights.
  mlir::LogicalResult read(const YamlEntry &entry, ScaleLayer &layer);
  mlir::LogicalResult read(const YamlEntry &entry, SoftcapLayer &layer);
  mlir::LogicalResult read(const YamlEntry &entry, PoolLayer &layer);
  mlir::LogicalResult read(const YamlEntry &entry, L2NormalizeLayer &layer);
  mlir::LogicalResult read(const YamlEntry &entry, SoftmaxLayer &layer);
  mlir::LogicalResult read(const YamlEntry &entry, OutputLayer &layer);

  // Layers that are made of layers.
  mlir::LogicalResult read(const YamlEntry &entry, SumLayer &layer);
  mlir::LogicalResult read(const YamlEntry &entry, ResidualLayer &layer);
  mlir::LogicalResult read(const YamlEntry &entry, ParallelLayer &layer);
  mlir::LogicalResult readRepeat(const YamlNode &item, const YamlEntry &count,
                                 std::vector<Layer> &layers);

  /// Reads `name` or makes one of the kind: `linear`, `linear_2`, ….
  mlir::LogicalResult readName(const YamlEntry &entry, std::string &name);
  /// Whose tensors a layer reads in a repeat: each iteration its own, or all
  /// the same ones.
  enum class Iterations { Own, Shared };
  /// Reads `tensors`, which is a stem or a mapping of `weight` and `bias`.
  mlir::LogicalResult readTensors(const YamlNode &mapping, llvm::StringRef key,
                                  bool weight, bool bias, TensorNames &names,
                                  Iterations iterations = Iterations::Own);
  mlir::LogicalResult readTensorName(const YamlNode &node, std::string &name,
                                     Iterations iterations = Iterations::Own);

  /// Most layers of a description, each written once: names are looked for one
  /// by one.
  static constexpr unsigned maxLayers = 4096;

  unsigned layerCount = 0;
  llvm::StringSet<> layerNames;
  /// Those in front of the last repeat that was numbered from 0.
  llvm::StringSet<> namesOutsideRepeat;
  bool isInRepeat = false;
  bool isOfExpert = false;            ///< whether a tensor's name may hold {e}
  std::optional<int64_t> termColumns; ///< of the first term of a sum
};

} // namespace hexad

#endif // HEXAD_LIB_MODEL_LAYERREADER_H
