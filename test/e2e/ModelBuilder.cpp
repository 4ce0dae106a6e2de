//===- ModelBuilder.cpp - Models for tests, op by op ----------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelBuilder.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace hexad::test;
using llvm::formatv;

std::string ModelBuilder::rowsType(int64_t columns) {
  return formatv("tensor<?x{0}xf32>", columns);
}

static std::string tensorType(llvm::ArrayRef<int64_t> shape) {
  std::string type = "tensor<";
  for (int64_t size : shape)
    type += std::to_string(size) + "x";
  return type + "f32>";
}

void ModelBuilder::line(const std::string &text) {
  body += indent + text + "\n";
}

Rows ModelBuilder::emit(const std::string &op, int64_t columns, bool pooled,
                        const std::string &types) {
  return newRows(op + " : " + types, columns, pooled);
}

Rows ModelBuilder::newRows(const std::string &op, int64_t columns,
                           bool pooled) {
  Rows result{newValue(), columns, pooled};
  line(result.name + " = hexad." + op);
  return result;
}

std::string ModelBuilder::newParameter(const char *kind,
                                       llvm::ArrayRef<int64_t> shape) {
  std::string name = kind + std::to_string(next++);
  llvm::SmallVector<int64_t> full(shape);
  std::string tensors, layers, index;
  if (loopCount) {
    full.insert(full.begin(), loopCount);
    for (int64_t layer = 0; layer < loopCount; ++layer)
      tensors += formatv("{0}\"{1}.{2}\"", layer ? ", " : "", name, layer);
    layers = formatv(" {{layers = {0} : i64}", loopCount);
    index = "[" + loopIndex + "]";
  } else {
    tensors = "\"" + name + "\"";
  }
  parameters +=
      formatv("  hexad.parameter @{0} : {1} from \"model.safetensors\" "
              "[{2}]{3}\n",
              name, tensorType(full), tensors, layers);
  std::string value = newValue();
  line(formatv("{0} = hexad.load @{1}{2} : {3}", value, name, index,
               tensorType(shape)));
  return value;
}

Rows ModelBuilder::embed(const std::string &ids, int64_t entries,
                         int64_t columns, int64_t offset) {
  std::string table = newParameter("table", {entries, columns});
  return emit(
      formatv("embedding {0}, {1} {{offset = {2} : i64}", ids, table, offset),
      columns, false,
      formatv("tensor<?xi32>, {0} -> {1}", tensorType({entries, columns}),
              rowsType(columns)));
}

Rows ModelBuilder::route(const char *score, const Rows &logits, int64_t topK,
                         const std::string &attributes,
                         const std::string &vectors,
                         const std::string &vectorTypes) {
  return emit(formatv("route {0} {1}{2} {{top_k = {3} : i64{4}}", score,
                      logits.name, vectors, topK, attributes),
              2 * topK, logits.pooled,
              formatv("{0}{1} -> {2}", rowsType(logits.columns), vectorTypes,
                      rowsType(2 * topK)));
}

Rows ModelBuilder::experts(const Rows &x, const Rows &routes, int64_t count,
                           llvm::function_ref<Rows(const Rows &)> body) {
  // The text of the region first: it says how many columns the result has.
  std::string expert = newValue(), rows = newValue(), before;
  std::swap(this->body, before);
  std::string outerIndex = loopIndex, outerIndent = indent;
  int64_t outerCount = loopCount;
  indent += "  ";
  loopIndex = expert;
  loopCount = count;
  if (outerCount) {
    loopCount *= outerCount;
    loopIndex = newValue();
    std::string size = newValue(), first = newValue();
    line(formatv("{0} = arith.constant {1} : index", size, count));
    line(formatv("{0} = arith.muli {1}, {2} : index", first, outerIndex, size));
    line(
        formatv("{0} = arith.addi {1}, {2} : index", loopIndex, first, expert));
  }
  Rows result = body({rows, x.columns, x.pooled});
  line(formatv("hexad.yield {0} : {1}", result.name, rowsType(result.columns)));
  std::swap(this->body, before);
  loopIndex = outerIndex, indent = outerIndent, loopCount = outerCount;

  std::string value = newValue();
  line(formatv("{0} = hexad.experts {1}, {2} count {3} : {4}, {5} -> {6} {{",
               value, x.name, routes.name, count, rowsType(x.columns),
               rowsType(routes.columns), rowsType(result.columns)));
  line(formatv("^bb0({0}: index, {1}: {2}):", expert, rows,
               rowsType(x.columns)));
  this->body += before;
  line("}");
  return {value, result.columns, x.pooled};
}

