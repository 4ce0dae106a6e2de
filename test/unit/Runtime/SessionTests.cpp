//===- SessionTests.cpp - Pages, rounds and states of sessions ------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <thread>

using namespace hexad::test;
using testing::HasSubstr;

namespace {

constexpr int32_t page = 8, window = 10;

/// Keeps tokens in a cache without and one with a window; the logit of a row is
/// made of all tokens that it sees, each weighed by its position.
void runDecoder(int64_t thread, const int64_t *extents, void *const *pointers) {
  if (thread != 0)
    return;
  auto table = [&](int pointer) {
    return static_cast<const int32_t *>(pointers[pointer]);
  };
  auto *places =
      static_cast<const hexad_cache_place *>(pointers[HEXAD_POINTER_CACHES]);
  auto at = [&](int64_t segment, int cache, int64_t position) -> int32_t & {
    const hexad_cache_place &place = places[2 * segment + cache];
    return reinterpret_cast<int32_t *>(place.base +
                                       position / page % place.slots *
                                           place.slot_stride)[position % page];
  };
  const int32_t *positions = table(HEXAD_POINTER_POSITIONS);
  const int32_t *ids = table(HEXAD_POINTER_COUNT);
  auto *logits = static_cast<float *>(pointers[HEXAD_POINTER_COUNT + 2]);
  std::vector<float> results(extents[HEXAD_EXTENT_TOKENS], 0);
  // One layer after the other: without a session they share their pages.
  for (int cache : {0, 1}) {
    for (int64_t piece = 0; piece < extents[HEXAD_EXTENT_PAGES]; ++piece)
      for (int32_t row = table(HEXAD_POINTER_PAGE_BOUNDS)[2 * piece];
           row < table(HEXAD_POINTER_PAGE_BOUNDS)[2 * piece + 1]; ++row) {
        int64_t segment = table(HEXAD_POINTER_PAGE_SEGMENT)[piece];
        // Whoever begins a page may write all of it.
        if (positions[row] % page == 0)
          std::fill_n(&at(segment, cache, positions[row]), page, -1);
        at(segment, cache, positions[row]) =
            ids[table(HEXAD_POINTER_ROW_ELEMENT)[row]];
      }
    for (int64_t tile = 0; tile < extents[HEXAD_EXTENT_QUERY_TILES]; ++tile)
      for (int32_t row = table(HEXAD_POINTER_TILE_BOUNDS)[2 * tile];
           row < table(HEXAD_POINTER_TILE_BOUNDS)[2 * tile + 1]; ++row)
        for (int32_t p = cache ? std::max(0, positions[row] - window + 1) : 0;
             p <= positions[row]; ++p)
          results[row] += float((p % 13 + 1) * (cache + 1)) *
                          at(table(HEXAD_POINTER_TILE_SEGMENT)[tile], cache, p);
  }
  for (int64_t i = 0; i < extents[HEXAD_EXTENT_SELECTED]; ++i)
    logits[table(HEXAD_POINTER_SELECTED_ELEMENT)[i]] =
        results[table(HEXAD_POINTER_SELECTED_ROW)[i]];
}

class SessionTest : public testing::Test {
protected:
  void SetUp() override {
    test.outputs[0] = {"logits", HEXAD_OUTPUT_SELECTED, 0, 1, 1};
    test.info.output_count = 1;
    test.info.cache_count = 2;
    test.info.caches = caches;
    test.info.page = page;
    test.info.entry = runDecoder;
    hexad_model_options options = test.getOptions();
    ASSERT_EQ(HEXAD_OK,
              hexad_runtime_model_create(&test.info, &options, &model));
    context = makeContext(16);
    for (int32_t i = 0; i < 200; ++i)
      tokens.push_back((i * 37 + 11) % 100);
    hexad_context *large = makeContext(200);
    want.assign(200, -1);
    TestArguments call = {1, 200, tokens.data(), nullptr, want.data(), nullptr};
    ASSERT_EQ(HEXAD_OK, hexad_runtime_forward(large, call.get()));
    hexad_runtime_context_destroy(large);
  }
  void TearDown() override {
    for (hexad_session *session : sessions)
      hexad_runtime_session_destroy(session);
    hexad_runtime_context_destroy(context);
    hexad_runtime_model_destroy(model);
  }
  hexad_context *makeContext(size_t rows) {
    hexad_context_options options = {};
    options.max_tokens = rows;
    options.max_segments = 3;
    options.threads = 2;
    hexad_context *made = nullptr;
    EXPECT_EQ(HEXAD_OK, hexad_runtime_context_create(model, &options, &made));
    return made;
  }
  hexad_session *make(size_t capacity = 200, size_t slack = 7) {
    hexad_session_options options = {};
    options.capacity = capacity;
    options.slack = slack;
    hexad_session *session = nullptr;
    EXPECT_EQ(HEXAD_OK,
              hexad_runtime_session_create(model, &options, &session));
    sessions.push_back(session);
    return session;
  }
  /// Appends the text's next tokens; their logits must be those of `forward`.
  void extend(hexad_session *session, size_t count) {
    size_t first = hexad_runtime_session_position(session);
    std::vector<float> got(count, -1);
    ASSERT_EQ(HEXAD_OK,
              hexad_runtime_extend(context, session, &tokens[first], count,
                                   HEXAD_ALL_LOGITS, got.data()))
        << hexad_runtime_context_message(context);
    EXPECT_EQ(first + count, hexad_runtime_session_position(session));
    EXPECT_EQ(
        std::vector<float>(want.begin() + first, want.begin() + first + count),
        got);
  }

