// RUN: hexad-opt %s --split-input-file --verify-diagnostics

func.func @gather_indices_where(%s: memref<?xi32>, %w: memref<7xi32>, %d: memref<8xi32>) {
  // expected-error @below {{gather_indices_c1: expected at least 8 elements of where, found 7}}
  hexad_kernel.gather_indices ins(%s, %w : memref<?xi32>, memref<7xi32>) outs(%d : memref<8xi32>)
  return
}

// -----

func.func @gather_indices_type(%s: memref<?xi64>, %w: memref<?xi32>, %d: memref<?xi32>) {
  // expected-error @below {{operand #0 must be vector of i32, but got 'memref<?xi64>'}}
  hexad_kernel.gather_indices ins(%s, %w : memref<?xi64>, memref<?xi32>) outs(%d : memref<?xi32>)
  return
}

// -----

func.func @gather_rows_dynamic(%s: memref<?x64xf32>, %w: memref<?xi32>, %d: memref<?x?xf32, strided<[64, 1]>>) {
  // expected-error @below {{gather_rows_c1: expected a static number of columns of destination}}
  hexad_kernel.gather_rows ins(%s, %w : memref<?x64xf32>, memref<?xi32>) outs(%d : memref<?x?xf32, strided<[64, 1]>>)
  return
}

// -----

func.func @gather_rows_columns(%s: memref<?x59xf32>, %w: memref<?xi32>, %d: memref<?x60xf32>) {
  // expected-error @below {{gather_rows_c2: expected at least 60 columns of source, found 59}}
  hexad_kernel.gather_rows ins(%s, %w : memref<?x59xf32>, memref<?xi32>) outs(%d : memref<?x60xf32>)
  return
}

// -----

func.func @gather_rows_where(%s: memref<?x60xf32>, %w: memref<3xi32>, %d: memref<4x60xf32>) {
  // expected-error @below {{gather_rows_c3: expected at least 4 elements of where, found 3}}
  hexad_kernel.gather_rows ins(%s, %w : memref<?x60xf32>, memref<3xi32>) outs(%d : memref<4x60xf32>)
  return
}

// -----

func.func @copy_rows_dynamic(%s: memref<?x64xf32>, %d: memref<?x?xf32, strided<[64, 1]>>) {
  // expected-error @below {{copy_rows_c1: expected a static number of columns of destination}}
  hexad_kernel.copy_rows ins(%s : memref<?x64xf32>) outs(%d : memref<?x?xf32, strided<[64, 1]>>)
  return
}

// -----

func.func @copy_rows_columns(%s: memref<?x48xf32>, %d: memref<?x60xf32>) {
  // expected-error @below {{copy_rows_c2: expected at least 60 columns of source, found 48}}
  hexad_kernel.copy_rows ins(%s : memref<?x48xf32>) outs(%d : memref<?x60xf32>)
  return
}

// -----

func.func @copy_rows_rows(%s: memref<3x64xf32>, %d: memref<4x60xf32>) {
  // expected-error @below {{copy_rows_c3: expected at least 4 rows of source, found 3}}
  hexad_kernel.copy_rows ins(%s : memref<3x64xf32>) outs(%d : memref<4x60xf32>)
  return
}

// -----

func.func @mean_rows_dynamic(%s: memref<?x64xf32>, %b: memref<?xi32>, %d: memref<?x?xf32, strided<[64, 1]>>) {
  // expected-error @below {{mean_rows_c1: expected a static number of columns of destination}}
  hexad_kernel.mean_rows ins(%s, %b : memref<?x64xf32>, memref<?xi32>) outs(%d : memref<?x?xf32, strided<[64, 1]>>)
  return
}

// -----

func.func @mean_rows_columns(%s: memref<?x48xf32>, %b: memref<?xi32>, %d: memref<?x60xf32>) {
  // expected-error @below {{mean_rows_c2: expected at least 60 columns of source, found 48}}
  hexad_kernel.mean_rows ins(%s, %b : memref<?x48xf32>, memref<?xi32>) outs(%d : memref<?x60xf32>)
  return
}

// -----

func.func @mean_rows_bounds(%s: memref<?x60xf32>, %b: memref<4xi32>, %d: memref<4x60xf32>) {
  // expected-error @below {{mean_rows_c3: expected at least 5 elements of bounds, found 4}}
  hexad_kernel.mean_rows ins(%s, %b : memref<?x60xf32>, memref<4xi32>) outs(%d : memref<4x60xf32>)
  return
}

// -----

func.func @mean_rows_skip(%s: memref<?x60xf32>, %b: memref<?xi32>, %d: memref<?x60xf32>) {
  // expected-error @below {{mean_rows_c4: expected to skip from 0 to 2147483647 rows, found -1}}
  hexad_kernel.mean_rows ins(%s, %b : memref<?x60xf32>, memref<?xi32>) outs(%d : memref<?x60xf32>) {skip = -1 : i64}
  return
}

// -----

func.func @scatter_rows_dynamic(%s: memref<?x64xf32>, %w: memref<?xi32>, %d: memref<?x?xf32, strided<[64, 1]>>) {
  // expected-error @below {{scatter_rows_c1: expected a static number of columns of destination}}
  hexad_kernel.scatter_rows ins(%s, %w : memref<?x64xf32>, memref<?xi32>) outs(%d : memref<?x?xf32, strided<[64, 1]>>)
  return
}

// -----

func.func @scatter_rows_columns(%s: memref<?x48xf32>, %w: memref<?xi32>, %d: memref<?x60xf32>) {
  // expected-error @below {{scatter_rows_c2: expected at least 60 columns of source, found 48}}
  hexad_kernel.scatter_rows ins(%s, %w : memref<?x48xf32>, memref<?xi32>) outs(%d : memref<?x60xf32>)
  return
}

// -----

func.func @scatter_rows_where(%s: memref<5x64xf32>, %w: memref<4xi32>, %d: memref<?x60xf32>) {
  // expected-error @below {{scatter_rows_c3: expected at least 5 elements of where, found 4}}
  hexad_kernel.scatter_rows ins(%s, %w : memref<5x64xf32>, memref<4xi32>) outs(%d : memref<?x60xf32>)
  return
}

// -----

func.func @packed_dynamic(%t: memref<?x?x32xf32, strided<[1920, 32, 1]>>, %w: memref<?xi32>, %y: memref<?x64xf32>) {
  // expected-error @below {{gather_packed_rows_c1: expected panels of static shape}}
  hexad_kernel.gather_packed_rows ins(%t, %w : memref<?x?x32xf32, strided<[1920, 32, 1]>>, memref<?xi32>) outs(%y : memref<?x64xf32>)
  return
}

// -----

func.func @packed_columns(%t: memref<4x60x32xf32>, %w: memref<?xi32>, %y: memref<?x48xf32>) {
  // expected-error @below {{gather_packed_rows_c1: expected at least 60 columns of destination, found 48}}
  hexad_kernel.gather_packed_rows ins(%t, %w : memref<4x60x32xf32>, memref<?xi32>) outs(%y : memref<?x48xf32>)
  return
}

// -----

func.func @packed_where(%t: memref<4x60x32xf32>, %w: memref<3xi32>, %y: memref<5x64xf32>) {
  // expected-error @below {{gather_packed_rows_c2: expected at least 5 elements of where, found 3}}
  hexad_kernel.gather_packed_rows ins(%t, %w : memref<4x60x32xf32>, memref<3xi32>) outs(%y : memref<5x64xf32>)
  return
}
