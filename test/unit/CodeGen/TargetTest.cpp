//===- TargetTest.cpp - The table of target facts -------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/CodeGen/Target.h"
#include "hexad/Runtime/abi.h"
#include "llvm/ADT/SmallVector.h"
#include "gtest/gtest.h"

using namespace hexad;

namespace {

Target get(const char *name) { return llvm::cantFail(Target::get(name)); }

std::string getError(const char *name) {
  auto target = Target::get(name);
  return target ? "" : llvm::toString(target.takeError());
}

bool hasFeature(const Target &target, llvm::StringRef feature) {
  llvm::SmallVector<llvm::StringRef> features;
  llvm::StringRef(target.features).split(features, ',');
  return llvm::is_contained(features, feature);
}

TEST(TargetTest, Avx2) {
  for (const char *name : {"x86-64-v3", "znver3", "haswell", "alderlake"}) {
    Target target = get(name);
    EXPECT_EQ(target.cpu, name);
    EXPECT_EQ(target.vectorBits, 256) << name;
    EXPECT_EQ(target.tileRows, 6) << name;
    EXPECT_EQ(target.tileColumns, 16) << name;
    EXPECT_EQ(target.cpuFeatures, unsigned(HEXAD_CPU_AVX2 | HEXAD_CPU_FMA));
    EXPECT_TRUE(hasFeature(target, "+avx2")) << name;
    EXPECT_TRUE(hasFeature(target, "+fma")) << name;
    // Whatever the machine has that runs this test.
    EXPECT_FALSE(hasFeature(target, "+avx512f")) << name;
  }
}

TEST(TargetTest, Avx512) {
  for (const char *name :
       {"x86-64-v4", "skylake-avx512", "sapphirerapids", "znver4", "znver5"}) {
    Target target = get(name);
    EXPECT_EQ(target.vectorBits, 512) << name;
    EXPECT_EQ(target.tileRows, 12) << name;
    EXPECT_EQ(target.tileColumns, 32) << name;
    EXPECT_EQ(target.cpuFeatures,
              unsigned(HEXAD_CPU_AVX2 | HEXAD_CPU_FMA | HEXAD_CPU_AVX512));
    EXPECT_TRUE(hasFeature(target, "+avx512f")) << name;
  }
}

TEST(TargetTest, F16IsWantedWhereItIsUsed) {
  Target target = get("x86-64-v3");
  EXPECT_EQ(target.cpuFeatures & HEXAD_CPU_F16C, 0u);
  EXPECT_EQ(llvm::toString(target.requireF16()), "");
  EXPECT_EQ(target.cpuFeatures & HEXAD_CPU_F16C, unsigned(HEXAD_CPU_F16C));
  target.hasF16C = false;
  EXPECT_EQ(llvm::toString(target.requireF16()),
            "CPU 'x86-64-v3' has no F16C, which weights of f16 need");
}

TEST(TargetTest, TilesDivideBlocksAndTheRowGranule) {
  for (const char *name : {"x86-64-v3", "x86-64-v4"}) {
    Target target = get(name);
    EXPECT_EQ(target.blockRows % target.tileRows, 0);
    EXPECT_EQ(target.queryTile % target.tileRows, 0);
    EXPECT_EQ(target.queryTile, 60);
    EXPECT_EQ(target.blockRows, 144);
    EXPECT_EQ(HEXAD_ROW_GRANULE % target.tileRows, 0);
    EXPECT_EQ(target.page, 128);
    EXPECT_GT(target.l1Bytes, 0);
    EXPECT_GT(target.l2Bytes, target.l1Bytes);
  }
}

TEST(TargetTest, TooOld) {
  for (const char *name : {"x86-64", "x86-64-v2", "nehalem", "sandybridge"})
    EXPECT_EQ(getError(name), std::string("CPU '") + name +
                                  "' has no AVX2 and FMA, which compiled code "
                                  "needs");
}

TEST(TargetTest, Unknown) {
  for (const char *name : {"x86-64-v9", "", "cortex-a72", "Native", "znver3 "})
    EXPECT_EQ(getError(name),
              std::string("unknown CPU '") + name +
                  "': expected 'native' or LLVM's name of an x86-64 CPU, such "
                  "as 'x86-64-v3' or 'znver4'");
}

} // namespace
