// The loop over k of a matmul with panels of 16 bits is that with panels of f32 (kernel-to-vector-assembly.mlir) but for the
// loads, which widen: for bf16 an extension and a shift, for f16 a conversion. Nothing is on the stack. For each of the four
// steps of k: two registers of the panel, and for each row a broadcast and two FMAs.

// DEFINE: %{rows} =
// DEFINE: %{columns} =
// DEFINE: %{type} =
// DEFINE: %{cpu} =
// DEFINE: %{pipeline} = builtin.module(hexad-kernel-to-vector,canonicalize,cse,convert-scf-to-cf,convert-vector-to-llvm,convert-math-to-llvm,finalize-memref-to-llvm,convert-arith-to-llvm,convert-cf-to-llvm,convert-func-to-llvm,reconcile-unrealized-casts)
// DEFINE: %{compile} = sed -e 's/@ROWS@/%{rows}/g; s/@COLUMNS@/%{columns}/g; s/@TYPE@/%{type}/g' %s \
// DEFINE:   | hexad-opt --pass-pipeline='%{pipeline}' | mlir-translate --mlir-to-llvmir \
// DEFINE:   | opt -O3 -mtriple=x86_64-linux-gnu -mcpu=%{cpu} -S | llc -O3 -mtriple=x86_64-linux-gnu -mcpu=%{cpu} \
// DEFINE:   | sed -n -e '/Inner Loop Header: Depth=3/,/^\tj/{p;/^\tj/q}'

// REDEFINE: %{rows} = 12
// REDEFINE: %{columns} = 32
// REDEFINE: %{cpu} = znver4
// REDEFINE: %{type} = bf16
// RUN: %{compile} > %t.512.bf16
// RUN: FileCheck %s --check-prefix=LOOP --implicit-check-not=rsp --implicit-check-not=call < %t.512.bf16
// RUN: grep -c 'vfmadd231ps.*zmm' %t.512.bf16 | FileCheck %s --check-prefix=COUNT96
// RUN: grep -c 'vbroadcastss.*zmm' %t.512.bf16 | FileCheck %s --check-prefix=COUNT48
// RUN: grep -c 'vpmovzxwd.*), %%zmm' %t.512.bf16 | FileCheck %s --check-prefix=COUNT8
// RUN: grep -c 'vpslld.*zmm' %t.512.bf16 | FileCheck %s --check-prefix=COUNT8
// RUN: not grep 'vmov[au]p' %t.512.bf16
// REDEFINE: %{type} = f16
// RUN: %{compile} > %t.512.f16
// RUN: FileCheck %s --check-prefix=LOOP --implicit-check-not=rsp --implicit-check-not=call < %t.512.f16
// RUN: grep -c 'vfmadd231ps.*zmm' %t.512.f16 | FileCheck %s --check-prefix=COUNT96
// RUN: grep -c 'vcvtph2ps.*), %%zmm' %t.512.f16 | FileCheck %s --check-prefix=COUNT8
// RUN: not grep 'vmov[au]p' %t.512.f16

// REDEFINE: %{rows} = 6
// REDEFINE: %{columns} = 16
// REDEFINE: %{cpu} = x86-64-v3
// REDEFINE: %{type} = bf16
// RUN: %{compile} > %t.256.bf16
// RUN: FileCheck %s --check-prefix=LOOP --implicit-check-not=rsp --implicit-check-not=call < %t.256.bf16
// RUN: grep -c 'vfmadd231ps.*ymm' %t.256.bf16 | FileCheck %s --check-prefix=COUNT48
// RUN: grep -c 'vpmovzxwd.*), %%ymm' %t.256.bf16 | FileCheck %s --check-prefix=COUNT8
// RUN: grep -c 'vpslld.*ymm' %t.256.bf16 | FileCheck %s --check-prefix=COUNT8
// RUN: not grep 'vmov[au]p' %t.256.bf16
// REDEFINE: %{type} = f16
// RUN: %{compile} > %t.256.f16
// RUN: FileCheck %s --check-prefix=LOOP --implicit-check-not=rsp --implicit-check-not=call < %t.256.f16
// RUN: grep -c 'vfmadd231ps.*ymm' %t.256.f16 | FileCheck %s --check-prefix=COUNT48
// RUN: grep -c 'vcvtph2ps.*), %%ymm' %t.256.f16 | FileCheck %s --check-prefix=COUNT8
// RUN: not grep 'vmov[au]p' %t.256.f16

// COUNT8: {{^}}8{{$}}
// COUNT48: {{^}}48{{$}}
// COUNT96: {{^}}96{{$}}
// LOOP: Inner Loop Header: Depth=3
// LOOP-COUNT-8: prefetcht1
// LOOP: {{^}}	j

func.func @matmul(%a: memref<?x768xf32, strided<[768, 1], offset: ?>>, %panels: memref<?x768x@COLUMNS@x@TYPE@>,
                  %bias: memref<3072xf32>, %c: memref<?x3072xf32, strided<[3072, 1], offset: ?>>) {
  hexad_kernel.matmul ins(%a, %panels : memref<?x768xf32, strided<[768, 1], offset: ?>>, memref<?x768x@COLUMNS@x@TYPE@>)
      bias(%bias : memref<3072xf32>) outs(%c : memref<?x3072xf32, strided<[3072, 1], offset: ?>>)
      {activation = #hexad.activation<gelu>, tile = #hexad_kernel.tile<rows = @ROWS@, columns = @COLUMNS@>}
  return
}
