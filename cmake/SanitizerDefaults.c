/*===- SanitizerDefaults.c - Options of instrumented programs -------*- C -*-===
 *
 * Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * Linked into programs that are built with the address sanitizer.
 */

const char *__asan_default_options(void);

/* LLVM's bump allocators poison what they have not handed out. They do so where
 * Hexad uses them, but Debian's libMLIR, which uses the same ones, does not take
 * the poison away. */
const char *__asan_default_options(void) { return "allow_user_poisoning=0"; }
