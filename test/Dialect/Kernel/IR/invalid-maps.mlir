// RUN: hexad-opt %s --split-input-file --verify-diagnostics

func.func @strides(%maps: memref<?xf32, strided<[2]>>, %i: index) {
  // expected-error @below {{kernel_c1: expected static strides, the last of them 1, found operand 2}}
  hexad_kernel.clear ins(%i, %i : index, index) outs(%maps : memref<?xf32, strided<[2]>>)
  return
}

// -----

func.func @padding(%maps: memref<?xf32>, %i: index, %scores: memref<60x120xf32>, %statistics: memref<6x64xf32>) {
  // expected-error @below {{kernel_c3: expected the columns of scores to be a static, positive multiple of 16}}
  hexad_kernel.map_page ins(%i, %i, %i, %i, %scores, %statistics : index, index, index, index, memref<60x120xf32>, memref<6x64xf32>) outs(%maps : memref<?xf32>)
  return
}

// -----

func.func @statistics(%maps: memref<?xf32>, %i: index, %scores: memref<60x128xf32>, %statistics: memref<6x48xf32>) {
  // expected-error @below {{kernel_c7: expected at least 60 columns of statistics, found 48}}
  hexad_kernel.map_page ins(%i, %i, %i, %i, %scores, %statistics : index, index, index, index, memref<60x128xf32>, memref<6x48xf32>) outs(%maps : memref<?xf32>)
  return
}

// -----

func.func @causal(%maps: memref<?xf32>, %i: index, %scores: memref<60x128xf32>, %statistics: memref<6x64xf32>) {
  // expected-error @below {{map_page_c1: expected a position beside causal or window}}
  hexad_kernel.map_page ins(%i, %i, %i, %i, %scores, %statistics : index, index, index, index, memref<60x128xf32>, memref<6x64xf32>) outs(%maps : memref<?xf32>) {causal}
  return
}

// -----

func.func @window(%maps: memref<?xf32>, %i: index, %scores: memref<60x128xf32>, %statistics: memref<6x64xf32>) {
  // expected-error @below {{map_page_c2: expected a positive window and a finite, positive softcap}}
  hexad_kernel.map_page ins(%i, %i, %i, %i, %scores, %statistics : index, index, index, index, memref<60x128xf32>, memref<6x64xf32>) position(%i) outs(%maps : memref<?xf32>) {window = 0 : i64}
  return
}

// -----

func.func @softcap(%maps: memref<?xf32>, %i: index, %scores: memref<60x128xf32>, %statistics: memref<6x64xf32>) {
  // expected-error @below {{map_page_c2: expected a positive window and a finite, positive softcap}}
  hexad_kernel.map_page ins(%i, %i, %i, %i, %scores, %statistics : index, index, index, index, memref<60x128xf32>, memref<6x64xf32>) outs(%maps : memref<?xf32>) {softcap = -1.0 : f64}
  return
}
