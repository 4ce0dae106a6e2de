//===- Parts.cpp - Parts of models, compiled alone ------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parts.h"

using namespace hexad;
using namespace hexad::bench;
using namespace llvm;

Expected<std::unique_ptr<LoadedLibrary>>
bench::compileAttention(const AttentionShape &shape, int64_t times,
                        bool isCached, StringRef cpu) {
  ModelText text;
  Rows query = text.embed(shape.getQueryColumns());
  Rows keys = text.embed(shape.getKeyColumns());
  Rows x = text.beginLoop(times, query);
  x = text.endLoop(text.attention(x, keys, keys, shape, isCached));
  return text.compile(x, isCached, cpu);
}

SmallVector<BlockShape::Product> BlockShape::getProducts() const {
  int64_t query = attention.getQueryColumns();
  int64_t projected = query + 2 * attention.getKeyColumns();
  SmallVector<Product> products = {{projected, hidden}, {hidden, query}};
  if (kind == BlockKind::Llama) // the gate
    products.push_back({intermediate, hidden});
  products.push_back({intermediate, hidden});
  products.push_back({hidden, intermediate});
  return products;
}

Expected<std::unique_ptr<LoadedLibrary>>
bench::compileBlock(const BlockShape &shape, int64_t times, StringRef cpu) {
  ModelText text;
  const AttentionShape &attention = shape.attention;
  bool isLlama = shape.kind == BlockKind::Llama, hasBias = !isLlama;
  auto norm = [&](const Rows &x) {
    return isLlama ? text.rmsNorm(x) : text.layerNorm(x);
  };

  Rows x = text.beginLoop(times, text.embed(shape.hidden));
  Rows normed = norm(x);
  Rows query = text.linear(normed, attention.getQueryColumns(), hasBias);
  Rows key = text.linear(normed, attention.getKeyColumns(), hasBias);
  Rows value = text.linear(normed, attention.getKeyColumns(), hasBias);
  if (isLlama) {
    query = text.rope(query, attention.heads, attention.headDim);
    key = text.rope(key, attention.kvHeads, attention.headDim);
  }
  Rows seen = text.attention(query, key, value, attention);
  x = text.add(text.linear(seen, shape.hidden, hasBias), x);

  normed = norm(x);
  Rows inner;
  if (isLlama) {
    Rows gate = text.linear(normed, shape.intermediate, hasBias);
    inner = text.multiply(text.activation("silu", gate),
                          text.linear(normed, shape.intermediate, hasBias));
  } else {
    inner = text.activation("gelu_tanh",
                            text.linear(normed, shape.intermediate, hasBias));
  }
  x = text.add(text.linear(inner, shape.hidden, hasBias), x);
  return text.compile(text.endLoop(x), /*isDecoder=*/false, cpu);
}
