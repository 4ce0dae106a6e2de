//===- Files.cpp - Reading and writing whole files ------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Model/Files.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"

using namespace llvm;
using namespace hexad;

Expected<std::unique_ptr<MemoryBuffer>> hexad::readRegularFile(StringRef path) {
  sys::fs::file_status status;
  if (std::error_code code = sys::fs::status(path, status))
    return createStringError(code, code.message());
  if (!sys::fs::is_regular_file(status))
    return createStringError("expected a regular file");
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(
      path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return createStringError(buffer.getError(), buffer.getError().message());
  return std::move(*buffer);
}

/// Writes to an open file and gives what went wrong.
static std::error_code writeTo(raw_fd_ostream &stream,
                               function_ref<void(raw_ostream &)> write) {
  write(stream);
  stream.flush();
  std::error_code code = stream.error();
  // An error that nobody looked at would end the program.
  stream.clear_error();
  return code;
}

std::error_code hexad::createUniqueFile(const Twine &stem,
                                        SmallVectorImpl<char> &path) {
  // LLVM's function of this name would replace any '%' of the stem too.
  for (int attempt = 0;; ++attempt) {
    SmallString<16> suffix;
    sys::fs::createUniquePath("%%%%%%%%", suffix, /*MakeAbsolute=*/false);
    path.clear();
    (stem + suffix).toVector(path);
    int file;
    std::error_code code = sys::fs::openFileForWrite(
        StringRef(path.data(), path.size()), file, sys::fs::CD_CreateNew);
    if (!code)
      return sys::Process::SafelyCloseFileDescriptor(file);
    if (code != std::errc::file_exists || attempt == 128)
      return code;
  }
}

Error hexad::writeOutputFile(StringRef path,
                             function_ref<void(raw_ostream &)> write) {
  auto fail = [&](std::error_code code) {
    return createStringError(code,
                             "cannot write '" + path + "': " + code.message());
  };
  std::error_code code;
  SmallString<128> target(path);
  sys::fs::file_status status;
  if (!sys::fs::status(path, status)) {
    if (!sys::fs::is_regular_file(status)) {
      raw_fd_ostream stream(path, code, sys::fs::CD_OpenExisting,
                            sys::fs::FA_Write, sys::fs::OF_None);
      if (!code)
        code = writeTo(stream, write);
      return code ? fail(code) : Error::success();
    }
    target.clear();
    if ((code = sys::fs::real_path(path, target)))
      return fail(code);
  }

  SmallString<128> temporary;
  if ((code = createUniqueFile(target + ".partial-", temporary)))
    return fail(code);
  sys::RemoveFileOnSignal(temporary);
  {
    raw_fd_ostream stream(temporary, code);
    if (!code)
      code = writeTo(stream, write);
  }
  if (!code)
    code = sys::fs::rename(temporary, target);
  if (code)
    sys::fs::remove(temporary);
  sys::DontRemoveFileOnSignal(temporary);
  return code ? fail(code) : Error::success();
}
