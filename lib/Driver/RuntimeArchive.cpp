//===- RuntimeArchive.cpp - The carried runtime, inside the driver --------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The archive's bytes are part of the program, so that it works wherever it is
// moved to. HEXAD_RUNTIME_ARCHIVE is the archive's path in the build.
//
//===----------------------------------------------------------------------===//

#include "RuntimeArchive.h"

using namespace llvm;
using namespace hexad;

#define HEXAD_EMBED(NAME, FILE)                                                \
  asm(".section .rodata\n"                                                     \
      ".balign 16\n"                                                           \
      ".globl " #NAME "_begin\n"                                               \
      ".hidden " #NAME "_begin\n" #NAME "_begin:\n"                            \
      ".incbin \"" FILE "\"\n"                                                 \
      ".globl " #NAME "_end\n"                                                 \
      ".hidden " #NAME "_end\n" #NAME "_end:\n"                                \
      ".byte 0\n"                                                              \
      ".text\n");                                                              \
  extern "C" const char NAME##_begin[];                                        \
  extern "C" const char NAME##_end[];

HEXAD_EMBED(hexad_runtime_archive, HEXAD_RUNTIME_ARCHIVE)
HEXAD_EMBED(hexad_runtime_address_archive, HEXAD_RUNTIME_ADDRESS_ARCHIVE)
HEXAD_EMBED(hexad_runtime_thread_archive, HEXAD_RUNTIME_THREAD_ARCHIVE)

StringRef hexad::getRuntimeArchive(Sanitizer sanitizer) {
  switch (sanitizer) {
  case Sanitizer::None:
    return StringRef(hexad_runtime_archive_begin,
                     hexad_runtime_archive_end - hexad_runtime_archive_begin);
  case Sanitizer::Address:
    return StringRef(hexad_runtime_address_archive_begin,
                     hexad_runtime_address_archive_end -
                         hexad_runtime_address_archive_begin);
  case Sanitizer::Thread:
    return StringRef(hexad_runtime_thread_archive_begin,
                     hexad_runtime_thread_archive_end -
                         hexad_runtime_thread_archive_begin);
  }
}
