// RUN: hexad-opt %s --split-input-file --verify-diagnostics

func.func @segments_type(%mask: tensor<?x?xi1>) {
  // expected-error @below {{operand #0 must be 2D tensor of 32-bit signless integer values, but got 'tensor<?x?xi1>'}}
  %segments = hexad.segments %mask : tensor<?x?xi1>
  return
}

// -----

func.func @unpack_columns(%x: tensor<?x60xf32>, %segments: !hexad.segments) {
  // expected-error @below {{unpack_rows_c1: expected a rectangle of rows of 60 columns, found 'tensor<?x?x61xf32>'}}
  %y = hexad.unpack_rows %x, %segments : tensor<?x60xf32> -> tensor<?x?x61xf32>
  return
}

// -----

func.func @unpack_rank(%x: tensor<4x?x60xf32>, %segments: !hexad.segments) {
  // expected-error @below {{unpack_rows_c1: expected a stack of rectangles of rows of 60 columns, found 'tensor<?x?x60xf32>'}}
  %y = hexad.unpack_rows %x, %segments : tensor<4x?x60xf32> -> tensor<?x?x60xf32>
  return
}

// -----

func.func @unpack_count(%x: tensor<4x?x60xf32>, %segments: !hexad.segments) {
  // expected-error @below {{unpack_rows_c2: expected a stack of 4 rectangles, found 'tensor<3x?x?x60xf32>'}}
  %y = hexad.unpack_rows %x, %segments : tensor<4x?x60xf32> -> tensor<3x?x?x60xf32>
  return
}

// -----

func.func @unpack_dynamic_count(%x: tensor<?x?x60xf32>, %segments: !hexad.segments) {
  // expected-error @below {{stack of rows of f32 with a static, positive number of members and of columns, but got 'tensor<?x?x60xf32>'}}
  %y = hexad.unpack_rows %x, %segments : tensor<?x?x60xf32> -> tensor<?x?x?x60xf32>
  return
}

// -----

func.func @pool_columns(%x: tensor<?x60xf32>, %segments: !hexad.segments) {
  // expected-error @below {{pool_c1: expected rows of 60 columns, found 'tensor<?x61xf32>'}}
  %y = hexad.pool first %x, %segments : tensor<?x60xf32> -> tensor<?x61xf32>
  return
}

// -----

func.func @pool_kind(%x: tensor<?x60xf32>, %segments: !hexad.segments) {
  // expected-error @below {{expected one of [first, mean] for how the rows of a segment become one, got: last}}
  %y = hexad.pool last %x, %segments : tensor<?x60xf32> -> tensor<?x60xf32>
  return
}

// -----

func.func @pool_skip_negative(%x: tensor<?x60xf32>, %segments: !hexad.segments) {
  // expected-error @below {{pool_c2: expected to skip from 0 to 2147483647 rows, found -1}}
  %y = hexad.pool mean %x, %segments {skip = -1 : i64} : tensor<?x60xf32> -> tensor<?x60xf32>
  return
}

// -----

func.func @pool_skip_first(%x: tensor<?x60xf32>, %segments: !hexad.segments) {
  // expected-error @below {{pool_c2: expected to skip from 0 to 0 rows, found 1}}
  %y = hexad.pool first %x, %segments {skip = 1 : i64} : tensor<?x60xf32> -> tensor<?x60xf32>
  return
}

// -----

func.func @rows_arguments(%x: tensor<?x60xf32>) {
  // expected-error @below {{rows_c1: expected a block argument of the type of each operand}}
  %y = "hexad.rows"(%x) ({
  ^bb0(%a: tensor<?x61xf32>):
    "hexad.yield"(%a) : (tensor<?x61xf32>) -> ()
  }) : (tensor<?x60xf32>) -> tensor<?x61xf32>
  return
}

// -----

func.func @rows_results(%x: tensor<?x60xf32>) {
  // expected-error @below {{rows_c2: expected to yield the op's result types}}
  %y = hexad.rows (%a = %x : tensor<?x60xf32>) -> tensor<?x61xf32> {
    hexad.yield %a : tensor<?x60xf32>
  }
  return
}

// -----

func.func @rows_static_result(%x: tensor<?x60xf32>, %z: tensor<4x60xf32>) {
  // expected-error @below {{rows_c3: expected results with a dynamic number of rows exactly if an operand has one, found 'tensor<4x60xf32>'}}
  %y = hexad.rows (%a = %x : tensor<?x60xf32>, %b = %z : tensor<4x60xf32>) -> tensor<4x60xf32> {
    hexad.yield %b : tensor<4x60xf32>
  }
  return
}

// -----

func.func @rows_from_above(%x: tensor<?x60xf32>) {
  // expected-note @below {{required by region isolation constraints}}
  %y = hexad.rows (%a = %x : tensor<?x60xf32>) -> tensor<?x60xf32> {
    // expected-error @below {{using value defined outside the region}}
    %1 = hexad.add %a, %x : tensor<?x60xf32>
    hexad.yield %1 : tensor<?x60xf32>
  }
  return
}

// -----

func.func @yield_elsewhere(%x: tensor<?x60xf32>) {
  // expected-error @below {{expects parent op to be one of 'hexad.rows, hexad.experts'}}
  hexad.yield %x : tensor<?x60xf32>
}

// -----

func.func @select_rows_columns(%x: tensor<?x60xf32>, %segments: !hexad.segments) {
  // expected-error @below {{select_rows_c1: expected rows of 60 columns, found 'tensor<?x61xf32>'}}
  %s = hexad.select_rows %x, %segments : tensor<?x60xf32> -> tensor<?x61xf32>
  return
}
