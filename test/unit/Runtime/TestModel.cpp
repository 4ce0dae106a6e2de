//===- TestModel.cpp - A model made of a function of the test -------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

using namespace llvm;
using namespace hexad::test;

TemporaryFolder::TemporaryFolder() {
  if (sys::fs::createUniqueDirectory("hexad-runtime", path))
    report_fatal_error("cannot make a folder for the test");
}

TemporaryFolder::~TemporaryFolder() { sys::fs::remove_directories(path); }

std::string TemporaryFolder::file(StringRef name) const {
  SmallString<128> result(path);
  sys::path::append(result, name);
  return result.str().str();
}

void hexad::test::writeWeights(const std::string &path,
                               const hexad_weights_header &header,
                               size_t dataBytes) {
  std::error_code error;
  raw_fd_ostream os(path, error);
  if (error)
    report_fatal_error("cannot write the test's weights");
  os.write(reinterpret_cast<const char *>(&header), sizeof(header));
  os.write_zeros(HEXAD_WEIGHTS_ALIGNMENT - sizeof(header) + dataBytes);
}

static constexpr int64_t pointerInputs = HEXAD_POINTER_COUNT;

static void runTestModel(int64_t thread, const int64_t *extents,
                         void *const *pointers) {
  auto table = [&](int pointer) {
    return static_cast<const int32_t *>(pointers[pointer]);
  };
  auto *arena = static_cast<float *>(pointers[HEXAD_POINTER_ARENA]);
  void *team = pointers[HEXAD_POINTER_TEAM];
  const int32_t *ids = table(pointerInputs);
  auto *neighbours = static_cast<float *>(pointers[pointerInputs + 2]);
  auto *sums = static_cast<float *>(pointers[pointerInputs + 3]);
  const int64_t threads = extents[HEXAD_EXTENT_THREADS];
  const int64_t segments = extents[HEXAD_EXTENT_SEGMENTS];
  const int32_t *bounds = table(HEXAD_POINTER_SEGMENT_BOUNDS);
  const int64_t rows = bounds[segments];

  for (int64_t row = thread; row < extents[HEXAD_EXTENT_ROWS]; row += threads) {
    int32_t element = table(HEXAD_POINTER_ROW_ELEMENT)[row];
    arena[row] = element < 0 ? 0.0f : static_cast<float>(ids[element]);
  }
  hexad_team_barrier(team);
  for (int64_t element = thread; element < extents[HEXAD_EXTENT_ELEMENTS];
       element += threads) {
    int32_t row = table(HEXAD_POINTER_ELEMENT_ROW)[element];
    if (neighbours)
      neighbours[element] =
          row < 0 ? 0.0f : arena[row] + arena[(row + 1) % rows];
  }
  for (int64_t segment = thread; sums && segment < segments;
       segment += threads) {
    sums[segment] = 0;
    for (int32_t row = bounds[segment]; row < bounds[segment + 1]; ++row)
      sums[segment] += arena[row];
  }
}

TestModel::TestModel() : weights(folder.file("test.weights")) {
  inputs[0] = {
      "input_ids", HEXAD_INPUT_IDS, /*optional=*/0, /*limit=*/100, 0, 0, 0, 0};
  inputs[1] = {
      "attention_mask", HEXAD_INPUT_MASK, /*optional=*/1, 0, 0, 0, 0, 0};
  outputs[0] = {"neighbours", HEXAD_OUTPUT_ROWS, 0, 1, 1};
  outputs[1] = {"sums", HEXAD_OUTPUT_POOLED, 0, 1, 1};
  info = {};
  info.abi_version = HEXAD_ABI_VERSION;
  info.name = "test";
  info.weights_file = "test.weights";
  info.weights_bytes = HEXAD_WEIGHTS_ALIGNMENT + 64;
  info.fingerprint = 0x0123456789abcdef;
  info.tile_rows = 6;
  info.query_tile = 12;
  info.page = 128;
  info.position_limit = 300;
  info.input_count = 2;
  info.output_count = 2;
  info.inputs = inputs;
  info.outputs = outputs;
  info.arena.per_extent[HEXAD_EXTENT_ROWS] = sizeof(float);
  info.entry = runTestModel;

  hexad_weights_header header = {};
  std::memcpy(header.magic, HEXAD_WEIGHTS_MAGIC, sizeof(header.magic));
  header.version = HEXAD_WEIGHTS_VERSION;
  header.data_offset = HEXAD_WEIGHTS_ALIGNMENT;
  header.file_bytes = info.weights_bytes;
  header.fingerprint = info.fingerprint;
  writeWeights(weights, header, 64);
}

hexad_model_options TestModel::getOptions() {
  return {weights.c_str(), message, sizeof(message), HEXAD_MAP_WEIGHTS};
}

void TestModel::compute(size_t batch, size_t seq,
                        const std::vector<int32_t> &ids,
                        const std::vector<int32_t> &mask,
                        std::vector<float> &neighbours,
                        std::vector<float> &sums) {
  std::vector<size_t> real;
  sums.assign(batch, 0.0f);
  neighbours.assign(batch * seq, 0.0f);
  for (size_t element = 0; element < batch * seq; ++element) {
    if (!mask.empty() && mask[element] == 0)
      continue;
    real.push_back(element);
    sums[element / seq] += static_cast<float>(ids[element]);
  }
  for (size_t row = 0; row < real.size(); ++row)
    neighbours[real[row]] =
        static_cast<float>(ids[real[row]] + ids[real[(row + 1) % real.size()]]);
}
