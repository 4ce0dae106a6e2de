//===- Npy.cpp - Arrays in NumPy's file format ----------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Npy.h"
#include "hexad/Model/Files.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/Endian.h"

using namespace llvm;
using namespace hexad;

/// What follows `'key':` in the header, which is a Python dictionary.
static StringRef findValue(StringRef header, StringRef key) {
  for (char quote : {'\'', '"'}) {
    std::string quoted = (Twine(quote) + key + Twine(quote)).str();
    size_t place = header.find(quoted);
    if (place == StringRef::npos)
      continue;
    StringRef rest = header.substr(place + quoted.size()).ltrim();
    if (rest.consume_front(":"))
      return rest.ltrim();
  }
  return "";
}

/// Fills type and shape of a header such as
/// `{'descr': '<i8', 'fortran_order': False, 'shape': (2, 3), }`.
static Error readHeader(StringRef header, StoredTensor &tensor) {
  StringRef type = findValue(header, "descr").substr(1, 3);
  if (type == "<i8")
    tensor.type = StoredType::I64;
  else if (type == "<i4")
    tensor.type = StoredType::I32;
  else if (type == "<f4")
    tensor.type = StoredType::F32;
  else
    return createStringError("expected elements of type '<i8', '<i4' or '<f4', "
                             "found '%s'",
                             type.str().c_str());
  if (!findValue(header, "fortran_order").starts_with("False"))
    return createStringError("expected C order");
  StringRef shape = findValue(header, "shape");
  size_t end = shape.find(')');
  if (!shape.consume_front("(") || end == StringRef::npos)
    return createStringError("the header has no shape");
  SmallVector<StringRef> dims;
  shape.substr(0, end - 1).split(dims, ',');
  for (StringRef dim : dims) {
    int64_t size;
    dim = dim.trim();
    // (3,) is a shape with one dimension.
    if (dim.empty() && &dim != dims.begin())
      continue;
    if (dim.getAsInteger(10, size) || size < 0)
      return createStringError("the header has no valid shape");
    tensor.shape.push_back(size);
  }
  return Error::success();
}

static Error read(StringRef file, StoredTensor &tensor) {
  StringRef rest = file;
  if (!rest.consume_front("\x93NUMPY") || rest.size() < 4)
    return createStringError("it is not an .npy file");
  const uint8_t major = rest[0];
  rest = rest.drop_front(2);
  size_t headerSize;
  if (major == 1) {
    headerSize = support::endian::read16le(rest.data());
    rest = rest.drop_front(2);
  } else if ((major == 2 || major == 3) && rest.size() >= 4) {
    headerSize = support::endian::read32le(rest.data());
    rest = rest.drop_front(4);
  } else {
    return createStringError("it is of an unknown version");
  }
  if (headerSize > rest.size())
    return createStringError("it is truncated");
  if (Error error = readHeader(rest.substr(0, headerSize), tensor))
    return error;
  rest = rest.drop_front(headerSize);

  std::optional<int64_t> bytes = getStoredTypeBytes(tensor.type);
  for (int64_t dim : tensor.shape)
    if (bytes)
      bytes = checkedMul(*bytes, dim);
  if (!bytes || uint64_t(*bytes) != rest.size())
    return createStringError("its data do not have the size of its shape %s",
                             formatShape(tensor.shape).c_str());
  tensor.bytes = arrayRefFromStringRef(rest);
  return Error::success();
}

Expected<NpyArray> hexad::readNpy(StringRef path) {
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readRegularFile(path);
  if (!buffer)
    return createStringError(path + ": " + toString(buffer.takeError()));
  NpyArray array;
  array.buffer = std::move(*buffer);
  if (Error error = read(array.buffer->getBuffer(), array.tensor))
    return createStringError(path + ": " + toString(std::move(error)));
  return array;
}
