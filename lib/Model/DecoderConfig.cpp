//===- DecoderConfig.cpp - What language models share ---------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DecoderConfig.h"

using namespace mlir;
using namespace hexad;

LogicalResult hexad::checkDivides(const ConfigFile &config, llvm::StringRef key,
                                  int64_t value, llvm::StringRef wholeKey,
                                  int64_t whole) {
  if (whole % value == 0)
    return success();
  return emitError(config.getLocation(key), "expected ")
         << key << " to divide " << wholeKey << " " << whole << ", found "
         << value;
}

void hexad::addDecoderInputs(const ConfigFile &config,
                             Description &description) {
  description.inputs = {{"input_ids", config.getLocation("vocab_size")},
                        {"attention_mask", description.loc, /*isMask=*/true,
                         /*optional=*/true}};
}

void hexad::addDecoderHead(const ConfigFile &config,
                           llvm::StringRef architecture,
                           const DecoderHead &head,
                           std::vector<Layer> &layers) {
  Location loc = config.getLocation("architectures");
  bool isBase =
      architecture.ends_with("Model") && !architecture.ends_with("LMHeadModel");
  if (isBase) {
    layers.push_back({loc, OutputLayer{"last_hidden_state"}});
    return;
  }
  LinearLayer linear{"head", head.vocabulary};
  if (head.tied)
    linear.tied = "words";
  layers.push_back({loc, linear});
  if (head.softcap)
    layers.push_back({loc, SoftcapLayer{*head.softcap}});
  layers.push_back({loc, OutputLayer{"logits"}});
}
