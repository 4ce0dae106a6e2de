//===- KernelVisionOps.td - Kernels of images --------------*- tablegen -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_DIALECT_KERNEL_IR_KERNELVISIONOPS_TD
#define HEXAD_DIALECT_KERNEL_IR_KERNELVISIONOPS_TD

include "hexad/Dialect/Kernel/IR/KernelBase.td"

def Kernel_Images : Kernel_Shaped<[F32], 4, "images x channels x height x width of f32">;

def Kernel_GatherPatchesOp : Kernel_DestinationOp<"gather_patches"> {
  let summary = "the pixels of patches as rows";
  let description = [{
    `hexad.patches`: the pixels of the patch that `elements[i]` says become the first
    C·P·Q columns of row i, channel by channel and row by row; columns behind become 0,
    and so do rows of the prefix and those whose element is negative.

    - `gather_patches_c1`: the images' channels, height and width are static, `patch` is
      two positive numbers that divide height and width.
    - `gather_patches_c2`: `destination` has at least C·P·Q columns.
    - `gather_patches_c3`: `elements` has an element for each row of `destination`.
    - `gather_patches_c4`: `prefix` is from 0 to 2^31 - 1.

    Example:

    ```mlir
    hexad_kernel.gather_patches ins(%images, %elements : memref<?x3x32x48xf32>, memref<?xi32>) outs(%x : memref<?x192xf32>)
        {patch = array<i64: 8, 8>, prefix = 1 : i64}
    ```
  }];
  let arguments = (ins Kernel_Images:$images, Kernel_Indices:$elements, Kernel_Rows:$destination,
                       DenseI64ArrayAttr:$patch, DefaultValuedAttr<I64Attr, "0">:$prefix);
  let assemblyFormat = [{
    `ins` `(` $images `,` $elements `:` type($images) `,` type($elements) `)`
    `outs` `(` $destination `:` type($destination) `)` attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def Kernel_PrefixRowsOp : Kernel_DestinationOp<"prefix_rows"> {
  let summary = "rows at the first positions are those of a table; may work in place";
  let description = [{
    `destination[i, :] = table[positions[i], :]` where `positions[i]` is less than the
    table's number of entries, else `x[i, :]`.

    - `prefix_rows_c1`: `positions` has an element for each row of `destination`.
    - `prefix_rows_c2`: `table` has at least the columns of `destination`.
    - `prefix_rows_c3`: the table's number of entries is static.

    Example:

    ```mlir
    hexad_kernel.prefix_rows ins(%x, %positions, %table : memref<?x64xf32>, memref<?xi32>, memref<1x64xf32>) outs(%x : memref<?x64xf32>)
    ```
  }];
  let arguments = (ins Kernel_Rows:$x, Kernel_Indices:$positions, Kernel_Table:$table,
                       Kernel_Rows:$destination);
  let assemblyFormat = [{
    `ins` `(` $x `,` $positions `,` $table `:` type($x) `,` type($positions) `,` type($table) `)`
    `outs` `(` $destination `:` type($destination) `)` attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

#endif // HEXAD_DIALECT_KERNEL_IR_KERNELVISIONOPS_TD
