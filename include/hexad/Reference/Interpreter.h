//===- Interpreter.h - The hexad dialect in double precision ----*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Executes modules of the phases `hexad` and `rows` op by op, in double
// precision, as docs/Spec.md defines the ops: the truth that compiled libraries
// are compared with. Written for reading, not for speed. A bad module or input
// gives a located diagnostic and failure, never a crash.
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_REFERENCE_INTERPRETER_H
#define HEXAD_REFERENCE_INTERPRETER_H

#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "hexad/Reference/Tensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace hexad::reference {

/// What an SSA value is at run time: an index or integer, a tensor, or a
/// segment table. Tensors are shared and never changed.
using RuntimeValue = std::variant<int64_t, std::shared_ptr<const FloatTensor>,
                                  std::shared_ptr<const IntegerTensor>,
                                  std::shared_ptr<const Segments>>;

/// Gives the elements of a parameter, or of one of its layers. Emits a
/// diagnostic on failure.
using ParameterSource = std::function<mlir::FailureOr<FloatTensor>(
    ParameterOp, std::optional<int64_t> layer)>;

/// Reads the parameters of one module by their recipes from the safetensors
/// files in `folder`; each file is opened once.
ParameterSource readParametersFrom(llvm::StringRef folder);

/// A source for modules without parameters: asking it is an error.
ParameterSource noParameters();

/// Calls `function`. The arguments must fit its types.
mlir::FailureOr<std::vector<RuntimeValue>>
callFunction(mlir::func::FuncOp function,
             llvm::ArrayRef<RuntimeValue> arguments,
             const ParameterSource &parameters);

/// A result of a model.
struct Output {
  std::string name;
  FloatTensor value;
};

/// Runs the model in `module`, its only function, on named rectangles
/// `[batch, seq]`, as a compiled library would: an optional input may be left
/// out (a mask is then all ones, ids are 0), ids are checked against
/// `hexad.limit`, segments against `hexad.position_limit`. A stacked output
/// `hidden` is returned as `hidden.0`, `hidden.1`, …. A model of images takes
/// one named batch of them.
mlir::FailureOr<std::vector<Output>>
runModel(mlir::ModuleOp module, const llvm::StringMap<IntegerTensor> &inputs,
         const ParameterSource &parameters,
         const llvm::StringMap<FloatTensor> &images = {});

} // namespace hexad::reference

#endif // HEXAD_REFERENCE_INTERPRETER_H
