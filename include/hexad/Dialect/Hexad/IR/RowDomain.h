//===- RowDomain.h - What rows are counted in -------------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_DIALECT_HEXAD_IR_ROWDOMAIN_H
#define HEXAD_DIALECT_HEXAD_IR_ROWDOMAIN_H

#include "mlir/IR/Value.h"

namespace hexad {

/// Of what there is one row each. Their numbers are those of a call.
enum class RowDomain {
  Tokens,   ///< tokens of all segments
  Segments, ///< segments (`hexad.pool`)
  Selected  ///< tokens of which results are wanted (`hexad.select_rows`)
};

/// What the rows of `value`, or of the members of a stack of rows, are counted
/// in. Follows the value to where it is made, in a model that hexad-check-model
/// accepts; tokens if that is not known.
RowDomain getRowDomain(mlir::Value value);

} // namespace hexad

#endif // HEXAD_DIALECT_HEXAD_IR_ROWDOMAIN_H
