//===- HexadOps.td - All ops of the hexad dialect ----------*- tablegen -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_DIALECT_HEXAD_IR_HEXADOPS_TD
#define HEXAD_DIALECT_HEXAD_IR_HEXADOPS_TD

include "hexad/Dialect/Hexad/IR/HexadAttentionOps.td"
include "hexad/Dialect/Hexad/IR/HexadExpertOps.td"
include "hexad/Dialect/Hexad/IR/HexadFeedForwardOps.td"
include "hexad/Dialect/Hexad/IR/HexadLossOps.td"
include "hexad/Dialect/Hexad/IR/HexadMapOps.td"
include "hexad/Dialect/Hexad/IR/HexadNormOps.td"
include "hexad/Dialect/Hexad/IR/HexadParameterOps.td"
include "hexad/Dialect/Hexad/IR/HexadPositionOps.td"
include "hexad/Dialect/Hexad/IR/HexadRowOps.td"
include "hexad/Dialect/Hexad/IR/HexadStateOps.td"
include "hexad/Dialect/Hexad/IR/HexadVisionOps.td"

#endif // HEXAD_DIALECT_HEXAD_IR_HEXADOPS_TD
