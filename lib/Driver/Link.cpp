//===- Link.cpp - Linking a library in process ----------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeArchive.h"
#include "hexad/Driver/Emission.h"
#include "hexad/Driver/StagedFiles.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

using namespace llvm;
using namespace hexad;

/// Where the loader found a library of this process; a machine without a
/// compiler has libc.so.6, but no libc.so.
static std::string findLoadedLibrary(StringRef name) {
  struct Search {
    StringRef name;
    std::string path;
  } search = {name, ""};
  dl_iterate_phdr(
      [](dl_phdr_info *object, size_t, void *data) {
        auto *search = static_cast<Search *>(data);
        if (sys::path::filename(object->dlpi_name) != search->name)
          return 0;
        search->path = object->dlpi_name;
        return 1;
      },
      &search);
  return search.path;
}

/// Only the header's functions are seen from outside.
static std::string makeVersionScript(const LibraryInfo &info) {
  std::string script = "{\n  global:\n";
  for (StringRef function : getExportedFunctions(info))
    script += "    " + info.prefix + "_" + function.str() + ";\n";
  return script + "  local: *;\n};\n";
}

/// Fails if the disk has no room for a file of so many bytes: the linker maps
/// its output, so a full disk would be a signal there.
static Error checkRoom(StagedFiles &files, uint64_t bytes) {
  Expected<std::string> path = files.writeTemporary("");
  if (!path)
    return path.takeError();
  int file;
  std::error_code error = sys::fs::openFileForReadWrite(
      *path, file, sys::fs::CD_OpenExisting, sys::fs::OF_None);
  if (!error) {
    error = std::error_code(posix_fallocate(file, 0, bytes),
                            std::generic_category());
    close(file);
  }
  sys::fs::remove(*path);
  if (error)
    return createStringError(error, "cannot write '%s': %s", path->c_str(),
                             error.message().c_str());
  return Error::success();
}

namespace {

/// A path for the linker's output. The linker writes to a temporary file beside
/// it first, and puts a random digit for each `%` of the path: a folder with
/// one in its name is reached by its number.
class OutputPath {
public:
  static Expected<OutputPath> create(StringRef path) {
    StringRef folder = sys::path::parent_path(path);
    if (!folder.contains('%'))
      return OutputPath(path.str());
    int number = open(folder.str().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (number < 0) {
      std::error_code error(errno, std::generic_category());
      return createStringError(error, "cannot open the folder '%s': %s",
                               folder.str().c_str(), error.message().c_str());
    }
    return OutputPath("/proc/self/fd/" + std::to_string(number) + "/" +
                          sys::path::filename(path).str(),
                      number);
  }
  OutputPath(OutputPath &&other)
      : path(std::move(other.path)), folder(std::exchange(other.folder, -1)) {}
  ~OutputPath() {
    if (folder >= 0)
      close(folder);
  }
  const std::string &get() const { return path; }

private:
  explicit OutputPath(std::string path, int folder = -1)
      : path(std::move(path)), folder(folder) {}
  std::string path;
  int folder;
};

} // namespace

Error hexad::linkLibrary(const LibraryInfo &info, StringRef objectPath,
                         StringRef libraryPath, Sanitizer sanitizer) {
  StringRef folder = sys::path::parent_path(libraryPath);
  Expected<StagedFiles> inputs =
      StagedFiles::create(folder.empty() ? "." : folder);
  if (!inputs)
    return inputs.takeError();
  StringRef runtime = getRuntimeArchive(sanitizer);
  Expected<std::string> archive = inputs->writeTemporary(runtime);
  if (!archive)
    return archive.takeError();
  Expected<std::string> script =
      inputs->writeTemporary(makeVersionScript(info));
  if (!script)
    return script.takeError();

  uint64_t objectBytes = 0;
  sys::fs::file_size(objectPath, objectBytes);
  // Beside what the inputs hold: headers, tables and the alignment of segments.
  constexpr uint64_t extraBytes = 64 << 10;
  if (Error error =
          checkRoom(*inputs, objectBytes + runtime.size() + extraBytes))
    return error;

  Expected<OutputPath> output = OutputPath::create(libraryPath);
  if (!output)
    return output.takeError();
  std::vector<std::string> arguments = {"ld.lld",
                                        "-shared",
                                        "--gc-sections",
                                        "--as-needed",
                                        "--build-id=sha1",
                                        "--hash-style=gnu",
                                        "--eh-frame-hdr",
                                        "-znow",
                                        "-zrelro",
                                        "-znoexecstack",
                                        "--threads=1",
                                        "--soname=" + info.getLibraryFile(),
                                        "--version-script=" + *script,
                                        "-o",
                                        output->get(),
                                        objectPath.str(),
                                        *archive};
  // The sanitizer is the program's.
  if (sanitizer == Sanitizer::None)
    arguments.push_back("--no-undefined");
  for (StringRef name : {"libm.so.6", "libc.so.6"}) {
    std::string path = findLoadedLibrary(name);
    if (path.empty())
      return createStringError("cannot link: this process has no %s",
                               name.str().c_str());
    arguments.push_back(path);
  }
  SmallVector<const char *> pointers;
  for (const std::string &argument : arguments)
    pointers.push_back(argument.c_str());
  std::string messages;
  raw_string_ostream os(messages);
  lld::Result result =
      lld::lldMain(pointers, os, os, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0)
    return createStringError("linking failed: " + StringRef(messages).rtrim());
  return sealLibrary(libraryPath);
}
