//===- WeightFile.cpp - Writing the packed weights ------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Model/WeightFile.h"
#include "hexad/Model/HalfFloats.h"
#include "hexad/Model/ParameterRecipe.h"
#include "hexad/Runtime/abi.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <cstring>

using namespace mlir;
using namespace hexad;

namespace {

/// Parameters begin at multiples of this, as vector loads like it.
constexpr int64_t parameterAlignment = 64;

/// A parameter at its place in the file.
struct PlacedParameter {
  ParameterOp op;
  ParameterRecipe recipe;
  int64_t offset, bytes;
  /// Of an element of the type, which need not be what elements are rounded to.
  StoredType type;
};

/// Writes data block by block, each hashed as it leaves. The fingerprint does
/// not depend on how the data were handed over.
class DataWriter {
public:
  DataWriter(llvm::raw_fd_ostream &stream,
             llvm::function_ref<void(uint64_t)> written)
      : stream(stream), written(written) {
    block.reserve(blockBytes);
  }

  void write(const void *data, size_t bytes) {
    auto *source = static_cast<const uint8_t *>(data);
    while (bytes > 0) {
      size_t count = std::min(bytes, blockBytes - block.size());
      block.append(source, source + count);
      source += count;
      bytes -= count;
      if (block.size() == blockBytes)
        flush();
    }
  }
  void writeZeros(size_t bytes) {
    static constexpr uint8_t zeros[4096] = {};
    for (; bytes > 0; bytes -= std::min(bytes, sizeof(zeros)))
      write(zeros, std::min(bytes, sizeof(zeros)));
  }
  void flush() {
    if (block.empty())
      return;
    addToFingerprint(llvm::xxh3_64bits(block));
    if (!stream.has_error())
      stream.write(reinterpret_cast<const char *>(block.data()), block.size());
    total += block.size();
    block.clear();
    written(total);
  }
  void addToFingerprint(uint64_t value) {
    uint64_t pair[] = {fingerprint, value};
    fingerprint = llvm::xxh3_64bits(
        llvm::ArrayRef(reinterpret_cast<const uint8_t *>(pair), sizeof(pair)));
  }
  uint64_t getFingerprint() const { return fingerprint; }
  uint64_t getPosition() const { return total + block.size(); }

private:
  static constexpr size_t blockBytes = 1 << 20;
  llvm::raw_fd_ostream &stream;
  llvm::function_ref<void(uint64_t)> written;
  llvm::SmallVector<uint8_t, 0> block;
  uint64_t total = 0, fingerprint = 0;
};

} // namespace

/// Finds the stored tensors of every parameter and checks the offsets.
static FailureOr<std::vector<PlacedParameter>>
placeParameters(ModuleOp module, TensorSources &sources) {
  std::vector<PlacedParameter> placed;
  for (auto parameter : module.getOps<ParameterOp>()) {
    auto offset = parameter->getAttrOfType<IntegerAttr>("hexad.offset");
    if (!offset || offset.getInt() < 0 ||
        offset.getInt() % parameterAlignment != 0)
      return emitError(parameter.getLoc(),
                       "expected hexad.offset, a multiple of ")
             << parameterAlignment << " bytes";
    FailureOr<ParameterRecipe> recipe =
        ParameterRecipe::resolve(parameter, sources);
    if (failed(recipe))
      return failure();
    StoredType type = parameter.getTensorType().getElementType().isF32()
                          ? StoredType::F32
                          : recipe->getElementType();
    int64_t bytes = recipe->getLayerCount() * recipe->getLayerElements() *
                    static_cast<int64_t>(getStoredTypeBytes(type));
    placed.push_back(
        {parameter, std::move(*recipe), offset.getInt(), bytes, type});
  }
  llvm::sort(placed, [](const PlacedParameter &a, const PlacedParameter &b) {
    return a.offset < b.offset;
  });
  for (size_t i = 1; i < placed.size(); ++i)
    if (placed[i - 1].offset + placed[i - 1].bytes > placed[i].offset) {
      InFlightDiagnostic diagnostic =
          emitError(placed[i].op->getLoc(),
                    "the offset lies within the bytes of another parameter");
      diagnostic.attachNote(placed[i - 1].op.getLoc()) << "the other parameter";
      return diagnostic;
    }
  return placed;
}

