//===- hexad-lsp-server.cpp - Hexad's dialects in an editor ---------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/InitAll.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include <cstdlib>

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  hexad::registerAllDialects(registry);
  return failed(mlir::MlirLspServerMain(argc, argv, registry)) ? EXIT_FAILURE
                                                               : EXIT_SUCCESS;
}
