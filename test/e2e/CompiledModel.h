//===- CompiledModel.h - Models compiled and run in a test ------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_TEST_E2E_COMPILEDMODEL_H
#define HEXAD_TEST_E2E_COMPILEDMODEL_H

#include "../unit/Model/TemporaryFolder.h"
#include "hexad/Driver/Compile.h"
#include "hexad/Driver/LibraryInfo.h"
#include "hexad/Model/Safetensors.h"
#include "hexad/Model/WeightsType.h"
#include "hexad/Runtime/interface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace hexad::test {

/// One sequence of a call: which ids it has is decided by `seed` and the
/// position of a token, not by where it stands.
struct Sequence {
  uint32_t seed = 0;
  size_t length = 0;
  size_t first = 0; ///< elements of padding before it
};

/// The rectangles of a call, `seq` wide.
struct Call {
  size_t seq = 0;
  std::vector<Sequence> rows;
  bool withMask = true; ///< without: all rows must be `seq` long
  /// Of so many labels one says that there is none; 1: no row has a label.
  unsigned unlabelled = 3;

  /// Sequences of these lengths, each with a seed of its own; padded on the
  /// right to the longest.
  static Call of(llvm::ArrayRef<size_t> lengths);
  /// Every sequence moved to the right end.
  Call padLeft() const;
  size_t getTokens() const;
  std::vector<int32_t> getMask() const;
  /// Ids below `limit`. At padding stands what no model may look at.
  std::vector<int32_t> getIds(llvm::StringRef input, int64_t limit) const;
  /// Images, one for each sequence; `seq` must be the tokens of one.
  std::vector<float> getPixels(const InputInfo &input) const;
  /// Labels below `limit`, one of `unlabelled` without one; one for each batch
  /// row if they are of segments.
  std::vector<int32_t> getLabels(const InputInfo &input) const;
  /// What an input has in this call.
  std::vector<int32_t> getInput(const InputInfo &input) const;
};

using Floats = std::vector<float>;

/// What a call gave: all outputs by their names.
struct Outputs {
  std::map<std::string, Floats> values;
  std::map<std::string, OutputInfo> infos;

  /// The rows of the batch row `row` without padding; a stack's, one behind
  /// the other.
  Floats getSequence(const std::string &name, const Call &call,
                     size_t row) const;
};

/// Capacities of a context; 0: as large as the call needs.
struct ContextSettings {
  size_t threads = 2;
  size_t tokens = 0, segments = 0, elements = 0;
  bool callerThreads = false;
};

/// A loaded library with its model.
class CompiledModel {
public:
  ~CompiledModel();

  const LibraryInfo &getInfo() const { return info; }
  /// Runs one call in a context of its own. `wanted`: outputs that are asked
  /// for; empty: all. Failures of the library are failures of the test.
  Outputs run(const Call &call, const ContextSettings &settings = {},
              llvm::ArrayRef<std::string> wanted = {}) const;
  /// The same in a given context, with its number of threads if they are the
  /// caller's.
  Outputs runIn(hexad_context *context, const Call &call,
                size_t callerThreads = 0,
                llvm::ArrayRef<std::string> wanted = {}) const;
  hexad_context *createContext(const hexad_context_options &options) const;
  void destroyContext(hexad_context *context) const;
  size_t getContextSize(const hexad_context_options &options) const;
  const hexad_model *get() const { return model; }
  /// A function of the library, by its name without the prefix.
  template <typename Function>
  void find(Function &function, const std::string &name) const {
    function = reinterpret_cast<Function>(findSymbol(name));
  }

private:
  friend class ModelFiles;
  explicit CompiledModel(LibraryInfo info) : info(std::move(info)) {}
  bool load(const std::string &path);
  void *findSymbol(const std::string &name) const;

  LibraryInfo info;
  void *handle = nullptr;
  hexad_model *model = nullptr;
  decltype(&hexad_runtime_model_destroy) modelDestroy = nullptr;
  decltype(&hexad_runtime_context_size) contextSize = nullptr;
  decltype(&hexad_runtime_context_create) contextCreate = nullptr;
  decltype(&hexad_runtime_context_destroy) contextDestroy = nullptr;
  decltype(&hexad_runtime_context_message) contextMessage = nullptr;
  decltype(&hexad_runtime_forward) forward = nullptr;
  decltype(&hexad_runtime_forward_on) forwardOn = nullptr;
};

/// A model as a user has it: IR and a file of random weights in a temporary
/// folder; or a folder that is there.
class ModelFiles {
public:
  using Edit = llvm::function_ref<void(llvm::StringRef tensor, Floats &)>;

  /// `edit` may change a tensor before it is written, as elements of `type`.
  explicit ModelFiles(const std::string &text, Edit edit = {},
                      StoredType type = StoredType::F32);
  /// A description or folder.
  struct Existing {
    std::string path;
  };
  explicit ModelFiles(Existing existing, llvm::ArrayRef<std::string> outputs);

  /// Null if the model is refused; then `messages` has what was printed.
  std::unique_ptr<CompiledModel> compile(const std::string &cpu = "native");
  std::string messages;
  /// Of the models compiled from now on, and of the reference.
  void setWeightsType(WeightsType type) {
    weightsType = type;
    reference = nullptr;
  }

  /// Compares every output with the interpreter's, in double precision.
  void expectTrue(const CompiledModel &model, const Call &call,
                  const ContextSettings &settings = {});
  /// Largest error that rounding to float32 can explain, relative to the
  /// largest element of an output.
  double getErrorBound(size_t longestSequence);

private:
  bool readReference();
  void writeWeights(mlir::ModuleOp module, Edit edit, StoredType type);

  TemporaryFolder folder;
  std::string input;
  llvm::SmallVector<std::string> outputs;
  WeightsType weightsType = CompileOptions().weightsType;
  unsigned compiled = 0;
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> reference;
};

/// CPUs whose code this host can run: AVX2, and AVX-512 if it has that.
std::vector<std::string> getRunnableCpus();

/// Whether both have the same bits.
bool areIdentical(const Floats &lhs, const Floats &rhs);

/// Compiles, runs the calls for every CPU and compares with the interpreter.
void expectRight(const std::string &text, llvm::ArrayRef<Call> calls);

} // namespace hexad::test

#endif // HEXAD_TEST_E2E_COMPILEDMODEL_H