Rows ModelBuilder::linear(const Rows &x, int64_t columns, bool bias) {
  std::string weight = newParameter("matrix", {columns, x.columns});
  return linearWith(x, weight, columns,
                    bias ? newParameter("bias", {columns}) : "");
}

Rows ModelBuilder::linearWith(const Rows &x, const std::string &weight,
                              int64_t columns, const std::string &bias) {
  return emit(formatv("linear {0}, {1}{2}", x.name, weight,
                      bias.empty() ? "" : " bias " + bias),
              columns, x.pooled,
              formatv("{0}, {1}{2} -> {3}", rowsType(x.columns),
                      tensorType({columns, x.columns}),
                      bias.empty() ? "" : ", " + tensorType({columns}),
                      rowsType(columns)));
}

Rows ModelBuilder::activation(const char *kind, const Rows &x) {
  return emit(formatv("activation {0} {1}", kind, x.name), x.columns, x.pooled,
              rowsType(x.columns));
}

Rows ModelBuilder::add(const Rows &lhs, const Rows &rhs) {
  return emit(formatv("add {0}, {1}", lhs.name, rhs.name), lhs.columns,
              lhs.pooled, rowsType(lhs.columns));
}

Rows ModelBuilder::layerNorm(const Rows &x, bool bias, double eps) {
  std::string weight = newParameter("gain", {x.columns});
  std::string vector = tensorType({x.columns});
  return emit(formatv("layer_norm {0}, {1}{2} eps {3:e}", x.name, weight,
                      bias ? " bias " + newParameter("bias", {x.columns}) : "",
                      eps),
              x.columns, x.pooled,
              formatv("{0}, {1}{2}", rowsType(x.columns), vector,
                      bias ? ", " + vector : ""));
}

Rows ModelBuilder::rmsNorm(const Rows &x, int64_t groupSize,
                           const std::string &attributes) {
  return emit(
      formatv("rms_norm {0} weight {1} eps 1.0e-6 {2}", x.name,
              newParameter("gain", {groupSize}), attributes),
      x.columns, x.pooled,
      formatv("{0}, {1}", rowsType(x.columns), tensorType({groupSize})));
}

Rows ModelBuilder::multiply(const Rows &lhs, const Rows &rhs) {
  return emit(formatv("multiply {0}, {1}", lhs.name, rhs.name), lhs.columns,
              lhs.pooled, rowsType(lhs.columns));
}

Rows ModelBuilder::scale(const Rows &x, double factor) {
  return emit(formatv("scale {0} by {1:e}", x.name, factor), x.columns,
              x.pooled, rowsType(x.columns));
}

Rows ModelBuilder::softcap(const Rows &x, double cap) {
  return emit(formatv("softcap {0} cap {1:e}", x.name, cap), x.columns,
              x.pooled, rowsType(x.columns));
}

Rows ModelBuilder::rotary(int64_t frequencies) {
  std::string list;
  for (int64_t i = 0; i < frequencies; ++i)
    list += formatv("{0}{1:e}", i ? ", " : "",
                    std::pow(1000.0, -static_cast<double>(i) / frequencies));
  return emit(formatv("rotary %positions {{inv_freq = array<f32: {0}>}", list),
              2 * frequencies, false,
              "tensor<?xi32> -> " + rowsType(2 * frequencies));
}

Rows ModelBuilder::rope(const char *pairing, const Rows &x, const Rows &rotary,
                        int64_t heads, int64_t headDim, int64_t offset) {
  return emit(formatv("rope {0} {1}, {2} {{heads = {3} : i64, head_dim = {4} : "
                      "i64, offset = {5} : i64}",
                      pairing, x.name, rotary.name, heads, headDim, offset),
              x.columns, false,
              rowsType(x.columns) + ", " + rowsType(rotary.columns));
}

Rows ModelBuilder::l2Normalize(const Rows &x, double eps) {
  return emit(formatv("l2_normalize {0} eps {1:e}", x.name, eps), x.columns,
              x.pooled, rowsType(x.columns));
}

Rows ModelBuilder::softmax(const Rows &x) {
  return emit("softmax " + x.name, x.columns, x.pooled, rowsType(x.columns));
}

