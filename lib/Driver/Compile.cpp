//===- Compile.cpp - A model becomes a library ----------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Driver/Compile.h"
#include "Describe.h"
#include "hexad/Driver/CommandLine.h"
#include "hexad/Driver/Emission.h"
#include "hexad/Driver/StagedFiles.h"
#include "hexad/InitAll.h"
#include "hexad/Model/Files.h"
#include "hexad/Model/ModelReader.h"
#include "hexad/Model/SourceDiagnostics.h"
#include "hexad/Model/WeightFile.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;
using namespace hexad;

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {
struct ProductName {
  StringLiteral name, extension, description;
};
} // namespace

// In the order of the enum.
static constexpr ProductName productNames[] = {
    {"library", "", "lib<name>.so, the model as a shared library"},
    {"header", "", "<name>.h, its C interface"},
    {"weights", "", "<name>.weights, which the library finds beside itself"},
    {"llvm", ".ll", "<name>.ll, LLVM IR after optimization"},
    {"asm", ".s", "<name>.s, assembly"},
    {"obj", ".o", "<name>.o, the object that the library is linked from"}};

static const ProductName &getProduct(Product product) {
  return productNames[static_cast<size_t>(product)];
}

StringRef hexad::getProductName(Product product) {
  return getProduct(product).name;
}

StringRef hexad::getProductDescription(Product product) {
  return getProduct(product).description;
}

ArrayRef<Product> hexad::getAllProducts() {
  static constexpr Product products[] = {Product::Library,  Product::Header,
                                         Product::Weights,  Product::LLVM,
                                         Product::Assembly, Product::Object};
  return products;
}

