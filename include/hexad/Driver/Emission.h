//===- Emission.h - From the LLVM dialect to an object and a library ------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_DRIVER_EMISSION_H
#define HEXAD_DRIVER_EMISSION_H

#include "hexad/Driver/LibraryInfo.h"
#include "hexad/Driver/Sanitizer.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>

namespace llvm {
class TargetMachine;
}

namespace hexad {

/// Turns one compiled model into machine code. The steps are called in order;
/// text of the module can be printed after each.
class Emission {
public:
  Emission(const LibraryInfo &info, Sanitizer sanitizer = Sanitizer::None);
  ~Emission();

  /// Translates a module of the LLVM dialect that defines
  /// `hexad_entry(i64, ptr, ptr)`, and adds what makes a library of it: the
  /// hexad_model_info, the exported functions and the metadata. The module may
  /// have no other operations. Functions get the target's attributes; exported
  /// ones are for any x86-64.
  llvm::Error translate(mlir::ModuleOp module);
  /// LLVM's O3, then the sanitizer's checks.
  void optimize();
  llvm::Error writeObject(llvm::raw_pwrite_stream &os);
  llvm::Error writeAssembly(llvm::raw_pwrite_stream &os);
  llvm::Module &getModule() { return *module; }

private:
  void setFunctionAttributes();
  void addModelInfo();
  void addExportedFunctions();
  void addSections();
  llvm::Error emit(llvm::raw_pwrite_stream &os, bool assembly);

  const LibraryInfo &info;
  Sanitizer sanitizer;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::Module> module;
  llvm::GlobalVariable *modelInfo = nullptr;
};

/// Links an object with the carried runtime, in process. Temporary files are
/// made in the folder of `libraryPath`. Fails with the linker's messages.
llvm::Error linkLibrary(const LibraryInfo &info, llvm::StringRef objectPath,
                        llvm::StringRef libraryPath,
                        Sanitizer sanitizer = Sanitizer::None);

} // namespace hexad

#endif // HEXAD_DRIVER_EMISSION_H
