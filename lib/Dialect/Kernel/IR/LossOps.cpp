//===- LossOps.cpp - Verifiers of kernels of the loss ---------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Constraints.h"

using namespace mlir;
using namespace hexad::kernel;

LogicalResult StartCrossEntropyOp::verify() {
  return Constraints(*this).same("start_cross_entropy_c1", "columns",
                                 getSize(getDestination(), 1),
                                 crossEntropyColumns);
}

LogicalResult CrossEntropyTileOp::verify() {
  int64_t rows = getSize(getLogits(), 0);
  return Constraints(*this)
      .same("cross_entropy_tile_c1", "columns of statistics",
            getSize(getDestination(), 1), crossEntropyColumns)
      .atLeast("cross_entropy_tile_c2", "rows of statistics",
               getSize(getDestination(), 0), rows)
      .atLeast("cross_entropy_tile_c3", "labels", getSize(getLabels(), 0),
               rows);
}

LogicalResult FinishCrossEntropyOp::verify() {
  int64_t rows = getSize(getDestination(), 0);
  return Constraints(*this)
      .padded("destination", getDestination())
      .same("finish_cross_entropy_c1", "columns of statistics",
            getSize(getStatistics(), 1), crossEntropyColumns)
      .atLeast("finish_cross_entropy_c2", "rows of statistics",
               getSize(getStatistics(), 0), rows)
      .atLeast("finish_cross_entropy_c3", "labels", getSize(getLabels(), 0),
               rows);
}

LogicalResult MeanLossOp::verify() {
  return Constraints(*this).atLeast("mean_loss_c1", "labels",
                                    getSize(getLabels(), 0),
                                    getSize(getLosses(), 0));
}
