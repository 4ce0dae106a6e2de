//===- StagedFiles.h - Files that appear together or not at all -*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_DRIVER_STAGEDFILES_H
#define HEXAD_DRIVER_STAGEDFILES_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <utility>
#include <vector>

namespace hexad {

/// A file that stands under its final name.
struct StagedFile {
  std::string path;
  uint64_t bytes;
};

/// Files of one folder that are written under temporary names and renamed at
/// the end. What has not been renamed when the object dies, or when the process
/// is ended by a signal, is removed.
class StagedFiles {
public:
  /// Makes the folder if needed. Fails if it cannot be written to.
  static llvm::Expected<StagedFiles> create(llvm::StringRef folder);
  StagedFiles(StagedFiles &&other)
      : folder(std::move(other.folder)), files(std::move(other.files)),
        madeFolder(std::exchange(other.madeFolder, false)) {}
  ~StagedFiles();

  /// An empty temporary file that will become `name`; returns its path. With an
  /// empty name it is only removed at the end.
  llvm::Expected<std::string> add(llvm::StringRef name);
  /// The same, written by `write`. A full disk is an error.
  llvm::Error
  write(llvm::StringRef name,
        llvm::function_ref<llvm::Error(llvm::raw_pwrite_stream &)> write);
  /// A temporary file with these contents that is only removed at the end;
  /// returns its path.
  llvm::Expected<std::string> writeTemporary(llvm::StringRef contents);
  /// Renames all, in the order in which they were added.
  llvm::Expected<std::vector<StagedFile>> commit();

private:
  struct File {
    std::string temporary, name;
  };
  StagedFiles(llvm::StringRef folder) : folder(folder) {}
  llvm::Expected<std::string>
  writeFile(llvm::Expected<std::string> path,
            llvm::function_ref<llvm::Error(llvm::raw_pwrite_stream &)> write);

  std::string folder;
  std::vector<File> files;
  bool madeFolder = false;
};

} // namespace hexad

#endif // HEXAD_DRIVER_STAGEDFILES_H