Rows ModelBuilder::attention(const Rows &query, const Rows &key,
                             const Rows &value, const Heads &heads) {
  double scale = heads.scale ? heads.scale : 1 / std::sqrt(heads.headDim);
  int64_t columns = heads.heads * heads.headDim;
  return emit(
      formatv("attention {0}, {1}, {2}, %segments {{heads = {3} : i64, "
              "kv_heads = {4} : i64, head_dim = {5} : i64, scale = {6:e} : "
              "f64, offsets = array<i64: {7}, {8}, {9}>}",
              query.name, key.name, value.name, heads.heads, heads.kvHeads,
              heads.headDim, scale, heads.queryOffset, heads.keyOffset,
              heads.valueOffset),
      columns, false,
      formatv("{0}, {1}, {2} -> {3}", rowsType(query.columns),
              rowsType(key.columns), rowsType(value.columns),
              rowsType(columns)));
}

void ModelBuilder::attentionMap(const Rows &query, const Rows &key,
                                const Heads &heads,
                                const std::string &attributes,
                                const std::string &name) {
  double scale = heads.scale ? heads.scale : 1 / std::sqrt(heads.headDim);
  std::string type = formatv("tensor<1x?x{0}x?x?xf32>", heads.heads);
  std::string empty = newValue(), maps = newValue();
  line(formatv("{0} = hexad.empty_maps %segments : {1}", empty, type));
  line(formatv("{0} = hexad.attention_map {1}, {2}, %segments into {3}[%c0] "
               "{{heads = {4} : i64, kv_heads = {5} : i64, head_dim = {6} : "
               "i64, scale = {7:e} : f64, offsets = array<i64: {8}, {9}>{10}} "
               ": {11}, {12}, {13}",
               maps, query.name, key.name, empty, heads.heads, heads.kvHeads,
               heads.headDim, scale, heads.queryOffset, heads.keyOffset,
               attributes, rowsType(query.columns), rowsType(key.columns),
               type));
  rawOutput(maps, type, name, /*stacked=*/true);
}

Rows ModelBuilder::pool(const char *kind, const Rows &x) {
  return emit(formatv("pool {0} {1}, %segments", kind, x.name), x.columns, true,
              formatv("{0} -> {0}", rowsType(x.columns)));
}

std::vector<Rows> ModelBuilder::repeat(
    int64_t count, const std::vector<Rows> &inits,
    llvm::function_ref<std::vector<Rows>(const std::vector<Rows> &)> body) {
  std::string loop = newValue(), types, assignments;
  std::vector<Rows> carried, results;
  for (const Rows &init : inits) {
    Rows argument{newValue(), init.columns, init.pooled};
    assignments +=
        (carried.empty() ? "" : ", ") + argument.name + " = " + init.name;
    types += (carried.empty() ? "" : ", ") + rowsType(init.columns);
    results.push_back({loop, init.columns, init.pooled});
    if (inits.size() > 1)
      results.back().name += "#" + std::to_string(carried.size());
    carried.push_back(argument);
  }
  std::string index = newValue(), last = newValue();
  line(formatv("{0} = arith.constant {1} : index", last, count));
  line(formatv("{0} = scf.for {1} = %c0 to {2} step %c1 iter_args({3}) -> "
               "({4}) {{",
               loop +
                   (inits.size() > 1 ? ":" + std::to_string(inits.size()) : ""),
               index, last, assignments, types));
  indent += "  ";
  loopCount = count;
  loopIndex = index;
  std::string yields;
  for (const Rows &value : body(carried))
    yields += (yields.empty() ? "" : ", ") + value.name;
  line("scf.yield " + yields + " : " + types);
  loopCount = 0;
  indent.resize(indent.size() - 2);
  line("}");
  return results;
}

void ModelBuilder::output(const Rows &x, const std::string &name) {
  if (x.pooled)
    return rawOutput(x.name, rowsType(x.columns), name);
  std::string type = formatv("tensor<?x?x{0}xf32>", x.columns);
  std::string value = newValue();
  line(formatv("{0} = hexad.unpack_rows {1}, %segments : {2} -> {3}", value,
               x.name, rowsType(x.columns), type));
  rawOutput(value, type, name);
}

void ModelBuilder::takeLabels(int64_t limit, bool shift, bool pooled) {
  const char *type = pooled ? "tensor<?xi32>" : "tensor<?x?xi32>";
  labels = formatv(",\n                     %labels: {0} {{hexad.name = "
                   "\"labels\", hexad.limit = {1} : i64, hexad.optional}",
                   type, limit);
  line(formatv("%l = hexad.labels %labels, %segments {0} : {1} -> "
               "tensor<?xi32>",
               shift ? "{shift}" : "", type));
}

