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
    - weights are loaded, not computed,
    - segments of images have a row for each patch and each row of the prefix.

    Expects a model as readers make it, before any other pass. Changes nothing; what
    it refuses is an error. For example, this reads behind the table's end:

    ```mlir
    hexad.parameter @table : tensor<10x4xf32> from "m.safetensors" ["t"]
    func.func @ids(%ids: tensor<?x?xi32> {hexad.limit = 10 : i64}, %mask: tensor<?x?xi32>) {
      %segments = hexad.segments %mask : tensor<?x?xi32>
      %packed = hexad.pack_rows %ids, %segments : tensor<?x?xi32> -> tensor<?xi32>
      %t = hexad.load @table : tensor<10x4xf32>
      // error: expected a table with an entry for all ids below 10, found 10 entries and offset 1
      %e = hexad.embedding %packed, %t {offset = 1 : i64} : tensor<?xi32>, tensor<10x4xf32> -> tensor<?x4xf32>
      return
    }
    ```
  }];
}

def FuseProjectionsPass : Pass<"hexad-fuse-projections", "::mlir::ModuleOp"> {
  let summary = "Make one linear op of the query, key and value projections of an attention";
  let description = [{
    Three `hexad.linear` on the same rows that feed only one `hexad.attention` become
    one, whose parameter concatenates the three, layer by layer; the attention reads
    its parts by `offsets`. Expects hexad IR. Afterwards no load of the three
    parameters is left, and parameters that only they read are gone.

    Where that is not possible (other rows, parameters of different files or kinds,
    another use of a projection) the attention stays as it is, and a remark says so.

    Before:

    ```mlir
    %q = hexad.linear %x, %qw : tensor<?x8xf32>, tensor<8x8xf32> -> tensor<?x8xf32>
    %k = hexad.linear %x, %kw : tensor<?x8xf32>, tensor<4x8xf32> -> tensor<?x4xf32>
    %v = hexad.linear %x, %vw : tensor<?x8xf32>, tensor<4x8xf32> -> tensor<?x4xf32>
    %o = hexad.attention %q, %k, %v, %s {heads = 2 : i64, kv_heads = 1 : i64, head_dim = 4 : i64, scale = 0.5 : f64}
        : tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x4xf32> -> tensor<?x8xf32>
    ```

    After:

    ```mlir
    %w = hexad.load @query_key_value.weight[%layer] : tensor<16x8xf32>
    %qkv = hexad.linear %x, %w : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x16xf32>
    %o = hexad.attention %qkv, %qkv, %qkv, %s {heads = 2 : i64, kv_heads = 1 : i64, head_dim = 4 : i64, offsets = array<i64: 0, 8, 12>, scale = 0.5 : f64}
        : tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x16xf32> -> tensor<?x8xf32>
    ```
  }];
}

def LowerPatchifyPass : Pass<"hexad-lower-patchify", "::mlir::ModuleOp"> {
  let summary = "Make hexad.patches and hexad.linear of hexad.patchify";
  let description = [{
    The filters become a matrix with a row for each; their parameter gets that shape,
    which changes no element and no order. Expects a model that `hexad-check-model`
    accepts. Afterwards there is no `hexad.patchify`, and no parameter of filters that
    only it has read.

    Before:

    ```mlir
    hexad.parameter @w : tensor<60x3x8x8xf32> from "m.safetensors" ["w"]
    %w = hexad.load @w : tensor<60x3x8x8xf32>
    %x = hexad.patchify %image, %w bias %b, %segments {prefix = 1 : i64}
        : tensor<?x3x32x48xf32>, tensor<60x3x8x8xf32>, tensor<60xf32> -> tensor<?x60xf32>
    ```

    After:

    ```mlir
    hexad.parameter @w.matrix : tensor<60x192xf32> from "m.safetensors" ["w"]
    %elements = hexad.elements %segments : tensor<?xi32>
    %p = hexad.patches %elements, %image {patch = array<i64: 8, 8>, prefix = 1 : i64} : tensor<?xi32>, tensor<?x3x32x48xf32> -> tensor<?x192xf32>
    %w = hexad.load @w.matrix : tensor<60x192xf32>
    %x = hexad.linear %p, %w bias %b : tensor<?x192xf32>, tensor<60x192xf32>, tensor<60xf32> -> tensor<?x60xf32>
    ```
  }];
}

def FormRowsPass : Pass<"hexad-form-rows", "::mlir::func::FuncOp"> {
  let summary = "Group row-local ops into hexad.rows blocks";
  let description = [{
    A block is a run of row-local ops with at most one linear op: where a second
    one would come, or another op than loads and the like, a new block begins. So
    what stands behind a linear op (bias, activation, residual sum, norm) is in its
    block. Rows of tokens and rows of segments are never in one block. What later
    ops need is yielded.

    Expects hexad IR. Afterwards every row-local op is in a `hexad.rows`.

    Before:

    ```mlir
    %0 = hexad.linear %x, %up : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x16xf32>
    %1 = hexad.activation gelu %0 : tensor<?x16xf32>
    %2 = hexad.linear %1, %down : tensor<?x16xf32>, tensor<8x16xf32> -> tensor<?x8xf32>
    %3 = hexad.add %2, %x : tensor<?x8xf32>
    ```

    After:

    ```mlir
    %0 = hexad.rows (%a = %x : tensor<?x8xf32>, %w = %up : tensor<16x8xf32>) -> tensor<?x16xf32> {
      %2 = hexad.linear %a, %w : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x16xf32>
      %3 = hexad.activation gelu %2 : tensor<?x16xf32>
      hexad.yield %3 : tensor<?x16xf32>
    }
    %1 = hexad.rows (%a = %0 : tensor<?x16xf32>, %w = %down : tensor<8x16xf32>, %r = %x : tensor<?x8xf32>) -> tensor<?x8xf32> {
      %2 = hexad.linear %a, %w : tensor<?x16xf32>, tensor<8x16xf32> -> tensor<?x8xf32>
      %3 = hexad.add %2, %r : tensor<?x8xf32>
      hexad.yield %3 : tensor<?x8xf32>
    }
    ```
  }];
}

#endif // HEXAD_DIALECT_HEXAD_TRANSFORMS_PASSES_TD
