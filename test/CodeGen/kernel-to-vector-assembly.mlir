// The loop over k of a matmul keeps its accumulators in registers: only FMAs, loads of the
// panel and broadcasts of the rows, nothing on the stack. For each of the four steps of k:
// two registers of the panel, and for each row a broadcast and two FMAs. Beside them, the
// loop fetches its share of the next panel into L2.

// RUN: sed -e 's/@ROWS@/12/g; s/@COLUMNS@/32/g' %s > %t.512.mlir
// RUN: hexad-opt %t.512.mlir --pass-pipeline='builtin.module(hexad-kernel-to-vector,canonicalize,cse,convert-scf-to-cf,convert-vector-to-llvm,convert-math-to-llvm,finalize-memref-to-llvm,convert-arith-to-llvm,convert-cf-to-llvm,convert-func-to-llvm,reconcile-unrealized-casts)' \
// RUN:   | mlir-translate --mlir-to-llvmir | opt -O3 -mtriple=x86_64-linux-gnu -mcpu=znver4 -S -o %t.512.ll
// RUN: llc -O3 -mtriple=x86_64-linux-gnu -mcpu=znver4 %t.512.ll -o %t.512.s
// RUN: sed -n -e '/Inner Loop Header: Depth=3/,/^\tj/{p;/^\tj/q}' %t.512.s > %t.512.loop
// RUN: grep -c 'vfmadd231ps.*zmm' %t.512.loop | FileCheck %s --check-prefix=FMA512
// RUN: grep -c 'vbroadcastss.*zmm' %t.512.loop | FileCheck %s --check-prefix=BROADCAST512
// RUN: grep -c 'vmovups.*), %%zmm' %t.512.loop | FileCheck %s --check-prefix=LOAD512
// RUN: grep -c 'prefetcht1' %t.512.loop | FileCheck %s --check-prefix=FETCH
// RUN: FileCheck %s --check-prefix=LOOP --implicit-check-not=rsp --implicit-check-not=call < %t.512.loop
// FMA512: {{^}}96{{$}}
// BROADCAST512: {{^}}48{{$}}
// LOAD512: {{^}}8{{$}}

// RUN: sed -e 's/@ROWS@/6/g; s/@COLUMNS@/16/g' %s > %t.256.mlir
// RUN: hexad-opt %t.256.mlir --pass-pipeline='builtin.module(hexad-kernel-to-vector,canonicalize,cse,convert-scf-to-cf,convert-vector-to-llvm,convert-math-to-llvm,finalize-memref-to-llvm,convert-arith-to-llvm,convert-cf-to-llvm,convert-func-to-llvm,reconcile-unrealized-casts)' \
// RUN:   | mlir-translate --mlir-to-llvmir | opt -O3 -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3 -S -o %t.256.ll
// RUN: llc -O3 -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3 %t.256.ll -o %t.256.s
// RUN: sed -n -e '/Inner Loop Header: Depth=3/,/^\tj/{p;/^\tj/q}' %t.256.s > %t.256.loop
// RUN: grep -c 'vfmadd231ps.*ymm' %t.256.loop | FileCheck %s --check-prefix=FMA256
// RUN: grep -c 'vbroadcastss.*ymm' %t.256.loop | FileCheck %s --check-prefix=BROADCAST256
// RUN: grep -c 'vmovups.*), %%ymm' %t.256.loop | FileCheck %s --check-prefix=LOAD256
// RUN: grep -c 'prefetcht1' %t.256.loop | FileCheck %s --check-prefix=FETCH
// RUN: FileCheck %s --check-prefix=LOOP --implicit-check-not=rsp --implicit-check-not=call < %t.256.loop
// FMA256: {{^}}48{{$}}
// BROADCAST256: {{^}}24{{$}}
// LOAD256: {{^}}8{{$}}

// FETCH: {{^}}8{{$}}
// LOOP: Inner Loop Header: Depth=3
// LOOP: {{^}}	j

func.func @matmul(%a: memref<?x768xf32, strided<[768, 1], offset: ?>>, %panels: memref<?x768x@COLUMNS@xf32>,
                  %bias: memref<3072xf32>, %c: memref<?x3072xf32, strided<[3072, 1], offset: ?>>) {
  hexad_kernel.matmul ins(%a, %panels : memref<?x768xf32, strided<[768, 1], offset: ?>>, memref<?x768x@COLUMNS@xf32>)
      bias(%bias : memref<3072xf32>) outs(%c : memref<?x3072xf32, strided<[3072, 1], offset: ?>>)
      {activation = #hexad.activation<gelu>, tile = #hexad_kernel.tile<rows = @ROWS@, columns = @COLUMNS@>}
  return
}
