//===- RuntimeArchive.h - The runtime that libraries carry ------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_DRIVER_RUNTIMEARCHIVE_H
#define HEXAD_DRIVER_RUNTIMEARCHIVE_H

#include "hexad/Driver/Sanitizer.h"

namespace hexad {

/// The contents of the static library `hexad_runtime`, or of the one that was
/// built with the sanitizer.
llvm::StringRef getRuntimeArchive(Sanitizer sanitizer);

} // namespace hexad

#endif // HEXAD_DRIVER_RUNTIMEARCHIVE_H
