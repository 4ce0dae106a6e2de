// RUN: hexad-reference %s | FileCheck %s

// A layer loop that stacks its results, as `--outputs=hidden` builds it.

// CHECK-LABEL: @stacked_layers
// CHECK-NEXT:  3x2x1
// CHECK-NEXT:  1
// CHECK-NEXT:  2
// CHECK-NEXT:  3
// CHECK-NEXT:  6
// CHECK-NEXT:  9
// CHECK-NEXT:  18
func.func @stacked_layers() -> tensor<3x?x1xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c = arith.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %x0 = tensor.cast %c : tensor<2x1xf32> to tensor<?x1xf32>
  %w = arith.constant dense<3.0> : tensor<1x1xf32>
  %rows = tensor.dim %x0, %c0 : tensor<?x1xf32>
  %empty = tensor.empty(%rows) : tensor<3x?x1xf32>
  %s0 = tensor.insert_slice %x0 into %empty[0, 0, 0] [1, %rows, 1] [1, 1, 1] : tensor<?x1xf32> into tensor<3x?x1xf32>
  %h, %s = scf.for %layer = %c0 to %c2 step %c1 iter_args(%x = %x0, %stack = %s0) -> (tensor<?x1xf32>, tensor<3x?x1xf32>) {
    %y = hexad.linear %x, %w : tensor<?x1xf32>, tensor<1x1xf32> -> tensor<?x1xf32>
    %i = arith.addi %layer, %c1 : index
    %next = tensor.insert_slice %y into %stack[%i, 0, 0] [1, %rows, 1] [1, 1, 1] : tensor<?x1xf32> into tensor<3x?x1xf32>
    scf.yield %y, %next : tensor<?x1xf32>, tensor<3x?x1xf32>
  }
  return %s : tensor<3x?x1xf32>
}

// A loop that never runs gives what it started with.

// CHECK-LABEL: @no_layers
// CHECK-NEXT:  7
// CHECK-NEXT:  -1
func.func @no_layers() -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %i = scf.for %layer = %c0 to %c0 step %c1 iter_args(%x = %c7) -> (index) {
    %y = arith.muli %x, %x : index
    scf.yield %y : index
  }
  %j = arith.subi %c0, %c1 : index
  return %i, %j : index, index
}

// What was never written is NaN.

// CHECK-LABEL: @slices
// CHECK-NEXT:  2
// CHECK-NEXT:  2 5
// CHECK-NEXT:  2x3
// CHECK-NEXT:  nan nan nan
// CHECK-NEXT:  2 nan 6
func.func @slices() -> (tensor<2xf32>, tensor<2x3xf32>) {
  %x = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %y = tensor.extract_slice %x[0, 1] [2, 1] [1, 1] : tensor<2x3xf32> to tensor<2xf32>
  %row = arith.constant dense<[2.0, 6.0]> : tensor<2xf32>
  %empty = tensor.empty() : tensor<2x3xf32>
  %z = tensor.insert_slice %row into %empty[1, 0] [1, 2] [1, 2] : tensor<2xf32> into tensor<2x3xf32>
  return %y, %z : tensor<2xf32>, tensor<2x3xf32>
}
