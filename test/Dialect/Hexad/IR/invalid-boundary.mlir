// RUN: hexad-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{boundary_c1: expected a string as hexad.name, found 3 : i64}}
func.func @name(%ids: tensor<?x?xi32> {hexad.name = 3 : i64}) {
  return
}

// -----

// expected-error @below {{boundary_c1: expected a string as hexad.name, found unit}}
func.func @result_name(%x: tensor<?xf32>) -> (tensor<?xf32> {hexad.name}) {
  return %x : tensor<?xf32>
}

// -----

// expected-error @below {{boundary_c2: expected a positive i64 as hexad.limit, found 0 : i64}}
func.func @limit(%ids: tensor<?x?xi32> {hexad.limit = 0 : i64}) {
  return
}

// -----

// expected-error @below {{boundary_c2: expected a positive i64 as hexad.limit, found "many"}}
func.func @limit_type(%ids: tensor<?x?xi32> {hexad.limit = "many"}) {
  return
}

// -----

// expected-error @below {{boundary_c3: expected hexad.optional to stand without a value, found true}}
func.func @optional(%ids: tensor<?x?xi32> {hexad.optional = true}) {
  return
}

// -----

// expected-error @below {{boundary_c4: expected hexad.position_limit to be a positive i64 on a function, found -1 : i64}}
func.func @position_limit() attributes {hexad.position_limit = -1 : i64} {
  return
}

// -----

// expected-error @below {{boundary_c4: expected hexad.position_limit to be a positive i64 on a function}}
module attributes {hexad.position_limit = 136 : i64} {
}
