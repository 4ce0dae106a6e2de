//===- LowerToKernels.h - Parts of the lowering to hexad_kernel -*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_LIB_CODEGEN_KERNELS_LOWERTOKERNELS_H
#define HEXAD_LIB_CODEGEN_KERNELS_LOWERTOKERNELS_H

#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

namespace hexad {

/// Pads the last dimension of every activation in a tiled function (what comes
/// from an allocation marked `hexad.activations`) to a multiple of
/// `granule`. The hexad ops on it do not verify until they are lowered.
void padActivations(mlir::Operation *function, int64_t granule);

/// Changes parameters to the forms that kernels read. A parameter that is read
/// in two forms becomes two.
class ParameterLayouts {
public:
  ParameterLayouts(mlir::ModuleOp module, int64_t panelColumns)
      : module(module), symbols(module), panelColumns(panelColumns) {}

  /// Says that the weight's parameter will be read as panels.
  void announcePanels(mlir::Value weight);
  /// Whether that was said: other readers then do well to read panels too.
  bool hasPanels(mlir::Value weight);
  /// The weight of a linear op, `[out, in]`, as panels
  /// `[ceil(out / NR), in, NR]`.
  mlir::Value loadPanels(mlir::Value weight);
  /// The value with its last dimension padded to whole panels.
  mlir::Value loadPadded(mlir::Value weight);
  /// Erases loads and parameters that nothing reads any more.
  void eraseUnused();

private:
  mlir::Value loadAs(mlir::Value weight, llvm::StringRef suffix,
                     llvm::ArrayRef<int64_t> layerShape, bool panels);

  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  int64_t panelColumns;
  llvm::SmallPtrSet<mlir::Operation *, 16> announced;
  llvm::DenseMap<std::pair<mlir::Operation *, int>, ParameterOp> forms;
  llvm::DenseMap<std::pair<mlir::Operation *, int>, mlir::Value> loads;
};

} // namespace hexad

#endif // HEXAD_LIB_CODEGEN_KERNELS_LOWERTOKERNELS_H
