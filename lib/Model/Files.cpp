//===- Files.cpp - Reading and writing whole files ------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Model/Files.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

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

  Expected<sys::fs::TempFile> file =
      sys::fs::TempFile::create(target + ".partial-%%%%%%");
  if (!file)
    return fail(errorToErrorCode(file.takeError()));
  {
    raw_fd_ostream stream(file->FD, /*shouldClose=*/false);
    code = writeTo(stream, write);
  }
  if (code) {
    consumeError(file->discard());
    return fail(code);
  }
  if (Error error = file->keep(target))
    return fail(errorToErrorCode(std::move(error)));
  return Error::success();
}
