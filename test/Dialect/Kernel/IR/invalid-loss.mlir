// RUN: hexad-opt %s --split-input-file --verify-diagnostics

func.func @start_columns(%s: memref<144x32xf32>) {
  // expected-error @below {{start_cross_entropy_c1: expected 48 columns, found 32}}
  hexad_kernel.start_cross_entropy outs(%s : memref<144x32xf32>)
  return
}

// -----

func.func @tile_columns(%x: memref<?x512xf32>, %l: memref<?xi32>, %i: index, %s: memref<144x16xf32>) {
  // expected-error @below {{cross_entropy_tile_c1: expected 48 columns of statistics, found 16}}
  hexad_kernel.cross_entropy_tile ins(%x, %l, %i, %i : memref<?x512xf32>, memref<?xi32>, index, index) outs(%s : memref<144x16xf32>)
  return
}

// -----

func.func @tile_rows(%x: memref<6x512xf32>, %l: memref<?xi32>, %i: index, %s: memref<5x48xf32>) {
  // expected-error @below {{cross_entropy_tile_c2: expected at least 6 rows of statistics, found 5}}
  hexad_kernel.cross_entropy_tile ins(%x, %l, %i, %i : memref<6x512xf32>, memref<?xi32>, index, index) outs(%s : memref<5x48xf32>)
  return
}

// -----

func.func @tile_labels(%x: memref<6x512xf32>, %l: memref<5xi32>, %i: index, %s: memref<6x48xf32>) {
  // expected-error @below {{cross_entropy_tile_c3: expected at least 6 labels, found 5}}
  hexad_kernel.cross_entropy_tile ins(%x, %l, %i, %i : memref<6x512xf32>, memref<5xi32>, index, index) outs(%s : memref<6x48xf32>)
  return
}

// -----

func.func @tile_strides(%x: memref<6x512xf32, strided<[?, 1]>>, %l: memref<6xi32>, %i: index, %s: memref<6x48xf32>) {
  // expected-error @below {{kernel_c1: expected static strides}}
  hexad_kernel.cross_entropy_tile ins(%x, %l, %i, %i : memref<6x512xf32, strided<[?, 1]>>, memref<6xi32>, index, index) outs(%s : memref<6x48xf32>)
  return
}

// -----

func.func @finish_padding(%s: memref<6x48xf32>, %l: memref<6xi32>, %y: memref<6x1xf32>) {
  // expected-error @below {{kernel_c3: expected the columns of destination to be a static, positive multiple of 16}}
  hexad_kernel.finish_cross_entropy ins(%s, %l : memref<6x48xf32>, memref<6xi32>) outs(%y : memref<6x1xf32>)
  return
}

// -----

func.func @finish_columns(%s: memref<6x64xf32>, %l: memref<6xi32>, %y: memref<6x16xf32>) {
  // expected-error @below {{finish_cross_entropy_c1: expected 48 columns of statistics, found 64}}
  hexad_kernel.finish_cross_entropy ins(%s, %l : memref<6x64xf32>, memref<6xi32>) outs(%y : memref<6x16xf32>)
  return
}

// -----

func.func @finish_rows(%s: memref<5x48xf32>, %l: memref<6xi32>, %y: memref<6x16xf32>) {
  // expected-error @below {{finish_cross_entropy_c2: expected at least 6 rows of statistics, found 5}}
  hexad_kernel.finish_cross_entropy ins(%s, %l : memref<5x48xf32>, memref<6xi32>) outs(%y : memref<6x16xf32>)
  return
}

// -----

func.func @finish_labels(%s: memref<6x48xf32>, %l: memref<5xi32>, %y: memref<6x16xf32>) {
  // expected-error @below {{finish_cross_entropy_c3: expected at least 6 labels, found 5}}
  hexad_kernel.finish_cross_entropy ins(%s, %l : memref<6x48xf32>, memref<5xi32>) outs(%y : memref<6x16xf32>)
  return
}

// -----

func.func @mean_labels(%y: memref<6x16xf32>, %l: memref<5xi32>, %loss: memref<?x1xf32>) {
  // expected-error @below {{mean_loss_c1: expected at least 6 labels, found 5}}
  hexad_kernel.mean_loss ins(%y, %l : memref<6x16xf32>, memref<5xi32>) outs(%loss : memref<?x1xf32>)
  return
}
