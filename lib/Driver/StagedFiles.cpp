//===- StagedFiles.cpp - Files that appear together or not at all ---------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Driver/StagedFiles.h"
#include "hexad/Model/Files.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"

using namespace llvm;
using namespace hexad;

Expected<StagedFiles> StagedFiles::create(StringRef folder) {
  bool existed = sys::fs::exists(folder);
  if (std::error_code error = sys::fs::create_directories(
          folder, /*IgnoreExisting=*/true, sys::fs::all_all))
    return createStringError(error, "cannot make the output folder '%s': %s",
                             folder.str().c_str(), error.message().c_str());
  if (!sys::fs::is_directory(folder))
    return createStringError("the output path '%s' is not a folder",
                             folder.str().c_str());
  if (std::error_code error =
          sys::fs::access(folder, sys::fs::AccessMode::Write))
    return createStringError(error,
                             "cannot write to the output folder '%s': %s",
                             folder.str().c_str(), error.message().c_str());
  // The linker would take a path that begins so for an option, or for a file of
  // options.
  bool isOption = folder.starts_with("-") || folder.starts_with("@");
  StagedFiles staged(isOption ? "./" + folder.str() : folder.str());
  staged.madeFolder = !existed;
  return staged;
}

StagedFiles::~StagedFiles() {
  for (const File &file : files) {
    sys::fs::remove(file.temporary);
    sys::DontRemoveFileOnSignal(file.temporary);
  }
  // Stays if there is something in it.
  if (madeFolder)
    sys::fs::remove(folder);
}

Expected<std::string> StagedFiles::add(StringRef name) {
  SmallString<128> stem(folder), path;
  sys::path::append(stem, "." + (name.empty() ? "hexad" : name) + "-");
  if (std::error_code error = createUniqueFile(stem, path))
    return createStringError(error, "cannot make a file in '%s': %s",
                             folder.c_str(), error.message().c_str());
  sys::RemoveFileOnSignal(path);
  files.push_back({path.str().str(), name.str()});
  return files.back().temporary;
}

Error StagedFiles::write(StringRef name,
                         function_ref<Error(raw_pwrite_stream &)> write) {
  return writeFile(add(name), write).takeError();
}

Expected<std::string> StagedFiles::writeTemporary(StringRef contents) {
  return writeFile(add(""), [&](raw_pwrite_stream &os) {
    os << contents;
    return Error::success();
  });
}

Expected<std::string>
StagedFiles::writeFile(Expected<std::string> path,
                       function_ref<Error(raw_pwrite_stream &)> write) {
  if (!path)
    return path;
  std::error_code error;
  raw_fd_ostream os(*path, error);
  if (error)
    return createStringError(error, "cannot write '%s': %s", path->c_str(),
                             error.message().c_str());
  Error failure = write(os);
  os.close();
  if (!os.has_error()) {
    if (failure)
      return std::move(failure);
    return path;
  }
  // An error left in the stream would end the process.
  error = os.error();
  os.clear_error();
  consumeError(std::move(failure));
  return createStringError(error, "cannot write '%s': %s", path->c_str(),
                           error.message().c_str());
}

Expected<std::vector<StagedFile>> StagedFiles::commit() {
  std::vector<StagedFile> written;
  auto target = [&](const File &file) {
    SmallString<128> path(folder);
    sys::path::append(path, file.name);
    return path;
  };
  // The only way for a rename to fail that a user can cause: look before the
  // first one.
  for (const File &file : files)
    if (!file.name.empty() && sys::fs::is_directory(target(file)))
      return createStringError("cannot write '%s': it is a folder",
                               target(file).c_str());
  for (const File &file : files) {
    if (file.name.empty())
      continue;
    SmallString<128> path = target(file);
    if (std::error_code error = sys::fs::rename(file.temporary, path))
      return createStringError(error, "cannot write '%s': %s", path.c_str(),
                               error.message().c_str());
    sys::DontRemoveFileOnSignal(file.temporary);
    uint64_t bytes = 0;
    sys::fs::file_size(path, bytes);
    written.push_back({path.str().str(), bytes});
  }
  erase_if(files, [](const File &file) { return !file.name.empty(); });
  return written;
}
