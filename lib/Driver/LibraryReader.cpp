//===- LibraryReader.cpp - Reading a library without loading it -----------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Metadata.h"
#include "hexad/Driver/LibraryInfo.h"
#include "hexad/Model/Files.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;
using namespace llvm::object;
using namespace hexad;

using Section = ELFFile<ELF64LE>::Elf_Shdr;

static Expected<const Section *> findSection(const ELFFile<ELF64LE> &elf,
                                             StringRef name) {
  auto sections = elf.sections();
  if (!sections)
    return sections.takeError();
  for (const Section &section : *sections) {
    Expected<StringRef> found = elf.getSectionName(section);
    if (!found)
      return found.takeError();
    if (*found == name)
      return &section;
  }
  return createStringError("it was not compiled by hexad (no section %s)",
                           name.str().c_str());
}

/// The section's bytes; they lie inside the file.
static Expected<StringRef> findContents(const ELFFile<ELF64LE> &elf,
                                        StringRef name) {
  Expected<const Section *> section = findSection(elf, name);
  if (!section)
    return section.takeError();
  Expected<ArrayRef<uint8_t>> contents = elf.getSectionContents(**section);
  if (!contents)
    return contents.takeError();
  return toStringRef(*contents);
}

/// Makes zeros of what the ELF header says about sections: `strip` changes it,
/// the loader does not look at it.
static void clearSectionFields(std::string &bytes) {
  ELF64LE::Ehdr header;
  if (bytes.size() < sizeof(header))
    return;
  std::memcpy(&header, bytes.data(), sizeof(header));
  header.e_shoff = 0;
  header.e_shnum = 0;
  header.e_shstrndx = 0;
  std::memcpy(bytes.data(), &header, sizeof(header));
}

/// xxh3 of the contents of all loaded segments, without what says where the
/// sections are and with the checksum's own eight bytes as zeros.
static Expected<uint64_t> computeChecksum(const ELFFile<ELF64LE> &elf,
                                          StringRef checksum) {
  auto segments = elf.program_headers();
  if (!segments)
    return segments.takeError();
  StringRef file(reinterpret_cast<const char *>(elf.base()), elf.getBufSize());
  const size_t field = checksum.data() - file.data();
  std::string covered;
  for (const auto &segment : *segments) {
    if (segment.p_type != ELF::PT_LOAD)
      continue;
    uint64_t begin = segment.p_offset, size = segment.p_filesz;
    if (begin > file.size() || size > file.size() - begin)
      return createStringError("a segment lies outside the file");
    std::string bytes = file.substr(begin, size).str();
    if (begin == 0)
      clearSectionFields(bytes);
    for (size_t i = 0; i < checksum.size(); ++i)
      if (field + i >= begin && field + i - begin < size)
        bytes[field + i - begin] = '\0';
    covered += bytes;
  }
  return xxh3_64bits(covered);
}

