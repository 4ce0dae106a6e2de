//===- ModelText.cpp - A model to be measured, in hexad IR ----------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelText.h"
#include "common/PackedMatmul.h"
#include "hexad/Driver/Compile.h"
#include "hexad/Model/Safetensors.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <cmath>
#include <numeric>

using namespace hexad;
using namespace hexad::bench;
using namespace llvm;

static std::string getType(ArrayRef<int64_t> shape) {
  std::string type = "tensor<";
  for (int64_t size : shape)
    type += std::to_string(size) + "x";
  return type + "f32>";
}

static std::string getType(const Rows &rows) {
  return "tensor<?x" + std::to_string(rows.columns) + "xf32>";
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

std::string ModelText::load(ArrayRef<int64_t> shape) {
  std::string name = "p" + std::to_string(parameters.size());
  std::string value = newName(), type = getType(shape);
  symbols += formatv(
      "  hexad.parameter @{0} : {1} from \"model.safetensors\" [\"{0}\"]\n",
      name, type);
  body += formatv("  {0} = hexad.load @{1} : {2}\n", value, name, type);
  parameters.push_back({name, SmallVector<int64_t, 4>(shape)});
  return value;
}

Rows ModelText::embed(int64_t columns) {
  std::string table = load({idLimit, columns});
  Rows result = {newName(), columns};
  body += formatv(
      "  {0} = hexad.embedding %tokens, {1} : tensor<?xi32>, {2} -> {3}\n",
      result.name, table, getType({idLimit, columns}), getType(result));
  return result;
}

Rows ModelText::beginLoop(int64_t count, const Rows &rows) {
  loopCount = count;
  body += formatv("  %count = arith.constant {0} : index\n"
                  "  %loop = scf.for %i = %c0 to %count step %c1 "
                  "iter_args(%x = {1}) -> ({2}) {{\n",
                  count, rows.name, getType(rows));
  return {"%x", rows.columns};
}

Rows ModelText::endLoop(const Rows &result) {
  body += formatv("  scf.yield {0} : {1}\n  }\n", result.name, getType(result));
  return {"%loop", result.columns};
}

Rows ModelText::linear(const Rows &x, int64_t columns, bool hasBias) {
  std::string weight = load({columns, x.columns});
  std::string bias = hasBias ? load({columns}) : "";
  Rows result = {newName(), columns};
  body += formatv("  {0} = hexad.linear {1}, {2}{3} : {4}, {5}{6} -> {7}\n",
                  result.name, x.name, weight, hasBias ? " bias " + bias : "",
                  getType(x), getType({columns, x.columns}),
                  hasBias ? ", " + getType({columns}) : "", getType(result));
  return result;
}

Rows ModelText::layerNorm(const Rows &x) {
  std::string weight = load({x.columns}), bias = load({x.columns});
  Rows result = {newName(), x.columns};
  body += formatv("  {0} = hexad.layer_norm {1}, {2} bias {3} eps 1.0e-05 : "
                  "{4}, {5}, {5}\n",
                  result.name, x.name, weight, bias, getType(x),
                  getType({x.columns}));
  return result;
}

Rows ModelText::rmsNorm(const Rows &x) {
  std::string weight = load({x.columns});
  Rows result = {newName(), x.columns};
  body +=
      formatv("  {0} = hexad.rms_norm {1} weight {2} eps 1.0e-05 : {3}, "
              "{4}\n",
              result.name, x.name, weight, getType(x), getType({x.columns}));
  return result;
}

Rows ModelText::activation(StringRef kind, const Rows &x) {
  Rows result = {newName(), x.columns};
  body += formatv("  {0} = hexad.activation {1} {2} : {3}\n", result.name, kind,
                  x.name, getType(x));
  return result;
}

Rows ModelText::elementwise(StringRef op, const Rows &lhs, const Rows &rhs) {
  Rows result = {newName(), lhs.columns};
  body += formatv("  {0} = {1} {2}, {3} : {4}\n", result.name, op, lhs.name,
                  rhs.name, getType(lhs));
  return result;
}

Rows ModelText::add(const Rows &lhs, const Rows &rhs) {
  return elementwise("hexad.add", lhs, rhs);
}

Rows ModelText::multiply(const Rows &lhs, const Rows &rhs) {
  return elementwise("hexad.multiply", lhs, rhs);
}

Rows ModelText::rope(const Rows &x, int64_t heads, int64_t headDim) {
  // The factors are made once, in front of the loop.
  std::string frequencies;
  for (int64_t i = 0; i < headDim; i += 2)
    frequencies += formatv("{0}{1:e}", i ? ", " : "",
                           std::pow(10000.0, -double(i) / headDim));
  rotary = formatv("  %positions = hexad.positions %segments : tensor<?xi32>\n"
                   "  %rotary = hexad.rotary %positions {{inv_freq = "
                   "array<f32: {0}>} : tensor<?xi32> -> tensor<?x{1}xf32>\n",
                   frequencies, headDim);
  Rows result = {newName(), x.columns};
  body += formatv("  {0} = hexad.rope half {1}, %rotary {{head_dim = {2} : "
                  "i64, heads = {3} : i64} : {4}, tensor<?x{2}xf32>\n",
                  result.name, x.name, headDim, heads, getType(x));
  return result;
}

Rows ModelText::attention(const Rows &query, const Rows &key, const Rows &value,
                          const AttentionShape &shape, bool isCached) {
  if (isCached)
    symbols += formatv("  hexad.cache @cache {{head_dim = {0} : i64, kv_heads "
                       "= {1} : i64, layers = {2} : i64}\n",
                       shape.headDim, shape.kvHeads, loopCount);
  Rows result = {newName(), shape.getQueryColumns()};
  body +=
      formatv("  {0} = hexad.attention {1}, {2}, {3}, %segments{4} "
              "{{{5}heads = {6} : i64, kv_heads = {7} : i64, head_dim = "
              "{8} : i64, scale = {9:e} : f64} : {10}, {11}, {12} -> "
              "{13}\n",
              result.name, query.name, key.name, value.name,
              isCached ? " cache @cache[%i]" : "",
              shape.isCausal ? "causal, " : "", shape.heads, shape.kvHeads,
              shape.headDim, 1 / std::sqrt(double(shape.headDim)),
              getType(query), getType(key), getType(value), getType(result));
  return result;
}

std::string ModelText::write(const Rows &result, bool isDecoder) const {
  std::string type = getType(result),
              outType =
                  "tensor<?x?x" + std::to_string(result.columns) + "xf32>";
  std::string text = "module @part {\n" + symbols;
  text += formatv("  func.func @forward(%ids: tensor<?x?xi32> {{hexad.limit = "
                  "{0} : i64, hexad.name = \"input_ids\"}, %mask: "
                  "tensor<?x?xi32> {{hexad.name = \"attention_mask\", "
                  "hexad.optional}) -> ({1} {{hexad.name = \"{2}\"}) {{\n",
                  idLimit, outType, isDecoder ? "logits" : "rows");
  text += "  %segments = hexad.segments %mask : tensor<?x?xi32>\n"
          "  %tokens = hexad.pack_rows %ids, %segments : tensor<?x?xi32> -> "
          "tensor<?xi32>\n"
          "  %c0 = arith.constant 0 : index\n"
          "  %c1 = arith.constant 1 : index\n";
  text += rotary + body;
  std::string last = result.name;
  if (isDecoder) {
    text += formatv("  %selected = hexad.select_rows {0}, %segments : {1} -> "
                    "{1}\n",
                    last, type);
    last = "%selected";
  }
  text += formatv("  %output = hexad.unpack_rows {0}, %segments : {1} -> {2}\n"
                  "  return %output : {2}\n  }\n}\n",
                  last, type, outType);
  return text;
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

Expected<std::unique_ptr<LoadedLibrary>>
ModelText::compile(const Rows &result, bool isDecoder, StringRef cpu) const {
  SmallString<128> folder;
  if (std::error_code code =
          sys::fs::createUniqueDirectory("hexad-bench", folder))
    return createStringError(code, "cannot make a folder for a model");
  // What is mapped stays mapped.
  scope_exit remove([&] { sys::fs::remove_directories(folder); });
  auto getPath = [&](StringRef name) {
    SmallString<128> path = folder;
    sys::path::append(path, name);
    return std::string(path);
  };

  std::error_code code;
  raw_fd_ostream file(getPath("model.mlir"), code);
  if (code)
    return createStringError(code, "cannot write a model to " + folder);
  file << write(result, isDecoder);
  file.close();
  if (file.has_error())
    return createStringError(file.error(), "cannot write a model to " + folder);

  int64_t largest = 0;
  auto countElements = [](const Parameter &parameter) {
    return std::accumulate(parameter.shape.begin(), parameter.shape.end(),
                           int64_t(1), std::multiplies<>());
  };
  for (const Parameter &parameter : parameters)
    largest = std::max(largest, countElements(parameter));
  // Small, so that rows neither grow nor vanish in a loop.
  RandomFloats values(largest);
  for (int64_t i = 0; i < largest; ++i)
    values.data()[i] *= 0.05f;
  std::vector<TensorToWrite> tensors;
  for (const Parameter &parameter : parameters)
    tensors.push_back(
        {parameter.name, StoredType::F32, parameter.shape,
         ArrayRef(reinterpret_cast<const uint8_t *>(values.data()),
                  countElements(parameter) * sizeof(float))});
  if (Error error = writeSafetensors(getPath("model.safetensors"), tensors))
    return error;

  CompileOptions options;
  options.input = getPath("model.mlir");
  options.outputDir = getPath("out");
  options.name = "part";
  options.cpu = cpu.str();
  CompileResult compiled;
  if (failed(compileModel(options, compiled)))
    return createStringError("a part to be measured does not compile");
  return LoadedLibrary::open(getPath("out/libpart.so"));
}
