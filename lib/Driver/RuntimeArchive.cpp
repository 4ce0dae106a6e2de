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

asm(R"(
  .section .rodata
  .balign 16
  .globl hexad_runtime_archive_begin
  .hidden hexad_runtime_archive_begin
hexad_runtime_archive_begin:
  .incbin ")" HEXAD_RUNTIME_ARCHIVE R"("
  .globl hexad_runtime_archive_end
  .hidden hexad_runtime_archive_end
hexad_runtime_archive_end:
  .byte 0
  .text
)");
