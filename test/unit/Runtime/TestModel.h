//===- TestModel.h - A model made of a function of the test -----*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_TEST_UNIT_RUNTIME_TESTMODEL_H
#define HEXAD_TEST_UNIT_RUNTIME_TESTMODEL_H

#include "runtime.h"
#include "llvm/ADT/SmallString.h"
#include <string>
#include <vector>

namespace hexad::test {

/// A folder that is removed with everything in it.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  std::string file(llvm::StringRef name) const;

private:
  llvm::SmallString<128> path;
};

/// Writes a weights file with the header given and `dataBytes` behind it.
void writeWeights(const std::string &path, const hexad_weights_header &header,
                  size_t dataBytes);

/// A model with inputs `input_ids` (limit 100), `attention_mask` (optional) and
/// outputs `neighbours` f32[batch, seq, 1] and `sums` f32[batch, 1]. The first
/// is for each row the sum of the ids of the row and of the next row of the
/// whole batch (cyclic), the second the sum of a segment's ids. Its rows are
/// spread over the team, with a barrier in between, through the arena.
struct TestModel {
  TestModel();
  hexad_model_options getOptions();
  /// Expected outputs.
  static void compute(size_t batch, size_t seq, const std::vector<int32_t> &ids,
                      const std::vector<int32_t> &mask,
                      std::vector<float> &neighbours, std::vector<float> &sums);

  TemporaryFolder folder;
  std::string weights;
  hexad_input_info inputs[2];
  hexad_output_info outputs[2];
  hexad_model_info info;
  char message[256] = "";
};

/// hexad_arguments with room for the test model's pointers.
struct TestArguments {
  size_t batch, seq;
  const int32_t *ids, *mask;
  float *neighbours, *sums;

  const hexad_arguments *get() const {
    return reinterpret_cast<const hexad_arguments *>(this);
  }
};

} // namespace hexad::test

#endif // HEXAD_TEST_UNIT_RUNTIME_TESTMODEL_H
