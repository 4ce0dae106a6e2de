//===- Metadata.h - Words of a library's metadata ---------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the writer (LibraryInfo.cpp) and the reader (LibraryReader.cpp) share.
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_LIB_DRIVER_METADATA_H
#define HEXAD_LIB_DRIVER_METADATA_H

#include "hexad/Runtime/abi.h"
#include "llvm/ADT/StringRef.h"
#include <utility>

namespace hexad {

/// Raised when a reader of an older version would misunderstand, the options
/// that it hands to the library's functions included.
inline constexpr int64_t metadataVersion = 4;

inline constexpr std::pair<hexad_input_kind, llvm::StringLiteral> inputKinds[] =
    {{HEXAD_INPUT_MASK, "mask"},
     {HEXAD_INPUT_IDS, "ids"},
     {HEXAD_INPUT_IMAGE, "image"},
     {HEXAD_INPUT_LABELS, "labels"},
     {HEXAD_INPUT_NEXT_LABELS, "next_labels"},
     {HEXAD_INPUT_SEGMENT_LABELS, "segment_labels"}};

inline constexpr std::pair<hexad_output_kind, llvm::StringLiteral>
    outputKinds[] = {{HEXAD_OUTPUT_ROWS, "rows"},
                     {HEXAD_OUTPUT_POOLED, "pooled"},
                     {HEXAD_OUTPUT_SELECTED, "selected"},
                     {HEXAD_OUTPUT_SCALAR, "scalar"},
                     {HEXAD_OUTPUT_MAPS, "maps"}};

} // namespace hexad

#endif // HEXAD_LIB_DRIVER_METADATA_H
