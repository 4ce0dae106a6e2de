//===- EchoLibrary.h - A library whose code is written by hand --*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_TEST_UNIT_DRIVER_ECHOLIBRARY_H
#define HEXAD_TEST_UNIT_DRIVER_ECHOLIBRARY_H

#include "hexad/Driver/LibraryInfo.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Error.h"
#include <string>

namespace hexad::test {

/// A folder that is removed with everything in it.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  std::string file(llvm::StringRef name) const;
  llvm::StringRef getPath() const { return path; }

private:
  llvm::SmallString<128> path;
};

/// What an echo library is: inputs `input_ids` (limit 1000), `attention_mask`
/// and `token_type_ids` (limit 2, both optional); outputs `echo`
/// f32[batch, seq, 2] with id and position of each real element, `firsts`
/// f32[batch, 1] with each segment's first row or -1, and the stack `hidden`
/// f32[2, batch, seq, 2]: echo, echo.
LibraryInfo getEchoInfo();

/// Its code, in the LLVM dialect.
extern const char *const echoModule;

/// What a library with sessions is: inputs `input_ids` (limit 10) and
/// `attention_mask`, output `logits`; the token after id i at position p is
/// (i + p) mod 10: its logit is 1, the others' are 0. 64 positions.
LibraryInfo getNextInfo();
extern const char *const nextModule;

/// Emits and links a library of code in the LLVM dialect and writes its weights
/// into `folder`; returns the library's path.
llvm::Expected<std::string> makeLibrary(const LibraryInfo &info,
                                        llvm::StringRef text,
                                        llvm::StringRef folder);
/// The same with the echo library's code.
llvm::Expected<std::string> makeEchoLibrary(const LibraryInfo &info,
                                            llvm::StringRef folder);

/// The text of a file, for assertions.
std::string readFile(llvm::StringRef path);

} // namespace hexad::test

#endif // HEXAD_TEST_UNIT_DRIVER_ECHOLIBRARY_H
