//===- Passes.td - Passes that know the target ------------------*- tablegen -*-===//
//
// Part of the Hexad project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_CODEGEN_PASSES_TD
#define HEXAD_CODEGEN_PASSES_TD

include "mlir/Pass/PassBase.td"

def KernelToVectorPass : Pass<"hexad-kernel-to-vector", "::mlir::func::FuncOp"> {
  let summary = "Lower hexad_kernel ops on buffers to loops, vectors and math.fma";
  let description = [{
    Every `hexad_kernel` op but `barrier` becomes `scf` loops over `vector` loads,
    `math.fma` and stores, in the order of operations that the op's definition
    gives. Expects bufferized ops. Afterwards only `hexad_kernel.barrier` is left
    of the dialect.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // HEXAD_CODEGEN_PASSES_TD
