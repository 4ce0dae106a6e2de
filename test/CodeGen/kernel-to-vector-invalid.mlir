// RUN: hexad-opt %s --hexad-kernel-to-vector --verify-diagnostics

func.func @tensors(%x: tensor<?x16xf32>) -> tensor<?x16xf32> {
  // expected-error @below {{works on buffers when it is lowered to vectors, found 'tensor<?x16xf32>'}}
  %y = hexad_kernel.add ins(%x, %x : tensor<?x16xf32>, tensor<?x16xf32>) outs(%x : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}
