//===- Sanitizer.cpp - Compiled models that check themselves --------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Driver/Sanitizer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Instrumentation/AddressSanitizer.h"
#include "llvm/Transforms/Instrumentation/ThreadSanitizer.h"
#include "llvm/Transforms/Scalar/ScalarizeMaskedMemIntrin.h"
#include "llvm/Transforms/Scalar/Scalarizer.h"

using namespace llvm;
using namespace hexad;

StringRef hexad::getSanitizerName(Sanitizer sanitizer) {
  static constexpr StringLiteral names[] = {"none", "address", "thread"};
  return names[static_cast<size_t>(sanitizer)];
}

ArrayRef<Sanitizer> hexad::getAllSanitizers() {
  static constexpr Sanitizer sanitizers[] = {
      Sanitizer::None, Sanitizer::Address, Sanitizer::Thread};
  return sanitizers;
}

std::optional<Sanitizer> hexad::parseSanitizer(StringRef name) {
  for (Sanitizer sanitizer : getAllSanitizers())
    if (getSanitizerName(sanitizer) == name)
      return sanitizer;
  return std::nullopt;
}

void hexad::markForSanitizer(Module &module, Sanitizer sanitizer) {
  if (sanitizer == Sanitizer::None)
    return;
  for (Function &function : module)
    if (!function.isDeclaration())
      function.addFnAttr(sanitizer == Sanitizer::Address
                             ? Attribute::SanitizeAddress
                             : Attribute::SanitizeThread);
}

void hexad::instrument(Module &module, Sanitizer sanitizer) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager callGraph;
  ModuleAnalysisManager modules;
  // Without a target: masked accesses, which the thread sanitizer does not
  // know, count as illegal and become branches.
  PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);

  ModulePassManager passes;
  switch (sanitizer) {
  case Sanitizer::None:
    return;
  case Sanitizer::Address:
    passes.addPass(AddressSanitizerPass(AddressSanitizerOptions()));
    break;
  case Sanitizer::Thread: {
    // It knows accesses of up to 16 bytes: vectors are accessed element by
    // element.
    FunctionPassManager scalars;
    scalars.addPass(ScalarizeMaskedMemIntrinPass());
    ScalarizerPassOptions options;
    options.ScalarizeLoadStore = true;
    scalars.addPass(ScalarizerPass(options));
    scalars.addPass(ThreadSanitizerPass());
    passes.addPass(createModuleToFunctionPassAdaptor(std::move(scalars)));
    passes.addPass(ModuleThreadSanitizerPass());
    break;
  }
  }
  passes.run(module, modules);
}
