//===- Passes.td - Passes that know the target -------------*- tablegen -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
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

//===----------------------------------------------------------------------===//
// tiles
//===----------------------------------------------------------------------===//

def TilePass : Pass<"hexad-tile", "::mlir::ModuleOp"> {
  let summary = "Give the function the ABI's form and tile blocks of rows and attention";
  let description = [{
    Expects the rows phase. The function's arguments become the extents and tables
    of `hexad/Runtime/abi.h`, the inputs (flattened) and the outputs (buffers);
    its results are written to the latter.

    - A `hexad.rows` block becomes an `scf.forall` over the threads; each walks its
      strips of `tile-rows` rows in equal blocks of at most `block-rows`, with the block's
      ops on slices (through TilingInterface).
    - `hexad.attention` becomes a loop that packs keys and values into pages, and
      one over (query tile, head) that walks the pages of the tile's segment.
    - Rectangles are gathered into rows and spread out again by index tables.

    Numbers of rows are multiples of `tile-rows` from here on: what lies behind the
    last token is computed and never looked at.
  }];
  let options = [
    Option<"tileRows", "tile-rows", "int64_t", "12", "rows of the matmul's register tile">,
    Option<"tileColumns", "tile-columns", "int64_t", "32", "columns of the matmul's register tile">,
    Option<"blockRows", "block-rows", "int64_t", "96", "most rows of a block, a multiple of tile-rows">,
    Option<"queryTile", "query-tile", "int64_t", "60", "queries of an attention tile, a multiple of tile-rows">,
    Option<"page", "page", "int64_t", "128", "keys of a page">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect", "::hexad::kernel::KernelDialect"];
}

//===----------------------------------------------------------------------===//
// kernels
//===----------------------------------------------------------------------===//

def LowerToKernelsPass : Pass<"hexad-lower-to-kernels", "::mlir::ModuleOp"> {
  let summary = "Replace hexad ops on row slices by hexad_kernel ops and pack the parameters";
  let description = [{
    Expects the tiles phase. Columns of activations are padded to a multiple of
    `tile-columns`, weights of linear ops become panels (visible in the
    parameter's type), and each hexad op becomes `hexad_kernel` ops that write to
    where their result goes. An activation and a residual sum behind a linear op
    become its epilogue.
  }];
  let options = [
    Option<"tileRows", "tile-rows", "int64_t", "12", "rows of the matmul's register tile">,
    Option<"tileColumns", "tile-columns", "int64_t", "32", "columns of the matmul's register tile">,
    Option<"blockRows", "block-rows", "int64_t", "96", "most rows of a block, a multiple of tile-rows">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect", "::hexad::kernel::KernelDialect"];
}

//===----------------------------------------------------------------------===//
// buffers
//===----------------------------------------------------------------------===//

def LowerCopiesPass : Pass<"hexad-lower-copies", "::mlir::func::FuncOp"> {
  let summary = "Let the team copy what bufferization had to copy";
  let description = [{
    A value that is needed after its buffer was overwritten, such as one that enters
    a loop and is used behind it, has been given a second buffer. The `memref.copy`
    becomes an `scf.forall` in which each thread copies some of the rows.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::hexad::kernel::KernelDialect"];
}

def PlanMemoryPass : Pass<"hexad-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Place every buffer in one arena and every parameter in the weights";
  let description = [{
    Expects buffers. Each `memref.alloc` becomes a view of an arena that the
    function gets as an argument; buffers whose lives do not meet share a slot.
    Lives are counted between barriers, so that sharing needs no further
    synchronization. A buffer made inside an `scf.forall` belongs to a thread.
    Each `hexad.load` becomes a view of the weights; `hexad.offset` on a parameter
    says where it lies. The module gets `hexad.arena` (the arena's size: a constant
    and a coefficient for each extent of `hexad/Runtime/abi.h`, in bytes) and
    `hexad.weights_bytes`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
                           "::hexad::kernel::KernelDialect"];
}

//===----------------------------------------------------------------------===//
// team
//===----------------------------------------------------------------------===//

def FormTeamPass : Pass<"hexad-form-team", "::mlir::func::FuncOp"> {
  let summary = "Let every thread run the whole function: scf.forall to ranges and barriers";
  let description = [{
    Each `scf.forall` becomes a loop over the thread's own static range of its
    iterations, followed by a barrier unless it is marked `hexad.nowait`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::hexad::kernel::KernelDialect"];
}

//===----------------------------------------------------------------------===//
// llvm
//===----------------------------------------------------------------------===//

def LowerBarriersPass : Pass<"hexad-lower-barriers", "::mlir::ModuleOp"> {
  let summary = "Barriers to calls of the carried runtime";
  let description = [{
    The function gets the team as its last argument; `hexad_kernel.barrier` becomes
    a call of `hexad_team_barrier`.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::func::FuncDialect"];
}

def LowerEntryPass : Pass<"hexad-lower-entry", "::mlir::ModuleOp"> {
  let summary = "The entry function of the ABI around the lowered function";
  let description = [{
    Expects the team phase, with barriers lowered. Adds `hexad_entry(i64 thread,
    ptr extents, ptr pointers)`, which loads what the function takes and calls it;
    memrefs are made through unrealized casts of LLVM descriptors.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // HEXAD_CODEGEN_PASSES_TD