Error hexad::sealLibrary(StringRef path) {
  auto fail = [&](Error error) {
    return createStringError("cannot seal '%s': %s", path.str().c_str(),
                             toString(std::move(error)).c_str());
  };
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (!buffer)
    return fail(errorCodeToError(buffer.getError()));
  Expected<ELFFile<ELF64LE>> elf =
      ELFFile<ELF64LE>::create((*buffer)->getBuffer());
  if (!elf)
    return fail(elf.takeError());
  Expected<StringRef> field = findContents(*elf, checksumSection);
  if (!field)
    return fail(field.takeError());
  Expected<uint64_t> checksum = computeChecksum(*elf, *field);
  if (!checksum)
    return fail(checksum.takeError());

  int file;
  if (std::error_code error = sys::fs::openFileForReadWrite(
          path, file, sys::fs::CD_OpenExisting, sys::fs::OF_None))
    return fail(errorCodeToError(error));
  raw_fd_ostream os(file, /*shouldClose=*/true);
  os.seek(field->data() - (*buffer)->getBufferStart());
  char bytes[8];
  support::endian::write64le(bytes, *checksum);
  os.write(bytes, sizeof(bytes));
  os.close();
  if (os.has_error()) {
    std::error_code error = os.error();
    os.clear_error();
    return fail(errorCodeToError(error));
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Metadata
//===----------------------------------------------------------------------===//

/// Shape and number of tokens of an input of images.
static bool readImage(const json::Value &value, InputInfo &input,
                      json::Path path) {
  json::ObjectMapper map(value, path);
  const json::Array *shape = value.getAsObject()->getArray("shape");
  if (!map || !map.map("tokens", input.tokens))
    return false;
  if (!shape || shape->size() != 4) {
    path.field("shape").report("expected the shape of images");
    return false;
  }
  int64_t *sizes[] = {&input.channels, &input.height, &input.width};
  for (auto [size, element] :
       zip_equal(sizes, make_range(shape->begin() + 1, shape->end()))) {
    *size = element.getAsInteger().value_or(0);
    if (*size <= 0) {
      path.field("shape").report("expected positive sizes of images");
      return false;
    }
  }
  return input.tokens > 0;
}

/// Looks a word up in its table.
template <typename Table, typename Kind>
static bool readKind(const Table &table, StringRef name, Kind &kind,
                     json::Path path) {
  for (auto &[known, word] : table)
    if (word == name) {
      kind = known;
      return true;
    }
  path.field("kind").report("expected a kind that this hexad knows");
  return false;
}

static bool readInput(const json::Value &value, InputInfo &input,
                      json::Path path) {
  json::ObjectMapper map(value, path);
  std::string kind;
  if (!map || !map.map("name", input.name) || !map.map("kind", kind) ||
      !map.map("optional", input.optional) ||
      !map.mapOptional("limit", input.limit))
    return false;
  return readKind(inputKinds, kind, input.kind, path) &&
         (input.kind != HEXAD_INPUT_IMAGE || readImage(value, input, path));
}

static bool readOutput(const json::Value &value, OutputInfo &output,
                       json::Path path) {
  json::ObjectMapper map(value, path);
  std::string kind;
  if (!map || !map.map("name", output.name) || !map.map("kind", kind) ||
      !map.map("stacked", output.stacked) ||
      !readKind(outputKinds, kind, output.kind, path))
    return false;
  const json::Array *shape = value.getAsObject()->getArray("shape");
  if (output.kind == HEXAD_OUTPUT_SCALAR && shape && shape->empty()) {
    output.columns = 1;
    return true;
  }
  // Columns come last, heads in front of the two sides of a map.
  size_t behind = output.kind == HEXAD_OUTPUT_MAPS ? 2 : 0;
  if (!shape || shape->size() <= behind ||
      !(*shape)[shape->size() - 1 - behind].getAsInteger() ||
      (output.stacked && !shape->front().getAsInteger())) {
    path.field("shape").report("expected a shape");
    return false;
  }
  output.columns = *(*shape)[shape->size() - 1 - behind].getAsInteger();
  if (output.stacked)
    output.count = *shape->front().getAsInteger();
  return output.columns > 0 && output.count > 0;
}

static bool readCache(const json::Value &value, hexad_cache_info &cache,
                      json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("page_bytes", cache.page_bytes) &&
         map.map("layers", cache.layers) && map.map("window", cache.window) &&
         map.map("kept", cache.kept);
}

template <typename T>
static bool readAll(const json::Value &value, StringRef name,
                    std::vector<T> &result, json::Path path,
                    bool (*read)(const json::Value &, T &, json::Path)) {
  const json::Array *array = value.getAsObject()->getArray(name);
  if (!array) {
    path.field(name).report("expected array");
    return false;
  }
  for (auto [index, element] : enumerate(*array)) {
    T item;
    if (!read(element, item, path.field(name).index(index)))
      return false;
    result.push_back(std::move(item));
  }
  return true;
}

static Expected<LibraryInfo> parseMetadata(StringRef text) {
  Expected<json::Value> value = json::parse(text);
  if (!value)
    return value.takeError();
  json::Path::Root root("metadata");
  json::ObjectMapper map(*value, root);
  LibraryInfo info;
  int64_t version = 0;
  if (!map || !map.map("hexad_metadata", version))
    return root.getError();
  if (version != metadataVersion)
    return createStringError(
        "it was compiled by another version of hexad: its metadata have "
        "version %lld, expected is %lld; compile the model again",
        static_cast<long long>(version),
        static_cast<long long>(metadataVersion));
  json::Path path(root);
  if (!map.map("tool", info.toolVersion) || !map.map("name", info.name) ||
      !map.map("prefix", info.prefix) ||
      !map.map("parameters", info.parameterCount) ||
      !map.map("active_parameters", info.activeParameterCount) ||
      !map.map("position_limit", info.positionLimit) ||
      !readAll(*value, "inputs", info.inputs, path, readInput) ||
      !readAll(*value, "outputs", info.outputs, path, readOutput) ||
      !readAll(*value, "caches", info.caches, path, readCache))
    return root.getError();
  const json::Object *weights = value->getAsObject()->getObject("weights");
  const json::Object *target = value->getAsObject()->getObject("target");
  if (!weights || !target)
    return createStringError("its metadata are incomplete");
  info.weightsFile = weights->getString("file").value_or("").str();
  info.weightsBytes = weights->getInteger("bytes").value_or(0);
  info.weightsType = weights->getString("type").value_or("f32").str();
  weights->getString("fingerprint")
      .value_or("")
      .getAsInteger(16, info.fingerprint);
  info.cpu = target->getString("cpu").value_or("").str();
  info.features = target->getString("features").value_or("").str();
  info.vectorBits = target->getInteger("vector_bits").value_or(0);
  info.tileRows = target->getInteger("tile_rows").value_or(0);
  info.queryTile = target->getInteger("query_tile").value_or(0);
  info.page = target->getInteger("page").value_or(0);
  return info;
}

static Expected<LibraryInfo> readElf(StringRef file) {
  if (!file.starts_with(ELF::ElfMagic))
    return createStringError("it is not a shared library");
  Expected<ELFFile<ELF64LE>> elf = ELFFile<ELF64LE>::create(file);
  if (!elf)
    return elf.takeError();
  Expected<StringRef> metadata = findContents(*elf, metadataSection);
  if (!metadata)
    return metadata.takeError();
  Expected<StringRef> field = findContents(*elf, checksumSection);
  if (!field)
    return field.takeError();
  Expected<uint64_t> checksum = computeChecksum(*elf, *field);
  if (!checksum)
    return checksum.takeError();
  if (field->size() != 8 ||
      support::endian::read64le(field->data()) != *checksum)
    return createStringError("it is damaged: its checksum does not fit");
  return parseMetadata(*metadata);
}

Expected<LibraryInfo> hexad::readLibraryInfo(StringRef path) {
  auto fail = [&](const Twine &reason) {
    return createStringError("cannot use the library '" + path +
                             "': " + reason);
  };
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readRegularFile(path);
  if (!buffer)
    return fail(toString(buffer.takeError()));
  Expected<LibraryInfo> info = readElf((*buffer)->getBuffer());
  if (!info)
    return fail(toString(info.takeError()));
  return info;
}
