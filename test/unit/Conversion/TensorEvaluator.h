//===- TensorEvaluator.h - What a function of tensors gives -----*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs functions of the few ops between which the conversions of patches go,
// each written down from its definition: linalg's from linalg, patchify's from
// docs/Spec.md.
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_TEST_UNIT_CONVERSION_TENSOREVALUATOR_H
#define HEXAD_TEST_UNIT_CONVERSION_TENSOREVALUATOR_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <optional>
#include <vector>

namespace hexad::test {

struct Tensor {
  std::vector<int64_t> shape;
  std::vector<double> elements;

  explicit Tensor(std::vector<int64_t> shape = {}, double value = 0);
  double &at(llvm::ArrayRef<int64_t> place);
  bool operator==(const Tensor &) const = default;
};

/// The function's only result; none, with a test failure, if it has an op that
/// is not known.
std::optional<Tensor> evaluate(mlir::func::FuncOp function,
                               const std::vector<Tensor> &arguments);

} // namespace hexad::test

#endif // HEXAD_TEST_UNIT_CONVERSION_TENSOREVALUATOR_H
