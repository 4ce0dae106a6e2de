//===- LoadedLibrary.h - A compiled library, opened at run time -*- C++ -*-===//
//
// Part of the Hexad project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_TOOLS_HEXADRUN_LOADEDLIBRARY_H
#define HEXAD_TOOLS_HEXADRUN_LOADEDLIBRARY_H

#include "hexad/Driver/LibraryInfo.h"
#include "hexad/Runtime/interface.h"

namespace hexad {

/// A library with its model; unloaded at the end.
class LoadedLibrary {
public:
  /// Checks the file before any of it is executed.
  static llvm::Expected<std::unique_ptr<LoadedLibrary>>
  open(llvm::StringRef path);
  ~LoadedLibrary();

  const LibraryInfo &getInfo() const { return info; }
  /// Runs one call on a context made for it. `pointers`: inputs, then outputs.
  /// `seconds` receives the duration of each of `repeat` runs.
  llvm::Error run(size_t batch, size_t seq, llvm::ArrayRef<void *> pointers,
                  size_t tokens, size_t threads, unsigned repeat,
                  std::vector<double> &seconds);

private:
  LoadedLibrary(LibraryInfo info) : info(std::move(info)) {}
  llvm::Error load(llvm::StringRef path);
  template <typename Function>
  llvm::Error find(llvm::StringRef name, Function *&function);

  LibraryInfo info;
  void *handle = nullptr;
  hexad_model *model = nullptr;
  hexad_status (*modelCreate)(const hexad_model_options *, hexad_model **);
  void (*modelDestroy)(hexad_model *);
  hexad_status (*contextCreate)(const hexad_model *,
                                const hexad_context_options *,
                                hexad_context **);
  void (*contextDestroy)(hexad_context *);
  const char *(*contextMessage)(const hexad_context *);
  hexad_status (*forward)(hexad_context *, const hexad_arguments *);
};

} // namespace hexad

#endif // HEXAD_TOOLS_HEXADRUN_LOADEDLIBRARY_H
