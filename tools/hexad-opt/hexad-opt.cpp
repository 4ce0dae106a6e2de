//===- hexad-opt.cpp - Passes and pipelines on .mlir files ----------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/InitAll.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

/// LLVM's libraries register hundreds of options for themselves, most of them
/// of processors that Hexad does not compile for. `--help-hidden` still lists
/// them.
static void hideOptionsOfLibraries() {
  for (auto &[name, option] : llvm::cl::getRegisteredOptions()) {
    bool isGeneric = llvm::any_of(
        option->Categories, [](llvm::cl::OptionCategory *category) {
          return category->getName() == "Generic Options";
        });
    if (!isGeneric)
      option->setHiddenFlag(llvm::cl::Hidden);
  }
}

/// What `--help` begins with: the phases, in order.
static std::string describePhases() {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "Hexad's pass driver: from hexad to LLVM, phase by phase\n\n"
     << "PHASES (pipelines that begin with hexad IR):\n\n";
  for (hexad::Phase phase : hexad::getAllPhases())
    if (phase != hexad::Phase::Hexad)
      os << "  --hexad-to-" << llvm::left_justify(hexad::getPhaseName(phase), 9)
         << hexad::getPhaseDescription(phase) << "\n";
  return text;
}

int main(int argc, char **argv) {
  hideOptionsOfLibraries();
  mlir::DialectRegistry registry;
  hexad::registerAllDialects(registry);
  hexad::registerAllPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, describePhases(), registry));
}
