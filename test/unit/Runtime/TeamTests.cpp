//===- TeamTests.cpp - The barrier under load -----------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime.h"
#include "gtest/gtest.h"
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace {

/// Runs `body(thread)` on `count` threads.
template <typename Body> void runOnThreads(unsigned count, Body body) {
  std::vector<std::thread> threads;
  for (unsigned thread = 1; thread < count; ++thread)
    threads.emplace_back(body, thread);
  body(0u);
  for (std::thread &thread : threads)
    thread.join();
}

class TeamTest : public testing::TestWithParam<unsigned> {};

// Each thread writes its place without any synchronization but the barrier, and
// reads everybody's: wrong sums, or a race for TSan, if the barrier leaks.
TEST_P(TeamTest, SeparatesPhases) {
  const unsigned count = GetParam();
  const int rounds = 2000;
  auto team = std::make_unique<hexad_team>();
  hexad_team_init(team.get(), count);
  std::vector<int64_t> values(count * 8, 0);
  std::vector<int> wrong(count * 16, 0);
  runOnThreads(count, [&](unsigned thread) {
    for (int round = 1; round <= rounds; ++round) {
      values[thread * 8] = round * (thread + 1);
      hexad_team_barrier(team.get());
      int64_t sum = 0;
      for (unsigned other = 0; other < count; ++other)
        sum += values[other * 8];
      wrong[thread * 16] += sum != int64_t(round) * count * (count + 1) / 2;
      hexad_team_barrier(team.get());
    }
  });
  for (unsigned thread = 0; thread < count; ++thread)
    EXPECT_EQ(0, wrong[thread * 16]);
}

// One thread is late: the others sleep and are woken.
TEST_P(TeamTest, WakesSleepers) {
  const unsigned count = GetParam();
  auto team = std::make_unique<hexad_team>();
  hexad_team_init(team.get(), count);
  std::vector<int> done(count * 16, 0);
  runOnThreads(count, [&](unsigned thread) {
    for (unsigned round = 0; round < 6; ++round) {
      if (thread == round % count)
        std::this_thread::sleep_for(std::chrono::milliseconds(3));
      hexad_team_barrier(team.get());
      ++done[thread * 16];
    }
  });
  for (unsigned thread = 0; thread < count; ++thread)
    EXPECT_EQ(6, done[thread * 16]);
}

INSTANTIATE_TEST_SUITE_P(Threads, TeamTest, testing::Range(1u, 9u));

TEST(Team, ArrivesForThreadsThatDoNotExist) {
  auto team = std::make_unique<hexad_team>();
  hexad_team_init(team.get(), 4);
  std::thread waiting([&] { hexad_team_barrier(team.get()); });
  hexad_team_arrive(team.get(), 3);
  waiting.join();
}

} // namespace
