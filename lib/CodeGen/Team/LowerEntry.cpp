//===- LowerEntry.cpp - The ABI's entry function --------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/CodeGen/Passes.h"
#include "hexad/Runtime/abi.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace hexad;

namespace hexad {
#define GEN_PASS_DEF_LOWERENTRYPASS
#include "hexad/CodeGen/Passes.h.inc"
} // namespace hexad

namespace {
/// Makes the arguments of the lowered function from what the ABI gives.
class EntryBuilder {
public:
  EntryBuilder(func::FuncOp function)
      : function(function), builder(function.getLoc(), function->getContext()),
        converter(function->getContext()) {}

  LogicalResult create() {
    builder.setInsertionPointAfter(function);
    Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
    auto entry = func::FuncOp::create(
        builder, "hexad_entry",
        builder.getFunctionType({builder.getI64Type(), pointer, pointer}, {}));
    builder.setInsertionPointToStart(entry.addEntryBlock());
    SmallVector<Value> operands;
    for (BlockArgument argument : function.getArguments()) {
      Value operand = makeOperand(argument, entry);
      if (!operand)
        return function.emitError("argument ")
               << argument.getArgNumber()
               << " is none that the ABI has: expected one of hexad.extent, "
                  "hexad.pointer, hexad.thread";
      operands.push_back(operand);
    }
    func::CallOp::create(builder, function, operands);
    func::ReturnOp::create(builder);
    function.setPrivate();
    // Said in code now; LLVM knows no such attributes.
    function.removeArgAttrsAttr();
    return success();
  }

private:
  Value cast(Value value, Type type) {
    return UnrealizedConversionCastOp::create(builder, type, value)
        .getResult(0);
  }

  Value loadAt(Value array, int64_t index, Type type) {
    Value address = LLVM::GEPOp::create(
        builder, array.getType(), type, array,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
    return LLVM::LoadOp::create(builder, type, address);
  }

  Value makeOperand(BlockArgument argument, func::FuncOp entry) {
    unsigned number = argument.getArgNumber();
    if (function.getArgAttr(number, "hexad.thread"))
      return cast(entry.getArgument(0), argument.getType());
    if (auto extent =
            function.getArgAttrOfType<IntegerAttr>(number, "hexad.extent"))
      return cast(
          loadAt(entry.getArgument(1), extent.getInt(), builder.getI64Type()),
          argument.getType());
    auto kind = function.getArgAttrOfType<IntegerAttr>(number, "hexad.pointer");
    if (!kind)
      return {};
    Value address = loadAt(entry.getArgument(2), kind.getInt(),
                           LLVM::LLVMPointerType::get(builder.getContext()));
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type)
      return address;
    // Only the first dimension is dynamic, and nothing asks for its size.
    auto descriptor = MemRefDescriptor::poison(builder, builder.getLoc(),
                                               converter.convertType(type));
    descriptor.setAllocatedPtr(builder, builder.getLoc(), address);
    descriptor.setAlignedPtr(builder, builder.getLoc(), address);
    descriptor.setConstantOffset(builder, builder.getLoc(), 0);
    int64_t stride = 1;
    for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
      descriptor.setConstantStride(builder, builder.getLoc(), dim, stride);
      int64_t size = type.isDynamicDim(dim) ? 0 : type.getDimSize(dim);
      descriptor.setConstantSize(builder, builder.getLoc(), dim, size);
      stride *= size;
    }
    return cast(static_cast<Value>(descriptor), type);
  }

  func::FuncOp function;
  ImplicitLocOpBuilder builder;
  LLVMTypeConverter converter;
};

struct LowerEntryPass : hexad::impl::LowerEntryPassBase<LowerEntryPass> {
  using LowerEntryPassBase::LowerEntryPassBase;

  void runOnOperation() override {
    // Private ones are code that kernels share.
    auto functions =
        llvm::make_filter_range(getOperation().getOps<func::FuncOp>(),
                                [](auto op) { return !op.isPrivate(); });
    if (!llvm::hasSingleElement(functions)) {
      getOperation().emitError("expected one public function");
      return signalPassFailure();
    }
    if (failed(EntryBuilder(*functions.begin()).create()))
      signalPassFailure();
  }
};
} // namespace
