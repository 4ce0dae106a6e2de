//===- Optimize.h - LLVM's optimizations of compiled code -------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_CODEGEN_OPTIMIZE_H
#define HEXAD_CODEGEN_OPTIMIZE_H

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace hexad {

/// LLVM's O3 but for what hexad-kernel-to-vector has done: no loop is unrolled
/// or vectorized. The loops that need it are; unrolling the others makes code a
/// third larger and nothing faster.
void optimize(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace hexad

#endif // HEXAD_CODEGEN_OPTIMIZE_H
