//===- WeightsTests.cpp - Weights files that are refused, and why ---------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"
#include "llvm/Support/FileSystem.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

using namespace hexad::test;
using testing::HasSubstr;

namespace {

class WeightsTest : public testing::Test {
protected:
  hexad_status create() {
    hexad_model_options options = model.getOptions();
    hexad_model *made = nullptr;
    hexad_status status =
        hexad_runtime_model_create(&model.info, &options, &made);
    EXPECT_EQ(status == HEXAD_OK, made != nullptr);
    hexad_runtime_model_destroy(made);
    return status;
  }
  hexad_weights_header getHeader() {
    hexad_weights_header header = {};
    std::memcpy(header.magic, HEXAD_WEIGHTS_MAGIC, sizeof(header.magic));
    header.version = HEXAD_WEIGHTS_VERSION;
    header.data_offset = HEXAD_WEIGHTS_ALIGNMENT;
    header.file_bytes = model.info.weights_bytes;
    header.fingerprint = model.info.fingerprint;
    return header;
  }

  TestModel model;
};

TEST_F(WeightsTest, Accepted) {
  EXPECT_EQ(HEXAD_OK, create());
  EXPECT_STREQ("", model.message);
}

TEST_F(WeightsTest, Missing) {
  model.weights += ".not";
  EXPECT_EQ(HEXAD_WEIGHTS_NOT_FOUND, create());
  EXPECT_THAT(model.message, HasSubstr("No such file or directory"));
}

TEST_F(WeightsTest, Folder) {
  model.weights = model.folder.file(".");
  EXPECT_EQ(HEXAD_WEIGHTS_MISMATCH, create());
  EXPECT_THAT(model.message, HasSubstr("not a regular file"));
}

/// Opened without waiting for a writer.
TEST_F(WeightsTest, Pipe) {
  model.weights = model.folder.file("pipe");
  ASSERT_EQ(0, mkfifo(model.weights.c_str(), 0600));
  EXPECT_EQ(HEXAD_WEIGHTS_MISMATCH, create());
  EXPECT_THAT(model.message, HasSubstr("not a regular file"));
}

TEST_F(WeightsTest, TruncatedInData) {
  ASSERT_EQ(0, truncate(model.weights.c_str(), HEXAD_WEIGHTS_ALIGNMENT + 63));
  EXPECT_EQ(HEXAD_WEIGHTS_MISMATCH, create());
  EXPECT_THAT(model.message, HasSubstr("is truncated: it has 4159 bytes and "
                                       "should have 4160"));
}

TEST_F(WeightsTest, TruncatedInHeader) {
  for (off_t size : {0, 7, 31}) {
    ASSERT_EQ(0, truncate(model.weights.c_str(), size));
    EXPECT_EQ(HEXAD_WEIGHTS_MISMATCH, create());
    EXPECT_THAT(model.message, HasSubstr("less than its header"));
  }
}

TEST_F(WeightsTest, TooLong) {
  ASSERT_EQ(0, truncate(model.weights.c_str(), HEXAD_WEIGHTS_ALIGNMENT + 65));
  EXPECT_EQ(HEXAD_WEIGHTS_MISMATCH, create());
  EXPECT_THAT(model.message, HasSubstr("is damaged"));
}

TEST_F(WeightsTest, NotAWeightsFile) {
  hexad_weights_header header = getHeader();
  header.magic[0] = 'X';
  writeWeights(model.weights, header, 64);
  EXPECT_EQ(HEXAD_WEIGHTS_MISMATCH, create());
  EXPECT_THAT(model.message, HasSubstr("is not a weights file"));
}

TEST_F(WeightsTest, OtherFormatVersion) {
  hexad_weights_header header = getHeader();
  header.version = HEXAD_WEIGHTS_VERSION + 1;
  writeWeights(model.weights, header, 64);
  EXPECT_EQ(HEXAD_WEIGHTS_MISMATCH, create());
  EXPECT_THAT(model.message, HasSubstr("has format version 2"));
}

TEST_F(WeightsTest, OfAnotherBuild) {
  hexad_weights_header header = getHeader();
  header.fingerprint ^= 1;
  writeWeights(model.weights, header, 64);
  EXPECT_EQ(HEXAD_WEIGHTS_MISMATCH, create());
  EXPECT_THAT(model.message,
              HasSubstr("fingerprint is 0123456789abcdee, expected is "
                        "0123456789abcdef"));
}

TEST_F(WeightsTest, OfAnotherSize) {
  hexad_weights_header header = getHeader();
  header.file_bytes += 64;
  writeWeights(model.weights, header, 128);
  EXPECT_EQ(HEXAD_WEIGHTS_MISMATCH, create());
}

TEST_F(WeightsTest, WithoutMessageBuffer) {
  model.weights += ".not";
  hexad_model_options options = {model.weights.c_str(), nullptr, 0,
                                 HEXAD_MAP_WEIGHTS};
  hexad_model *made = nullptr;
  EXPECT_EQ(HEXAD_WEIGHTS_NOT_FOUND,
            hexad_runtime_model_create(&model.info, &options, &made));
  EXPECT_EQ(HEXAD_INVALID_ARGUMENT,
            hexad_runtime_model_create(&model.info, &options, nullptr));
}

TEST_F(WeightsTest, CpuIsCheckedFirst) {
  model.info.cpu_features = ~hexad_cpu_features();
  model.weights += ".not";
  EXPECT_EQ(HEXAD_UNSUPPORTED_CPU, create());
  EXPECT_THAT(model.message, HasSubstr("which this machine does not have"));
}

} // namespace
