//===- Link.cpp - Linking a library in process ----------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Driver/Emission.h"
#include "hexad/Driver/StagedFiles.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/Path.h"
#include <link.h>

LLD_HAS_DRIVER(elf)

using namespace llvm;
using namespace hexad;

// The archive of the carried runtime (RuntimeArchive.cpp).
extern "C" const char hexad_runtime_archive_begin[];
extern "C" const char hexad_runtime_archive_end[];

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
  for (StringRef function : getExportedFunctions())
    script += "    " + info.prefix + "_" + function.str() + ";\n";
  return script + "  local: *;\n};\n";
}

Error hexad::linkLibrary(const LibraryInfo &info, StringRef objectPath,
                         StringRef libraryPath) {
  StringRef folder = sys::path::parent_path(libraryPath);
  Expected<StagedFiles> inputs =
      StagedFiles::create(folder.empty() ? "." : folder);
  if (!inputs)
    return inputs.takeError();
  Expected<std::string> archive = inputs->writeTemporary(
      StringRef(hexad_runtime_archive_begin,
                hexad_runtime_archive_end - hexad_runtime_archive_begin));
  if (!archive)
    return archive.takeError();
  Expected<std::string> script =
      inputs->writeTemporary(makeVersionScript(info));
  if (!script)
    return script.takeError();

  std::vector<std::string> arguments = {"ld.lld",
                                        "-shared",
                                        "--no-undefined",
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
                                        libraryPath.str(),
                                        objectPath.str(),
                                        *archive};
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