  TestModel test;
  const hexad_cache_info caches[2] = {{64, 1, 0, 0}, {64, 1, window, 0}};
  hexad_model *model = nullptr;
  hexad_context *context = nullptr;
  std::vector<hexad_session *> sessions;
  std::vector<int32_t> tokens;
  std::vector<float> want;
};

TEST_F(SessionTest, AnyCutting) {
  for (size_t piece : {1, 3, 8, 20, 100}) {
    hexad_session *session = make();
    for (size_t done = 0; done < 200; done += std::min(piece, 200 - done))
      extend(session, std::min(piece, 200 - done));
    extend(session, 0);
  }
}

TEST_F(SessionTest, Rewind) {
  hexad_session *session = make();
  extend(session, 100);
  EXPECT_EQ(HEXAD_OK, hexad_runtime_session_rewind(session, 93));
  extend(session, 40);
  EXPECT_EQ(HEXAD_REWIND_TOO_FAR, hexad_runtime_session_rewind(session, 60));
  EXPECT_EQ(HEXAD_INVALID_ARGUMENT, hexad_runtime_session_rewind(session, 134));
  extend(session, 5);
  EXPECT_EQ(HEXAD_OK, hexad_runtime_session_rewind(session, 0));
  extend(session, 20);
}

TEST_F(SessionTest, ForkSaveLoad) {
  hexad_session *session = make(), *fork = make(100, 3), *loaded = make(90, 30);
  extend(session, 77);
  ASSERT_EQ(HEXAD_OK, hexad_runtime_session_fork(fork, session));
  size_t bytes = 0;
  ASSERT_EQ(HEXAD_OK, hexad_runtime_session_saved_size(session, &bytes));
  std::vector<char> state(bytes);
  EXPECT_EQ(HEXAD_INVALID_ARGUMENT,
            hexad_runtime_session_save(session, state.data(), bytes - 1));
  ASSERT_EQ(HEXAD_OK, hexad_runtime_session_save(session, state.data(), bytes));
  for (size_t i = 0; i < bytes; ++i) {
    state[i] ^= 4;
    EXPECT_EQ(HEXAD_STATE_MISMATCH,
              hexad_runtime_session_load(loaded, state.data(), bytes))
        << "byte " << i;
    state[i] ^= 4;
  }
  EXPECT_EQ(HEXAD_STATE_MISMATCH,
            hexad_runtime_session_load(loaded, state.data(), bytes - 1));
  EXPECT_EQ(0u, hexad_runtime_session_position(loaded));
  ASSERT_EQ(HEXAD_OK, hexad_runtime_session_load(loaded, state.data(), bytes));
  EXPECT_EQ(HEXAD_CAPACITY_EXCEEDED,
            hexad_runtime_session_load(make(76), state.data(), bytes));
  for (hexad_session *each : {session, fork, loaded})
    extend(each, 13);
}

TEST_F(SessionTest, FailuresChangeNothing) {
  hexad_session *a = make(), *b = make(40);
  extend(a, 30);
  extend(b, 30);
  std::vector<int32_t> bad = tokens;
  bad[10] = 100;
  float logit[200];
  auto refuse = [&](hexad_status status, hexad_extension second) {
    hexad_extension both[] = {{a, tokens.data(), 5, HEXAD_NO_LOGITS}, second};
    EXPECT_EQ(status, hexad_runtime_extend_batch(context, both, 2, logit));
    EXPECT_STRNE("", hexad_runtime_context_message(context));
  };
  refuse(HEXAD_CAPACITY_EXCEEDED, {b, tokens.data(), 11, HEXAD_NO_LOGITS});
  refuse(HEXAD_INPUT_OUT_OF_RANGE, {b, &bad[5], 6, HEXAD_NO_LOGITS});
  refuse(HEXAD_INVALID_ARGUMENT, {a, tokens.data(), 1, HEXAD_NO_LOGITS});
  refuse(HEXAD_INVALID_ARGUMENT, {b, tokens.data(), 0, HEXAD_LAST_LOGITS});
  refuse(HEXAD_INVALID_ARGUMENT, {nullptr, tokens.data(), 1, HEXAD_NO_LOGITS});
  ASSERT_TRUE(hexad_session_take(b));
  refuse(HEXAD_SESSION_BUSY, {b, tokens.data(), 1, HEXAD_NO_LOGITS});
  hexad_session_release(b);
  extend(a, 10);
  extend(b, 10);
}

TEST_F(SessionTest, InTheCallersMemory) {
  hexad_session_options options = {};
  options.capacity = 100;
  options.slack = 5;
  size_t bytes = 0;
  ASSERT_EQ(HEXAD_OK, hexad_runtime_session_size(model, &options, &bytes));
  std::vector<unsigned char> memory(bytes + 2, 0xa5);
  options.memory = memory.data() + 1;
  options.memory_size = bytes;
  hexad_session *session = nullptr;
  ASSERT_EQ(HEXAD_OK, hexad_runtime_session_create(model, &options, &session));
  extend(session, 100);
  EXPECT_EQ(0xa5, memory.front());
  EXPECT_EQ(0xa5, memory.back());
  --options.memory_size;
  EXPECT_EQ(HEXAD_INVALID_ARGUMENT,
            hexad_runtime_session_create(model, &options, &session));
}

TEST_F(SessionTest, BatchesOfSessions) {
  hexad_session *a = make(), *b = make(200, 3), *c = make();
  extend(a, 5);
  extend(c, 20);
  for (int repeat = 0; repeat < 3; ++repeat) {
    // More tokens than the context holds at once, none, and the last only.
    size_t first[] = {hexad_runtime_session_position(a),
                      hexad_runtime_session_position(b),
                      hexad_runtime_session_position(c)};
    hexad_extension batch[] = {
        {a, &tokens[first[0]], 33, HEXAD_ALL_LOGITS},
        {b, &tokens[first[1]], size_t(7 * repeat), HEXAD_NO_LOGITS},
        {c, &tokens[first[2]], 9, HEXAD_LAST_LOGITS}};
    std::vector<float> got(34, -1),
        expected(want.begin() + first[0], want.begin() + first[0] + 33);
    expected.push_back(want[first[2] + 8]);
    ASSERT_EQ(HEXAD_OK,
              hexad_runtime_extend_batch(context, batch, 3, got.data()))
        << hexad_runtime_context_message(context);
    EXPECT_EQ(expected, got);
  }
  extend(b, 10);
}

/// Every thread gets the same status, and the sessions move on once.
TEST_F(SessionTest, OnTheCallersThreads) {
  hexad_context_options options = {};
  options.max_tokens = 10;
  options.max_segments = 2;
  options.threads = 3;
  options.caller_threads = 1;
  hexad_context *own = nullptr;
  ASSERT_EQ(HEXAD_OK, hexad_runtime_context_create(model, &options, &own));
  hexad_session *session = make();
  auto run = [&](const hexad_extension &extension, float *logits) {
    std::vector<hexad_status> statuses(3, HEXAD_SYSTEM_ERROR);
    std::vector<std::thread> threads;
    for (size_t i = 0; i < 3; ++i)
      threads.emplace_back([&, i] {
        statuses[i] = hexad_runtime_extend_on(own, i, &extension, 1, logits);
      });
    for (std::thread &thread : threads)
      thread.join();
    EXPECT_EQ(std::vector<hexad_status>(3, statuses[0]), statuses);
    return statuses[0];
  };
  std::vector<float> got(50, -1);
  EXPECT_EQ(HEXAD_OK,
            run({session, tokens.data(), 50, HEXAD_ALL_LOGITS}, got.data()));
  EXPECT_EQ(std::vector<float>(want.begin(), want.begin() + 50), got);
  EXPECT_EQ(50u, hexad_runtime_session_position(session));
  EXPECT_EQ(HEXAD_CAPACITY_EXCEEDED,
            run({session, tokens.data(), 151, HEXAD_NO_LOGITS}, nullptr));
  extend(session, 3);
  EXPECT_EQ(HEXAD_INVALID_ARGUMENT,
            hexad_runtime_extend(own, session, tokens.data(), 1,
                                 HEXAD_NO_LOGITS, nullptr));
  EXPECT_THAT(hexad_runtime_context_message(own), HasSubstr("extend_on"));
  hexad_runtime_context_destroy(own);
}

TEST_F(SessionTest, WhatCannotBeMade) {
  char message[200] = "";
  hexad_session_options options = {};
  options.message = message;
  options.message_size = sizeof(message);
  hexad_session *session = nullptr;
  auto refuse = [&](hexad_status status, size_t capacity, const char *text) {
    options.capacity = capacity;
    EXPECT_EQ(status, hexad_runtime_session_create(model, &options, &session));
    EXPECT_THAT(message, HasSubstr(text));
    EXPECT_EQ(nullptr, session);
  };
  refuse(HEXAD_INVALID_ARGUMENT, 0, "capacity");
  refuse(HEXAD_INVALID_ARGUMENT, 301, "at most 300");
  // More than any machine can address.
  test.info.position_limit = 0;
  const hexad_cache_info huge[2] = {{int64_t(1) << 24, 64, 0, 0},
                                    {64, 1, window, 0}};
  test.info.caches = huge;
  refuse(HEXAD_OUT_OF_MEMORY, INT32_MAX - 100, "memory");
  test.info.caches = caches;
  test.info.cache_count = 0;
  refuse(HEXAD_INVALID_ARGUMENT, 10, "session");
  test.info.cache_count = 2;
}

/// A state of another build of the model, or of another format.
TEST_F(SessionTest, StatesOfOthers) {
  hexad_session *session = make();
  extend(session, 30);
  size_t bytes = 0;
  ASSERT_EQ(HEXAD_OK, hexad_runtime_session_saved_size(session, &bytes));
  std::vector<char> state(bytes);
  ASSERT_EQ(HEXAD_OK, hexad_runtime_session_save(session, state.data(), bytes));
  ++test.info.fingerprint;
  EXPECT_EQ(HEXAD_STATE_MISMATCH,
            hexad_runtime_session_load(session, state.data(), bytes));
  EXPECT_STRNE("", hexad_runtime_session_message(session));
  --test.info.fingerprint;
  // The version stands behind the eight bytes of magic.
  state[8] ^= 1;
  EXPECT_EQ(HEXAD_STATE_MISMATCH,
            hexad_runtime_session_load(session, state.data(), bytes));
  EXPECT_THAT(hexad_runtime_session_message(session), HasSubstr("version"));
  extend(session, 30);
}

} // namespace
