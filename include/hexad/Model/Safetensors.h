//===- Safetensors.h - Stored tensors, read and written ---------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The safetensors format: eight bytes with the length of a JSON header, the
// header (name → dtype, shape, offsets), then the data. Needs LLVM's Support
// library only, so that programs without MLIR can use it.
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_MODEL_SAFETENSORS_H
#define HEXAD_MODEL_SAFETENSORS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hexad {

/// Element types of the format. All can be listed; what can be read as numbers
/// is said at the reading functions.
enum class StoredType {
  Bool,
  U8,
  I8,
  F8E5M2,
  F8E4M3,
  F8E8M0,
  U16,
  I16,
  F16,
  BF16,
  U32,
  I32,
  F32,
  C64,
  U64,
  I64,
  F64
};

/// The type's name in a header, e.g. "BF16".
llvm::StringRef getStoredTypeName(StoredType type);
/// Bytes of one element.
unsigned getStoredTypeBytes(StoredType type);
std::optional<StoredType> parseStoredType(llvm::StringRef name);

/// `[2, 3]`, for messages.
std::string formatShape(llvm::ArrayRef<int64_t> shape);

/// One tensor of a mapped file. Lives as long as the file.
struct StoredTensor {
  std::string name;
  StoredType type;
  llvm::SmallVector<int64_t, 4> shape;
  llvm::ArrayRef<uint8_t> bytes; ///< little-endian, row-major, any alignment

  int64_t getElementCount() const {
    return bytes.size() / getStoredTypeBytes(type);
  }
  /// Whether readFloats works: F32, F16 or BF16.
  bool isFloat() const {
    return type == StoredType::F32 || type == StoredType::F16 ||
           type == StoredType::BF16;
  }
  /// Elements `first …` widened to f32, as many as `out` holds; the bits of a
  /// NaN's payload stay. Requires isFloat() and elements in range.
  void readFloats(int64_t first, llvm::MutableArrayRef<float> out) const;
  /// Elements `first …` of I32 or I64 as 64-bit integers.
  void readIntegers(int64_t first, llvm::MutableArrayRef<int64_t> out) const;
};

/// A mapped safetensors file whose header has been checked: every tensor lies
/// inside the file, has the bytes its shape needs and shares none with another.
class SafetensorsFile {
public:
  /// Fails with a message that begins with `path`.
  static llvm::Expected<std::unique_ptr<SafetensorsFile>>
  open(llvm::StringRef path);
  /// The same for a buffer in memory; `buffer`'s identifier is the path.
  static llvm::Expected<std::unique_ptr<SafetensorsFile>>
  create(std::unique_ptr<llvm::MemoryBuffer> buffer);

  /// Null if there is no tensor of the name.
  const StoredTensor *find(llvm::StringRef name) const;
  /// In the order of their bytes in the file.
  llvm::ArrayRef<StoredTensor> getTensors() const { return tensors; }
  llvm::StringRef getPath() const { return buffer->getBufferIdentifier(); }
  /// Gives back the memory of what has been read; it can be read again.
  void releasePages();

private:
  SafetensorsFile(std::unique_ptr<llvm::MemoryBuffer> buffer)
      : buffer(std::move(buffer)) {}
  llvm::Error readHeader();

  std::unique_ptr<llvm::MemoryBuffer> buffer;
  std::vector<StoredTensor> tensors;
  llvm::StringMap<size_t> indices;
};

/// The tensors of one checkpoint: a safetensors file, or the shards that an
/// index (`model.safetensors.index.json`) names.
class TensorSource {
public:
  /// `path` is an index if it ends in `.json`. Shards lie beside it. Fails with
  /// a message that begins with the path of the file at fault.
  static llvm::Expected<std::unique_ptr<TensorSource>>
  open(llvm::StringRef path);

  const StoredTensor *find(llvm::StringRef name) const {
    return tensors.lookup(name);
  }
  /// All names, sorted.
  std::vector<llvm::StringRef> getNames() const;
  llvm::StringRef getPath() const { return path; }
  /// Gives back the memory of what has been read; it can be read again.
  void releasePages() {
    for (std::unique_ptr<SafetensorsFile> &file : files)
      file->releasePages();
  }

private:
  llvm::Error readIndex();

  std::string path;
  std::vector<std::unique_ptr<SafetensorsFile>> files;
  llvm::StringMap<const StoredTensor *> tensors;
};

/// A tensor to be written.
struct TensorToWrite {
  std::string name;
  StoredType type;
  llvm::SmallVector<int64_t, 4> shape;
  llvm::ArrayRef<uint8_t> bytes;
};

/// Writes a safetensors file beside `path` and renames it when it is complete,
/// so that a failure (disk full, no permission) leaves nothing behind. Data
/// begin at a multiple of 64 bytes.
llvm::Error writeSafetensors(llvm::StringRef path,
                             llvm::ArrayRef<TensorToWrite> tensors);

} // namespace hexad

#endif // HEXAD_MODEL_SAFETENSORS_H