Rows ModelBuilder::crossEntropy(const Rows &logits) {
  return newRows(formatv("cross_entropy {0}, %l : {1}, tensor<?xi32> -> "
                         "tensor<?x1xf32>",
                         logits.name, rowsType(logits.columns)),
                 1, logits.pooled);
}

void ModelBuilder::outputLoss(const Rows &losses) {
  std::string value = newValue();
  line(formatv("{0} = hexad.mean_loss {1}, %l : tensor<?x1xf32>, "
               "tensor<?xi32> -> tensor<f32>",
               value, losses.name));
  rawOutput(value, "tensor<f32>", "loss");
}

void ModelBuilder::rawOutput(const std::string &value, const std::string &type,
                             const std::string &name, bool stacked) {
  results.push_back({value, type,
                     formatv("{{hexad.name = \"{0}\"{1}}", name,
                             stacked ? ", hexad.stacked" : "")});
}

std::string ModelBuilder::getText() const {
  std::string types, values, valueTypes;
  for (const Result &result : results) {
    const char *comma = values.empty() ? "" : ", ";
    types += comma + result.type + " " + result.attributes;
    values += comma + result.value;
    valueTypes += comma + result.type;
  }
  std::string attributes =
      positionLimit ? formatv(" attributes {{hexad.position_limit = {0} : i64}",
                              positionLimit)
                          .str()
                    : "";
  return formatv(
      R"(module @model {{
{0}
  func.func @forward(%input_ids: tensor<?x?xi32> {{hexad.name = "input_ids", hexad.limit = {1} : i64},
                     %type_ids: tensor<?x?xi32> {{hexad.name = "type_ids", hexad.limit = {2} : i64, hexad.optional},
                     %attention_mask: tensor<?x?xi32> {{hexad.name = "attention_mask", hexad.optional}{8})
      -> ({3}){4} {{
    %segments = hexad.segments %attention_mask : tensor<?x?xi32>
    %ids = hexad.pack_rows %input_ids, %segments : tensor<?x?xi32> -> tensor<?xi32>
    %types = hexad.pack_rows %type_ids, %segments : tensor<?x?xi32> -> tensor<?xi32>
    %positions = hexad.positions %segments : tensor<?xi32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
{5}    return {6} : {7}
  }
}
)",
      parameters, idLimit, typeLimit, types, attributes, body, values,
      valueTypes, labels);
}

Rows hexad::test::buildEncoder(ModelBuilder &builder,
                               const EncoderShape &shape) {
  Rows x = builder.add(builder.embedWords(shape.hidden),
                       builder.embedTypes(shape.hidden));
  if (shape.positionLimit)
    x = builder.add(x,
                    builder.embedPositions(shape.hidden, shape.positionLimit));
  x = builder.layerNorm(x);
  return builder.repeat(shape.layers, x, [&](const Rows &in) {
    auto around = [&](const Rows &x,
                      llvm::function_ref<Rows(const Rows &)> branch) {
      if (shape.preNorm)
        return builder.add(branch(builder.layerNorm(x, shape.bias)), x);
      return builder.layerNorm(builder.add(branch(x), x), shape.bias);
    };
    Rows attended = around(in, [&](const Rows &x) {
      int64_t keyColumns = shape.kvHeads * shape.headDim;
      Rows query = builder.linear(x, shape.heads * shape.headDim, shape.bias);
      Rows key = builder.linear(x, keyColumns, shape.bias);
      Rows value = builder.linear(x, keyColumns, shape.bias);
      Rows mixed = builder.attention(
          query, key, value, {shape.heads, shape.kvHeads, shape.headDim});
      return builder.linear(mixed, shape.hidden, shape.bias);
    });
    return around(attended, [&](const Rows &x) {
      Rows up = builder.linear(x, shape.feedForward, shape.bias);
      return builder.linear(builder.activation(shape.activation, up),
                            shape.hidden, shape.bias);
    });
  });
}

std::string hexad::test::getEncoderText(const EncoderShape &shape) {
  ModelBuilder builder(shape.positionLimit);
  Rows x = buildEncoder(builder, shape);
  builder.output(x, "last_hidden_state");
  builder.output(builder.pool("mean", x), "pooled");
  return builder.getText();
}