std::optional<Product> hexad::parseProduct(StringRef name) {
  for (Product product : getAllProducts())
    if (getProductName(product) == name)
      return product;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

namespace {

/// Shows diagnostics with the line of the user's file; those without a location
/// begin with the tool's name. Remembers whether there was an error.
class Diagnostics {
public:
  Diagnostics(SourceMgr &sources, mlir::MLIRContext *context, StringRef tool)
      : tool(tool), located(sources, context),
        unlocated(context, [this](mlir::Diagnostic &diagnostic) {
          bool isError =
              diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
          sawError |= isError;
          if (!isa<mlir::UnknownLoc>(diagnostic.getLocation()))
            return failure();
          (isError ? WithColor::error(errs(), this->tool)
                   : WithColor::warning(errs(), this->tool))
              << diagnostic.str() << "\n";
          return success();
        }) {}

  LogicalResult fail(Error error) {
    sawError = true;
    WithColor::error(errs(), tool) << toString(std::move(error)) << "\n";
    return failure();
  }
  /// For a failure that should have been explained.
  LogicalResult fail(const Twine &otherwise) {
    return sawError ? failure() : fail(createStringError(otherwise));
  }

private:
  StringRef tool;
  bool sawError = false;
  SourceDiagnostics located;
  // Registered later, so asked first.
  mlir::ScopedDiagnosticHandler unlocated;
};

} // namespace

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

namespace {

class Compilation {
public:
  Compilation(const CompileOptions &options, CompileResult &result,
              StringRef tool)
      : options(options), result(result),
        context(getRegistry(), mlir::MLIRContext::Threading::DISABLED),
        diagnostics(sources, &context, tool) {
    // The op of a message can be the whole model.
    context.printOpOnDiagnostic(false);
  }

  LogicalResult run();

private:
  static mlir::DialectRegistry getRegistry() {
    mlir::DialectRegistry registry;
    hexad::registerAllDialects(registry);
    return registry;
  }
  void report(const Twine &what, double done = -1) {
    if (options.progress)
      options.progress(what.str(), done);
  }
  bool isWanted(Product product) const {
    return is_contained(options.products, product);
  }

  LogicalResult read();
  LogicalResult lower(Phase last);
  LogicalResult dump(Phase phase);
  LogicalResult printPhase();
  void takeTarget(const hexad::Target &target);
  LogicalResult takeArena();
  LogicalResult writeFiles();
  LogicalResult writeWeights(StagedFiles &files);
  LogicalResult writeCode(StagedFiles &files);

  const CompileOptions &options;
  CompileResult &result;
  SourceMgr sources;
  mlir::MLIRContext context;
  Diagnostics diagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::optional<hexad::Target> target;
  LibraryInfo info;
};

} // namespace

LogicalResult Compilation::run() {
  Expected<hexad::Target> found = hexad::Target::get(options.cpu);
  if (!found)
    return diagnostics.fail(found.takeError());
  target = std::move(*found);
  if (failed(read()))
    return failure();
  if (options.compileTo) {
    if (failed(lower(*options.compileTo)))
      return failure();
    return printPhase();
  }
  auto isF16 = [](ParameterOp parameter) {
    return parameter.getStoredElementType().isF16();
  };
  if (any_of(module->getOps<ParameterOp>(), isF16))
    if (Error error = target->requireF16())
      return diagnostics.fail(std::move(error));
  Expected<LibraryInfo> described = describeModel(*module);
  if (!described)
    return diagnostics.fail(described.takeError());
  info = std::move(*described);
  info.weightsFile = info.prefix + ".weights";
  info.toolVersion = getVersion().str();
  takeTarget(*target);
  result.parameterCount = info.parameterCount;
  result.activeParameterCount = info.activeParameterCount;
  result.cpu = info.cpu;
  result.weightsType = info.weightsType;
  return writeFiles();
}

LogicalResult Compilation::read() {
  report("reading the model");
  if (!sys::fs::exists(options.input))
    return diagnostics.fail(createStringError("cannot read '" + options.input +
                                              "': No such file or directory"));
  ReadOptions readOptions;
  readOptions.name = options.name;
  readOptions.outputs = options.outputs;
  readOptions.imageSize = options.imageSize;
  readOptions.weightsType = options.weightsType;
  module = readModel(options.input, readOptions, sources, &context);
  if (!module)
    return diagnostics.fail("the model cannot be read");
  if (!options.name.empty())
    module->setSymName(options.name);
  else if (!module->getSymName())
    module->setSymName(sys::path::stem(options.input));
  return success();
}

LogicalResult Compilation::lower(Phase last) {
  for (Phase phase : getAllPhases()) {
    report("lowering to " + getPhaseName(phase));
    mlir::PassManager manager(&context, mlir::ModuleOp::getOperationName());
    addPhase(manager, phase, *target);
    if (failed(manager.run(*module)))
      return diagnostics.fail("the model cannot be lowered to the phase '" +
                              getPhaseName(phase) + "'");
    if (failed(dump(phase)))
      return failure();
    if (phase == last)
      break;
  }
  return success();
}

LogicalResult Compilation::dump(Phase phase) {
  if (options.dumpPhasesDir.empty())
    return success();
  if (std::error_code error = sys::fs::create_directories(
          options.dumpPhasesDir,
          /*IgnoreExisting=*/true, sys::fs::all_all))
    return diagnostics.fail(createStringError("cannot make the folder '" +
                                              options.dumpPhasesDir +
                                              "': " + error.message()));
  SmallString<128> path(options.dumpPhasesDir);
  sys::path::append(path, Twine(static_cast<int>(phase)) + "-" +
                              getPhaseName(phase) + ".mlir");
  Error error =
      writeOutputFile(path, [&](raw_ostream &os) { module->print(os); });
  return error ? diagnostics.fail(std::move(error)) : success();
}

LogicalResult Compilation::printPhase() {
  if (options.phaseFile == "-") {
    module->print(outs());
    return success();
  }
  Error error = writeOutputFile(options.phaseFile,
                                [&](raw_ostream &os) { module->print(os); });
  return error ? diagnostics.fail(std::move(error)) : success();
}

void Compilation::takeTarget(const hexad::Target &target) {
  info.cpu = target.cpu;
  info.features = target.features;
  info.cpuFeatures = target.cpuFeatures;
  info.vectorBits = target.vectorBits;
  info.tileRows = target.tileRows;
  info.queryTile = target.queryTile;
  info.page = target.page;
}

/// The sizes of the arena and of pages of caches, which passes left on the
/// module.
LogicalResult Compilation::takeArena() {
  auto sizes = (*module)->getAttrOfType<mlir::DenseI64ArrayAttr>("hexad.arena");
  if (!sizes || sizes.size() != HEXAD_EXTENT_COUNT + 1)
    return diagnostics.fail(
        createStringError("the lowered model has no plan of its memory"));
  info.arena.constant = sizes[0];
  copy(sizes.asArrayRef().drop_front(), info.arena.per_extent);
  for (auto [cache, cacheInfo] :
       zip_equal(module->getOps<CacheOp>(), info.caches))
    if (auto bytes =
            cache->getAttrOfType<mlir::IntegerAttr>("hexad.page_bytes"))
      cacheInfo.page_bytes = bytes.getInt();
  return success();
}

LogicalResult Compilation::writeFiles() {
  Expected<StagedFiles> files = StagedFiles::create(options.outputDir);
  if (!files)
    return diagnostics.fail(files.takeError());
  if (isWanted(Product::Header)) {
    Error error =
        files->write(info.getHeaderFile(), [&](raw_pwrite_stream &os) {
          os << generateHeader(info);
          return Error::success();
        });
    if (error)
      return diagnostics.fail(std::move(error));
  }
  if (any_of(options.products,
             [](Product product) { return product != Product::Header; })) {
    if (failed(lower(Phase::LLVM)) || failed(takeArena()) ||
        failed(writeWeights(*files)) || failed(writeCode(*files)))
      return failure();
  }
  Expected<std::vector<StagedFile>> written = files->commit();
  if (!written)
    return diagnostics.fail(written.takeError());
  result.files = std::move(*written);
  return success();
}

LogicalResult Compilation::writeWeights(StagedFiles &files) {
  report("packing the weights", 0);
  // Code needs the fingerprint, so the file is made even where only code is
  // wanted.
  Expected<std::string> path =
      files.add(isWanted(Product::Weights) ? info.weightsFile : "");
  if (!path)
    return diagnostics.fail(path.takeError());
  FailureOr<WeightFileResult> written = writeWeightFile(
      *module, getSourceFolder(options.input), *path,
      [&](uint64_t done, uint64_t total) {
        report("packing the weights", total ? double(done) / total : 1);
      });
  if (failed(written))
    return diagnostics.fail("the weights cannot be packed");
  info.weightsBytes = written->fileBytes;
  info.fingerprint = written->fingerprint;
  return success();
}

/// Removes what LLVM has no translation for: parameters, whose bytes are in the
/// weights file, caches, which the library's constants describe, and the ABI's
/// marks on arguments.
static void removeHexadDialect(mlir::ModuleOp module) {
  for (auto parameter : make_early_inc_range(module.getOps<ParameterOp>()))
    parameter.erase();
  for (auto cache : make_early_inc_range(module.getOps<CacheOp>()))
    cache.erase();
  for (auto function : module.getOps<mlir::FunctionOpInterface>())
    for (unsigned index = 0; index < function.getNumArguments(); ++index)
      for (mlir::NamedAttribute attribute : function.getArgAttrs(index))
        if (isa_and_nonnull<HexadDialect>(attribute.getNameDialect()))
          function.removeArgAttr(index, attribute.getName());
}

LogicalResult Compilation::writeCode(StagedFiles &files) {
  if (all_of(options.products, [](Product product) {
        return product == Product::Header || product == Product::Weights;
      }))
    return success();
  removeHexadDialect(*module);
  report("optimizing");
  Emission emission(info, options.sanitizer);
  if (Error error = emission.translate(*module))
    return diagnostics.fail(std::move(error));
  emission.optimize();

  auto write = [&](Product product,
                   function_ref<Error(raw_pwrite_stream &)> contents) -> Error {
    if (!isWanted(product))
      return Error::success();
    return files.write(info.prefix + getProduct(product).extension.str(),
                       contents);
  };
  if (Error error = write(Product::LLVM, [&](raw_pwrite_stream &os) {
        emission.getModule().print(os, nullptr);
        return Error::success();
      }))
    return diagnostics.fail(std::move(error));
  report("generating code");
  if (Error error = write(Product::Assembly, [&](raw_pwrite_stream &os) {
        return emission.writeAssembly(os);
      }))
    return diagnostics.fail(std::move(error));
  if (!isWanted(Product::Object) && !isWanted(Product::Library))
    return success();
  SmallString<0> object;
  raw_svector_ostream os(object);
  if (Error error = emission.writeObject(os))
    return diagnostics.fail(std::move(error));
  if (Error error = write(Product::Object, [&](raw_pwrite_stream &os) {
        os << object;
        return Error::success();
      }))
    return diagnostics.fail(std::move(error));
  if (!isWanted(Product::Library))
    return success();

  report("linking");
  Expected<std::string> objectPath = files.writeTemporary(object);
  if (!objectPath)
    return diagnostics.fail(objectPath.takeError());
  // Added last: renamed last, when everything it needs is there.
  Expected<std::string> library = files.add(info.getLibraryFile());
  if (!library)
    return diagnostics.fail(library.takeError());
  if (Error error = linkLibrary(info, *objectPath, *library, options.sanitizer))
    return diagnostics.fail(std::move(error));
  return success();
}

LogicalResult hexad::compileModel(const CompileOptions &options,
                                  CompileResult &result, StringRef tool) {
  return Compilation(options, result, tool).run();
}
