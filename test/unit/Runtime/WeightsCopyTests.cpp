//===- WeightsCopyTests.cpp - Weights in memory of the model's own --------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stands between the runtime and the system calls that load weights, so that
// they can fail, and counts what stays mapped.
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

/// What the next calls do. Only those of a test that loads weights are
/// counted.
struct {
  bool counts = false;
  bool noMemory = false;        ///< mmap of no file fails
  bool noProtection = false;    ///< mprotect fails
  size_t mostAtOnce = SIZE_MAX; ///< bytes that one pread gives
  off_t end = INT64_MAX;        ///< the file has been cut here meanwhile
  std::vector<int> errors;      ///< of the next calls of pread that have data
  int64_t mapped = 0;           ///< bytes
  const void *advised = nullptr;
  size_t advisedBytes = 0;
} calls;

} // namespace

extern "C" {
void *mmap(void *address, size_t size, int protection, int flags, int file,
           off_t offset) noexcept {
  if (calls.counts && calls.noMemory && file < 0) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  if (calls.counts)
    calls.mapped += size;
  return reinterpret_cast<void *>(
      syscall(SYS_mmap, address, size, protection, flags, file, offset));
}
int munmap(void *address, size_t size) noexcept {
  if (calls.counts)
    calls.mapped -= size;
  return syscall(SYS_munmap, address, size);
}
int mprotect(void *address, size_t size, int protection) noexcept {
  if (calls.counts && calls.noProtection) {
    errno = ENOMEM;
    return -1;
  }
  return syscall(SYS_mprotect, address, size, protection);
}
int madvise(void *address, size_t size, int advice) noexcept {
  if (calls.counts && advice == MADV_HUGEPAGE) {
    calls.advised = address;
    calls.advisedBytes = size;
  }
  return syscall(SYS_madvise, address, size, advice);
}
ssize_t pread(int file, void *buffer, size_t size, off_t offset) {
  // The header is checked first; what is copied comes later.
  if (calls.counts && size > sizeof(hexad_weights_header)) {
    if (!calls.errors.empty()) {
      errno = calls.errors.front();
      calls.errors.erase(calls.errors.begin());
      return -1;
    }
    size = std::min(size, calls.mostAtOnce);
    if (offset >= calls.end)
      return 0;
    size = std::min<size_t>(size, calls.end - offset);
  }
  return syscall(SYS_pread64, file, buffer, size, offset);
}
}

using namespace hexad::test;
using testing::HasSubstr;

namespace {

/// More than one huge page, no multiple of one.
constexpr size_t dataBytes = (5u << 20) + 192;

class WeightsCopyTest : public testing::Test {
protected:
  void SetUp() override {
    model.info.weights_bytes = HEXAD_WEIGHTS_ALIGNMENT + dataBytes;
    hexad_weights_header header = {};
    std::memcpy(header.magic, HEXAD_WEIGHTS_MAGIC, sizeof(header.magic));
    header.version = HEXAD_WEIGHTS_VERSION;
    header.data_offset = HEXAD_WEIGHTS_ALIGNMENT;
    header.file_bytes = model.info.weights_bytes;
    header.fingerprint = model.info.fingerprint;
    writeWeights(model.weights, header, 0);
    std::ofstream os(model.weights, std::ios::binary | std::ios::app);
    uint32_t state = 1;
    for (size_t i = 0; i < dataBytes; ++i)
      os.put(char((state = state * 1664525 + 1013904223) >> 24));
    calls = {};
  }
  void TearDown() override { calls = {}; }

  hexad_status create() {
    hexad_model_options options = model.getOptions();
    // As C would: C++ has no enumeration of a value that is not one of its own.
    static_assert(sizeof(options.weights_memory) == sizeof(memory));
    std::memcpy(&options.weights_memory, &memory, sizeof(memory));
    calls.counts = true;
    hexad_status status =
        hexad_runtime_model_create(&model.info, &options, &made);
    calls.counts = false;
    return status;
  }
  void destroy() {
    calls.counts = true;
    hexad_runtime_model_destroy(made);
    calls.counts = false;
    EXPECT_EQ(0, calls.mapped) << "bytes stay mapped";
  }
  /// Nothing is left of a model that cannot be made.
  void expectFailure(hexad_status status, const char *text) {
    EXPECT_EQ(status, create());
    EXPECT_EQ(nullptr, made);
    EXPECT_THAT(model.message, HasSubstr(text));
    EXPECT_EQ(0, calls.mapped) << "bytes stay mapped";
  }
  const char *getData() {
    return static_cast<const char *>(made->weights.data);
  }

