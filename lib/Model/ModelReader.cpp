//===- ModelReader.cpp - From a user's files to hexad IR ------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Model/ModelReader.h"
#include "CheckpointFolder.h"
#include "DescriptionReader.h"
#include "IRReader.h"
#include "hexad/Model/Description.h"
#include "hexad/Model/Json.h"
#include "hexad/Model/ModelInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace hexad;
namespace fs = llvm::sys::fs;

std::string hexad::getSourceFolder(llvm::StringRef path) {
  if (fs::is_directory(path))
    return path.str();
  llvm::StringRef folder = llvm::sys::path::parent_path(path);
  return folder.empty() ? "." : folder.str();
}

OwningOpRef<ModuleOp> hexad::readModel(llvm::StringRef path,
                                       const ReadOptions &options,
                                       llvm::SourceMgr &sources,
                                       MLIRContext *context) {
  context->loadDialect<HexadDialect, arith::ArithDialect, func::FuncDialect,
                       scf::SCFDialect, tensor::TensorDialect>();
  if (!options.name.empty() && !isIdentifier(options.name)) {
    emitError(FileLineColLoc::get(context, path, 0, 0),
              "expected a model's name of letters, digits and '_' that begins "
              "with a letter and is no word of C, found ")
        << quoteName(options.name);
    return nullptr;
  }
  TensorSources tensors(getSourceFolder(path));
  llvm::StringRef extension = llvm::sys::path::extension(path);
  OwningOpRef<ModuleOp> module;
  if (fs::is_directory(path)) {
    module = readCheckpointFolder(path, options, tensors, sources, context);
  } else if (extension == ".yaml" || extension == ".yml") {
    module = readDescription(path, options, tensors, sources, context);
  } else if (extension == ".mlir") {
    module = readIR(path, options, tensors, sources, context);
  } else {
    Location loc = FileLineColLoc::get(context, path, 0, 0);
    if (fs::exists(path))
      emitError(loc, "expected a YAML description (.yaml, .yml), a checkpoint "
                     "folder or a .mlir file");
    else
      emitError(loc, "no such file or folder");
  }
  if (!module || failed(verify(*module)) ||
      failed(verifyModelInterface(*module)) ||
      failed(setWeightsType(*module, options.weightsType, tensors)))
    return nullptr;

  llvm::StringRef name = module->getSymName().value_or("");
  if (!options.name.empty())
    module->setSymName(options.name);
  else if (!isIdentifier(name))
    module->setSymName(
        makeIdentifier(name.empty() ? llvm::sys::path::stem(path) : name));
  return module;
}
