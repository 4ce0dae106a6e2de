// RUN: hexad-opt %s --pass-pipeline='builtin.module(hexad-kernel-to-vector,canonicalize,cse)' | FileCheck %s
// RUN: hexad-opt %s --pass-pipeline='builtin.module(hexad-kernel-to-vector,canonicalize,cse)' \
// RUN:   | FileCheck %s --check-prefix=NEVER
// NEVER-NOT: {{vector\.fma|vector\.reduction|vector\.contract|fastmath|math\.sin|math\.cos|math\.tanh|hexad_kernel}}

// In place, only the groups are touched: whole vectors, then as many lanes as are left.
// CHECK-LABEL: func @rms_norm
// CHECK-SAME: %[[X:.*]]: memref<?x64xf32>, %[[W:.*]]: memref<32xf32>
// CHECK: scf.for %[[M:.*]] = %c0 to
// CHECK: scf.for %[[G:.*]] = %c0 to %c2 step %c1
// CHECK: %[[START:.*]] = arith.muli %[[G]], %c20
// CHECK: %[[FIRST:.*]] = arith.addi %[[START]], %c7
// CHECK: vector.load %[[X]]
// CHECK: math.fma
// CHECK: vector.maskedload %[[X]]
// CHECK: math.fma
// CHECK: math.sqrt
// CHECK: arith.divf
// CHECK: vector.load %[[W]][%c0]
// CHECK: vector.store %{{.*}}, %[[X]]
// CHECK: vector.maskedload %[[X]]
// CHECK: vector.load %[[W]][%c16]
// CHECK: vector.maskedstore %[[X]]
// CHECK-NOT: vector.{{.*}}store
// CHECK: return
func.func @rms_norm(%x: memref<?x64xf32>, %w: memref<32xf32>) {
  hexad_kernel.rms_norm ins(%x : memref<?x64xf32>) weight(%w : memref<32xf32>) outs(%x : memref<?x64xf32>)
      {eps = 1.0e-6 : f64, offset = 7 : i64, groups = 2 : i64, group_size = 20 : i64}
  return
}

// Elsewhere, the other columns are copied: 7 in front of the groups, 17 behind them.
// CHECK-LABEL: func @rms_norm_apart
// CHECK: math.sqrt
// CHECK: vector.constant_mask [7]
// CHECK: vector.maskedstore %[[Y:.*]][%{{.*}}, %c0]
// CHECK: vector.store %{{.*}}, %[[Y]][%{{.*}}, %c47]
// CHECK: vector.constant_mask [1]
// CHECK: vector.maskedstore %[[Y]][%{{.*}}, %c63]
func.func @rms_norm_apart(%x: memref<?x64xf32>, %y: memref<?x64xf32>) {
  hexad_kernel.rms_norm ins(%x : memref<?x64xf32>) outs(%y : memref<?x64xf32>)
      {eps = 1.0e-6 : f64, offset = 7 : i64, groups = 2 : i64, group_size = 20 : i64}
  return
}

// The angle in two parts; frequencies are constants.
// CHECK-LABEL: func @rotary
// CHECK-DAG: %[[F:.*]] = arith.constant dense<[1.000000e+00, 1.250000e-01, 0.000000e+00
// CHECK: %[[P:.*]] = arith.sitofp %{{.*}} : i32 to f32
// CHECK: %[[POSITION:.*]] = vector.broadcast %[[P]]
// CHECK: %[[ANGLE:.*]] = arith.mulf %[[POSITION]], %[[F]]
// CHECK: %[[NEGATED:.*]] = arith.negf %[[ANGLE]]
// CHECK: math.fma %[[POSITION]], %[[F]], %[[NEGATED]]
// CHECK: math.roundeven
// CHECK: math.roundeven
// CHECK: arith.xori
func.func @rotary(%p: memref<?xi32>, %t: memref<?x16xf32>) {
  hexad_kernel.rotary ins(%p : memref<?xi32>) outs(%t : memref<?x16xf32>) {inv_freq = array<f32: 1.0, 0.125>, attention_factor = 1.0 : f64}
  return
}

// CHECK-LABEL: func @rope_half
// CHECK-SAME: %[[X:.*]]: memref<?x64xf32>, %[[R:.*]]: memref<?x32xf32>
// CHECK: %[[A:.*]] = vector.load %[[X]]
// CHECK: %[[B:.*]] = vector.load %[[X]]
// CHECK: %[[COSINE:.*]] = vector.load %[[R]][%{{.*}}, %c0]
// CHECK: %[[SINE:.*]] = vector.load %[[R]][%{{.*}}, %c16]
// CHECK: %[[BS:.*]] = arith.mulf %[[B]], %[[SINE]]
// CHECK: %[[NEGATED:.*]] = arith.negf %[[BS]]
// CHECK: math.fma %[[A]], %[[COSINE]], %[[NEGATED]]
// CHECK: %[[AS:.*]] = arith.mulf %[[A]], %[[SINE]]
// CHECK: math.fma %[[B]], %[[COSINE]], %[[AS]]
// CHECK-COUNT-2: vector.store
// CHECK-NOT: vector.{{.*}}store
// CHECK: return
func.func @rope_half(%x: memref<?x64xf32>, %r: memref<?x32xf32>) {
  hexad_kernel.rope ins(%x, %r : memref<?x64xf32>, memref<?x32xf32>) outs(%x : memref<?x64xf32>)
      {pairing = #hexad.pairing<half>, heads = 2 : i64, head_dim = 32 : i64, frequencies = 16 : i64}
  return
}

// CHECK-LABEL: func @rope_interleaved
// CHECK: scf.for %[[H:.*]] = %c0 to %c2 step %c1
// CHECK: scf.for %[[I:.*]] = %c0 to %c3 step %c1
// CHECK: arith.muli %[[I]], %c2
// CHECK-COUNT-2: math.fma {{.*}} : f32
// CHECK-COUNT-2: memref.store
func.func @rope_interleaved(%x: memref<?x64xf32>, %r: memref<?x16xf32>) {
  hexad_kernel.rope ins(%x, %r : memref<?x64xf32>, memref<?x16xf32>) outs(%x : memref<?x64xf32>)
      {pairing = #hexad.pairing<interleaved>, heads = 2 : i64, head_dim = 32 : i64, frequencies = 3 : i64}
  return
}

// Nothing is written where rows were not asked for.
// CHECK-LABEL: func @scatter_rows
// CHECK: memref.extract_aligned_pointer_as_index %[[D:.*]] : memref<?x18xf32>
// CHECK: scf.if
// CHECK: %[[W:.*]] = memref.load %{{.*}} : memref<?xi32>
// CHECK: %[[TO:.*]] = arith.index_cast %[[W]]
// CHECK: vector.store %{{.*}}, %[[D]][%[[TO]], %c0]
// CHECK: memref.store %{{.*}}, %[[D]][%[[TO]], %{{.*}}]
func.func @scatter_rows(%s: memref<?x32xf32>, %w: memref<?xi32>, %d: memref<?x18xf32>) {
  hexad_kernel.scatter_rows ins(%s, %w : memref<?x32xf32>, memref<?xi32>) outs(%d : memref<?x18xf32>)
  return
}
