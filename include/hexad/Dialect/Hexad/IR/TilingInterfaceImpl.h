//===- TilingInterfaceImpl.h - Tiling of row-local ops ----------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_DIALECT_HEXAD_IR_TILINGINTERFACEIMPL_H
#define HEXAD_DIALECT_HEXAD_IR_TILINGINTERFACEIMPL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace hexad {

/// Makes every op with RowLocalOpInterface tileable: the iteration domain is
/// one parallel loop over rows; a tile takes its part of the row operands and
/// the other operands whole, so that the columns of a row always stay together.
void registerTilingInterfaceExternalModels(mlir::DialectRegistry &registry);

} // namespace hexad

#endif // HEXAD_DIALECT_HEXAD_IR_TILINGINTERFACEIMPL_H
