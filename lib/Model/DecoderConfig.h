//===- DecoderConfig.h - What language models share -------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_LIB_MODEL_DECODERCONFIG_H
#define HEXAD_LIB_MODEL_DECODERCONFIG_H

#include "ConfigFile.h"
#include "hexad/Model/Description.h"

namespace hexad {

/// Checks that the value of `key` divides that of `wholeKey`.
mlir::LogicalResult checkDivides(const ConfigFile &config, llvm::StringRef key,
                                 int64_t value, llvm::StringRef wholeKey,
                                 int64_t whole);

/// Adds `input_ids` and its optional mask.
void addDecoderInputs(const ConfigFile &config, Description &description);

/// What stands behind the final norm.
struct DecoderHead {
  int64_t vocabulary;
  bool tied;
  std::optional<double> softcap = {};
};

/// Adds the output `last_hidden_state` for the base model's architecture, the
/// head and the output `logits` for the other. The layers are named `words` and
/// `head`.
void addDecoderHead(const ConfigFile &config, llvm::StringRef architecture,
                    const DecoderHead &head, std::vector<Layer> &layers);

} // namespace hexad

#endif // HEXAD_LIB_MODEL_DECODERCONFIG_H
