//===- GoldenOps.h - Golden cases of single ops -----------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_TEST_UNIT_REFERENCE_GOLDENOPS_H
#define HEXAD_TEST_UNIT_REFERENCE_GOLDENOPS_H

#include "Golden.h"
#include "hexad/Reference/Interpreter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"
#include <optional>

namespace hexad::reference {

/// Calls the function in `text` and returns its results.
inline std::optional<std::vector<FloatTensor>>
callForAll(const std::string &text, llvm::ArrayRef<RuntimeValue> arguments,
           const ParameterSource &parameters) {
  mlir::MLIRContext context;
  context.loadDialect<HexadDialect, mlir::arith::ArithDialect,
                      mlir::func::FuncDialect>();
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(text,
                                              mlir::ParserConfig(&context));
  if (!module)
    return std::nullopt;
  auto functions = module->getOps<mlir::func::FuncOp>();
  mlir::FailureOr<std::vector<RuntimeValue>> values =
      callFunction(*functions.begin(), arguments, parameters);
  if (mlir::failed(values))
    return std::nullopt;
  std::vector<FloatTensor> results;
  for (const RuntimeValue &value : *values)
    results.push_back(*std::get<std::shared_ptr<const FloatTensor>>(value));
  return results;
}

/// Calls the function in `text` and returns its one result.
inline std::optional<FloatTensor> call(const std::string &text,
                                       llvm::ArrayRef<RuntimeValue> arguments) {
  auto results = callForAll(text, arguments, noParameters());
  if (!results)
    return std::nullopt;
  return results->front();
}

inline RuntimeValue share(FloatTensor tensor) {
  return std::make_shared<const FloatTensor>(std::move(tensor));
}

/// The tensor as a matrix with the last dimension for columns.
inline FloatTensor asRows(FloatTensor tensor) {
  int64_t columns = tensor.shape.back();
  tensor.shape = {static_cast<int64_t>(tensor.elements.size()) / columns,
                  columns};
  return tensor;
}

/// The bits of a number, as MLIR's parser takes them: nothing is lost in text.
inline std::string exact(double number) {
  return llvm::formatv("{0:X}", llvm::bit_cast<uint64_t>(number)).str();
}

/// Runs `test(case name, attributes, tensors)` on each golden case of an op.
inline void forEachCase(
    llvm::StringRef op,
    llvm::function_ref<void(const std::string &, const llvm::json::Object &,
                            const SafetensorsFile &)>
        test) {
  llvm::json::Value index = parseGoldenJson("ops.json");
  std::unique_ptr<SafetensorsFile> file =
      openGolden(("ops/" + op + ".safetensors").str());
  ASSERT_TRUE(index.getAsObject() && file);
  const llvm::json::Array *cases =
      index.getAsObject()->getObject("ops")->getObject(op)->getArray("cases");
  ASSERT_FALSE(cases->empty());
  for (const llvm::json::Value &value : *cases) {
    const llvm::json::Object &object = *value.getAsObject();
    std::string name = object.getString("name")->str();
    SCOPED_TRACE(op.str() + "/" + name);
    test(name, *object.getObject("attributes"), *file);
  }
}

} // namespace hexad::reference

#endif // HEXAD_TEST_UNIT_REFERENCE_GOLDENOPS_H
