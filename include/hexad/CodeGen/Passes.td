//===- Passes.td - Passes that know the target -------------*- tablegen -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_CODEGEN_PASSES_TD
#define HEXAD_CODEGEN_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// tiles
//===----------------------------------------------------------------------===//

def TilePass : Pass<"hexad-tile", "::mlir::ModuleOp"> {
  let summary = "Give the function the ABI's form and tile blocks of rows and attention";
  let description = [{
    Expects the rows phase. The function's arguments become the extents and tables
    of `hexad/Runtime/abi.h` (`hexad.extent`, `hexad.pointer` say which), the inputs
    (flattened) and the outputs (buffers); its results are written to the latter.

    - A `hexad.rows` block becomes an `scf.forall` over the threads; each walks its
      rows, a multiple of 4 but for the last ones, in equal blocks of at most `block-rows`, with the
      block's ops on slices (through TilingInterface). `hexad.split` names how the
      rows are split: loops of one name give a thread the same rows.
    - `hexad.attention` becomes a loop that packs keys and values into pages, and
      one over (head, query tile) that walks the pages of the tile's segment. If
      it is causal, threads take items in turn, and odd heads go from the last
      tile to the first: of two tiles in a row the later one sees more keys.
    - Rectangles are gathered into rows and spread out again by index tables.
    - `hexad.experts` becomes a loop of one iteration that groups rows by expert, one
      in which each thread walks the experts and takes the rows that are its own, and
      one that sums what was made of a row.

    Afterwards buffers have room for the ABI's rounded numbers of rows; rows behind
    the last token are not computed. What will have padded columns is made by a
    `tensor.empty` marked `hexad.activations`.

    Before:

    ```mlir
    %y = hexad.rows (%a = %ids : tensor<?xi32>, %t = %table : tensor<10x8xf32>) -> tensor<?x8xf32> {
      %0 = hexad.embedding %a, %t : tensor<?xi32>, tensor<10x8xf32> -> tensor<?x8xf32>
      hexad.yield %0 : tensor<?x8xf32>
    }
    ```

    After (`%first` and `%mine` are the thread's first row and number of rows):

    ```mlir
    %0 = tensor.empty(%rows) {hexad.activations} : tensor<?x8xf32>
    %y = scf.forall (%thread) in (%threads) shared_outs(%out = %0) -> (tensor<?x8xf32>) {
      …
      %part = tensor.extract_slice %out[%first, 0] [%mine, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
      %new = scf.for %start = %c0 to %mine step %block iter_args(%p = %part) -> (tensor<?x8xf32>) {
        …
        %i = tensor.extract_slice %ids[%offset] [%size] [1] : tensor<?xi32> to tensor<?xi32>
        %e = hexad.embedding %i, %table : tensor<?xi32>, tensor<10x8xf32> -> tensor<?x8xf32>
        %n = tensor.insert_slice %e into %p[%start, 0] [%size, 8] [1, 1] : tensor<?x8xf32> into tensor<?x8xf32>
        scf.yield %n : tensor<?x8xf32>
      }
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %new into %out[%first, 0] [%mine, 8] [1, 1] : tensor<?x8xf32> into tensor<?x8xf32>
      }
    } {hexad.split = "tokens"}
    ```
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
    become its epilogue. Afterwards `hexad.parameter` and `hexad.load` are all that
    is left of the hexad dialect.

    Before:

    ```mlir
    hexad.parameter @down : tensor<20x35xf32> from "m.safetensors" ["d"]
    …
    %w = hexad.load @down : tensor<20x35xf32>
    %0 = hexad.linear %h, %w : tensor<?x35xf32>, tensor<20x35xf32> -> tensor<?x20xf32>
    %1 = hexad.add %0, %x : tensor<?x20xf32>
    ```

    After:

    ```mlir
    hexad.parameter @down.panels : tensor<2x35x16xf32> from "m.safetensors" ["d"] {panel = 16 : i64}
    …
    %w = hexad.load @down.panels : tensor<2x35x16xf32>
    %1 = hexad_kernel.matmul ins(%h, %w : tensor<?x48xf32>, tensor<2x35x16xf32>) residual(%x : tensor<?x32xf32>)
        outs(%place : tensor<?x32xf32>) {tile = #hexad_kernel.tile<rows = 6, columns = 16>} -> tensor<?x32xf32>
    ```
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

    Expects what one-shot bufferization made. Afterwards there is no `memref.copy`:
    one that is not of all rows of a buffer, outside of parallel loops, is an error.

    Before:

    ```mlir
    memref.copy %x, %y : memref<?x32xf32> to memref<?x32xf32>
    ```

    After:

    ```mlir
    scf.forall (%thread) in (%threads) {
      … %first and %size: the thread's rows
      %from = memref.subview %x[%first, 0] [%size, 32] [1, 1] : memref<?x32xf32> to memref<?x32xf32, strided<[32, 1], offset: ?>>
      %to = memref.subview %y[%first, 0] [%size, 32] [1, 1] : memref<?x32xf32> to memref<?x32xf32, strided<[32, 1], offset: ?>>
      hexad_kernel.copy_rows ins(%from : memref<?x32xf32, strided<[32, 1], offset: ?>>) outs(%to : memref<?x32xf32, strided<[32, 1], offset: ?>>)
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::hexad::kernel::KernelDialect"];
}

def PlanMemoryPass : Pass<"hexad-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Place every buffer in one arena and every parameter in the weights";
  let description = [{
    Each `memref.alloc` becomes a view of an arena that the function gets as an
    argument; buffers whose lives do not meet share a slot. Lives are counted
    between barriers, so that sharing needs no further synchronization;
    `hexad.nowait` marks an `scf.forall` that needs no barrier behind it, because
    the next has the same `hexad.split`. A buffer made inside an `scf.forall`
    belongs to a thread.

    Each `hexad.load` becomes a view of the weights; `hexad.offset` on a parameter
    says where it lies. The module gets `hexad.arena` (the arena's size: a constant
    and a coefficient for each extent of `hexad/Runtime/abi.h`, in bytes) and
    `hexad.weights_bytes`.

    Expects buffers, without copies, in a module of one function. Afterwards nothing
    allocates; a buffer whose size is not a multiple of one extent is an error.

    Before:

    ```mlir
    hexad.parameter @v : tensor<10xf32> from "m.safetensors" ["v"]
    func.func @f(%rows: index {hexad.extent = 1 : i64}) {
      %a = memref.alloc(%rows) : memref<?x32xf32>
      %v = hexad.load @v : memref<10xf32>
      …
    ```

    After:

    ```mlir
    module attributes {hexad.arena = array<i64: 0, 0, 128, 0, 0, 0, 0, 0, 0, 0>, hexad.weights_bytes = 64 : i64} {
      hexad.parameter @v : tensor<10xf32> from "m.safetensors" ["v"] {hexad.offset = 0 : i64}
      func.func @f(%rows: index {hexad.extent = 1 : i64}, %arena: memref<?xi8> {hexad.pointer = 0 : i64},
                   %weights: memref<?xi8> {hexad.pointer = 1 : i64}) {
        %a = memref.view %arena[%c0][%rows] : memref<?xi8> to memref<?x32xf32>
        %v = memref.view %weights[%c0][] : memref<?xi8> to memref<10xf32>
        …
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
                           "::hexad::kernel::KernelDialect"];
}

//===----------------------------------------------------------------------===//
// team
//===----------------------------------------------------------------------===//

def SplitColumnsPass : Pass<"hexad-split-columns", "::mlir::func::FuncOp"> {
  let summary = "Let threads share the columns of matrices where there are few rows";
  let description = [{
    A loop over threads gives each its share of the rows. With few rows (a step of
    decoding), threads would have no work, or each would read all weights for a
    little of it. This pass lets them share the panels of a block's matrices instead,
    with fewer than 12 strips or fewer strips than threads, which is
    decided at run time. Then every thread acts as the only one, in the scratch memory of the
    first: it has all rows, and of each `hexad_kernel.matmul` its share of the
    panels. Other kernels are the first thread's. Barriers stand around
    matmuls, and behind the block. Order and operations of no element change.

    Applies to each `scf.forall` with a `hexad.split` that multiplies by matrices,
    and has nothing but kernels (no `fold`) that reads or writes memory; others
    get the barrier alone, if they are marked `hexad.nowait`.
    Expects planned memory.

    Before:

    ```mlir
    scf.forall (%t) in (%threads) {
      %rows, %result = … // of thread %t of %threads
      hexad_kernel.matmul ins(%rows, %panels : …) outs(%result : …)
    } {hexad.split = "tokens"}
    ```

    After:

    ```mlir
    %most = arith.maxui %threads, %c12 : index
    %few = arith.cmpi ult, %strips, %most : index
    scf.forall (%t) in (%threads) {
      %as = arith.select %few, %c0, %t : index
      %team = arith.select %few, %c1, %threads : index
      %rows, %result = … // of thread %as of %team
      %part = memref.subview %panels[%first, 0, 0] …
      %columns = memref.subview %result[0, %column] …
      hexad_kernel.matmul ins(%rows, %part : …) outs(%columns : …)
      scf.if %few {
        hexad_kernel.barrier
      }
    } {hexad.split = "tokens"}
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::hexad::kernel::KernelDialect"];
}

def FormTeamPass : Pass<"hexad-form-team", "::mlir::func::FuncOp"> {
  let summary = "Let every thread run the whole function, with barriers in place of scf.forall";
  let description = [{
    Each `scf.forall` becomes a loop over the thread's own static range of its
    iterations (marked `hexad.cyclic`: over each `threads`-th of them), followed by a barrier unless it is marked `hexad.nowait`. The number
    of the thread becomes an argument, `hexad.thread`.

    Expects planned memory. Afterwards there is no `scf.forall` and no
    `hexad_kernel.thread`, and every thread of the team calls the function.

    Before:

    ```mlir
    func.func @f(%threads: index {hexad.extent = 0 : i64}, %pages: index, %m: memref<?xindex>) {
      scf.forall (%page) in (%pages) {
        memref.store %page, %m[%page] : memref<?xindex>
      }
      return
    }
    ```

    After:

    ```mlir
    func.func @f(%threads: index {hexad.extent = 0 : i64}, %pages: index, %m: memref<?xindex>, %thread: index {hexad.thread}) {
      %0 = arith.muli %pages, %thread : index
      %begin = arith.divui %0, %threads : index
      %next = arith.addi %thread, %c1 : index
      %1 = arith.muli %pages, %next : index
      %end = arith.divui %1, %threads : index
      scf.for %page = %begin to %end step %c1 {
        memref.store %page, %m[%page] : memref<?xindex>
      }
      hexad_kernel.barrier
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::hexad::kernel::KernelDialect"];
}

//===----------------------------------------------------------------------===//
// llvm
//===----------------------------------------------------------------------===//

def KernelToVectorPass : Pass<"hexad-kernel-to-vector", "::mlir::ModuleOp"> {
  let summary = "Lower hexad_kernel ops on buffers to loops, vectors and math.fma";
  let description = [{
    Every `hexad_kernel` op but those of the team becomes `scf` loops over `vector`
    loads, `math.fma` and stores, in the order of operations that the op's
    definition gives. Expects buffers. Afterwards only `hexad_kernel.thread` and
    `hexad_kernel.barrier` are left of the dialect. The loops over k for the last
    rows of a matmul, and for few rows, are private functions that all matmuls call.

    Before:

    ```mlir
    hexad_kernel.add ins(%x, %y : memref<?x64xf32>, memref<?x64xf32>) outs(%x : memref<?x64xf32>)
    ```

    After:

    ```mlir
    scf.for %m = %c0 to %rows step %c1 {
      scf.for %c = %c0 to %c64 step %c16 {
        %0 = vector.load %x[%m, %c] : memref<?x64xf32>, vector<16xf32>
        %1 = vector.load %y[%m, %c] : memref<?x64xf32>, vector<16xf32>
        %2 = arith.addf %0, %1 : vector<16xf32>
        vector.store %2, %x[%m, %c] : memref<?x64xf32>, vector<16xf32>
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect", "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def LowerBarriersPass : Pass<"hexad-lower-barriers", "::mlir::ModuleOp"> {
  let summary = "Call the carried runtime at barriers";
  let description = [{
    The function gets the team as its last argument; `hexad_kernel.barrier` becomes
    a call of `hexad_team_barrier`, which the carried runtime defines. Expects the
    team phase. Afterwards no `hexad_kernel.barrier` is left.

    Before:

    ```mlir
    func.func @f(%n: index) {
      hexad_kernel.barrier
      return
    }
    ```

    After:

    ```mlir
    llvm.func hidden @hexad_team_barrier(!llvm.ptr)
    func.func @f(%n: index, %team: !llvm.ptr {hexad.pointer = 2 : i64}) {
      llvm.call @hexad_team_barrier(%team) : (!llvm.ptr) -> ()
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::func::FuncDialect"];
}

def LowerPagesPass : Pass<"hexad-lower-pages", "::mlir::ModuleOp"> {
  let summary = "Turn pages of caches into addresses";
  let description = [{
    `hexad_kernel.page` becomes loads of a `hexad_cache_place` (`hexad/Runtime/abi.h`),
    integer arithmetic and `llvm.inttoptr`; the memref is made through an
    unrealized cast of an LLVM descriptor. Afterwards no `hexad_kernel.page` is left.

    Before:

    ```mlir
    %keys = hexad_kernel.page %places[%c0, %page, %layer] offset 0 : memref<?xi64> -> memref<4x64x32xf32>
    ```

    After (shortened):

    ```mlir
    %slots = memref.load %places[%c1] : memref<?xi64>
    %slot = arith.remui %page_i64, %slots : i64
    %base = memref.load %places[%c0] : memref<?xi64>
    …
    %pointer = llvm.inttoptr %address : i64 to !llvm.ptr
    …
    %keys = builtin.unrealized_conversion_cast %descriptor : !llvm.struct<…> to memref<4x64x32xf32>
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def LowerEntryPass : Pass<"hexad-lower-entry", "::mlir::ModuleOp"> {
  let summary = "Put the ABI's entry function around the lowered function";
  let description = [{
    Adds `hexad_entry(i64 thread, ptr extents, ptr pointers)`, which loads what the
    function takes and calls it; memrefs are made through unrealized casts of LLVM
    descriptors, which the conversions to the LLVM dialect resolve. Expects the team
    phase, with barriers lowered, in a module of one function. Afterwards that
    function is private and has no hexad attributes.

    Before:

    ```mlir
    func.func @f(%rows: index {hexad.extent = 1 : i64}, %team: !llvm.ptr {hexad.pointer = 2 : i64}, %thread: index {hexad.thread}) {
      return
    }
    ```

    After:

    ```mlir
    func.func private @f(%rows: index, %team: !llvm.ptr, %thread: index) {
      return
    }
    func.func @hexad_entry(%t: i64, %extents: !llvm.ptr, %pointers: !llvm.ptr) {
      %0 = llvm.getelementptr %extents[1] : (!llvm.ptr) -> !llvm.ptr, i64
      %1 = llvm.load %0 : !llvm.ptr -> i64
      %rows = builtin.unrealized_conversion_cast %1 : i64 to index
      %2 = llvm.getelementptr %pointers[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
      %team = llvm.load %2 : !llvm.ptr -> !llvm.ptr
      %thread = builtin.unrealized_conversion_cast %t : i64 to index
      call @f(%rows, %team, %thread) : (index, !llvm.ptr, index) -> ()
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // HEXAD_CODEGEN_PASSES_TD
