//===- TextFile.cpp - A text file that diagnostics can show ---------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TextFile.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;

std::optional<llvm::StringRef> hexad::openTextFile(llvm::StringRef path,
                                                   uint64_t maxBytes,
                                                   llvm::SourceMgr &sources,
                                                   MLIRContext *context) {
  auto fail = [&](const llvm::Twine &message) {
    emitError(FileLineColLoc::get(context, path, 0, 0), message);
    return std::nullopt;
  };
  llvm::sys::fs::file_status status;
  if (std::error_code code = llvm::sys::fs::status(path, status))
    return fail(code.message());
  // A device or pipe would be read without end.
  if (!llvm::sys::fs::is_regular_file(status))
    return fail("expected a regular file");
  if (status.getSize() > maxBytes)
    return fail("expected a text of at most " + llvm::Twine(maxBytes) +
                " bytes, found " + llvm::Twine(status.getSize()));
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> buffer =
      llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return fail(buffer.getError().message());
  unsigned id = sources.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  return sources.getMemoryBuffer(id)->getBuffer();
}
