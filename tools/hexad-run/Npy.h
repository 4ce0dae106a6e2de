//===- Npy.h - Arrays in NumPy's file format --------------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_TOOLS_HEXADRUN_NPY_H
#define HEXAD_TOOLS_HEXADRUN_NPY_H

#include "hexad/Model/Safetensors.h"

namespace hexad {

/// An array of an .npy file; `tensor.bytes` point into `buffer`.
struct NpyArray {
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  StoredTensor tensor;
};

/// Reads int32 or int64 elements in C order, little-endian. Fails with a
/// message that begins with `path`.
llvm::Expected<NpyArray> readNpy(llvm::StringRef path);

} // namespace hexad

#endif // HEXAD_TOOLS_HEXADRUN_NPY_H
