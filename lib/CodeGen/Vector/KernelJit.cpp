//===- KernelJit.cpp - Kernels compiled in process ------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/CodeGen/KernelJit.h"
#include "hexad/CodeGen/Optimize.h"
#include "hexad/CodeGen/Passes.h"
#include "hexad/Dialect/Kernel/IR/KernelDialect.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;

static void addPasses(PassManager &manager) {
  manager.addPass(hexad::createKernelToVectorPass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(memref::createExpandStridedMetadataPass());
  manager.addPass(createLowerAffinePass());
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(createConvertVectorToLLVMPass());
  manager.addPass(createConvertMathToLLVMPass());
  manager.addPass(createFinalizeMemRefToLLVMConversionPass());
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createConvertFuncToLLVMPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
}

/// Source to optimized LLVM IR.
static llvm::Expected<std::unique_ptr<llvm::Module>>
compile(StringRef source, const hexad::Target &target,
        llvm::TargetMachine &machine, llvm::LLVMContext &llvmContext) {
  DialectRegistry registry;
  registerAllToLLVMIRTranslations(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  // Brings the dialects that it is lowered to, too.
  context.loadDialect<hexad::kernel::KernelDialect, func::FuncDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(source, &context);
  if (!module)
    return llvm::createStringError("kernels do not parse");
  PassManager manager(&context);
  addPasses(manager);
  if (failed(manager.run(*module)))
    return llvm::createStringError("kernels cannot be lowered");
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(*module, llvmContext);
  if (!llvmModule)
    return llvm::createStringError("kernels cannot be translated to LLVM IR");

  llvmModule->setDataLayout(machine.createDataLayout());
  llvmModule->setTargetTriple(machine.getTargetTriple());
  for (llvm::Function &function : *llvmModule) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", target.cpu);
    function.addFnAttr("target-features", target.features);
    function.addFnAttr("prefer-vector-width",
                       std::to_string(target.vectorBits));
  }
  hexad::optimize(*llvmModule, machine);
  return llvmModule;
}

static llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createMachine(const hexad::Target &target) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  llvm::orc::JITTargetMachineBuilder builder(
      llvm::Triple("x86_64-unknown-linux-gnu"));
  builder.setCPU(target.cpu);
  builder.getFeatures() = llvm::SubtargetFeatures(target.features);
  builder.setRelocationModel(llvm::Reloc::PIC_);
  builder.setCodeModel(llvm::CodeModel::Small);
  builder.setCodeGenOptLevel(llvm::CodeGenOptLevel::Aggressive);
  return builder.createTargetMachine();
}

namespace hexad {

KernelJit::KernelJit(std::unique_ptr<llvm::orc::LLJIT> jit)
    : jit(std::move(jit)) {}
KernelJit::~KernelJit() = default;

llvm::Expected<std::unique_ptr<KernelJit>>
KernelJit::create(StringRef source, const Target &target) {
  auto machine = createMachine(target);
  if (!machine)
    return machine.takeError();
  auto context = std::make_unique<llvm::LLVMContext>();
  auto module = compile(source, target, **machine, *context);
  if (!module)
    return module.takeError();
  auto compiler = [&](llvm::orc::JITTargetMachineBuilder)
      -> llvm::Expected<
          std::unique_ptr<llvm::orc::IRCompileLayer::IRCompiler>> {
    return std::make_unique<llvm::orc::TMOwningSimpleCompiler>(
        std::move(*machine));
  };
  auto jit =
      llvm::orc::LLJITBuilder().setCompileFunctionCreator(compiler).create();
  if (!jit)
    return jit.takeError();
  if (llvm::Error error = (*jit)->addIRModule(
          llvm::orc::ThreadSafeModule(std::move(*module), std::move(context))))
    return error;
  return std::unique_ptr<KernelJit>(new KernelJit(std::move(*jit)));
}

void *KernelJit::lookup(StringRef name) {
  void *&function = functions[name];
  if (!function)
    function = llvm::cantFail(jit->lookup(("_mlir_ciface_" + name).str()))
                   .toPtr<void *>();
  return function;
}

} // namespace hexad
