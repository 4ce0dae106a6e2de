//===- KernelJit.h - Kernels compiled in process ----------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For tests and benchmarks of hexad_kernel ops: text in, machine code out, for
// any target that this machine can run.
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_CODEGEN_KERNELJIT_H
#define HEXAD_CODEGEN_KERNELJIT_H

#include "hexad/CodeGen/Target.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <array>
#include <memory>

namespace llvm::orc {
class LLJIT;
} // namespace llvm::orc

namespace hexad {

/// A memref argument of a compiled function, passed by address.
template <typename Element, int rank> struct Buffer {
  Element *allocated, *aligned;
  int64_t offset = 0;
  std::array<int64_t, rank> sizes, strides;

  /// A row-major buffer; `strides` may be changed afterwards.
  Buffer(Element *data, std::array<int64_t, rank> sizes)
      : allocated(data), aligned(data), sizes(sizes) {
    int64_t stride = 1;
    for (int i = rank - 1; i >= 0; --i) {
      strides[i] = stride;
      stride *= sizes[i];
    }
  }
};

/// The functions of one module, compiled.
class KernelJit {
public:
  /// Compiles the functions of a module of `hexad_kernel` ops on memrefs. Those
  /// to be called have the attribute `llvm.emit_c_interface`.
  static llvm::Expected<std::unique_ptr<KernelJit>>
  create(llvm::StringRef source, const Target &target);
  ~KernelJit();

  /// Calls function `name`; buffers are passed as `Buffer *`, indices as
  /// int64_t.
  template <typename... Arguments>
  void call(llvm::StringRef name, Arguments... arguments) {
    reinterpret_cast<void (*)(Arguments...)>(lookup(name))(arguments...);
  }

private:
  explicit KernelJit(std::unique_ptr<llvm::orc::LLJIT> jit);
  void *lookup(llvm::StringRef name);

  std::unique_ptr<llvm::orc::LLJIT> jit;
  llvm::StringMap<void *> functions; ///< those looked up so far
};

} // namespace hexad

#endif // HEXAD_CODEGEN_KERNELJIT_H
