//===- Pipelines.h - The phases of compilation ------------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_PIPELINES_PIPELINES_H
#define HEXAD_PIPELINES_PIPELINES_H

#include "hexad/CodeGen/Target.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/ArrayRef.h"
#include <optional>

namespace hexad {

/// The phases that a model passes through, in order. Each ends with IR of a
/// form of its own (docs/Architecture.md).
enum class Phase { Hexad, Rows, Tiles, Kernels, Buffers, Team, LLVM };

/// The phase's name as it stands in `--compile-to` and `hexad-to-<name>`.
llvm::StringRef getPhaseName(Phase phase);
/// One line about the IR that the phase ends with.
llvm::StringRef getPhaseDescription(Phase phase);
std::optional<Phase> parsePhase(llvm::StringRef name);
llvm::ArrayRef<Phase> getAllPhases();

/// Adds the passes that lead from the phase before to `phase`. Nothing for
/// Phase::Hexad.
void addPhase(mlir::OpPassManager &manager, Phase phase, const Target &target);

/// Registers `--hexad-to-<phase>` (from hexad IR) for every phase, with an
/// `mcpu` option.
void registerPipelines();

} // namespace hexad

#endif // HEXAD_PIPELINES_PIPELINES_H
