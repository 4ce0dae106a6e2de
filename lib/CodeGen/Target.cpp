//===- Target.cpp - The table of target facts -----------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/CodeGen/Target.h"
#include "hexad/Runtime/abi.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/TargetParser/Triple.h"
#include <memory>
#include <unistd.h>

using namespace llvm;

static constexpr StringLiteral triple = "x86_64-unknown-linux-gnu";

static std::string getHostFeatures() {
  SubtargetFeatures features;
  for (const auto &feature : sys::getHostCPUFeatures())
    features.AddFeature(feature.getKey(), feature.getValue());
  return features.getString();
}

/// Every feature that is on, and those off that the CPU's name alone would turn
/// on (a virtual machine hides some): what was found out about one CPU is not
/// mixed with what LLVM knows about the host.
static std::string spellFeatures(const MCSubtargetInfo &subtarget,
                                 const MCSubtargetInfo &namedCpu) {
  SubtargetFeatures features;
  for (const SubtargetFeatureKV &feature : namedCpu.getAllProcessorFeatures()) {
    bool isOn = subtarget.getFeatureBits().test(feature.Value);
    if (isOn || namedCpu.getFeatureBits().test(feature.Value))
      features.AddFeature(feature.Key, isOn);
  }
  return features.getString();
}

/// A cache's size as the operating system reports it; `otherwise` if it does
/// not.
static int64_t getHostCache(int name, int64_t otherwise) {
  long size = sysconf(name);
  return size > 0 ? size : otherwise;
}

/// The multiple of `step` nearest to `wanted` that is not above it.
static int64_t multipleNear(int64_t wanted, int64_t step) {
  return wanted / step * step;
}

Expected<hexad::Target> hexad::Target::get(StringRef name) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86TargetMC();
  Triple machine(triple);
  std::string message;
  const llvm::Target *backend = TargetRegistry::lookupTarget(machine, message);
  if (!backend)
    return createStringError("this LLVM cannot compile for x86-64: " + message);

  bool isNative = name == "native";
  hexad::Target target;
  target.cpu = isNative ? sys::getHostCPUName().str() : name.str();
  std::unique_ptr<MCSubtargetInfo> namedCpu(
      backend->createMCSubtargetInfo(machine, "x86-64", ""));
  if (target.cpu.empty() || !namedCpu->isCPUStringValid(target.cpu))
    return createStringError("unknown CPU '" + target.cpu +
                             "': expected 'native' or LLVM's name of an x86-64 "
                             "CPU, such as 'x86-64-v3' or 'znver4'");
  namedCpu.reset(backend->createMCSubtargetInfo(machine, target.cpu, ""));
  std::unique_ptr<MCSubtargetInfo> subtarget(backend->createMCSubtargetInfo(
      machine, target.cpu, isNative ? getHostFeatures() : ""));

  if (!subtarget->checkFeatures("+64bit,+avx2,+fma"))
    return createStringError(
        "CPU '" + target.cpu +
        "' has no AVX2 and FMA, which compiled code needs");
  target.features = spellFeatures(*subtarget, *namedCpu);
  target.cpuFeatures = HEXAD_CPU_AVX2 | HEXAD_CPU_FMA;
  target.hasF16C = subtarget->checkFeatures("+f16c");
  target.l1Bytes = 32 << 10;
  target.l2Bytes = 512 << 10;
  // The tile is 2 registers wide and 6 * floor((registers - 4) / 12) rows high:
  // its accumulators, two registers of the panel and two broadcasts fit.
  // bench/kernel measures it.
  if (subtarget->checkFeatures(
          "+avx512f,+avx512bw,+avx512dq,+avx512vl,+avx512cd")) {
    target.cpuFeatures |= HEXAD_CPU_AVX512;
    target.vectorBits = 512;
    target.tileRows = 12;
    target.tileColumns = 32;
    target.l2Bytes = 1 << 20;
  } else {
    target.vectorBits = 256;
    target.tileRows = 6;
    target.tileColumns = 16;
  }
  if (isNative) {
    target.l1Bytes = getHostCache(_SC_LEVEL1_DCACHE_SIZE, target.l1Bytes);
    target.l2Bytes = getHostCache(_SC_LEVEL2_CACHE_SIZE, target.l2Bytes);
  }
  // bench/model: 72, 96 and 108 rows are slower, 180 and 264 not faster.
  target.blockRows = multipleNear(144, target.tileRows);
  target.queryTile = multipleNear(64, target.tileRows);
  return target;
}

Error hexad::Target::requireF16() {
  if (!hasF16C)
    return createStringError("CPU '" + cpu +
                             "' has no F16C, which weights of f16 need");
  cpuFeatures |= HEXAD_CPU_F16C;
  return Error::success();
}
