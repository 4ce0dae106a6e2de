//===- Passes.td - hexad to hexad --------------------------*- tablegen -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_DIALECT_HEXAD_TRANSFORMS_PASSES_TD
#define HEXAD_DIALECT_HEXAD_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def CheckModelPass : Pass<"hexad-check-model", "::mlir::ModuleOp"> {
  let summary = "Refuse models that read what is not there";
  let description = [{
    Checks what no op can check of itself, so that compiled code cannot read or
    write out of bounds:

    - each id and position has an entry in the table that it chooses from
      (`hexad.limit`, `hexad.position_limit`),
    - layers of parameters and members of stacks exist, for every iteration of the
      loops around,
    - ops on tokens get rows of tokens, ops on two rows get rows of the same kind
      (tokens or segments), loops carry rows and keep their kind,
    - weights are loaded, not computed.

    Changes nothing.
  }];
}

def FuseProjectionsPass : Pass<"hexad-fuse-projections", "::mlir::ModuleOp"> {
  let summary = "Make one linear op of the query, key and value projections of an attention";
  let description = [{
    Three `hexad.linear` on the same rows that feed only one `hexad.attention` become
    one, whose parameter concatenates the three; the attention reads its parts by
    `offsets`.
  }];

}

def FormRowsPass : Pass<"hexad-form-rows", "::mlir::func::FuncOp"> {
  let summary = "Group row-local ops into hexad.rows blocks";
  let description = [{
    A block is one linear op with the norms in front of it that only it needs, and
    the activation, residual sum and norm behind it.
  }];
}

#endif // HEXAD_DIALECT_HEXAD_TRANSFORMS_PASSES_TD
