//===- Inputs.h - A model's inputs, read from files -------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_TOOLS_HEXADRUN_INPUTS_H
#define HEXAD_TOOLS_HEXADRUN_INPUTS_H

#include "hexad/Driver/LibraryInfo.h"
#include "hexad/Model/Safetensors.h"

namespace hexad {

/// The inputs of a call, narrowed, and the shape that they agree on.
class Inputs {
public:
  /// Reads whole files of inputs, and single ones written NAME=FILE.npy. All
  /// that the model requires must be there. Files of decoders often have
  /// `position_ids`: it may say what the model does anyway, count the real
  /// elements of each row from 0.
  static llvm::Expected<Inputs> read(const LibraryInfo &info,
                                     llvm::ArrayRef<std::string> files,
                                     llvm::ArrayRef<std::string> arrays);

  /// One batch row of these ids, all of them real.
  static llvm::Expected<Inputs> fromTokens(const LibraryInfo &info,
                                           std::vector<int32_t> tokens);

  size_t batch = 0, seq = 0;

  /// The values of an input, null if it is not given.
  const std::vector<int32_t> *get(size_t index) const {
    return given[index] ? &values[index] : nullptr;
  }
  /// What `forward` gets for an input; null if it is not given.
  const void *getPointer(size_t index) const {
    if (!given[index])
      return nullptr;
    if (info->inputs[index].kind == HEXAD_INPUT_IMAGE)
      return pixels.data();
    return values[index].data();
  }
  /// Whether an element is a token, not padding.
  bool isReal(size_t element) const { return !mask || get(*mask)->at(element); }
  size_t countTokens() const;

private:
  llvm::Error checkMissing() const;
  Inputs(const LibraryInfo &info)
      : info(&info), values(info.inputs.size()), given(info.inputs.size()) {}
  llvm::Error take(llvm::StringRef name, const StoredTensor &tensor,
                   llvm::StringRef path);
  llvm::Error takeShape(llvm::StringRef name, const StoredTensor &tensor,
                        bool ofSegments);
  /// All inputs agree in batch and seq (of images: the tokens of one).
  llvm::Error setShape(llvm::StringRef name, size_t thisBatch, size_t thisSeq);
  llvm::Error takeImages(size_t index, const StoredTensor &tensor);
  llvm::Error checkPositions() const;

  const LibraryInfo *info;
  std::vector<std::vector<int32_t>> values; ///< one for each of the model's
  std::vector<bool> given;
  std::vector<float> pixels;  ///< of the input of images
  std::optional<size_t> mask; ///< the mask's index, if it is given
  std::vector<int32_t> positions;
  std::string shapeFrom;     ///< the input that the shape was first seen in
  std::string positionsFrom; ///< the file of `position_ids`
};

} // namespace hexad

#endif // HEXAD_TOOLS_HEXADRUN_INPUTS_H
