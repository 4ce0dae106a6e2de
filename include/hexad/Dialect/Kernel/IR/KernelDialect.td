//===- KernelDialect.td - The hexad_kernel dialect ---------*- tablegen -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_DIALECT_KERNEL_IR_KERNELDIALECT_TD
#define HEXAD_DIALECT_KERNEL_IR_KERNELDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Kernel_Dialect : Dialect {
  let name = "hexad_kernel";
  let cppNamespace = "::hexad::kernel";
  let summary = "Micro-kernels as ops, on tensors and on buffers";
  let description = [{
    What the inner loops of a compiled library do, one op for each micro-kernel,
    in destination-passing style: on tensors before bufferization, on memrefs
    after it. Each is lowered once, to loops, vector loads and `math.fma`
    (`hexad-kernel-to-vector`).

    Rows in this dialect are *padded*: the last dimension of a block of rows is a
    multiple of 16 elements (a `width` attribute tells how many count where that
    matters). What lies in the padding is never part of a result. The number of
    rows need not be a multiple of anything.

    Order of operations is part of each op's definition, so that the same inputs
    give the same bits on every target (docs/Spec.md, "Bits").

    Constraints that several ops share:

    - `kernel_c1`: buffers have static strides, the last of them 1.
    - `kernel_c2`: operands are all tensors or all buffers; those of `scatter_rows`
      and `mean_loss`, of `map_page` (outputs), and of `matmul`, `pack_keys` and
      `pack_values` (pages of a session), may be both.
    - `kernel_c3`: where rows are padded, the number of columns is static and a
      positive multiple of 16.
    - `kernel_c4`: `width` is positive and at most the number of columns.
    - `kernel_c5`: the operand has the shape of the destination.
    - `kernel_c6`: `eps` is finite and at least 0.
    - `kernel_c7`: statistics have 6 rows and, padded, a column for each row of the
      tile.
    - `kernel_c8`: a page of the KV cache has a static shape, panels are padded.
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::hexad::HexadDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def Kernel_TileAttr : AttrDef<Kernel_Dialect, "Tile"> {
  let mnemonic = "tile";
  let summary = "register tile of a matmul: rows and columns of accumulators";
  let description = [{
    Chosen from the target's table (`hexad/CodeGen/Target.h`); the passes after
    that only obey.

    - `tile_c1`: `rows` is positive.
    - `tile_c2`: `columns` is a positive multiple of 16.

    Example: `#hexad_kernel.tile<rows = 12, columns = 32>`.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

class Kernel_Op<string mnemonic, list<Trait> traits = []>
    : Op<Kernel_Dialect, mnemonic, traits>;

#endif // HEXAD_DIALECT_KERNEL_IR_KERNELDIALECT_TD
