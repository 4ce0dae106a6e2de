// RUN: not hexad-reference %s 2>&1 | FileCheck %s

// Each function fails with an error at its op; the others still run.

// CHECK: errors.mlir:[[#@LINE+4]]:{{.+}}: error: 'hexad.segments' op expected the real elements of batch row 1 in one run, found a hole at element 1
// CHECK-NOT: @hole
func.func @hole() -> !hexad.segments {
  %mask = arith.constant dense<[[1, 1, 1], [1, 0, 1]]> : tensor<2x3xi32>
  %segments = hexad.segments %mask : tensor<2x3xi32>
  return %segments : !hexad.segments
}

// CHECK: errors.mlir:[[#@LINE+4]]:{{.+}}: error: 'hexad.embedding' op expected entries from 0 to 2, found 3 in row 1
func.func @id_too_large() -> tensor<2x2xf32> {
  %ids = arith.constant dense<[2, 3]> : tensor<2xi32>
  %table = arith.constant dense<0.0> : tensor<3x2xf32>
  %y = hexad.embedding %ids, %table : tensor<2xi32>, tensor<3x2xf32> -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// CHECK: error: 'hexad.embedding' op expected entries from 0 to 2, found -1 in row 0
func.func @id_negative() -> tensor<1x2xf32> {
  %ids = arith.constant dense<[-2]> : tensor<1xi32>
  %table = arith.constant dense<0.0> : tensor<3x2xf32>
  %y = hexad.embedding %ids, %table {offset = 1 : i64} : tensor<1xi32>, tensor<3x2xf32> -> tensor<1x2xf32>
  return %y : tensor<1x2xf32>
}

// CHECK: error: 'hexad.pack_rows' op expected a rectangle of 1 x 2, found 2 x 2
func.func @other_rectangle() -> tensor<?xi32> {
  %mask = arith.constant dense<1> : tensor<1x2xi32>
  %ids = arith.constant dense<1> : tensor<2x2xi32>
  %segments = hexad.segments %mask : tensor<1x2xi32>
  %rows = hexad.pack_rows %ids, %segments : tensor<2x2xi32> -> tensor<?xi32>
  return %rows : tensor<?xi32>
}

// CHECK: error: 'hexad.unpack_rows' op expected 2 rows in rows, found 3
func.func @unpack_rows() -> tensor<?x?x1xf32> {
  %mask = arith.constant dense<1> : tensor<1x2xi32>
  %segments = hexad.segments %mask : tensor<1x2xi32>
  %x = arith.constant dense<0.0> : tensor<3x1xf32>
  %y = hexad.unpack_rows %x, %segments : tensor<3x1xf32> -> tensor<?x?x1xf32>
  return %y : tensor<?x?x1xf32>
}

// CHECK: error: 'hexad.pool' op expected 2 rows in rows, found 3
func.func @pool_rows() -> tensor<?x1xf32> {
  %mask = arith.constant dense<1> : tensor<1x2xi32>
  %segments = hexad.segments %mask : tensor<1x2xi32>
  %x = arith.constant dense<0.0> : tensor<3x1xf32>
  %y = hexad.pool mean %x, %segments : tensor<3x1xf32> -> tensor<?x1xf32>
  return %y : tensor<?x1xf32>
}

// CHECK: error: 'hexad.attention' op expected 2 rows in query, found 3
func.func @attention_rows() -> tensor<3x1xf32> {
  %mask = arith.constant dense<1> : tensor<1x2xi32>
  %segments = hexad.segments %mask : tensor<1x2xi32>
  %x = arith.constant dense<0.0> : tensor<3x1xf32>
  %o = hexad.attention %x, %x, %x, %segments {heads = 1 : i64, kv_heads = 1 : i64, head_dim = 1 : i64, scale = 1.0 : f64}
      : tensor<3x1xf32>, tensor<3x1xf32>, tensor<3x1xf32> -> tensor<3x1xf32>
  return %o : tensor<3x1xf32>
}

// CHECK: error: 'hexad.add' op expected 3 rows in rhs, found 2
func.func @add_rows() -> tensor<?x1xf32> {
  %a = arith.constant dense<0.0> : tensor<3x1xf32>
  %b = arith.constant dense<0.0> : tensor<2x1xf32>
  %x = tensor.cast %a : tensor<3x1xf32> to tensor<?x1xf32>
  %y = tensor.cast %b : tensor<2x1xf32> to tensor<?x1xf32>
  %z = hexad.add %x, %y : tensor<?x1xf32>
  return %z : tensor<?x1xf32>
}

// CHECK: error: computed a tensor of shape [3, 1], which is not of type 'tensor<2x1xf32>'
func.func @wrong_cast() -> tensor<2x1xf32> {
  %a = arith.constant dense<0.0> : tensor<3x1xf32>
  %x = tensor.cast %a : tensor<3x1xf32> to tensor<?x1xf32>
  %y = tensor.cast %x : tensor<?x1xf32> to tensor<2x1xf32>
  return %y : tensor<2x1xf32>
}

// CHECK: error: 'tensor.empty' op a tensor of shape [-1, 1] is more than the 536870912 elements that the reference interpreter holds
func.func @negative_size() -> tensor<?x1xf32> {
  %size = arith.constant -1 : index
  %x = tensor.empty(%size) : tensor<?x1xf32>
  return %x : tensor<?x1xf32>
}

// CHECK: error: 'arith.constant' op a tensor of shape [4294967296, 4294967296] is more than
func.func @huge_constant() -> tensor<4294967296x4294967296xf32> {
  %x = arith.constant dense<1.0> : tensor<4294967296x4294967296xf32>
  return %x : tensor<4294967296x4294967296xf32>
}

// CHECK: error: 'tensor.extract_slice' op expected a slice inside dimension 0 of size 3, found offset 2, size 2, stride 1
func.func @slice_outside() -> tensor<2x1xf32> {
  %x = arith.constant dense<0.0> : tensor<3x1xf32>
  %offset = arith.constant 2 : index
  %y = tensor.extract_slice %x[%offset, 0] [2, 1] [1, 1] : tensor<3x1xf32> to tensor<2x1xf32>
  return %y : tensor<2x1xf32>
}

// CHECK: error: 'tensor.insert_slice' op expected a source of 2 elements, found 3
func.func @insert_size() -> tensor<4x1xf32> {
  %a = arith.constant dense<0.0> : tensor<3x1xf32>
  %x = tensor.cast %a : tensor<3x1xf32> to tensor<?x1xf32>
  %size = arith.constant 2 : index
  %y = arith.constant dense<0.0> : tensor<4x1xf32>
  %z = tensor.insert_slice %x into %y[0, 0] [%size, 1] [1, 1] : tensor<?x1xf32> into tensor<4x1xf32>
  return %z : tensor<4x1xf32>
}

// CHECK: error: 'tensor.dim' op expected a dimension below 2, found 2
func.func @dim() -> index {
  %x = arith.constant dense<0.0> : tensor<3x1xf32>
  %c2 = arith.constant 2 : index
  %d = tensor.dim %x, %c2 : tensor<3x1xf32>
  return %d : index
}

// CHECK: error: 'scf.for' op expected a positive step, found 0
func.func @step() -> index {
  %c0 = arith.constant 0 : index
  %i = scf.for %layer = %c0 to %c0 step %c0 iter_args(%x = %c0) -> (index) {
    scf.yield %x : index
  }
  return %i : index
}

hexad.parameter @w : tensor<2x3xf32> from "nowhere.safetensors" ["0", "1"] {layers = 2 : i64}

// CHECK: error: 'hexad.load' op expected a layer below 2, found 2
func.func @layer() -> tensor<3xf32> {
  %c2 = arith.constant 2 : index
  %w = hexad.load @w[%c2] : tensor<3xf32>
  return %w : tensor<3xf32>
}

// CHECK: error: 'arith.negf' op is not known to the reference interpreter
func.func @unknown() -> tensor<3x1xf32> {
  %x = arith.constant dense<0.0> : tensor<3x1xf32>
  %y = arith.negf %x : tensor<3x1xf32>
  return %y : tensor<3x1xf32>
}

// CHECK: error: 'hexad.patchify' op expected segments of 1 images of 2 rows each, found 1 of 3
func.func @patchify_segments() -> tensor<?x1xf32> {
  %image = arith.constant dense<1.0> : tensor<1x1x2x4xf32>
  %w = arith.constant dense<1.0> : tensor<1x1x2x2xf32>
  %segments = hexad.image_segments %image {length = 3 : i64} : tensor<1x1x2x4xf32>
  %y = hexad.patchify %image, %w, %segments : tensor<1x1x2x4xf32>, tensor<1x1x2x2xf32> -> tensor<?x1xf32>
  return %y : tensor<?x1xf32>
}

// CHECK: error: 'hexad.patches' op expected elements from 0 to 2, found 3 in row 1
func.func @patches_elements() -> tensor<2x4xf32> {
  %image = arith.constant dense<1.0> : tensor<1x1x2x4xf32>
  %elements = arith.constant dense<[0, 3]> : tensor<2xi32>
  %y = hexad.patches %elements, %image {patch = array<i64: 2, 2>, prefix = 1 : i64} : tensor<2xi32>, tensor<1x1x2x4xf32> -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// CHECK: error: 'hexad.prefix_rows' op expected positions of 0 or more, found -1 in row 0
func.func @prefix_rows_position() -> tensor<1x1xf32> {
  %x = arith.constant dense<1.0> : tensor<1x1xf32>
  %positions = arith.constant dense<[-1]> : tensor<1xi32>
  %y = hexad.prefix_rows %x, %positions, %x : tensor<1x1xf32>, tensor<1xi32>, tensor<1x1xf32>
  return %y : tensor<1x1xf32>
}

// CHECK: error: 'hexad.image_segments' op a tensor of shape [1, 9223372036854775807] is more than
func.func @image_segments_size() -> !hexad.segments {
  %image = arith.constant dense<1.0> : tensor<1x1x1x1xf32>
  %segments = hexad.image_segments %image {length = 9223372036854775807 : i64} : tensor<1x1x1x1xf32>
  return %segments : !hexad.segments
}

// CHECK: error: 'hexad.cross_entropy' op expected labels from 0 to 1 or -100, found 2 in row 1
func.func @label_too_large() -> tensor<2x1xf32> {
  %x = arith.constant dense<0.0> : tensor<2x2xf32>
  %l = arith.constant dense<[1, 2]> : tensor<2xi32>
  %y = hexad.cross_entropy %x, %l : tensor<2x2xf32>, tensor<2xi32> -> tensor<2x1xf32>
  return %y : tensor<2x1xf32>
}

// CHECK: error: 'hexad.cross_entropy' op expected labels from 0 to 1 or -100, found -1 in row 0
func.func @label_negative() -> tensor<2x1xf32> {
  %x = arith.constant dense<0.0> : tensor<2x2xf32>
  %l = arith.constant dense<[-1, 0]> : tensor<2xi32>
  %y = hexad.cross_entropy %x, %l : tensor<2x2xf32>, tensor<2xi32> -> tensor<2x1xf32>
  return %y : tensor<2x1xf32>
}

// CHECK: error: 'hexad.labels' op expected a rectangle of 1 x 2, found 2 x 2
func.func @labels_rectangle() -> tensor<?xi32> {
  %mask = arith.constant dense<1> : tensor<1x2xi32>
  %labels = arith.constant dense<1> : tensor<2x2xi32>
  %segments = hexad.segments %mask : tensor<1x2xi32>
  %rows = hexad.labels %labels, %segments : tensor<2x2xi32> -> tensor<?xi32>
  return %rows : tensor<?xi32>
}

// CHECK: error: 'hexad.labels' op expected 1 rows in labels, found 2
func.func @labels_of_segments() -> tensor<?xi32> {
  %mask = arith.constant dense<1> : tensor<1x2xi32>
  %labels = arith.constant dense<1> : tensor<2xi32>
  %segments = hexad.segments %mask : tensor<1x2xi32>
  %rows = hexad.labels %labels, %segments : tensor<2xi32> -> tensor<?xi32>
  return %rows : tensor<?xi32>
}

// CHECK: error: 'hexad.mean_loss' op expected 2 rows in labels, found 3
func.func @mean_loss_labels() -> tensor<f32> {
  %two = arith.constant dense<0.0> : tensor<2x1xf32>
  %x = tensor.cast %two : tensor<2x1xf32> to tensor<?x1xf32>
  %l = arith.constant dense<0> : tensor<3xi32>
  %y = hexad.mean_loss %x, %l : tensor<?x1xf32>, tensor<3xi32> -> tensor<f32>
  return %y : tensor<f32>
}

// CHECK: error: 'hexad.attention' op expected an earlier attention to have appended to the cache @cache, layer 0
hexad.cache @cache {kv_heads = 1 : i64, head_dim = 1 : i64}
func.func @nothing_appended() -> tensor<2x1xf32> {
  %mask = arith.constant dense<1> : tensor<1x2xi32>
  %segments = hexad.segments %mask : tensor<1x2xi32>
  %x = arith.constant dense<0.0> : tensor<2x1xf32>
  %y = hexad.attention %x, %segments cache @cache {causal, heads = 1 : i64, kv_heads = 1 : i64, head_dim = 1 : i64, scale = 1.0 : f64} : tensor<2x1xf32> -> tensor<2x1xf32>
  return %y : tensor<2x1xf32>
}

// CHECK: @last
// CHECK-NEXT: 0
func.func @last() -> index {
  %c0 = arith.constant 0 : index
  return %c0 : index
}
