//===- SanitizerDefaults.cpp - Options of instrumented programs -----------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of every program that is built with the address sanitizer.
//
//===----------------------------------------------------------------------===//

// LLVM's bump allocators poison what they have not handed out. They do so where
// Hexad uses them, but Debian's libMLIR, which uses the same ones, does not
// take the poison away.
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0";
}
