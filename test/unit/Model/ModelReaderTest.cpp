//===- ModelReaderTest.cpp - Folders, descriptions, IR --------------------===//
//
// Part of the Hexad project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelTestUtilities.h"

using namespace mlir;
using namespace hexad;

namespace {

class GoldenModels : public ModelTest,
                     public ::testing::WithParamInterface<const char *> {};

TEST_P(GoldenModels, FolderEqualsDescription) {
  std::string folder = getGolden(GetParam());
  std::string yaml = folder + "/" + GetParam() + ".yaml";
  std::vector<std::string> hidden = {"hidden"};
  for (ArrayRef<std::string> outputs :
       {ArrayRef<std::string>(), ArrayRef(hidden)}) {
    OwningOpRef<ModuleOp> fromFolder = read(folder, outputs);
    ASSERT_TRUE(fromFolder) << diagnostics;
    OwningOpRef<ModuleOp> fromYaml = read(yaml, outputs);
    ASSERT_TRUE(fromYaml) << diagnostics;
    EXPECT_EQ(print(*fromFolder), print(*fromYaml));
    EXPECT_EQ(diagnostics, "");
  }
}

INSTANTIATE_TEST_SUITE_P(Bert, GoldenModels,
                         ::testing::Values("bert", "bert-mlm"));

} // namespace
