//===- ExpertOps.cpp - Verifiers of the kernels of experts ----------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Constraints.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace hexad::kernel;
using hexad::RouterScore;

/// `route_c6`.
static bool hasSoundGroups(RouteOp op) {
  if (!op.getGroups() || !op.getTopGroups())
    return op.getGroups() == op.getTopGroups();
  int64_t experts = op.getExperts();
  int64_t groups = *op.getGroups(), topGroups = *op.getTopGroups();
  return op.getScore() == RouterScore::Sigmoid && groups > 0 &&
         experts % groups == 0 && experts / groups >= 2 && topGroups > 0 &&
         topGroups <= groups;
}

/// Of experts: their numbers are exact in f32, and twice as many fit anything.
static bool isCount(int64_t count) {
  return count > 0 && count <= int64_t(1) << 24;
}

LogicalResult RouteOp::verify() {
  int64_t experts = getExperts(), topK = getTopK();
  int64_t padded = llvm::alignTo(experts, lanes);
  auto constraints =
      Constraints(*this)
          .require(isCount(experts), "route_c1",
                   "expected from 1 to 2^24 experts")
          .require(isCount(topK) && topK <= experts, "route_c5",
                   "expected a top_k from 1 to the number of experts")
          .require(hasSoundGroups(*this), "route_c6",
                   "expected top_groups of groups of equally many experts, two "
                   "at least, with sigmoid")
          .atLeast("route_c1", "columns of logits", getSize(getLogits(), 1),
                   padded)
          .same("route_c2", "rows of destination", getSize(getDestination(), 0),
                getSize(getLogits(), 0))
          .atLeast("route_c2", "columns of destination",
                   getSize(getDestination(), 1), 2 * getTopK());
  if (getSelectionBias())
    constraints.atLeast("route_c3", "elements of selection_bias",
                        getSize(getSelectionBias(), 0), padded);
  if (getScales())
    constraints.atLeast("route_c4", "elements of scales",
                        getSize(getScales(), 0), padded);
  return constraints;
}

LogicalResult GroupRowsOp::verify() {
  return Constraints(*this)
      .require(isCount(getExperts()) && isCount(getTopK()), "group_rows_c3",
               "expected from 1 to 2^24 experts and a top_k from 1 to 2^24")
      .atLeast("group_rows_c1", "columns of routes", getSize(getRoutes(), 1),
               2 * getTopK())
      .same("group_rows_c2", "bounds", getSize(getBounds(), 0),
            getExperts() + 1)
      .same("group_rows_c2", "elements of active", getSize(getActive(), 0),
            getExperts() + 1);
}

LogicalResult CombineRowsOp::verify() {
  return Constraints(*this)
      .require(isCount(getTopK()), "combine_rows_c3",
               "expected a top_k from 1 to 2^24")
      .staticColumns("combine_rows_c4", "destination", getDestination())
      .atLeast("combine_rows_c1", "columns of parts", getSize(getParts(), 1),
               getSize(getDestination(), 1))
      .same("combine_rows_c2", "rows of routes", getSize(getRoutes(), 0),
            getSize(getDestination(), 0))
      .atLeast("combine_rows_c2", "columns of routes", getSize(getRoutes(), 1),
               2 * getTopK());
}

LogicalResult ClampOp::verify() {
  return Constraints(*this)
      .padded("destination", getDestination())
      .sameShape("x", getX(), getDestination())
      .require(getLower() || getUpper(), "clamp_c1",
               "expected a lower or an upper bound");
}
