//===- TemporaryFolder.h - A folder that goes away --------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_TEST_UNIT_MODEL_TEMPORARYFOLDER_H
#define HEXAD_TEST_UNIT_MODEL_TEMPORARYFOLDER_H

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

namespace hexad {

/// A folder that goes away with its contents.
class TemporaryFolder {
public:
  TemporaryFolder() {
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("hexad-test", folder));
  }
  ~TemporaryFolder() { llvm::sys::fs::remove_directories(folder); }
  TemporaryFolder(const TemporaryFolder &) = delete;

  std::string getPath(llvm::StringRef name = "") const {
    llvm::SmallString<128> path = folder;
    if (!name.empty())
      llvm::sys::path::append(path, name);
    return std::string(path);
  }
  std::string write(llvm::StringRef name, llvm::StringRef contents) const {
    std::string path = getPath(name);
    std::error_code code;
    llvm::raw_fd_ostream stream(path, code);
    EXPECT_FALSE(code);
    stream << contents;
    return path;
  }
  void copy(llvm::StringRef from, llvm::StringRef name) const {
    EXPECT_FALSE(llvm::sys::fs::copy_file(from, getPath(name)));
  }
  std::vector<std::string> list() const {
    std::vector<std::string> names;
    std::error_code code;
    for (llvm::sys::fs::directory_iterator entry(folder, code), end;
         entry != end && !code; entry.increment(code))
      names.push_back(llvm::sys::path::filename(entry->path()).str());
    return names;
  }

private:
  llvm::SmallString<128> folder;
};

} // namespace hexad

#endif // HEXAD_TEST_UNIT_MODEL_TEMPORARYFOLDER_H
