//===- ParameterLayouts.cpp - Parameters in the form that kernels read ----===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LowerToKernels.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace hexad;

void ParameterLayouts::announcePanels(Value weight) {
  announced.insert(
      symbols.lookup(weight.getDefiningOp<LoadOp>().getParameter()));
}

bool ParameterLayouts::hasPanels(Value weight) {
  return announced.contains(
      symbols.lookup(weight.getDefiningOp<LoadOp>().getParameter()));
}

Value ParameterLayouts::loadPanels(Value weight) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(weight.getType()).getShape();
  int64_t panels = llvm::divideCeil(shape[0], panelColumns);
  return loadAs(weight, ".panels", {panels, shape[1], panelColumns}, true);
}

Value ParameterLayouts::loadPadded(Value weight) {
  SmallVector<int64_t> shape(
      cast<RankedTensorType>(weight.getType()).getShape());
  shape.back() = llvm::alignTo(shape.back(), panelColumns);
  return loadAs(weight, ".padded", shape, false);
}

Value ParameterLayouts::loadAs(Value weight, StringRef suffix,
                               ArrayRef<int64_t> layerShape, bool panels) {
  auto load = weight.getDefiningOp<LoadOp>();
  auto parameter = symbols.lookup<ParameterOp>(load.getParameter());
  Type element = parameter.getStoredElementType();
  auto type = RankedTensorType::get(layerShape, element);
  if (!panels && type == weight.getType())
    return weight;
  Value &replacement = loads[{load, panels}];
  if (replacement)
    return replacement;

  ParameterOp &form = forms[{parameter, panels}];
  OpBuilder builder(parameter);
  if (!form) {
    form = cast<ParameterOp>(builder.clone(*parameter));
    SmallVector<int64_t> shape(layerShape);
    if (parameter.getLayers())
      shape.insert(shape.begin(), parameter.getLayerCount());
    form.setType(RankedTensorType::get(shape, element));
    form.removeStorageAttr();
    if (panels)
      form.setPanel(panelColumns);
    form.setSymName((parameter.getSymName() + suffix).str());
    symbols.insert(form);
  }
  builder.setInsertionPointAfter(load);
  replacement = LoadOp::create(builder, load.getLoc(), type, form.getSymName(),
                               load.getLayer());
  return replacement;
}

void ParameterLayouts::eraseUnused() {
  llvm::SmallPtrSet<Operation *, 16> used;
  SmallVector<LoadOp> dead;
  module.walk([&](LoadOp load) {
    if (load.use_empty())
      dead.push_back(load);
    else
      used.insert(symbols.lookup(load.getParameter()));
  });
  for (LoadOp load : dead)
    load.erase();
  for (auto parameter :
       llvm::make_early_inc_range(module.getOps<ParameterOp>()))
    if (!used.contains(parameter))
      symbols.erase(parameter);
}
