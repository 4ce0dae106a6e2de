//===- LibraryInfo.h - What a compiled library is ---------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Facts about a model and the library made from it, as plain data: the driver
// fills it, the header and the metadata section are written from it, programs
// that open a library read it back. Needs LLVM only, no MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_DRIVER_LIBRARYINFO_H
#define HEXAD_DRIVER_LIBRARYINFO_H

#include "hexad/Runtime/abi.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace hexad {

struct InputInfo {
  std::string name;  ///< as the model calls it
  std::string field; ///< in the header's arguments struct
  hexad_input_kind kind = HEXAD_INPUT_IDS;
  bool optional = false;
  int64_t limit = 0; ///< of ids: each is less
  /// Of images; each becomes `tokens` rows.
  int64_t channels = 0, height = 0, width = 0, tokens = 0;
};

struct OutputInfo {
  std::string name;
  std::string field;
  hexad_output_kind kind = HEXAD_OUTPUT_ROWS;
  bool stacked = false; ///< leading dimension of `count`
  int64_t count = 1;
  int64_t columns = 0;
};

struct LibraryInfo {
  std::string name;   ///< the model's, e.g. "my-model"
  std::string prefix; ///< of C identifiers and file names, e.g. "my_model"
  std::string toolVersion;
  int64_t parameterCount = 0; ///< elements of all parameters
  /// Of those the ones that a token needs: without experts, all.
  int64_t activeParameterCount = 0;
  int64_t positionLimit = 0; ///< longest sequence; 0: none
  std::vector<InputInfo> inputs;
  std::vector<OutputInfo> outputs;
  std::vector<hexad_cache_info> caches; ///< none: there are no sessions

  std::string cpu;          ///< LLVM's name
  std::string features;     ///< LLVM's feature string
  uint32_t cpuFeatures = 0; ///< enum hexad_cpu_feature
  int64_t vectorBits = 256;
  int64_t tileRows = 0, queryTile = 0, page = 0;
  hexad_arena_size arena = {};

  std::string weightsFile; ///< name without a folder
  uint64_t weightsBytes = 0;
  std::string weightsType = "f32"; ///< of most elements: f32, bf16 or f16
  uint64_t fingerprint = 0;

  /// Rows of each image; 0 if the model has no input of images.
  int64_t getImageTokens() const {
    for (const InputInfo &input : inputs)
      if (input.kind == HEXAD_INPUT_IMAGE)
        return input.tokens;
    return 0;
  }
  std::string getLibraryFile() const { return "lib" + prefix + ".so"; }
  std::string getHeaderFile() const { return prefix + ".h"; }
};

/// A C identifier made from a model's or an input's name: other characters
/// become `_`, runs of `_` one, keywords and leading digits are avoided. Empty
/// if nothing is left.
std::string makeCName(llvm::StringRef name);

/// Gives `info` its prefix, and its inputs and outputs their fields. Fails if a
/// name has nothing of which an identifier could be made, or two have the same.
llvm::Error assignIdentifiers(LibraryInfo &info);

/// The functions that a library exports, without the prefix.
llvm::ArrayRef<llvm::StringRef> getExportedFunctions(const LibraryInfo &info);

/// The header that a C or C++ program includes.
std::string generateHeader(const LibraryInfo &info);

/// Section of a library that holds its metadata.
inline constexpr llvm::StringLiteral metadataSection = ".hexad.json";
/// Section with eight bytes: xxh3 of what the loader maps, see sealLibrary.
inline constexpr llvm::StringLiteral checksumSection = ".hexad.checksum";

/// The metadata as JSON text.
std::string generateMetadata(const LibraryInfo &info);

/// Writes the checksum into a linked library. Covers the contents of all loaded
/// segments but the ELF header, so that stripping symbols keeps it valid.
llvm::Error sealLibrary(llvm::StringRef path);

/// Reads the metadata of a library without loading it, after checking that the
/// file is whole. Fails with a sentence that begins with `path`.
llvm::Expected<LibraryInfo> readLibraryInfo(llvm::StringRef path);

} // namespace hexad

#endif // HEXAD_DRIVER_LIBRARYINFO_H
