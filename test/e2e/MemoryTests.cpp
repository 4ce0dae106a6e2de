//===- MemoryTests.cpp - How much memory a context takes ------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledModel.h"
#include "ModelBuilder.h"
#include <fstream>
#include <optional>

using namespace hexad;
using namespace hexad::test;

namespace {

class Memory : public testing::Test {
protected:
  Memory() : files(getEncoderText(getShape())), model(files.compile()) {}

  static EncoderShape getShape() {
    EncoderShape shape;
    shape.hidden = 64;
    shape.feedForward = 256;
    shape.layers = 4;
    return shape;
  }

  size_t getBytes(size_t tokens, size_t threads = 2) {
    hexad_context_options options = {};
    options.max_tokens = tokens;
    options.max_segments = 1;
    options.threads = threads;
    return model->getContextSize(options);
  }

  ModelFiles files;
  std::unique_ptr<CompiledModel> model;
};

TEST_F(Memory, GrowsWithTokensNotTheirSquare) {
  ASSERT_TRUE(model) << files.messages;
  for (size_t tokens : {256, 1024, 4096, 65536}) {
    double ratio = static_cast<double>(getBytes(4 * tokens)) / getBytes(tokens);
    EXPECT_LE(ratio, 4.1) << tokens;
  }
}

TEST_F(Memory, IsWhatTheActivationsNeed) {
  ASSERT_TRUE(model) << files.messages;
  // For each token: the rows that a layer keeps, and those of its attention
  // (query, key and value, keys and values in pages, its result). Nothing of
  // the feed-forward part but scratch memory of each thread, nothing for each
  // layer.
  size_t tokens = 4096, hidden = 64;
  size_t rows = 8 * tokens * hidden * sizeof(float);
  size_t scratch = 2 * (1 << 20);
  EXPECT_LE(getBytes(tokens), rows + scratch);
}

TEST_F(Memory, GrowsLittleWithThreads) {
  ASSERT_TRUE(model) << files.messages;
  EXPECT_LE(getBytes(1024, 9) - getBytes(1024, 1), 8u << 20);
}

#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
/// The most memory that the process has had since the last call, in bytes; none
/// if the system does not say.
std::optional<size_t> takePeak() {
  std::ifstream status("/proc/self/status");
  std::optional<size_t> peak;
  for (std::string line; std::getline(status, line);)
    if (llvm::StringRef(line).starts_with("VmHWM:"))
      peak = std::stoul(line.substr(6)) << 10;
  std::ofstream reset("/proc/self/clear_refs");
  if (!(reset << 5 << std::flush))
    return std::nullopt;
  return peak;
}

TEST_F(Memory, OfTheProcessStaysAsPlanned) {
  ASSERT_TRUE(model) << files.messages;
  Call call = Call::of({8192});
  // Once before: libraries and the allocator's own memory are there then.
  model->run(Call::of({1}));
  if (!takePeak())
    GTEST_SKIP() << "this system does not reset the peak of memory";
  size_t before = *takePeak();
  model->run(call);
  size_t after = *takePeak();
  // A context and the call's inputs and outputs; an N × N matrix of one head
  // would be 256 MiB.
  size_t rectangles = 8192 * (3 + 64) * sizeof(float);
  EXPECT_LE(after - before, getBytes(8192) + 2 * rectangles + (8u << 20));
  EXPECT_GE(after - before, getBytes(8192) / 2);
}
#endif

} // namespace
