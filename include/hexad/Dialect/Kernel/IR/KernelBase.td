//===- KernelBase.td - What kernel ops have in common ------*- tablegen -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_DIALECT_KERNEL_IR_KERNELBASE_TD
#define HEXAD_DIALECT_KERNEL_IR_KERNELBASE_TD

include "hexad/Dialect/Hexad/IR/HexadDialect.td"
include "hexad/Dialect/Kernel/IR/KernelDialect.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// Operands: a tensor before bufferization, a memref after it.
class Kernel_Shaped<list<Type> elements, int rank, string summary>
    : Type<And<[Or<[IsTensorTypePred, IsMemRefTypePred]>,
                Neg<CPred<"::llvm::isa<::mlir::UnrankedTensorType, ::mlir::UnrankedMemRefType>($_self)">>,
                CPred<"::llvm::cast<::mlir::ShapedType>($_self).getRank() == " # rank>,
                SubstLeaves<"$_self", "::llvm::cast<::mlir::ShapedType>($_self).getElementType()",
                            AnyTypeOf<elements>.predicate>]>,
           summary, "::mlir::ShapedType">;
def Kernel_Rows : Kernel_Shaped<[F32], 2, "rows x columns of f32">;
def Kernel_Row : Kernel_Shaped<[F32], 1, "vector of f32">;
def Kernel_Indices : Kernel_Shaped<[I32], 1, "vector of i32">;
// Weights: kernels widen what is stored in 16 bits as they read it.
def Kernel_Table : Kernel_Shaped<[F32, BF16, F16], 2, "rows x columns of f32, bf16 or f16">;
def Kernel_Panels : Kernel_Shaped<[F32, BF16, F16], 3, "panels x depth x columns of f32, bf16 or f16">;
def Kernel_Cube : Kernel_Shaped<[F32], 3, "panels x depth x columns of f32">;

// Ops in destination-passing style. A buffer that is an input is read, a
// destination is read and written: rows and columns that an op does not cover keep
// their contents. Tensors have no effects.
class Kernel_DestinationStyleOp<string mnemonic, list<Trait> traits = []>
    : Kernel_Op<mnemonic, !listconcat([DestinationStyleOpInterface,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>], traits)> {
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let extraClassDefinition = [{
    void $cppClass::getEffects(
        ::llvm::SmallVectorImpl<::mlir::SideEffects::EffectInstance<
            ::mlir::MemoryEffects::Effect>> &effects) {
      ::hexad::kernel::detail::getBufferEffects(*this, effects);
    }
  }];
}

// With one destination.
class Kernel_DestinationOp<string mnemonic, list<Trait> traits = []>
    : Kernel_DestinationStyleOp<mnemonic, traits> {
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getDestinationMutable(); }
  }];
}

#endif // HEXAD_DIALECT_KERNEL_IR_KERNELBASE_TD
