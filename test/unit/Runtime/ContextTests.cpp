//===- ContextTests.cpp - Contexts and calls ------------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <atomic>
#include <random>
#include <thread>
#include <xmmintrin.h>

using namespace hexad::test;
using testing::HasSubstr;

namespace {

class ContextTest : public testing::Test {
protected:
  void SetUp() override {
    hexad_model_options options = model.getOptions();
    ASSERT_EQ(HEXAD_OK,
              hexad_runtime_model_create(&model.info, &options, &loaded))
        << model.message;
  }
  void TearDown() override { hexad_runtime_model_destroy(loaded); }

  hexad_context_options getOptions(size_t threads) {
    hexad_context_options options = {};
    options.max_tokens = 200;
    options.max_segments = 5;
    options.max_elements = 300;
    options.threads = threads;
    options.message = message;
    options.message_size = sizeof(message);
    return options;
  }
  hexad_context *create(const hexad_context_options &options) {
    hexad_context *context = nullptr;
    EXPECT_EQ(HEXAD_OK,
              hexad_runtime_context_create(loaded, &options, &context))
        << message;
    return context;
  }

  TestModel model;
  hexad_model *loaded = nullptr;
  char message[256] = "";
};

/// Random calls whose outputs are known.
struct Call {
  Call(unsigned seed) {
    std::mt19937 random(seed);
    batch = 1 + random() % 5;
    seq = 1 + random() % 40;
    ids.resize(batch * seq);
    mask.resize(batch * seq);
    for (size_t i = 0; i < batch; ++i) {
      size_t length = random() % (seq + 1);
      for (size_t s = 0; s < seq; ++s) {
        mask[i * seq + s] = s < length;
        ids[i * seq + s] = s < length ? int32_t(random() % 100) : -1;
      }
    }
    neighbours.assign(batch * seq, -1);
    sums.assign(batch, -1);
    TestModel::compute(batch, seq, ids, mask, wantNeighbours, wantSums);
  }
  TestArguments getArguments() {
    return {batch,      seq, ids.data(), mask.data(), neighbours.data(),
            sums.data()};
  }
  void check() const {
    EXPECT_EQ(wantNeighbours, neighbours);
    EXPECT_EQ(wantSums, sums);
  }
  size_t batch, seq;
  std::vector<int32_t> ids, mask;
  std::vector<float> neighbours, sums, wantNeighbours, wantSums;
};

TEST_F(ContextTest, AnyNumberOfThreads) {
  for (size_t threads = 0; threads <= 8; ++threads) {
    hexad_context *context = create(getOptions(threads));
    for (unsigned seed = 0; seed < 50; ++seed) {
      Call call(seed);
      TestArguments arguments = call.getArguments();
      ASSERT_EQ(HEXAD_OK, hexad_runtime_forward(context, arguments.get()))
          << hexad_runtime_context_message(context);
      call.check();
    }
    hexad_runtime_context_destroy(context);
  }
}

TEST_F(ContextTest, CallersThreads) {
  const unsigned threads = 3;
  hexad_context_options options = getOptions(threads);
  options.caller_threads = 1;
  hexad_context *context = create(options);
  std::vector<Call> calls;
  for (unsigned seed = 0; seed < 50; ++seed)
    calls.emplace_back(seed);
  calls[20].ids[0] = 100;
  calls[20].mask[0] = 1;
  auto run = [&](size_t thread) {
    for (size_t i = 0; i < calls.size(); ++i) {
      TestArguments arguments = calls[i].getArguments();
      EXPECT_EQ(i == 20 ? HEXAD_INPUT_OUT_OF_RANGE : HEXAD_OK,
                hexad_runtime_forward_on(context, thread, arguments.get()));
    }
  };
  std::thread second(run, 1), third(run, 2);
  run(0);
  second.join();
  third.join();
  for (size_t i = 0; i < calls.size(); ++i)
    if (i != 20)
      calls[i].check();

  TestArguments arguments = calls[0].getArguments();
  EXPECT_EQ(HEXAD_INVALID_ARGUMENT,
            hexad_runtime_forward(context, arguments.get()));
  EXPECT_THAT(hexad_runtime_context_message(context), HasSubstr("forward_on"));
  EXPECT_EQ(HEXAD_INVALID_ARGUMENT,
            hexad_runtime_forward_on(context, threads, arguments.get()));
  hexad_runtime_context_destroy(context);

  context = create(getOptions(2));
  EXPECT_EQ(HEXAD_INVALID_ARGUMENT,
            hexad_runtime_forward_on(context, 0, arguments.get()));
  hexad_runtime_context_destroy(context);
}

TEST_F(ContextTest, OneModelFromManyThreads) {
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < 4; ++number)
    threads.emplace_back([&, number] {
      hexad_context_options options = getOptions(1 + number % 3);
      // The fixture's buffer is shared.
      options.message = nullptr;
      for (unsigned seed = 0; seed < 10; ++seed) {
        hexad_context *context = create(options);
        Call call(seed + 10 * number);
        TestArguments arguments = call.getArguments();
        for (int repeat = 0; repeat < 5; ++repeat)
          EXPECT_EQ(HEXAD_OK, hexad_runtime_forward(context, arguments.get()));
        call.check();
        hexad_runtime_context_destroy(context);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST_F(ContextTest, InTheCallersMemory) {
  hexad_context_options options = getOptions(2);
  size_t bytes = 0;
  ASSERT_EQ(HEXAD_OK, hexad_runtime_context_size(loaded, &options, &bytes));
  for (size_t offset : {0, 1, 63}) {
    // Guards on both sides; contents as malloc leaves them.
    std::vector<unsigned char> memory(offset + bytes + 64, 0xa5);
    options.memory = memory.data() + offset;
    options.memory_size = bytes;
    hexad_context *context = create(options);
    Call call(3);
    TestArguments arguments = call.getArguments();
    EXPECT_EQ(HEXAD_OK, hexad_runtime_forward(context, arguments.get()));
    call.check();
    hexad_runtime_context_destroy(context);
    for (size_t i = 0; i < offset; ++i)
      EXPECT_EQ(0xa5, memory[i]);
    for (size_t i = offset + bytes; i < memory.size(); ++i)
      EXPECT_EQ(0xa5, memory[i]);
  }
  options.memory_size = bytes - 1;
  hexad_context *context = nullptr;
  EXPECT_EQ(HEXAD_INVALID_ARGUMENT,
            hexad_runtime_context_create(loaded, &options, &context));
  EXPECT_EQ(nullptr, context);
  EXPECT_THAT(message, HasSubstr("memory_size"));
}

TEST_F(ContextTest, UsableAfterErrors) {
  hexad_context *context = create(getOptions(2));
  auto expectWorks = [&] {
    Call call(4);
    TestArguments arguments = call.getArguments();
    EXPECT_EQ(HEXAD_OK, hexad_runtime_forward(context, arguments.get()));
    EXPECT_STREQ("", hexad_runtime_context_message(context));
    call.check();
  };
  std::vector<int32_t> ids(400, 1), mask(400, 1);
  std::vector<float> outputs(400, 7);
  TestArguments arguments = {5,      60, ids.data(), nullptr, outputs.data(),
                             nullptr};
  EXPECT_EQ(HEXAD_CAPACITY_EXCEEDED,
            hexad_runtime_forward(context, arguments.get()));
  expectWorks();
  arguments.batch = 6;
  arguments.seq = 1;
  EXPECT_EQ(HEXAD_CAPACITY_EXCEEDED,
            hexad_runtime_forward(context, arguments.get()));
  expectWorks();
  arguments.batch = 1;
  arguments.seq = 3;
  mask[1] = 0;
  arguments.mask = mask.data();
  EXPECT_EQ(HEXAD_MASK_WITH_HOLE,
            hexad_runtime_forward(context, arguments.get()));
  expectWorks();
  arguments.mask = nullptr;
  ids[2] = 100;
  EXPECT_EQ(HEXAD_INPUT_OUT_OF_RANGE,
            hexad_runtime_forward(context, arguments.get()));
  EXPECT_THAT(hexad_runtime_context_message(context),
              HasSubstr("input_ids[0, 2] is 100"));
  expectWorks();
  arguments.ids = nullptr;
  EXPECT_EQ(HEXAD_INVALID_ARGUMENT,
            hexad_runtime_forward(context, arguments.get()));
  EXPECT_STREQ("input_ids is null but not optional",
               hexad_runtime_context_message(context));
  expectWorks();
  EXPECT_EQ(HEXAD_INVALID_ARGUMENT, hexad_runtime_forward(context, nullptr));
  EXPECT_EQ(HEXAD_INVALID_ARGUMENT,
            hexad_runtime_forward(nullptr, arguments.get()));
  EXPECT_EQ(std::vector<float>(400, 7), outputs);
  hexad_runtime_context_destroy(context);
}

TEST_F(ContextTest, NothingAtAll) {
  hexad_context *context = create(getOptions(2));
  std::vector<int32_t> zeros(6, 0);
  std::vector<float> neighbours(6, 7), sums(3, 7);
  TestArguments arguments = {0, 5, nullptr, nullptr, nullptr, nullptr};
  EXPECT_EQ(HEXAD_OK, hexad_runtime_forward(context, arguments.get()));
  arguments = {3, 0, nullptr, nullptr, nullptr, sums.data()};
  EXPECT_EQ(HEXAD_OK, hexad_runtime_forward(context, arguments.get()));
  EXPECT_EQ(std::vector<float>(3, 0), sums);
  sums.assign(3, 7);
  arguments = {3,          2, zeros.data(), zeros.data(), neighbours.data(),
               sums.data()};
  EXPECT_EQ(HEXAD_OK, hexad_runtime_forward(context, arguments.get()));
  EXPECT_EQ(std::vector<float>(3, 0), sums);
  EXPECT_EQ(std::vector<float>(6, 0), neighbours);
  hexad_runtime_context_destroy(context);
}

TEST_F(ContextTest, Options) {
  hexad_context *context = nullptr;
  size_t bytes = 1;
  auto refuse = [&](const hexad_context_options &options, hexad_status status) {
    EXPECT_EQ(status, hexad_runtime_context_size(loaded, &options, &bytes));
    EXPECT_EQ(0u, bytes);
    EXPECT_EQ(status, hexad_runtime_context_create(loaded, &options, &context));
    EXPECT_EQ(nullptr, context);
    EXPECT_STRNE("", message);
  };
  hexad_context_options options = getOptions(1);
  options.max_tokens = 0;
  refuse(options, HEXAD_INVALID_ARGUMENT);
  options = getOptions(1);
  options.max_segments = 0;
  refuse(options, HEXAD_INVALID_ARGUMENT);
  options = getOptions(1);
  options.max_tokens = SIZE_MAX;
  refuse(options, HEXAD_INVALID_ARGUMENT);
  options = getOptions(100000);
  refuse(options, HEXAD_INVALID_ARGUMENT);
  model.info.arena.per_extent[HEXAD_EXTENT_ROWS] = INT64_MAX / 2;
  refuse(getOptions(1), HEXAD_OUT_OF_MEMORY);
  model.info.arena.per_extent[HEXAD_EXTENT_ROWS] = INT64_C(1) << 50;
  options = getOptions(1);
  EXPECT_EQ(HEXAD_OUT_OF_MEMORY,
            hexad_runtime_context_create(loaded, &options, &context));
  EXPECT_THAT(message, HasSubstr("not enough memory"));
}

//===----------------------------------------------------------------------===//
// What compiled code sees
//===----------------------------------------------------------------------===//

std::atomic<int> wrongControl;

void checkFloatingPointControl(int64_t, const int64_t *, void *const *) {
  if (_mm_getcsr() != 0x9fc0)
    ++wrongControl;
}

TEST_F(ContextTest, FloatingPointControl) {
  model.info.entry = checkFloatingPointControl;
  hexad_context *context = create(getOptions(3));
  wrongControl = 0;
  int32_t id = 1;
  TestArguments arguments = {1, 1, &id, nullptr, nullptr, nullptr};
  unsigned before = _mm_getcsr();
  // Rounding up and a sticky flag: the caller's business.
  _mm_setcsr(0x1f80 | 0x4000 | 0x20);
  EXPECT_EQ(HEXAD_OK, hexad_runtime_forward(context, arguments.get()));
  unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_EQ(0x1f80u | 0x4000u | 0x20u, after);
  EXPECT_EQ(0, wrongControl);
  hexad_runtime_context_destroy(context);
}

std::atomic<bool> entered, mayLeave;

void waitForTest(int64_t thread, const int64_t *, void *const *) {
  entered = true;
  while (thread == 0 && !mayLeave)
    std::this_thread::yield();
}

TEST_F(ContextTest, Busy) {
  model.info.entry = waitForTest;
  hexad_context *context = create(getOptions(1));
  entered = mayLeave = false;
  int32_t id = 1;
  TestArguments arguments = {1, 1, &id, nullptr, nullptr, nullptr};
  std::thread other([&] {
    EXPECT_EQ(HEXAD_OK, hexad_runtime_forward(context, arguments.get()));
  });
  while (!entered)
    std::this_thread::yield();
  EXPECT_EQ(HEXAD_CONTEXT_BUSY,
            hexad_runtime_forward(context, arguments.get()));
  mayLeave = true;
  other.join();
  EXPECT_EQ(HEXAD_OK, hexad_runtime_forward(context, arguments.get()));
  hexad_runtime_context_destroy(context);
}

TEST(StatusText, OfEachStatus) {
  for (int status = HEXAD_OK; status <= HEXAD_SYSTEM_ERROR; ++status)
    EXPECT_STRNE("unknown status",
                 hexad_runtime_status_text(hexad_status(status)));
  EXPECT_STREQ("unknown status", hexad_runtime_status_text(hexad_status(99)));
}

} // namespace
