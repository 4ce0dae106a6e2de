//===- SafetensorsTest.cpp - Stored tensors, read and written -------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Model/Safetensors.h"
#include "TemporaryFolder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Endian.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace llvm;
using namespace hexad;

namespace {

/// A file of the header's length, the header and `dataBytes` bytes 0, 1, 2, ….
std::string makeFile(StringRef header, size_t dataBytes) {
  std::string file(8, '\0');
  support::endian::write64le(file.data(), header.size());
  file += header;
  for (size_t i = 0; i < dataBytes; ++i)
    file.push_back(static_cast<char>(i));
  return file;
}

Expected<std::unique_ptr<SafetensorsFile>> openText(StringRef text) {
  return SafetensorsFile::create(
      MemoryBuffer::getMemBufferCopy(text, "test.safetensors"));
}

/// The message that reading the file ends with, empty if it succeeds.
std::string getMessage(StringRef text) {
  Expected<std::unique_ptr<SafetensorsFile>> file = openText(text);
  return file ? "" : toString(file.takeError());
}

#define EXPECT_MESSAGE(file, part)                                             \
  do {                                                                         \
    std::string message = getMessage(file);                                    \
    EXPECT_TRUE(StringRef(message).starts_with("test.safetensors: "))          \
        << message;                                                            \
    EXPECT_TRUE(StringRef(message).contains(part)) << message;                 \
  } while (false)

/// One tensor 'a' with these fields and `dataBytes` bytes of data.
std::string makeOne(StringRef fields, size_t dataBytes = 8) {
  return makeFile(("{\"a\":{" + fields + "}}").str(), dataBytes);
}

TEST(Safetensors, ReadsNamesShapesAndBytes) {
  Expected<std::unique_ptr<SafetensorsFile>> file = openText(
      makeFile(R"({"__metadata__":{"format":"pt"},)"
               R"("b":{"dtype":"U8","shape":[],"data_offsets":[8,9]},)"
               R"("empty":{"dtype":"F32","shape":[0,5],"data_offsets":[8,8]},)"
               R"("a":{"dtype":"I32","shape":[2,1],"data_offsets":[0,8]}}   )",
               9));
  ASSERT_TRUE(!!file) << toString(file.takeError());
  ASSERT_EQ((*file)->getTensors().size(), 3u);
  EXPECT_EQ((*file)->getTensors()[0].name, "a");
  const StoredTensor *a = (*file)->find("a");
  ASSERT_TRUE(a);
  EXPECT_EQ(a->type, StoredType::I32);
  EXPECT_EQ(ArrayRef<int64_t>(a->shape), ArrayRef<int64_t>({2, 1}));
  EXPECT_EQ(a->getElementCount(), 2);
  EXPECT_EQ(a->bytes[7], 7);
  EXPECT_EQ((*file)->find("empty")->getElementCount(), 0);
  EXPECT_EQ((*file)->find("b")->getElementCount(), 1);
  EXPECT_EQ((*file)->find("__metadata__"), nullptr);
  EXPECT_EQ((*file)->find("c"), nullptr);
}

TEST(Safetensors, ListsEveryType) {
  for (StringRef name :
       {"BOOL", "U8", "I8", "F8_E5M2", "F8_E4M3", "F8_E8M0", "U16", "I16",
        "F16", "BF16", "U32", "I32", "F32", "C64", "U64", "I64", "F64"}) {
    std::optional<StoredType> type = parseStoredType(name);
    ASSERT_TRUE(type) << name.str();
    EXPECT_EQ(getStoredTypeName(*type), name);
    unsigned bytes = getStoredTypeBytes(*type);
    std::string fields =
        ("\"dtype\":\"" + name + "\",\"shape\":[3],\"data_offsets\":[0," +
         Twine(3 * bytes) + "]")
            .str();
    EXPECT_EQ(getMessage(makeOne(fields, 3 * bytes)), "");
  }
}

TEST(Safetensors, RefusesTruncatedFiles) {
  EXPECT_MESSAGE("", "found 0 bytes");
  EXPECT_MESSAGE("1234567", "found 7 bytes");
  std::string whole =
      makeOne(R"("dtype":"F32","shape":[2],"data_offsets":[0,8])");
  EXPECT_EQ(getMessage(whole), "");
  // Every prefix of a good file is a bad file.
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(getMessage(StringRef(whole).take_front(size)), "") << size;
}

TEST(Safetensors, RefusesHeaderLengths) {
  std::string file(8, '\0');
  support::endian::write64le(file.data(), 3);
  EXPECT_MESSAGE(file + "{}", "longer than the file");
  support::endian::write64le(file.data(), 100'000'001);
  EXPECT_MESSAGE(file + "{}", "at most 100000000 bytes");
  support::endian::write64le(file.data(), ~0ull);
  EXPECT_MESSAGE(file + "{}", "at most 100000000 bytes");
}

TEST(Safetensors, RefusesMalformedHeaders) {
  EXPECT_MESSAGE(makeFile("", 0), "malformed header");
  EXPECT_MESSAGE(makeFile("{", 0), "malformed header");
  EXPECT_MESSAGE(makeFile("[]", 0), "expected an object");
  EXPECT_MESSAGE(makeFile("{}{}", 0), "malformed header");
  EXPECT_MESSAGE(makeFile("{\"\xff\":1}", 0), "malformed header");
  EXPECT_MESSAGE(makeFile(R"({"__metadata__":1})", 0), "__metadata__");
  EXPECT_MESSAGE(makeFile(R"({"a":[]})", 0), "tensor 'a': expected an object");
  std::string deep(100'000, '[');
  EXPECT_MESSAGE(makeFile("{\"a\":" + deep, 0), "nested deeper than 16 levels");
  std::string deepObjects;
  for (int i = 0; i < 100'000; ++i)
    deepObjects += "{\"a\":";
  EXPECT_MESSAGE(makeFile(deepObjects, 0), "nested deeper than 16 levels");
}

TEST(Safetensors, RefusesDuplicateNames) {
  std::string entry = R"({"dtype":"U8","shape":[4],"data_offsets":[0,4]})";
  EXPECT_MESSAGE(makeFile("{\"a\":" + entry + ",\"a\":" + entry + "}", 4),
                 "the name 'a' occurs twice");
  EXPECT_MESSAGE(makeFile("{\"a\":" + entry + ",\"\\u0061\":" + entry + "}", 4),
                 "the name 'a' occurs twice");
  EXPECT_MESSAGE(
      makeOne(R"("dtype":"U8","dtype":"I8","shape":[8],"data_offsets":[0,8])"),
      "the name 'dtype' occurs twice");
}

TEST(Safetensors, RefusesFields) {
  EXPECT_MESSAGE(makeOne(R"("shape":[8],"data_offsets":[0,8])"),
                 "tensor 'a': expected a dtype");
  EXPECT_MESSAGE(makeOne(R"("dtype":1,"shape":[8],"data_offsets":[0,8])"),
                 "tensor 'a': expected a dtype");
  EXPECT_MESSAGE(makeOne(R"("dtype":"F7","shape":[8],"data_offsets":[0,8])"),
                 "tensor 'a': unknown dtype 'F7'");
  EXPECT_MESSAGE(
      makeOne(R"("dtype":"U8","shape":[8],"data_offsets":[0,8],"x":1)"),
      "tensor 'a': unknown field 'x'");
  for (StringRef shape : {"8", "[-8]", "[\"8\"]", "[2.5]", "[1e30]", "null",
                          "[18446744073709551615]"})
    EXPECT_MESSAGE(makeOne(("\"dtype\":\"U8\",\"shape\":" + shape +
                            ",\"data_offsets\":[0,8]")
                               .str()),
                   "tensor 'a': expected a shape");
  for (StringRef offsets :
       {"8", "[8]", "[0,8,8]", "[-1,7]", "[0,1e30]", "[0.5,8]", "null"})
    EXPECT_MESSAGE(
        makeOne(("\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":" + offsets)
                    .str()),
        "tensor 'a': expected data_offsets");
}

TEST(Safetensors, RefusesOffsets) {
  EXPECT_MESSAGE(makeOne(R"("dtype":"U8","shape":[8],"data_offsets":[8,0])"),
                 "are reversed");
  EXPECT_MESSAGE(makeOne(R"("dtype":"U8","shape":[9],"data_offsets":[0,9])"),
                 "lie beyond the 8 bytes");
  EXPECT_MESSAGE(
      makeOne(
          R"("dtype":"U8","shape":[1],"data_offsets":[9223372036854775806,9223372036854775807])"),
      "lie beyond the 8 bytes");
  EXPECT_MESSAGE(makeOne(R"("dtype":"F32","shape":[8],"data_offsets":[0,8])"),
                 "needs 32 bytes");
  EXPECT_MESSAGE(makeOne(R"("dtype":"U8","shape":[4],"data_offsets":[0,8])"),
                 "needs 4 bytes");
  EXPECT_MESSAGE(
      makeOne(
          R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8])"),
      "does not fit 64 bits");
  EXPECT_MESSAGE(
      makeOne(
          R"("dtype":"F64","shape":[1152921504606846976],"data_offsets":[0,0])",
          0),
      "does not fit 64 bits");
}

TEST(Safetensors, RefusesOverlapAndHoles) {
  auto makeTwo = [](StringRef first, StringRef second) {
    return makeFile(
        ("{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":" + first +
         "},\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":" + second +
         "}}")
            .str(),
        8);
  };
  EXPECT_EQ(getMessage(makeTwo("[0,4]", "[4,8]")), "");
  EXPECT_EQ(getMessage(makeTwo("[4,8]", "[0,4]")), "");
  EXPECT_MESSAGE(makeTwo("[0,4]", "[3,7]"), "tensors 'a' and 'b' overlap");
  EXPECT_MESSAGE(makeTwo("[0,4]", "[0,4]"), "tensors 'a' and 'b' overlap");
  EXPECT_MESSAGE(makeOne(R"("dtype":"U8","shape":[7],"data_offsets":[1,8])"),
                 "1 bytes in front of tensor 'a'");
  EXPECT_MESSAGE(makeOne(R"("dtype":"U8","shape":[7],"data_offsets":[0,7])"),
                 "1 bytes at the end of the file");
}

TEST(Safetensors, QuotesStrangeNames) {
  std::string name(1000, 'x');
  std::string message = getMessage(makeFile("{\"" + name + "\\u0007\":1}", 0));
  EXPECT_LT(message.size(), 400u);
  EXPECT_MESSAGE(makeFile("{\"\\u0007\":1}", 0), "'\\07'");
}

TEST(Safetensors, RefusesPathsThatAreNoFiles) {
  for (StringRef path : {"/dev/zero", "/", "no/such/file"}) {
    Expected<std::unique_ptr<SafetensorsFile>> file =
        SafetensorsFile::open(path);
    ASSERT_FALSE(!!file);
    EXPECT_TRUE(StringRef(toString(file.takeError())).starts_with(path));
  }
}

TEST(Safetensors, WidensEveryHalf) {
  // Against arithmetic on the fields, for all 65536 bit patterns.
  std::vector<uint8_t> bytes(2 << 16);
  for (unsigned i = 0; i < 1 << 16; ++i)
    support::endian::write16le(&bytes[2 * i], i);
  std::vector<float> values(1 << 16);

  StoredTensor half{"half", StoredType::F16, {1 << 16}, bytes};
  half.readFloats(0, values);
  for (unsigned i = 0; i < 1 << 16; ++i) {
    unsigned exponent = i >> 10 & 31, fraction = i & 1023;
    float sign = i >> 15 ? -1.0f : 1.0f;
    if (exponent == 31 && fraction != 0) {
      EXPECT_EQ(bit_cast<uint32_t>(values[i]),
                (i >> 15) << 31 | 0x7f800000u | fraction << 13);
      continue;
    }
    double magnitude = exponent == 31 ? std::numeric_limits<double>::infinity()
                       : exponent == 0
                           ? std::ldexp(fraction, -24)
                           : std::ldexp(1024 + fraction, int(exponent) - 25);
    EXPECT_EQ(values[i], float(sign * magnitude)) << i;
    EXPECT_EQ(std::signbit(values[i]), i >> 15 != 0) << i;
  }

  StoredTensor bfloat{"bfloat", StoredType::BF16, {1 << 16}, bytes};
  bfloat.readFloats(0, values);
  for (unsigned i = 0; i < 1 << 16; ++i)
    EXPECT_EQ(bit_cast<uint32_t>(values[i]), i << 16);
}

TEST(Safetensors, WritesWhatItReads) {
  TemporaryFolder folder;
  std::string path = folder.getPath("out.safetensors");
  std::vector<float> floats = {1.5f, -0.0f, bit_cast<float>(0x7fc12345)};
  std::vector<int32_t> ints = {-1, 1 << 30};
  std::vector<int64_t> longs = {-1, int64_t(1) << 40, 7};
  auto bytesOf = [](auto &values) {
    return ArrayRef<uint8_t>(reinterpret_cast<uint8_t *>(values.data()),
                             values.size() * sizeof(values[0]));
  };
  TensorToWrite tensors[] = {
      {"a \"quoted\" name", StoredType::F32, {3, 1}, bytesOf(floats)},
      {"ints", StoredType::I32, {2}, bytesOf(ints)},
      {"longs", StoredType::I64, {3}, bytesOf(longs)},
      {"nothing", StoredType::F32, {0}, {}}};
  Error error = writeSafetensors(path, tensors);
  ASSERT_FALSE(!!error) << toString(std::move(error));
  EXPECT_EQ(folder.list(), std::vector<std::string>{"out.safetensors"});

  Expected<std::unique_ptr<SafetensorsFile>> file = SafetensorsFile::open(path);
  ASSERT_TRUE(!!file) << toString(file.takeError());
  EXPECT_EQ((*file)->getTensors().size(), 4u);
  const StoredTensor *first = (*file)->find("a \"quoted\" name");
  ASSERT_TRUE(first);
  EXPECT_EQ(ArrayRef<int64_t>(first->shape), ArrayRef<int64_t>({3, 1}));
  float readBack[2];
  first->readFloats(1, readBack);
  EXPECT_EQ(bit_cast<uint32_t>(readBack[0]), 0x80000000u);
  EXPECT_EQ(bit_cast<uint32_t>(readBack[1]), 0x7fc12345u);
  int64_t integers[2];
  (*file)->find("ints")->readIntegers(0, integers);
  EXPECT_EQ(integers[0], -1);
  EXPECT_EQ(integers[1], 1 << 30);
  (*file)->find("longs")->readIntegers(1, integers);
  EXPECT_EQ(integers[0], int64_t(1) << 40);
  EXPECT_EQ(integers[1], 7);
}

TEST(Safetensors, WriterLeavesNothingBehind) {
  TemporaryFolder folder;
  Error error = writeSafetensors(folder.getPath("no/folder.safetensors"), {});
  ASSERT_TRUE(!!error);
  EXPECT_TRUE(StringRef(toString(std::move(error))).contains("no/folder"));
  ASSERT_FALSE(sys::fs::create_directory(folder.getPath("taken")));
  folder.write("taken/file", "");
  error = writeSafetensors(folder.getPath("taken"), {});
  ASSERT_TRUE(!!error);
  consumeError(std::move(error));
  EXPECT_EQ(folder.list(), std::vector<std::string>{"taken"});
}

//===----------------------------------------------------------------------===//
// Sharded checkpoints
//===----------------------------------------------------------------------===//

constexpr StringLiteral indexName = "model.safetensors.index.json";

std::string getIndexMessage(StringRef index) {
  TemporaryFolder folder;
  std::string path = folder.write(indexName, index);
  folder.write("one.safetensors",
               makeOne(R"("dtype":"U8","shape":[8],"data_offsets":[0,8])"));
  folder.write("broken.safetensors", "{}");
  Expected<std::unique_ptr<TensorSource>> source = TensorSource::open(path);
  return source ? "" : toString(source.takeError());
}

TEST(TensorSource, ReadsShards) {
  TemporaryFolder folder;
  folder.write("one.safetensors",
               makeOne(R"("dtype":"U8","shape":[8],"data_offsets":[0,8])"));
  folder.write(
      "two.safetensors",
      makeFile(R"({"b":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", 2));
  std::string path = folder.write(
      indexName,
      R"({"metadata":{"total_size":10},)"
      R"("weight_map":{"b":"two.safetensors","a":"one.safetensors"}})");
  Expected<std::unique_ptr<TensorSource>> source = TensorSource::open(path);
  ASSERT_TRUE(!!source) << toString(source.takeError());
  EXPECT_EQ((*source)->getNames(), (std::vector<StringRef>{"a", "b"}));
  EXPECT_EQ((*source)->find("b")->getElementCount(), 2);
  EXPECT_EQ((*source)->find("c"), nullptr);
}

/// Which of the two would be meant?
TEST(TensorSource, RefusesATensorInTwoFiles) {
  TemporaryFolder folder;
  std::string both =
      makeFile(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
               R"("b":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
               2);
  folder.write("one.safetensors", both);
  folder.write("two.safetensors", both);
  std::string path = folder.write(
      indexName,
      R"({"weight_map":{"b":"two.safetensors","a":"one.safetensors"}})");
  Expected<std::unique_ptr<TensorSource>> source = TensorSource::open(path);
  ASSERT_FALSE(!!source);
  std::string message = toString(source.takeError());
  EXPECT_TRUE(StringRef(message).contains("is in another file than"))
      << message;
}

TEST(TensorSource, ReadsOneFile) {
  TemporaryFolder folder;
  std::string path =
      folder.write("one.safetensors",
                   makeOne(R"("dtype":"U8","shape":[8],"data_offsets":[0,8])"));
  Expected<std::unique_ptr<TensorSource>> source = TensorSource::open(path);
  ASSERT_TRUE(!!source) << toString(source.takeError());
  EXPECT_EQ((*source)->find("a")->getElementCount(), 8);
}

TEST(TensorSource, RefusesIndices) {
  auto contains = [](StringRef index, StringRef part) {
    std::string message = getIndexMessage(index);
    EXPECT_TRUE(StringRef(message).contains(part)) << message;
  };
  EXPECT_EQ(getIndexMessage(R"({"weight_map":{"a":"one.safetensors"}})"), "");
  contains("", "malformed index");
  contains("{}", "with a weight_map");
  contains(R"({"weight_map":[]})", "with a weight_map");
  contains(R"({"weight_map":{"a":1}})", "expected the name of a file");
  for (StringRef name : {"../one.safetensors", "/etc/passwd", "", ".", "..",
                         "a\\\\b", "one.safetensors\\u0000"})
    contains(("{\"weight_map\":{\"a\":\"" + name + "\"}}").str(),
             "expected the plain name");
  contains(R"({"weight_map":{"a":"none.safetensors"}})", "none.safetensors: ");
  contains(R"({"weight_map":{"a":"broken.safetensors"}})",
           "broken.safetensors: expected a safetensors file");
  contains(R"({"weight_map":{"x":"one.safetensors"}})",
           "tensor 'x' is not in 'one.safetensors'");
  contains(R"({"weight_map":{"a":"one.safetensors","a":"one.safetensors"}})",
           "the name 'a' occurs twice");
  contains("{\"weight_map\":" + std::string(100'000, '['),
           "nested deeper than 16 levels");
}

TEST(Safetensors, ReadsGoldenModels) {
  for (StringRef model : {"bert", "bert-mlm"}) {
    std::string path =
        (HEXAD_TEST_DIR "/golden/models/" + model + "/model.safetensors").str();
    Expected<std::unique_ptr<SafetensorsFile>> file =
        SafetensorsFile::open(path);
    ASSERT_TRUE(!!file) << toString(file.takeError());
    EXPECT_GT((*file)->getTensors().size(), 50u);
  }
}

} // namespace
