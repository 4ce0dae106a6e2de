//===- KernelDialect.h - The hexad_kernel dialect ---------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_DIALECT_KERNEL_IR_KERNELDIALECT_H
#define HEXAD_DIALECT_KERNEL_IR_KERNELDIALECT_H

#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

#include "hexad/Dialect/Kernel/IR/KernelDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "hexad/Dialect/Kernel/IR/KernelAttributes.h.inc"

#define GET_OP_CLASSES
#include "hexad/Dialect/Kernel/IR/KernelOps.h.inc"

#endif // HEXAD_DIALECT_KERNEL_IR_KERNELDIALECT_H
