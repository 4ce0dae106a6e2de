//===- Emission.cpp - From the LLVM dialect to an object ------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Driver/Emission.h"
#include "hexad/CodeGen/Optimize.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include <cstddef>

using namespace llvm;
using namespace hexad;

static constexpr StringLiteral entryName = "hexad_entry";
static constexpr StringLiteral runtimePrefix = "hexad_runtime_";
static constexpr StringLiteral targetTriple = "x86_64-unknown-linux-gnu";

Emission::Emission(const LibraryInfo &info, Sanitizer sanitizer)
    : info(info), sanitizer(sanitizer) {}
Emission::~Emission() = default;

Error Emission::translate(mlir::ModuleOp op) {
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  Triple triple(targetTriple);
  std::string message;
  const llvm::Target *target = TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return createStringError(message);
  // What every x86-64 has; compiled functions carry their own attributes.
  machine.reset(target->createTargetMachine(
      triple, "x86-64", "", TargetOptions(), Reloc::PIC_, std::nullopt,
      CodeGenOptLevel::Aggressive));

  mlir::DialectRegistry registry;
  mlir::registerAllToLLVMIRTranslations(registry);
  op->getContext()->appendDialectRegistry(registry);
  module = mlir::translateModuleToLLVMIR(op, context, info.prefix);
  if (!module)
    return createStringError("the model's code cannot be translated to LLVM");
  module->setTargetTriple(triple);
  module->setDataLayout(machine->createDataLayout());

  Function *entry = module->getFunction(entryName);
  if (!entry || entry->isDeclaration() || entry->arg_size() != 3)
    return createStringError("the model's code does not define " + entryName);
  setFunctionAttributes();
  addModelInfo();
  addExportedFunctions();
  addSections();
  markForSanitizer(*module, sanitizer);
  std::string problem;
  raw_string_ostream os(problem);
  if (verifyModule(*module, &os))
    return createStringError("the model's code is not valid LLVM IR: " +
                             problem);
  return Error::success();
}

void Emission::setFunctionAttributes() {
  for (Function &function : *module) {
    if (function.isDeclaration())
      continue;
    function.setLinkage(GlobalValue::InternalLinkage);
    function.addFnAttr("target-cpu", info.cpu);
    function.addFnAttr("target-features", info.features);
    function.addFnAttr("prefer-vector-width", std::to_string(info.vectorBits));
    function.addFnAttr(Attribute::NoUnwind);
  }
}

/// The constant that corresponds to `hexad_model_info`, with everything that it
/// points to.
void Emission::addModelInfo() {
  Type *i32 = Type::getInt32Ty(context), *i64 = Type::getInt64Ty(context);
  auto int32 = [&](int64_t value) { return ConstantInt::get(i32, value); };
  auto int64 = [&](uint64_t value) { return ConstantInt::get(i64, value); };
  auto addConstant = [&](Constant *value, const Twine &name) {
    auto *global =
        new GlobalVariable(*module, value->getType(), /*isConstant=*/true,
                           GlobalValue::PrivateLinkage, value, name);
    global->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
    return global;
  };
  auto addString = [&](StringRef text) {
    return addConstant(ConstantDataArray::getString(context, text),
                       "hexad.string");
  };
  // An array of structs, or null if there are none.
  auto addArray = [&](ArrayRef<Constant *> structs,
                      const Twine &name) -> Constant * {
    if (structs.empty())
      return ConstantPointerNull::get(PointerType::get(context, 0));
    return addConstant(
        ConstantArray::get(
            ArrayType::get(structs[0]->getType(), structs.size()), structs),
        name);
  };

  SmallVector<Constant *> inputs, outputs, caches;
  for (const hexad_cache_info &cache : info.caches)
    caches.push_back(
        ConstantStruct::getAnon({int64(cache.page_bytes), int32(cache.layers),
                                 int32(cache.window), int64(cache.kept)}));
  for (const InputInfo &input : info.inputs)
    inputs.push_back(ConstantStruct::getAnon(
        {addString(input.name), int32(input.kind), int32(input.optional),
         int64(input.limit), int64(input.channels), int64(input.height),
         int64(input.width), int64(input.tokens)}));
  for (const OutputInfo &output : info.outputs)
    outputs.push_back(ConstantStruct::getAnon(
        {addString(output.name), int32(output.kind), int32(output.stacked),
         int64(output.count), int64(output.columns)}));
  Constant *arena = ConstantStruct::getAnon(
      {int64(info.arena.constant),
       ConstantDataArray::get(
           context,
           ArrayRef(reinterpret_cast<const uint64_t *>(info.arena.per_extent),
                    HEXAD_EXTENT_COUNT))});
  Constant *value = ConstantStruct::getAnon(
      {int32(HEXAD_ABI_VERSION), int32(info.cpuFeatures), addString(info.name),
       addString(info.weightsFile), int64(info.weightsBytes),
       int64(info.fingerprint), int32(info.tileRows), int32(info.queryTile),
       int32(info.page), int32(info.positionLimit), int32(info.inputs.size()),
       int32(info.outputs.size()), int32(info.caches.size()),
       addArray(caches, "hexad.caches"), addArray(inputs, "hexad.inputs"),
       addArray(outputs, "hexad.outputs"), arena,
       module->getFunction(entryName)});

  [[maybe_unused]] const StructLayout *layout =
      module->getDataLayout().getStructLayout(
          cast<StructType>(value->getType()));
  assert(layout->getSizeInBytes() == sizeof(hexad_model_info) &&
         layout->getElementOffset(17) == offsetof(hexad_model_info, entry) &&
         layout->getElementOffset(16) == offsetof(hexad_model_info, arena) &&
         layout->getElementOffset(6) == offsetof(hexad_model_info, tile_rows) &&
         "abi.h and its constant differ");
  // Not unnamed: the weights are looked for beside the library that holds this
  // address.
  modelInfo = new GlobalVariable(*module, value->getType(), /*isConstant=*/true,
                                 GlobalValue::InternalLinkage, value,
                                 "hexad.model_info");
}

