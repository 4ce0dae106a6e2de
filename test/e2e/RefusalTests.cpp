//===- RefusalTests.cpp - Models that verify and cannot run ---------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each op of these models is valid by itself; together they would read or write
// what is not there, or mean nothing. They are refused, with the place.
//
//===----------------------------------------------------------------------===//

#include "CompiledModel.h"
#include "ModelBuilder.h"

using namespace hexad::test;

namespace {

void expectRefused(const ModelBuilder &builder, const std::string &what) {
  ModelFiles files(builder.getText());
  EXPECT_FALSE(files.compile());
  llvm::StringRef messages = files.messages;
  EXPECT_TRUE(messages.contains("model.mlir:")) << files.messages;
  EXPECT_EQ(messages.count("error:"), 1u) << files.messages;
  EXPECT_TRUE(messages.contains(what)) << files.messages;
}

TEST(Refusal, IdsBeyondTheTable) {
  ModelBuilder b;
  b.output(b.embed("%ids", ModelBuilder::idLimit - 1, 20), "y");
  expectRefused(b, "expected a table with an entry for all ids below 97, "
                   "found 96 entries and offset 0");
}

TEST(Refusal, PositionsBeyondTheTable) {
  ModelBuilder b(100);
  b.output(b.embedPositions(20, 101, 2), "y");
  expectRefused(b, "all positions below 100, found 101 entries and offset 2");
}

TEST(Refusal, PositionsWithoutLimit) {
  ModelBuilder b;
  b.output(b.embedPositions(20, 101), "y");
  expectRefused(b, "hexad.position_limit");
}

TEST(Refusal, LayerBeyondTheLast) {
  ModelBuilder b;
  Rows x = b.embedWords(20);
  b.output(b.repeat(2, x,
                    [&](const Rows &in) {
                      std::string next = b.newValue();
                      std::string w = b.newParameter("matrix", {20, 20});
                      // As newParameter has it, with another index.
                      std::string symbol =
                          "matrix" + std::to_string(std::stoi(w.substr(2)) - 1);
                      std::string other = b.newValue();
                      b.line(next + " = arith.addi " + b.getLoopIndex() +
                             ", %c1 : index");
                      b.line(other + " = hexad.load @" + symbol + "[" + next +
                             "] : tensor<20x20xf32>");
                      return b.linearWith(in, other, 20);
                    }),
           "y");
  expectRefused(b, "expected a layer from 0 to 1, found 2");
}

TEST(Refusal, RectangleOfPooledRows) {
  ModelBuilder b;
  Rows pooled = b.pool("mean", b.embedWords(20));
  pooled.pooled = false;
  b.output(pooled, "y");
  expectRefused(b, "expected rows of tokens, found rows of segments");
}

TEST(Refusal, PoolOfPooledRows) {
  ModelBuilder b;
  b.output(b.pool("mean", b.pool("first", b.embedWords(20))), "y");
  expectRefused(b, "expected rows of tokens, found rows of segments");
}

TEST(Refusal, AttentionOverPooledRows) {
  ModelBuilder b;
  Rows x = b.embedWords(24), p = b.pool("first", x);
  b.output(b.attention(x, p, x, {2, 2, 12}), "y");
  expectRefused(b, "expected rows of tokens, found rows of segments");
}

TEST(Refusal, SumOfTokensAndSegments) {
  ModelBuilder b;
  Rows x = b.embedWords(24);
  b.output(b.add(x, b.pool("first", x)), "y");
  expectRefused(b, "found rows of tokens and other rows");
}

TEST(Refusal, LoopThatChangesTheKindOfRows) {
  ModelBuilder b;
  b.output(b.repeat(2, b.embedWords(24),
                    [&](const Rows &in) { return b.pool("mean", in); }),
           "y");
  expectRefused(b, "expected rows of tokens as they were carried in, found "
                   "rows of segments");
}

TEST(Refusal, TokensAsAResult) {
  ModelBuilder b;
  b.rawOutput(b.embedWords(24).name, "tensor<?x24xf32>", "y");
  expectRefused(b, "rows of segments");
}

TEST(Refusal, ComputedWeights) {
  ModelBuilder b;
  b.line("%w = arith.constant dense<0.5> : tensor<20x20xf32>");
  b.output(b.linearWith(b.embedWords(20), "%w", 20), "y");
  expectRefused(b, "expected an index in a model");
}

TEST(Refusal, ParameterAsRows) {
  ModelBuilder b;
  std::string w = b.newParameter("matrix", {20, 20});
  b.newRows("activation relu " + w + " : tensor<20x20xf32>", 20);
  b.output(b.embedWords(20), "y");
  expectRefused(b, "which is no rows");
}

TEST(Refusal, CarriedWeights) {
  ModelBuilder b;
  std::string w = b.newParameter("matrix", {20, 20});
  b.line("%l = scf.for %i = %c0 to %c1 step %c1 iter_args(%m = " + w +
         ") -> (tensor<20x20xf32>) {");
  b.line("  scf.yield %m : tensor<20x20xf32>");
  b.line("}");
  b.output(b.linearWith(b.embedWords(20), "%l", 20), "y");
  expectRefused(b, "expected rows of f32 to be carried");
}

TEST(Refusal, CarriedSegments) {
  ModelBuilder b;
  b.line("%s = scf.for %i = %c0 to %c1 step %c1 iter_args(%t = %segments) -> "
         "(!hexad.segments) {");
  b.line("  scf.yield %t : !hexad.segments");
  b.line("}");
  b.output(b.embedWords(20), "y");
  expectRefused(b, "expected rows of f32 to be carried");
}

TEST(Refusal, LoopWithoutEnd) {
  ModelBuilder b;
  Rows x = b.embedWords(20);
  b.line("%y = scf.for %i = %c0 to %c1 step %c0 iter_args(%r = " + x.name +
         ") -> (tensor<?x20xf32>) {");
  b.line("  scf.yield %r : tensor<?x20xf32>");
  b.line("}");
  b.output({"%y", 20}, "y");
  expectRefused(b, "positive constant step");
}

TEST(Refusal, PartOfAStacksMember) {
  ModelBuilder b;
  Rows x = b.embedWords(10);
  b.line("%n = tensor.dim " + x.name + ", %c0 : tensor<?x10xf32>");
  b.line("%s = tensor.empty(%n) : tensor<1x?x20xf32>");
  b.line("%t = tensor.insert_slice " + x.name +
         " into %s[0, 0, 10] [1, %n, 10] [1, 1, 1] : tensor<?x10xf32> into "
         "tensor<1x?x20xf32>");
  b.line("%y = hexad.unpack_rows %t, %segments : tensor<1x?x20xf32> -> "
         "tensor<1x?x?x20xf32>");
  b.rawOutput("%y", "tensor<1x?x?x20xf32>", "y", /*stacked=*/true);
  expectRefused(b, "a whole member of a stack");
}

TEST(Refusal, MemberBehindAStack) {
  ModelBuilder b;
  Rows x = b.embedWords(10);
  b.line("%n = tensor.dim " + x.name + ", %c0 : tensor<?x10xf32>");
  b.line("%s = tensor.empty(%n) : tensor<1x?x10xf32>");
  b.line("%t = tensor.insert_slice " + x.name +
         " into %s[%c1, 0, 0] [1, %n, 10] [1, 1, 1] : tensor<?x10xf32> into "
         "tensor<1x?x10xf32>");
  b.line("%y = hexad.unpack_rows %t, %segments : tensor<1x?x10xf32> -> "
         "tensor<1x?x?x10xf32>");
  b.rawOutput("%y", "tensor<1x?x?x10xf32>", "y", /*stacked=*/true);
  expectRefused(b, "expected a member from 0 to 0, found 1");
}

TEST(Refusal, EmptyRows) {
  ModelBuilder b;
  Rows x = b.embedWords(10);
  b.line("%n = tensor.dim " + x.name + ", %c0 : tensor<?x10xf32>");
  b.line("%e = tensor.empty(%n) : tensor<?x10xf32>");
  b.output(b.add(x, {"%e", 10}), "y");
  expectRefused(b, "expected a stack");
}

TEST(Refusal, StaticRows) {
  ModelBuilder b;
  b.line("%s = hexad.pack_rows %input_ids, %segments : tensor<?x?xi32> -> "
         "tensor<5xi32>");
  std::string t = b.newParameter("table", {97, 10});
  b.newRows("embedding %s, " + t +
                " : tensor<5xi32>, tensor<97x10xf32> -> tensor<5x10xf32>",
            10);
  b.output(b.embedWords(10), "y");
  expectRefused(b, "dynamic number of rows");
}

} // namespace
