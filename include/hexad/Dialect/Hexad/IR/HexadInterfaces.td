//===- HexadInterfaces.td - Interfaces of hexad ops --------*- tablegen -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_DIALECT_HEXAD_IR_HEXADINTERFACES_TD
#define HEXAD_DIALECT_HEXAD_IR_HEXADINTERFACES_TD

include "mlir/IR/OpBase.td"

def Hexad_RowLocalOpInterface : OpInterface<"RowLocalOpInterface"> {
  let cppNamespace = "::hexad";
  let description = [{
    An op with one result, whose row r depends on row r of the *row operands* and
    on the other operands (weights) as a whole. Row operands come first. Such an op
    can be computed for any part of the rows, in any order, which is what
    `hexad.rows` and the tiling of it rest on.
  }];
  let methods = [
    InterfaceMethod<
      "How many of the first operands have a row for each row of the result.",
      "unsigned", "getNumRowOperands", (ins), "", "return 1;">,
  ];
  let extraSharedClassDeclaration = [{
    /// The operands that have a row for each row of the result.
    ::mlir::OperandRange getRowOperands() {
      return $_op->getOperands().take_front($_op.getNumRowOperands());
    }
    /// The one result.
    ::mlir::Value getRowResult() { return $_op->getResult(0); }
  }];
}

#endif // HEXAD_DIALECT_HEXAD_IR_HEXADINTERFACES_TD
