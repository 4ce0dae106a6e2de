//===- EntryArguments.cpp - Arguments in the ABI's form -------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EntryArguments.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace hexad;

std::optional<hexad_extent> hexad::getExtentKind(func::FuncOp function,
                                                 Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != &function.getBody().front())
    return std::nullopt;
  auto extent = function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(),
                                                       "hexad.extent");
  if (!extent || extent.getInt() < 0 || extent.getInt() >= HEXAD_EXTENT_COUNT)
    return std::nullopt;
  return static_cast<hexad_extent>(extent.getInt());
}

Value hexad::findExtent(func::FuncOp function, hexad_extent kind) {
  for (BlockArgument argument : function.getArguments())
    if (getExtentKind(function, argument) == kind)
      return argument;
  return {};
}

Value hexad::addPointer(func::FuncOp function, hexad_pointer kind, Type type) {
  Builder builder(function.getContext());
  unsigned index = function.getNumArguments();
  (void)function.insertArgument(
      index, type,
      builder.getDictionaryAttr(builder.getNamedAttr(
          "hexad.pointer", builder.getI64IntegerAttr(kind))),
      function.getLoc());
  return function.getArgument(index);
}
