//===- AllocationTests.cpp - No call allocates ----------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"
#include "gtest/gtest.h"
#include <atomic>
#include <cstdlib>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HEXAD_SANITIZER_OWNS_MALLOC
#endif
#endif

static std::atomic<int64_t> allocations;

#ifndef HEXAD_SANITIZER_OWNS_MALLOC
// Replaces libc's, also for libc's own calls.
extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

void *malloc(size_t size) noexcept {
  ++allocations;
  return __libc_malloc(size);
}
void *calloc(size_t count, size_t size) noexcept {
  ++allocations;
  return __libc_calloc(count, size);
}
void *realloc(void *memory, size_t size) noexcept {
  ++allocations;
  return __libc_realloc(memory, size);
}
void *aligned_alloc(size_t alignment, size_t size) noexcept {
  ++allocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void **memory, size_t alignment, size_t size) noexcept {
  ++allocations;
  *memory = __libc_memalign(alignment, size);
  return *memory ? 0 : 12;
}
void *mmap(void *address, size_t size, int protection, int flags, int file,
           off_t offset) noexcept {
  ++allocations;
  return reinterpret_cast<void *>(
      syscall(SYS_mmap, address, size, protection, flags, file, offset));
}
}
#endif

using namespace hexad::test;

namespace {

TEST(Allocation, NoneAfterContextCreate) {
#ifdef HEXAD_SANITIZER_OWNS_MALLOC
  GTEST_SKIP() << "the sanitizer has its own malloc";
#endif
  TestModel model;
  hexad_model_options modelOptions = model.getOptions();
  hexad_model *loaded = nullptr;
  int64_t before = allocations;
  ASSERT_EQ(HEXAD_OK,
            hexad_runtime_model_create(&model.info, &modelOptions, &loaded));
  EXPECT_LT(before, allocations) << "the count does not work";

  std::vector<int32_t> ids(100, 1), bad(100, 1);
  bad[7] = 100;
  std::vector<float> neighbours(100), sums(4);
  TestArguments good = {4,          25, ids.data(), nullptr, neighbours.data(),
                        sums.data()};
  TestArguments wrong = good, large = good;
  wrong.ids = bad.data();
  large.seq = 26;
  for (size_t threads : {1, 4}) {
    hexad_context_options options = {};
    options.max_tokens = 100;
    options.max_segments = 4;
    options.threads = threads;
    hexad_context *context = nullptr;
    ASSERT_EQ(HEXAD_OK,
              hexad_runtime_context_create(loaded, &options, &context));
    before = allocations;
    for (int repeat = 0; repeat < 100; ++repeat) {
      hexad_status ran = hexad_runtime_forward(context, good.get());
      hexad_status refused = hexad_runtime_forward(context, wrong.get());
      hexad_status exceeded = hexad_runtime_forward(context, large.get());
      ASSERT_EQ(HEXAD_OK, ran);
      ASSERT_EQ(HEXAD_INPUT_OUT_OF_RANGE, refused);
      ASSERT_EQ(HEXAD_CAPACITY_EXCEEDED, exceeded);
    }
    EXPECT_EQ(before, allocations) << threads << " threads";
    hexad_runtime_context_destroy(context);
  }
  hexad_runtime_model_destroy(loaded);
}

TEST(Allocation, CallersMemoryIsEnough) {
#ifdef HEXAD_SANITIZER_OWNS_MALLOC
  GTEST_SKIP() << "the sanitizer has its own malloc";
#endif
  TestModel model;
  hexad_model_options modelOptions = model.getOptions();
  hexad_model *loaded = nullptr;
  ASSERT_EQ(HEXAD_OK,
            hexad_runtime_model_create(&model.info, &modelOptions, &loaded));
  hexad_context_options options = {};
  options.max_tokens = 100;
  options.max_segments = 4;
  options.threads = 1;
  size_t bytes = 0;
  ASSERT_EQ(HEXAD_OK, hexad_runtime_context_size(loaded, &options, &bytes));
  std::vector<char> memory(bytes);
  options.memory = memory.data();
  options.memory_size = bytes;
  hexad_context *context = nullptr;
  int64_t before = allocations;
  ASSERT_EQ(HEXAD_OK, hexad_runtime_context_create(loaded, &options, &context));
  hexad_runtime_context_destroy(context);
  EXPECT_EQ(before, allocations);
  hexad_runtime_model_destroy(loaded);
}

} // namespace
