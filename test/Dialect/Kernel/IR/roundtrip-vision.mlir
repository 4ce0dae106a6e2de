// RUN: hexad-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @images
func.func @images(%images: memref<?x3x32x48xf32>, %elements: memref<?xi32>, %x: memref<?x192xf32>, %table: memref<5x192xf32>, %w: memref<192xf32>) {
  // CHECK: hexad_kernel.gather_patches ins(%{{.*}}, %{{.*}} : memref<?x3x32x48xf32>, memref<?xi32>) outs(%{{.*}} : memref<?x192xf32>) {patch = array<i64: 8, 8>, prefix = 1 : i64}
  hexad_kernel.gather_patches ins(%images, %elements : memref<?x3x32x48xf32>, memref<?xi32>) outs(%x : memref<?x192xf32>) {patch = array<i64: 8, 8>, prefix = 1 : i64}
  // CHECK: hexad_kernel.prefix_rows ins(%{{.*}}, %{{.*}}, %{{.*}} : memref<?x192xf32>, memref<?xi32>, memref<5x192xf32>) outs(%{{.*}} : memref<?x192xf32>)
  hexad_kernel.prefix_rows ins(%x, %elements, %table : memref<?x192xf32>, memref<?xi32>, memref<5x192xf32>) outs(%x : memref<?x192xf32>)
  // CHECK: hexad_kernel.scale_columns ins(%{{.*}}, %{{.*}} : memref<?x192xf32>, memref<192xf32>) outs(%{{.*}} : memref<?x192xf32>)
  hexad_kernel.scale_columns ins(%x, %w : memref<?x192xf32>, memref<192xf32>) outs(%x : memref<?x192xf32>)
  // CHECK: hexad_kernel.mean_rows ins(%{{.*}}, %{{.*}} : memref<?x192xf32>, memref<?xi32>) outs(%{{.*}} : memref<?x192xf32>) {skip = 1 : i64}
  hexad_kernel.mean_rows ins(%x, %elements : memref<?x192xf32>, memref<?xi32>) outs(%x : memref<?x192xf32>) {skip = 1 : i64}
  return
}
