//===- LowerPages.cpp - Pages of caches to addresses ----------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/CodeGen/Passes.h"
#include "hexad/Dialect/Kernel/IR/KernelDialect.h"
#include "hexad/Runtime/abi.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <cstddef>

using namespace mlir;
using namespace hexad;

namespace hexad {
#define GEN_PASS_DEF_LOWERPAGESPASS
#include "hexad/CodeGen/Passes.h.inc"
} // namespace hexad

namespace {
/// Computes a page's address from its `hexad_cache_place`.
class PageLowering {
public:
  explicit PageLowering(kernel::PageOp op)
      : op(op), b(op.getLoc(), op), i64(b.getI64Type()) {}

  void lower() {
    Value slots = loadField(offsetof(hexad_cache_place, slots));
    Value slot = arith::RemUIOp::create(b, toInteger(op.getPage()), slots);
    Value address = loadField(offsetof(hexad_cache_place, base));
    address = addProduct(address, slot,
                         loadField(offsetof(hexad_cache_place, slot_stride)));
    address = addProduct(address, toInteger(op.getLayer()),
                         loadField(offsetof(hexad_cache_place, layer_stride)));
    address = arith::AddIOp::create(
        b, address,
        arith::ConstantIntOp::create(b, i64,
                                     static_cast<int64_t>(op.getOffset())));
    Value pointer = LLVM::IntToPtrOp::create(
        b, LLVM::LLVMPointerType::get(b.getContext()), address);
    LLVMTypeConverter converter(b.getContext());
    MemRefType type = op.getResult().getType();
    Value descriptor = MemRefDescriptor::fromStaticShape(
        b, b.getLoc(), converter, type, pointer);
    op.replaceAllUsesWith(
        UnrealizedConversionCastOp::create(b, TypeRange{type}, descriptor)
            .getResult(0));
    op.erase();
  }

private:
  static constexpr int64_t fieldBytes = sizeof(int64_t);

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value toInteger(Value index) {
    return arith::IndexCastOp::create(b, i64, index);
  }
  Value addProduct(Value sum, Value lhs, Value rhs) {
    Value product = arith::MulIOp::create(b, lhs, rhs);
    return arith::AddIOp::create(b, sum, product);
  }
  Value loadField(int64_t offset) {
    Value first = arith::MulIOp::create(
        b, op.getPlace(), index(sizeof(hexad_cache_place) / fieldBytes));
    Value field = arith::AddIOp::create(b, first, index(offset / fieldBytes));
    return memref::LoadOp::create(b, op.getPlaces(), field);
  }

  kernel::PageOp op;
  ImplicitLocOpBuilder b;
  Type i64;
};

struct LowerPagesPass : hexad::impl::LowerPagesPassBase<LowerPagesPass> {
  using LowerPagesPassBase::LowerPagesPassBase;

  void runOnOperation() override {
    getOperation().walk([](kernel::PageOp op) { PageLowering(op).lower(); });
  }
};
} // namespace