/// The functions of the library's header: each calls its counterpart in the
/// runtime.
void Emission::addExportedFunctions() {
  Type *pointer = PointerType::get(context, 0);
  Type *i32 = Type::getInt32Ty(context), *i64 = Type::getInt64Ty(context);
  Type *none = Type::getVoidTy(context);
  auto get = [](Type *result, ArrayRef<Type *> arguments) {
    return FunctionType::get(result, arguments, false);
  };
  const StringMap<FunctionType *> signatures = {
      {"model_create", get(i32, {pointer, pointer})},
      {"model_destroy", get(none, {pointer})},
      {"context_size", get(i32, {pointer, pointer, pointer})},
      {"context_create", get(i32, {pointer, pointer, pointer})},
      {"context_destroy", get(none, {pointer})},
      {"context_message", get(pointer, {pointer})},
      {"forward", get(i32, {pointer, pointer})},
      {"forward_on", get(i32, {pointer, i64, pointer})},
      {"status_text", get(pointer, {i32})},
      {"session_size", get(i32, {pointer, pointer, pointer})},
      {"session_create", get(i32, {pointer, pointer, pointer})},
      {"session_destroy", get(none, {pointer})},
      {"session_message", get(pointer, {pointer})},
      {"session_position", get(i64, {pointer})},
      {"session_rewind", get(i32, {pointer, i64})},
      {"session_fork", get(i32, {pointer, pointer})},
      {"session_saved_size", get(i32, {pointer, pointer})},
      {"session_save", get(i32, {pointer, pointer, i64})},
      {"session_load", get(i32, {pointer, pointer, i64})},
      {"extend", get(i32, {pointer, pointer, pointer, i64, i32, pointer})},
      {"extend_batch", get(i32, {pointer, pointer, i64, pointer})},
      {"extend_on", get(i32, {pointer, i64, pointer, i64, pointer})}};

  IRBuilder<> builder(context);
  for (StringRef name : getExportedFunctions(info)) {
    FunctionType *type = signatures.lookup(name);
    assert(type && "an exported function has a signature");
    bool isCreate = name == "model_create";
    // The runtime's function has the model's constant in front.
    FunctionType *runtimeType = type;
    if (isCreate)
      runtimeType = FunctionType::get(i32, {pointer, pointer, pointer}, false);
    auto *callee = Function::Create(runtimeType, GlobalValue::ExternalLinkage,
                                    runtimePrefix + name, module.get());
    callee->setVisibility(GlobalValue::HiddenVisibility);
    callee->addFnAttr(Attribute::NoUnwind);
    auto *function = Function::Create(type, GlobalValue::ExternalLinkage,
                                      info.prefix + "_" + name, module.get());
    function->addFnAttr(Attribute::NoUnwind);
    builder.SetInsertPoint(BasicBlock::Create(context, "", function));
    SmallVector<Value *> arguments;
    if (isCreate)
      arguments.push_back(modelInfo);
    for (Argument &argument : function->args())
      arguments.push_back(&argument);
    CallInst *call = builder.CreateCall(callee, arguments);
    call->setTailCall();
    if (type->getReturnType()->isVoidTy())
      builder.CreateRetVoid();
    else
      builder.CreateRet(call);
  }
}

void Emission::addSections() {
  auto addSection = [&](StringRef section, Constant *contents) {
    auto *global =
        new GlobalVariable(*module, contents->getType(),
                           /*isConstant=*/true, GlobalValue::PrivateLinkage,
                           contents, "hexad.section");
    global->setSection(section);
    // A sanitizer would append to it.
    GlobalValue::SanitizerMetadata exact;
    exact.NoAddress = true;
    global->setSanitizerMetadata(exact);
    // Nothing refers to it, neither LLVM nor the linker may drop it.
    appendToUsed(*module, {global});
    return global;
  };
  addSection(metadataSection,
             ConstantDataArray::getString(context, generateMetadata(info),
                                          /*AddNull=*/false));
  addSection(checksumSection, ConstantInt::get(Type::getInt64Ty(context), 0))
      ->setAlignment(Align(8));
}

void Emission::optimize() {
  hexad::optimize(*module, *machine);
  instrument(*module, sanitizer);
}

Error Emission::emit(raw_pwrite_stream &os, bool assembly) {
  // Code generation changes the module: a second file starts from the same one.
  std::unique_ptr<Module> copy = CloneModule(*module);
  legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, os, nullptr,
                                   assembly ? CodeGenFileType::AssemblyFile
                                            : CodeGenFileType::ObjectFile))
    return createStringError("LLVM cannot write this kind of file");
  passes.run(*copy);
  return Error::success();
}

Error Emission::writeObject(raw_pwrite_stream &os) {
  return emit(os, /*assembly=*/false);
}

Error Emission::writeAssembly(raw_pwrite_stream &os) {
  return emit(os, /*assembly=*/true);
}
