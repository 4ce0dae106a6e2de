// RUN: hexad-opt %s -split-input-file -verify-diagnostics --hexad-plan-memory | FileCheck %s

// Two buffers whose lives do not meet share a slot (64 columns is the larger of
// the two); one that lives beside them does not. Scratch memory counts for each
// thread.
// CHECK: module attributes {hexad.arena = array<i64: 0, 512, 384, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, hexad.weights_bytes = 832 : i64}
// CHECK: hexad.parameter @w {{.*}} {hexad.offset = 0 : i64, layers = 2 : i64}
// CHECK: hexad.parameter @v {{.*}} {hexad.offset = 512 : i64}
// CHECK: hexad.parameter @narrow {{.*}} {hexad.offset = 576 : i64, layers = 2 : i64}
module {
hexad.parameter @w : tensor<2x8x8xf32> from "m.safetensors" ["a", "b"] {layers = 2 : i64}
hexad.parameter @v : tensor<10xf32> from "m.safetensors" ["v"]
hexad.parameter @narrow : tensor<2x8x8xbf16> from "m.safetensors" ["a", "b"] {layers = 2 : i64}
// CHECK-LABEL: func.func @f
// CHECK-SAME: %[[THREADS:[a-z0-9]+]]: index {hexad.extent = 0 : i64}, %[[ROWS:[a-z0-9]+]]: index {hexad.extent = 1 : i64}
// CHECK-SAME: %[[ARENA:[a-z0-9]+]]: memref<?xi8> {hexad.pointer = 0 : i64}, %[[WEIGHTS:[a-z0-9]+]]: memref<?xi8> {hexad.pointer = 1 : i64}
func.func @f(%threads: index {hexad.extent = 0 : i64}, %rows: index {hexad.extent = 1 : i64}, %layer: index) {
  // CHECK: %[[A:.+]] = memref.view %[[ARENA]][%[[FIRST:.+]]][%[[ROWS]]] : memref<?xi8> to memref<?x32xf32>
  %a = memref.alloc(%rows) : memref<?x32xf32>
  // CHECK: %[[B:.+]] = memref.view %[[ARENA]][%[[SECOND:.+]]][%[[ROWS]]] : memref<?xi8> to memref<?x32xf32>
  %b = memref.alloc(%rows) : memref<?x32xf32>
  // CHECK: memref.view %[[ARENA]][%[[FIRST]]][%[[ROWS]]] : memref<?xi8> to memref<?x64xf32>
  %c = memref.alloc(%rows) : memref<?x64xf32>
  scf.forall (%t) in (%threads) {
    // CHECK: hexad_kernel.thread
    // CHECK: memref.view %[[ARENA]]{{.*}} to memref<8x16xf32>
    %s = memref.alloc() : memref<8x16xf32>
    hexad_kernel.copy_rows ins(%s : memref<8x16xf32>) outs(%s : memref<8x16xf32>)
    hexad_kernel.copy_rows ins(%a : memref<?x32xf32>) outs(%b : memref<?x32xf32>)
  }
  scf.forall (%t) in (%threads) {
    %w = hexad.load @w[%layer] : memref<8x8xf32>
    // CHECK: %[[STEP:.+]] = arith.muli %{{.+}}, %c256
    // CHECK: memref.view %[[WEIGHTS]][%{{.+}}][] : memref<?xi8> to memref<8x8xf32>
    // CHECK: %[[OFFSET:.+]] = arith.constant 512 : index
    // CHECK: memref.view %[[WEIGHTS]][%[[OFFSET]]][] : memref<?xi8> to memref<10xf32>
    %v = hexad.load @v : memref<10xf32>
    // CHECK: arith.muli %{{.+}}, %c128
    // CHECK: memref.view %[[WEIGHTS]][%{{.+}}][] : memref<?xi8> to memref<8x8xbf16>
    %n = hexad.load @narrow[%layer] : memref<8x8xbf16>
    hexad_kernel.copy_rows ins(%c : memref<?x64xf32>) outs(%c : memref<?x64xf32>)
    hexad_kernel.copy_rows ins(%c : memref<?x64xf32>) outs(%b : memref<?x32xf32>)
  }
  return
}
}

// -----

func.func @unknown_size(%n: index) {
  // expected-error@+1 {{expected a size that is a multiple of one of the call's extents, found 'memref<?x4xf32>'}}
  %a = memref.alloc(%n) : memref<?x4xf32>
  hexad_kernel.copy_rows ins(%a : memref<?x4xf32>) outs(%a : memref<?x4xf32>)
  return
}

// -----

func.func @no_threads(%n: index) {
  scf.forall (%t) in (%n) {
    // expected-error@+1 {{is scratch memory of a thread: expected an argument with the number of threads (hexad-tile)}}
    %s = memref.alloc() : memref<8x16xf32>
    hexad_kernel.copy_rows ins(%s : memref<8x16xf32>) outs(%s : memref<8x16xf32>)
  }
  return
}

// -----

func.func @dynamic_scratch(%threads: index {hexad.extent = 0 : i64}, %rows: index {hexad.extent = 1 : i64}) {
  scf.forall (%t) in (%threads) {
    // expected-error@+1 {{expected a static size for scratch memory of a thread, found 'memref<?x16xf32>'}}
    %s = memref.alloc(%rows) : memref<?x16xf32>
    hexad_kernel.copy_rows ins(%s : memref<?x16xf32>) outs(%s : memref<?x16xf32>)
  }
  return
}

// -----

// expected-error@+1 {{expected a function with one block}}
func.func private @declaration(%n: index)

// -----

// expected-error@+1 {{expected one function}}
module {
}
