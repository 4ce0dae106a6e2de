//===- SafetensorsWriter.cpp - Stored tensors, written --------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Model/Files.h"
#include "hexad/Model/Safetensors.h"
#include "llvm/Support/EndianStream.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace hexad;

/// The JSON header, padded with spaces so that the data behind it are aligned.
static std::string makeHeader(ArrayRef<TensorToWrite> tensors) {
  std::string header;
  raw_string_ostream stream(header);
  json::OStream json(stream);
  json.object([&] {
    uint64_t offset = 0;
    for (const TensorToWrite &tensor : tensors) {
      json.attributeObject(tensor.name, [&] {
        json.attribute("dtype", getStoredTypeName(tensor.type));
        json.attributeArray("shape", [&] {
          for (int64_t size : tensor.shape)
            json.value(size);
        });
        json.attributeArray("data_offsets", [&] {
          json.value(offset);
          offset += tensor.bytes.size();
          json.value(offset);
        });
      });
    }
  });
  header.resize(alignTo(header.size() + 8, 64) - 8, ' ');
  return header;
}

Error hexad::writeSafetensors(StringRef path, ArrayRef<TensorToWrite> tensors) {
  return writeOutputFile(path, [&](raw_ostream &stream) {
    std::string header = makeHeader(tensors);
    support::endian::write<uint64_t>(stream, header.size(), endianness::little);
    stream << header;
    for (const TensorToWrite &tensor : tensors)
      stream.write(reinterpret_cast<const char *>(tensor.bytes.data()),
                   tensor.bytes.size());
  });
}