/// Writes elements that have been rounded to `type`.
static void writeElements(llvm::ArrayRef<float> elements, StoredType type,
                          DataWriter &data) {
  if (type == StoredType::F32)
    return data.write(elements.data(), elements.size() * sizeof(float));
  std::vector<uint16_t> narrow(elements.size());
  llvm::transform(elements, narrow.begin(),
                  type == StoredType::BF16 ? narrowToBF16 : narrowToF16);
  data.write(narrow.data(), narrow.size() * sizeof(uint16_t));
}

/// Writes the data of `placed`, in the order of their offsets. Fails where
/// elements do not fit their type.
static LogicalResult writeData(llvm::ArrayRef<PlacedParameter> placed,
                               TensorSources &sources,
                               llvm::raw_fd_ostream &stream, DataWriter &data) {
  constexpr uint64_t releaseBytes = 64 << 20;
  uint64_t released = 0;
  for (const PlacedParameter &parameter : placed) {
    data.writeZeros(parameter.offset - data.getPosition());
    // Two models of equal bytes but other shapes or types are not the same.
    data.addToFingerprint(parameter.offset);
    data.addToFingerprint(parameter.recipe.getLayerCount());
    data.addToFingerprint(parameter.recipe.getLayerElements());
    data.addToFingerprint(static_cast<uint64_t>(parameter.type));
    for (int64_t layer = 0, count = parameter.recipe.getLayerCount();
         layer < count; ++layer) {
      LogicalResult written =
          parameter.recipe.stream(layer, [&](llvm::ArrayRef<float> chunk) {
            writeElements(chunk, parameter.type, data);
          });
      if (failed(written))
        return failure();
      if (stream.has_error())
        return success(); // The caller looks at the stream.
      if (data.getPosition() - released >= releaseBytes) {
        sources.releasePages();
        released = data.getPosition();
      }
    }
  }
  // A mapping of the file may be read in whole vectors up to its end.
  data.writeZeros(llvm::alignTo(data.getPosition(), parameterAlignment) -
                  data.getPosition());
  data.flush();
  return success();
}

FailureOr<WeightFileResult>
hexad::writeWeightFile(ModuleOp module, llvm::StringRef sourceFolder,
                       llvm::StringRef path,
                       std::function<void(uint64_t, uint64_t)> progress) {
  TensorSources sources(sourceFolder);
  FailureOr<std::vector<PlacedParameter>> placed =
      placeParameters(module, sources);
  if (failed(placed))
    return failure();
  uint64_t dataBytes =
      placed->empty()
          ? 0
          : llvm::alignTo(placed->back().offset + placed->back().bytes,
                          parameterAlignment);

  // The disk is at fault, not a line of the model.
  auto fail = [&](std::error_code code) {
    return emitError(UnknownLoc::get(module.getContext()), "cannot write '")
           << path << "': " << code.message();
  };
  std::error_code code;
  llvm::raw_fd_ostream stream(path, code, llvm::sys::fs::CD_CreateAlways,
                              llvm::sys::fs::FA_Write, llvm::sys::fs::OF_None);
  if (code)
    return fail(code);
  stream.SetUnbuffered();

  stream.write_zeros(HEXAD_WEIGHTS_ALIGNMENT);
  auto report = [&](uint64_t bytes) {
    if (progress)
      progress(bytes, dataBytes);
  };
  DataWriter data(stream, report);
  LogicalResult written = writeData(*placed, sources, stream, data);

  WeightFileResult result = {HEXAD_WEIGHTS_ALIGNMENT + dataBytes,
                             data.getFingerprint()};
  hexad_weights_header header = {};
  std::memcpy(header.magic, HEXAD_WEIGHTS_MAGIC, sizeof(header.magic));
  header.version = HEXAD_WEIGHTS_VERSION;
  header.data_offset = HEXAD_WEIGHTS_ALIGNMENT;
  header.file_bytes = result.fileBytes;
  header.fingerprint = result.fingerprint;
  if (!stream.has_error())
    stream.pwrite(reinterpret_cast<const char *>(&header), sizeof(header), 0);
  stream.close();
  code = stream.error();
  // An error that nobody looked at would end the program.
  stream.clear_error();
  if (code || failed(written)) {
    llvm::sys::fs::remove(path);
    if (code)
      return fail(code);
    return failure();
  }
  return result;
}
