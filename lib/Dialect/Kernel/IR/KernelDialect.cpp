//===- KernelDialect.cpp - The hexad_kernel dialect -----------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Dialect/Kernel/IR/KernelDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace hexad::kernel;

#include "hexad/Dialect/Kernel/IR/KernelDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "hexad/Dialect/Kernel/IR/KernelAttributes.cpp.inc"

void KernelDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "hexad/Dialect/Kernel/IR/KernelAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "hexad/Dialect/Kernel/IR/KernelOps.cpp.inc"
      >();
}
