//===- Bufferize.h - Bufferization of Hexad's ops ---------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_CODEGEN_BUFFERIZE_H
#define HEXAD_CODEGEN_BUFFERIZE_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace hexad {

/// BufferizableOpInterface for hexad_kernel ops and hexad.load.
void registerBufferizableOpInterfaceExternalModels(
    mlir::DialectRegistry &registry);

} // namespace hexad

#endif // HEXAD_CODEGEN_BUFFERIZE_H