  TestModel model;
  int32_t memory = HEXAD_COPY_WEIGHTS;
  hexad_model *made = nullptr;
};

TEST_F(WeightsCopyTest, HasTheSameBytes) {
  ASSERT_EQ(HEXAD_OK, create()) << model.message;
  std::vector<char> copied(getData(), getData() + dataBytes);
  destroy();
  memory = HEXAD_MAP_WEIGHTS;
  ASSERT_EQ(HEXAD_OK, create()) << model.message;
  EXPECT_TRUE(!std::memcmp(copied.data(), getData(), dataBytes));
  destroy();
}

TEST_F(WeightsCopyTest, LiesInHugePages) {
  ASSERT_EQ(HEXAD_OK, create()) << model.message;
  auto begin = reinterpret_cast<uintptr_t>(made->weights.mapping);
  EXPECT_EQ(0u, begin % (2u << 20));
  EXPECT_EQ(6u << 20, made->weights.bytes);
  EXPECT_EQ(int64_t(6) << 20, calls.mapped) << "no more than is needed";
  EXPECT_EQ(made->weights.mapping, calls.advised);
  EXPECT_EQ(made->weights.bytes, calls.advisedBytes);
  destroy();
}

TEST_F(WeightsCopyTest, CannotBeWritten) {
  ASSERT_EQ(HEXAD_OK, create()) << model.message;
  auto first = reinterpret_cast<uintptr_t>(made->weights.mapping);
  std::ifstream maps("/proc/self/maps");
  std::optional<std::string> found;
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin, end;
    char rights[5] = "";
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, rights) == 3 &&
        begin <= first && first < end)
      found = rights;
  }
  EXPECT_EQ("r--p", found);
  destroy();
}

/// The file is of no importance afterwards.
TEST_F(WeightsCopyTest, OutlivesTheFile) {
  ASSERT_EQ(HEXAD_OK, create()) << model.message;
  std::vector<char> before(getData(), getData() + dataBytes);
  ASSERT_EQ(0, truncate(model.weights.c_str(), 0));
  EXPECT_TRUE(!std::memcmp(before.data(), getData(), dataBytes));
  destroy();
}

TEST_F(WeightsCopyTest, ShortAndInterruptedReadsGoOn) {
  memory = HEXAD_MAP_WEIGHTS;
  ASSERT_EQ(HEXAD_OK, create()) << model.message;
  std::vector<char> mapped(getData(), getData() + dataBytes);
  destroy();
  memory = HEXAD_COPY_WEIGHTS;
  calls.mostAtOnce = 1000003;
  calls.errors = {EINTR, EINTR};
  ASSERT_EQ(HEXAD_OK, create()) << model.message;
  EXPECT_TRUE(calls.errors.empty());
  EXPECT_TRUE(!std::memcmp(mapped.data(), getData(), dataBytes));
  destroy();
}

TEST_F(WeightsCopyTest, NoMemory) {
  calls.noMemory = true;
  expectFailure(HEXAD_OUT_OF_MEMORY,
                "not enough memory for a copy of the 5247168 bytes of the "
                "weights file '");
}

/// Promised by mmap, missed by the first access.
TEST_F(WeightsCopyTest, NoPages) {
  for (int error : {ENOMEM, EFAULT}) {
    calls.errors = {error};
    expectFailure(HEXAD_OUT_OF_MEMORY, "not enough memory for a copy");
  }
}

TEST_F(WeightsCopyTest, NoProtection) {
  calls.noProtection = true;
  expectFailure(HEXAD_OUT_OF_MEMORY, "not enough memory for a copy");
}

TEST_F(WeightsCopyTest, FileShrinksMeanwhile) {
  calls.end = 3000000;
  calls.mostAtOnce = 1 << 20;
  expectFailure(HEXAD_WEIGHTS_MISMATCH,
                "was truncated while it was read: 3000000 of its 5247168 bytes "
                "are there");
}

TEST_F(WeightsCopyTest, CannotBeRead) {
  calls.errors = {EIO};
  expectFailure(HEXAD_WEIGHTS_NOT_FOUND, "Input/output error");
}

TEST_F(WeightsCopyTest, RefusesWhatMappingRefuses) {
  ASSERT_EQ(0, truncate(model.weights.c_str(), 1 << 20));
  expectFailure(HEXAD_WEIGHTS_MISMATCH, "is truncated: it has 1048576 bytes");
  model.weights = model.folder.file(".");
  expectFailure(HEXAD_WEIGHTS_MISMATCH, "not a regular file");
}

TEST_F(WeightsCopyTest, UnknownChoice) {
  memory = 2;
  expectFailure(HEXAD_INVALID_ARGUMENT,
                "weights_memory is 2; expected are 0 (map the file) and 1 "
                "(copy it)");
}

} // namespace
