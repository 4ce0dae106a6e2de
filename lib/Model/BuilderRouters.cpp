//===- BuilderRouters.cpp - Logits of routers as an output ----------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModuleBuilder.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace hexad;

LogicalResult ModuleBuilder::checkRouters() {
  const Layer *first = nullptr, *unlike = nullptr, *behind = nullptr;
  auto getCount = [](const Layer &layer) {
    return std::get<MoeLayer>(layer.kind).experts;
  };
  bool isBehind = false;
  for (const Layer &layer : description.layers) {
    if (auto *linear = std::get_if<LinearLayer>(&layer.kind))
      isBehind |= linear == head || (loss && linear == loss->head);
    forEachMember(layer, routers.isMember, [&](const Layer &moe) {
      if (!first)
        first = &moe;
      if (!unlike && getCount(moe) != getCount(*first))
        unlike = &moe;
      if (!behind && isBehind)
        behind = &moe;
    });
  }
  if (!first)
    return emitError(getOutputsLoc(),
                     "output 'router_logits' needs a layer 'moe'");
  if (unlike) {
    InFlightDiagnostic diagnostic =
        emitError(getOutputsLoc(), "output 'router_logits' needs layers of as "
                                   "many experts each, expected ")
        << getCount(*first) << ", found " << getCount(*unlike);
    diagnostic.attachNote(first->loc) << "the first is here";
    diagnostic.attachNote(unlike->loc) << "the other one is here";
    return diagnostic;
  }
  if (!behind)
    return success();
  InFlightDiagnostic diagnostic = emitError(
      getOutputsLoc(), "output 'router_logits' needs experts in front of the "
                       "head, which is computed for some rows only, found one "
                       "behind it");
  diagnostic.attachNote(behind->loc) << "it is here";
  return diagnostic;
}

void ModuleBuilder::startRouters(Location loc, Value rows) {
  if (!routers.isAskedFor || routers.members)
    return;
  int64_t experts = 0;
  forEachMember(description.layers, routers.isMember, [&](const Layer &layer) {
    experts = std::get<MoeLayer>(layer.kind).experts;
  });
  Value rowCount = tensor::DimOp::create(builder, loc, rows, int64_t(0));
  routers.members =
      tensor::EmptyOp::create(builder, loc,
                              ArrayRef<int64_t>{countMembers(routers.isMember),
                                                ShapedType::kDynamic, experts},
                              f32, ValueRange{rowCount});
}

LogicalResult ModuleBuilder::keepLogits(Location loc,
                                        const RouterDescription &router,
                                        Activations logits) {
  if (!routers.isAskedFor)
    return success();
  if (logits.pooled)
    return emitError(getOutputsLoc(), "output 'router_logits' needs experts "
                                      "that get a row for each token")
               .attachNote(loc)
           << "these stand behind a 'pool'";
  startRouters(loc, logits.rows);
  Value rows = logits.rows;
  if (router.reported == ReportedScores::Softmax)
    rows = SoftmaxOp::create(builder, loc, rows.getType(), rows);
  routers.members =
      insertState(loc, rows, routers.members, takeMember(loc, routers));
  return success();
}

void ModuleBuilder::finishRouters() {
  if (routers.members)
    results.push_back({"router_logits",
                       unpackStack(description.loc, routers.members),
                       /*stacked=*/true});
}
