//===- Decoder.h - A small language model for tests -------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_TEST_E2E_DECODER_H
#define HEXAD_TEST_E2E_DECODER_H

#include <cstdint>
#include <string>

namespace hexad::test {

inline constexpr int64_t decoderIdLimit = 97;

/// Three equal layers (grouped heads, norms of heads, rotated halves) and one
/// with a window of 40, capped scores and interleaved pairs; a head on selected
/// rows. Output `logits`; with `maps` also `attention`.
std::string getDecoderText(bool maps = false);

} // namespace hexad::test

#endif // HEXAD_TEST_E2E_DECODER_H
