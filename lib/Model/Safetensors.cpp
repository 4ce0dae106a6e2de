//===- Safetensors.cpp - Stored tensors, read -----------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Model/Safetensors.h"
#include "hexad/Model/Files.h"
#include "hexad/Model/HalfFloats.h"
#include "hexad/Model/Json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include <cstring>
#include <sys/mman.h>

using namespace llvm;
using namespace hexad;

namespace {

/// The limit of the format's reference implementation.
constexpr uint64_t maxHeaderBytes = 100'000'000;
/// A header has three levels; deeper ones are malformed anyway.
constexpr unsigned maxHeaderDepth = 16;

struct StoredTypeInfo {
  StoredType type;
  StringLiteral name;
  unsigned bytes;
};

constexpr StoredTypeInfo storedTypes[] = {
    {StoredType::Bool, "BOOL", 1},      {StoredType::U8, "U8", 1},
    {StoredType::I8, "I8", 1},          {StoredType::F8E5M2, "F8_E5M2", 1},
    {StoredType::F8E4M3, "F8_E4M3", 1}, {StoredType::F8E8M0, "F8_E8M0", 1},
    {StoredType::U16, "U16", 2},        {StoredType::I16, "I16", 2},
    {StoredType::F16, "F16", 2},        {StoredType::BF16, "BF16", 2},
    {StoredType::U32, "U32", 4},        {StoredType::I32, "I32", 4},
    {StoredType::F32, "F32", 4},        {StoredType::C64, "C64", 8},
    {StoredType::U64, "U64", 8},        {StoredType::I64, "I64", 8},
    {StoredType::F64, "F64", 8},
};

const StoredTypeInfo &getInfo(StoredType type) {
  return *find_if(storedTypes, [type](const StoredTypeInfo &info) {
    return info.type == type;
  });
}

Error makeError(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

Error makeFileError(StringRef path, const Twine &message) {
  return makeError(Twine(path) + ": " + message);
}

Expected<std::unique_ptr<MemoryBuffer>> mapFile(StringRef path) {
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readRegularFile(path);
  if (!buffer)
    return makeFileError(path, toString(buffer.takeError()));
  return buffer;
}

Expected<json::Value> parseJson(StringRef text) {
  if (Error error = scanJson(text, maxHeaderDepth))
    return std::move(error);
  return json::parse(text);
}

} // namespace

StringRef hexad::getStoredTypeName(StoredType type) {
  return getInfo(type).name;
}

unsigned hexad::getStoredTypeBytes(StoredType type) {
  return getInfo(type).bytes;
}

std::optional<StoredType> hexad::parseStoredType(StringRef name) {
  for (const StoredTypeInfo &info : storedTypes)
    if (info.name == name)
      return info.type;
  return std::nullopt;
}

std::string hexad::formatShape(ArrayRef<int64_t> shape) {
  std::string text;
  raw_string_ostream stream(text);
  stream << '[';
  constexpr size_t shown = 8;
  interleaveComma(shape.take_front(shown), stream);
  if (shape.size() > shown)
    stream << ", …";
  stream << ']';
  return text;
}

//===----------------------------------------------------------------------===//
// Reading elements
//===----------------------------------------------------------------------===//

void StoredTensor::readFloats(int64_t first, MutableArrayRef<float> out) const {
  assert(isFloat() && "no floats that we can widen");
  unsigned width = getStoredTypeBytes(type);
  assert(first >= 0 && (first + out.size()) * width <= bytes.size());
  const uint8_t *source = bytes.data() + first * width;
  if (type == StoredType::F32) {
    if (!out.empty())
      std::memcpy(out.data(), source, out.size() * width);
    return;
  }
  if (type == StoredType::BF16) {
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = widenBF16(support::endian::read16le(source + 2 * i));
    return;
  }
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = widenF16(support::endian::read16le(source + 2 * i));
}

void StoredTensor::readIntegers(int64_t first,
                                MutableArrayRef<int64_t> out) const {
  assert((type == StoredType::I32 || type == StoredType::I64) &&
         "no integers that we can widen");
  unsigned width = getStoredTypeBytes(type);
  assert(first >= 0 && (first + out.size()) * width <= bytes.size());
  const uint8_t *source = bytes.data() + first * width;
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = width == 4
                 ? int64_t(int32_t(support::endian::read32le(source + 4 * i)))
                 : int64_t(support::endian::read64le(source + 8 * i));
}

//===----------------------------------------------------------------------===//
// The header
//===----------------------------------------------------------------------===//

/// The integers of an array that are not negative; none for anything else.
static std::optional<SmallVector<int64_t, 4>>
readSizes(const json::Value *value) {
  const json::Array *array = value ? value->getAsArray() : nullptr;
  if (!array)
    return std::nullopt;
  SmallVector<int64_t, 4> sizes;
  for (const json::Value &element : *array) {
    std::optional<int64_t> size = element.getAsInteger();
    if (!size || *size < 0)
      return std::nullopt;
    sizes.push_back(*size);
  }
  return sizes;
}

/// Reads one entry of the header. `data` is everything behind the header.
static Expected<StoredTensor>
readEntry(StringRef name, const json::Value &entry, ArrayRef<uint8_t> data) {
  auto fail = [&](const Twine &message) {
    return makeError("tensor " + quoteName(name) + ": " + message);
  };
  const json::Object *fields = entry.getAsObject();
  if (!fields)
    return fail("expected an object with dtype, shape and data_offsets");
  for (const auto &field : *fields) {
    StringRef key = field.first;
    if (key != "dtype" && key != "shape" && key != "data_offsets")
      return fail("unknown field " + quoteName(key));
  }
  std::optional<StringRef> typeName = fields->getString("dtype");
  if (!typeName)
    return fail("expected a dtype");
  std::optional<StoredType> type = parseStoredType(*typeName);
  if (!type)
    return fail("unknown dtype " + quoteName(*typeName));
  std::optional<SmallVector<int64_t, 4>> shape =
      readSizes(fields->get("shape"));
  if (!shape)
    return fail("expected a shape of integers that are not negative and fit "
                "64 bits");
  std::optional<SmallVector<int64_t, 4>> offsets =
      readSizes(fields->get("data_offsets"));
  if (!offsets || offsets->size() != 2)
    return fail("expected data_offsets [begin, end] that are not negative and "
                "fit 64 bits");
  uint64_t begin = (*offsets)[0], end = (*offsets)[1];
  if (begin > end)
    return fail("data_offsets [" + Twine(begin) + ", " + Twine(end) +
                "] are reversed");
  if (end > data.size())
    return fail("data_offsets [" + Twine(begin) + ", " + Twine(end) +
                "] lie beyond the " + Twine(data.size()) +
                " bytes of data in the file");
  int64_t bytes = getStoredTypeBytes(*type);
  for (int64_t size : *shape)
    if (MulOverflow(bytes, size, bytes))
      return fail("the size of shape " + formatShape(*shape) +
                  " does not fit 64 bits");
  if (static_cast<uint64_t>(bytes) != end - begin)
    return fail("shape " + formatShape(*shape) + " of " + *typeName +
                " needs " + Twine(bytes) + " bytes, data_offsets [" +
                Twine(begin) + ", " + Twine(end) + "] give " +
                Twine(end - begin));
  return StoredTensor{name.str(), *type, std::move(*shape),
                      data.slice(begin, end - begin)};
}

Error SafetensorsFile::readHeader() {
  ArrayRef<uint8_t> file(
      reinterpret_cast<const uint8_t *>(buffer->getBufferStart()),
      buffer->getBufferSize());
  if (file.size() < 8)
    return makeError("expected a safetensors file, found " +
                     Twine(file.size()) + " bytes");
  uint64_t headerBytes = support::endian::read64le(file.data());
  if (headerBytes > maxHeaderBytes)
    return makeError("expected a safetensors header of at most " +
                     Twine(maxHeaderBytes) + " bytes, found a length of " +
                     Twine(headerBytes));
  if (headerBytes > file.size() - 8)
    return makeError("the header of " + Twine(headerBytes) +
                     " bytes is longer than the file of " + Twine(file.size()) +
                     " bytes");
  StringRef text(buffer->getBufferStart() + 8, headerBytes);
  Expected<json::Value> header = parseJson(text);
  if (!header)
    return makeError("malformed header: " + toString(header.takeError()));
  const json::Object *entries = header->getAsObject();
  if (!entries)
    return makeError("malformed header: expected an object");

  ArrayRef<uint8_t> data = file.drop_front(8 + headerBytes);
  for (const auto &[key, value] : *entries) {
    if (StringRef(key) == "__metadata__") {
      if (!value.getAsObject())
        return makeError("malformed header: expected __metadata__ to be an "
                         "object");
      continue;
    }
    Expected<StoredTensor> tensor = readEntry(key, value, data);
    if (!tensor)
      return tensor.takeError();
    tensors.push_back(std::move(*tensor));
  }

  // The format knows no holes, so what does not touch its neighbour overlaps it
  // or has lost something.
  sort(tensors, [](const StoredTensor &a, const StoredTensor &b) {
    return std::make_tuple(a.bytes.data(), a.bytes.size(), StringRef(a.name)) <
           std::make_tuple(b.bytes.data(), b.bytes.size(), StringRef(b.name));
  });
  const uint8_t *end = data.begin();
  for (const auto &[index, tensor] : enumerate(tensors)) {
    if (tensor.bytes.begin() < end)
      return makeError("tensors " + quoteName(tensors[index - 1].name) +
                       " and " + quoteName(tensor.name) + " overlap");
    if (tensor.bytes.begin() > end)
      return makeError(Twine(tensor.bytes.begin() - end) +
                       " bytes in front of tensor " + quoteName(tensor.name) +
                       " belong to no tensor");
    end = tensor.bytes.end();
    indices[tensor.name] = index;
  }
  if (end != data.end())
    return makeError(Twine(data.end() - end) +
                     " bytes at the end of the file belong to no tensor");
  return Error::success();
}

Expected<std::unique_ptr<SafetensorsFile>>
SafetensorsFile::create(std::unique_ptr<MemoryBuffer> buffer) {
  std::unique_ptr<SafetensorsFile> file(new SafetensorsFile(std::move(buffer)));
  if (Error error = file->readHeader())
    return makeFileError(file->getPath(), toString(std::move(error)));
  return std::move(file);
}

Expected<std::unique_ptr<SafetensorsFile>>
SafetensorsFile::open(StringRef path) {
  Expected<std::unique_ptr<MemoryBuffer>> buffer = mapFile(path);
  if (!buffer)
    return buffer.takeError();
  return create(std::move(*buffer));
}

const StoredTensor *SafetensorsFile::find(StringRef name) const {
  auto entry = indices.find(name);
  return entry == indices.end() ? nullptr : &tensors[entry->second];
}

void SafetensorsFile::releasePages() {
  // Not MemoryBuffer::dontNeedIfMmap, which glibc makes nothing of. A small
  // file is a copy on the heap, which must not be dropped.
  if (buffer->getBufferKind() != MemoryBuffer::MemoryBuffer_MMap)
    return;
  auto begin = reinterpret_cast<uintptr_t>(buffer->getBufferStart());
  size_t inPage = begin % sys::Process::getPageSizeEstimate();
  ::madvise(reinterpret_cast<void *>(begin - inPage),
            buffer->getBufferSize() + inPage, MADV_DONTNEED);
}

//===----------------------------------------------------------------------===//
// Sharded checkpoints
//===----------------------------------------------------------------------===//

Error TensorSource::readIndex() {
  Expected<std::unique_ptr<MemoryBuffer>> buffer = mapFile(path);
  if (!buffer)
    return buffer.takeError();
  auto fail = [&](const Twine &message) {
    return makeFileError(path, message);
  };
  if ((*buffer)->getBufferSize() > maxHeaderBytes)
    return fail("expected an index of at most " + Twine(maxHeaderBytes) +
                " bytes, found " + Twine((*buffer)->getBufferSize()));
  Expected<json::Value> index = parseJson((*buffer)->getBuffer());
  if (!index)
    return fail("malformed index: " + toString(index.takeError()));
  const json::Object *root = index->getAsObject();
  const json::Object *map = root ? root->getObject("weight_map") : nullptr;
  if (!map)
    return fail("malformed index: expected an object with a weight_map");

  StringMap<SafetensorsFile *> shards;
  for (const auto &[key, value] : *map) {
    StringRef name = key;
    std::optional<StringRef> fileName = value.getAsString();
    if (!fileName)
      return fail("tensor " + quoteName(name) +
                  ": expected the name of a file");
    // A path could lead out of the checkpoint's folder.
    if (fileName->empty() || *fileName == "." || *fileName == ".." ||
        fileName->contains('/') || fileName->contains('\\') ||
        fileName->contains('\0'))
      return fail("tensor " + quoteName(name) +
                  ": expected the plain name of a file in the same folder, "
                  "found " +
                  quoteName(*fileName));
    SafetensorsFile *&shard = shards[*fileName];
    if (!shard) {
      SmallString<128> shardPath = sys::path::parent_path(path);
      sys::path::append(shardPath, *fileName);
      Expected<std::unique_ptr<SafetensorsFile>> file =
          SafetensorsFile::open(shardPath);
      if (!file)
        return file.takeError();
      shard = file->get();
      files.push_back(std::move(*file));
    }
    const StoredTensor *tensor = shard->find(name);
    if (!tensor)
      return fail("tensor " + quoteName(name) + " is not in " +
                  quoteName(*fileName));
    tensors[name] = tensor;
  }
  // What the index says of it is only one of its values.
  for (const auto &entry : shards)
    for (const StoredTensor &tensor : entry.second->getTensors())
      if (const StoredTensor *indexed = tensors.lookup(tensor.name);
          indexed && indexed != &tensor)
        return fail("tensor " + quoteName(tensor.name) +
                    " is in another file than " + quoteName(entry.first()) +
                    ", which has one of this name");
  return Error::success();
}

Expected<std::unique_ptr<TensorSource>> TensorSource::open(StringRef path) {
  std::unique_ptr<TensorSource> source(new TensorSource());
  source->path = path.str();
  if (path.ends_with(".json")) {
    if (Error error = source->readIndex())
      return std::move(error);
    return std::move(source);
  }
  Expected<std::unique_ptr<SafetensorsFile>> file = SafetensorsFile::open(path);
  if (!file)
    return file.takeError();
  for (const StoredTensor &tensor : (*file)->getTensors())
    source->tensors[tensor.name] = &tensor;
  source->files.push_back(std::move(*file));
  return std::move(source);
}

std::vector<StringRef> TensorSource::getNames() const {
  std::vector<StringRef> names(tensors.keys().begin(), tensors.keys().end());
  sort(names);
  return names;
}
