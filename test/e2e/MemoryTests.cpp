//===- MemoryTests.cpp - How much memory a context takes ------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledModel.h"
#include "ModelBuilder.h"
#include <sys/resource.h>

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

TEST_F(Memory, OfTheProcessStaysAsPlanned) {
  ASSERT_TRUE(model) << files.messages;
  auto getPeak = [] {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<size_t>(usage.ru_maxrss) << 10;
  };
  // A context and a call's inputs and outputs; an N × N matrix of one head
  // would be 256 MiB.
  size_t before = getPeak();
  Call call = Call::of({8192});
  model->run(call);
  EXPECT_LE(getPeak() - before, getBytes(8192) + (32u << 20));
}

} // namespace
