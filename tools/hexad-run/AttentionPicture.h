//===- AttentionPicture.h - Which attention map is drawn --------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_TOOLS_HEXADRUN_ATTENTIONPICTURE_H
#define HEXAD_TOOLS_HEXADRUN_ATTENTIONPICTURE_H

#include "HeatMap.h"
#include "Inputs.h"

namespace hexad {

/// `--attention-map` and the options beside it.
struct PictureOptions {
  std::string path;
  std::optional<size_t> layer; ///< none: the last one
  std::optional<size_t> head;  ///< none: the mean over all
  size_t row = 0;              ///< of the batch
  std::string labels;          ///< a file with a token on each line; or empty
};

/// The map of one layer and of one batch row, without its padding.
class AttentionPicture {
public:
  /// Checks the options against the library and the inputs; reads the labels.
  static llvm::Expected<AttentionPicture> create(const PictureOptions &options,
                                                 const LibraryInfo &info,
                                                 const Inputs &inputs);

  /// The output of the library that has the maps.
  size_t getOutput() const { return output; }
  /// Draws a map of `values`, all that the output has, into the file.
  llvm::Error write(llvm::ArrayRef<float> values) const;

private:
  AttentionPicture(const PictureOptions &options, const LibraryInfo &info)
      : options(options), info(&info) {}
  llvm::Error readLabels();
  HeatMap select(llvm::ArrayRef<float> values) const;

  PictureOptions options;
  const LibraryInfo *info;
  size_t output = 0, layer = 0;
  size_t batch = 0, seq = 0;
  std::vector<size_t> tokens; ///< elements of the row that are real
  std::vector<std::string> labels;
};

} // namespace hexad

#endif // HEXAD_TOOLS_HEXADRUN_ATTENTIONPICTURE_H
