//===- CheckpointFolder.cpp - Hugging Face checkpoint folders -------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CheckpointFolder.h"
#include "Family.h"
#include "hexad/Model/Json.h"
#include "hexad/Model/SourceDiagnostics.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace hexad;

llvm::ArrayRef<const Family *> hexad::getFamilies() {
  static const Family *const families[] = {
      &bertFamily,    &dinov2Family,      &dinov2WithRegistersFamily,
      &gemma3Family,  &gemma4WholeFamily, &gemma4Family,
      &gpt2Family,    &gptNeoxFamily,     &llamaFamily,
      &mistralFamily, &mixtralFamily,     &olmo2Family,
      &qwen2Family,   &qwen3Family,       &qwen3MoeFamily,
      &vitFamily};
  return families;
}

static std::string joinPath(llvm::StringRef folder, llvm::StringRef name) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  return std::string(path);
}

std::string hexad::getFolderModelName(llvm::StringRef folder) {
  // Neither "." nor "folder/" ends in the name.
  llvm::SmallString<128> path(folder);
  llvm::sys::fs::make_absolute(path);
  llvm::sys::path::remove_dots(path, /*remove_dot_dot=*/true);
  return makeIdentifier(llvm::sys::path::filename(path));
}

/// The family of `model_type`, null after a diagnostic.
static const Family *findFamily(const ConfigFile &config) {
  std::string type;
  if (failed(config.readString("model_type", type)))
    return nullptr;
  if (config.find("text_config") && type != gemma4WholeFamily.names.family) {
    emitError(config.getLocation("model_type"), "model_type ")
        << quoteName(type)
        << " reads more than text, which is not supported; expected a model "
           "of its text alone";
    return nullptr;
  }
  std::string known;
  for (const Family *family : getFamilies()) {
    if (family->names.family == type)
      return family;
    known += (known.empty() ? "" : ", ") + family->names.family.str();
  }
  emitError(config.getLocation("model_type"), "model_type ")
      << quoteName(type) << " is not supported; expected one of " << known;
  return nullptr;
}

static FailureOr<std::string> readArchitecture(const ConfigFile &config,
                                               const Family &family) {
  const llvm::json::Value *value = config.find("architectures");
  const llvm::json::Array *list = value ? value->getAsArray() : nullptr;
  std::optional<llvm::StringRef> name;
  if (list && list->size() == 1)
    name = list->front().getAsString();
  if (name && llvm::is_contained(family.architectures, *name))
    return name->str();
  std::string known =
      "a list of one of " + llvm::join(family.architectures, ", ");
  if (!name)
    return config.expected("architectures", known);
  return emitError(config.getLocation("architectures"),
                   "expected architectures to be ")
         << known << ", found " << quoteName(*name);
}

/// The file or index of the tensors, empty after a diagnostic.
static std::string findWeights(llvm::StringRef folder, Location loc) {
  for (llvm::StringRef name :
       {"model.safetensors", "model.safetensors.index.json"})
    if (llvm::sys::fs::exists(joinPath(folder, name)))
      return name.str();
  emitError(loc, "expected model.safetensors or model.safetensors.index.json "
                 "in ")
      << folder;
  return "";
}

static void warnOfUnreadTensors(ModuleOp module, const TensorSource &source,
                                const FamilyNames &names, Location loc) {
  std::vector<llvm::StringRef> unread = findUnreadTensors(module, source);
  llvm::erase_if(unread, [&](llvm::StringRef name) {
    name.consume_front(names.prefix);
    return llvm::any_of(names.leftovers, [&](llvm::StringRef glob) {
      return matchesGlob(name, glob);
    });
  });
  if (unread.empty())
    return;
  constexpr size_t shown = 5;
  InFlightDiagnostic diagnostic = emitWarning(loc);
  diagnostic << unread.size() << " of the stored tensors are not read: ";
  llvm::interleaveComma(
      llvm::ArrayRef(unread).take_front(shown), diagnostic,
      [&](llvm::StringRef name) { diagnostic << quoteName(name); });
  if (unread.size() > shown)
    diagnostic << ", …";
}

OwningOpRef<ModuleOp> hexad::readCheckpointFolder(llvm::StringRef folder,
                                                  const ReadOptions &options,
                                                  TensorSources &tensors,
                                                  llvm::SourceMgr &sources,
                                                  MLIRContext *context) {
  FailureOr<ConfigFile> config =
      ConfigFile::open(joinPath(folder, "config.json"), sources, context);
  if (failed(config))
    return nullptr;
  const Family *family = findFamily(*config);
  if (!family || failed(config->checkKeys(family->keys)))
    return nullptr;
  FailureOr<std::string> architecture = readArchitecture(*config, *family);
  if (failed(architecture))
    return nullptr;

  Location loc = config->getLocation("architectures");
  Description description{getFolderModelName(folder), loc, {}, {}, {}};
  description.weightsFile = findWeights(folder, loc);
  if (description.weightsFile.empty() ||
      failed(family->describe(*config, *architecture, description)) ||
      (options.imageSize &&
       failed(setImageSize(description, *options.imageSize,
                           getOptionLoc(context, "--image-size")))))
    return nullptr;
  llvm::Expected<const TensorSource *> source =
      tensors.get(description.weightsFile);
  if (!source) {
    emitError(loc, llvm::toString(source.takeError()));
    return nullptr;
  }
  if (failed(resolveTensorNames(description, &family->names, **source)))
    return nullptr;
  OwningOpRef<ModuleOp> module =
      buildModule(description, options.outputs, context);
  if (!module || failed(verifyParameterSources(*module, tensors)))
    return nullptr;
  warnOfUnreadTensors(*module, **source, family->names, loc);
  return module;
}
