// Options that make no tiles are refused where they would divide by 0 or not fit.

// RUN: not hexad-opt %s --hexad-tile="tile-columns=0" 2>&1 | FileCheck %s --check-prefix=TILE
// RUN: not hexad-opt %s --hexad-tile="tile-rows=0" 2>&1 | FileCheck %s --check-prefix=TILE
// RUN: not hexad-opt %s --hexad-tile="tile-rows=7 block-rows=96" 2>&1 | FileCheck %s --check-prefix=TILE
// RUN: not hexad-opt %s --hexad-tile="page=0" 2>&1 | FileCheck %s --check-prefix=TILE
// TILE: error: hexad-tile: block-rows and query-tile must be positive multiples of tile-rows, tile-columns of 16 and page of tile-columns

// RUN: not hexad-opt %s --hexad-lower-to-kernels="tile-columns=0" 2>&1 | FileCheck %s --check-prefix=KERNELS
// RUN: not hexad-opt %s --hexad-lower-to-kernels="tile-rows=0" 2>&1 | FileCheck %s --check-prefix=KERNELS
// KERNELS: error: hexad-lower-to-kernels: tile-rows and block-rows must be positive, tile-columns a positive multiple of 16

module {
}
