//===- GoldenOpsTest.cpp - Ops of the reference against golden files ------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GoldenOps.h"

using namespace mlir;
using namespace hexad;
using namespace hexad::reference;

namespace {

TEST(GoldenOps, Activation) {
  forEachCase("activation", [](const std::string &name,
                               const llvm::json::Object &attributes,
                               const SafetensorsFile &file) {
    FloatTensor x = readFloats(*file.find(name + "/in/x"));
    const StoredTensor *want = file.find(name + "/out/output");
    auto shape = x.shape;
    x.shape = {1, shape[0]};
    std::string kind = attributes.getString("kind")->str();
    std::optional<FloatTensor> y = call(
        llvm::formatv("func.func @f(%x: tensor<?x{0}xf32>) -> "
                      "tensor<?x{0}xf32> {{\n"
                      "  %y = hexad.activation {1} %x : tensor<?x{0}xf32>\n"
                      "  return %y : tensor<?x{0}xf32>\n}",
                      shape[0], kind),
        share(x));
    ASSERT_TRUE(y);
    y->shape = shape;
    // Not relative to the largest, which is 10⁴: each element stands alone. The
    // golden 1 + tanh and 1 + erf are multiples of 2⁻⁵³, times x/2, and nearly
    // 0 down to x = -9: an error of 5·10⁻¹⁶, which ours has not.
    expectGolden(*y, *want, 1e-15 / 1e4);
  });
}

TEST(GoldenOps, LayerNorm) {
  forEachCase("layer_norm", [](const std::string &name,
                               const llvm::json::Object &attributes,
                               const SafetensorsFile &file) {
    FloatTensor x = readFloats(*file.find(name + "/in/x"));
    const StoredTensor *weight = file.find(name + "/in/weight");
    const StoredTensor *bias = file.find(name + "/in/bias");
    auto shape = x.shape;
    int64_t columns = shape.back();
    SmallVector<RuntimeValue> arguments = {share(asRows(x))};
    // Without a weight: a weight of ones.
    arguments.push_back(
        share(weight ? readFloats(*weight) : FloatTensor({columns}, 1)));
    if (bias)
      arguments.push_back(share(readFloats(*bias)));
    std::string text = llvm::formatv(
        "func.func @f(%x: tensor<?x{0}xf32>, %w: tensor<{0}xf32>{1}) -> "
        "tensor<?x{0}xf32> {{\n"
        "  %y = hexad.layer_norm %x, %w {2} eps {3} : tensor<?x{0}xf32>, "
        "tensor<{0}xf32>{4}\n"
        "  return %y : tensor<?x{0}xf32>\n}",
        columns,
        bias ? llvm::formatv(", %b: tensor<{0}xf32>", columns).str() : "",
        bias ? "bias %b" : "", exact(*attributes.getNumber("eps")),
        bias ? llvm::formatv(", tensor<{0}xf32>", columns).str() : "");
    std::optional<FloatTensor> y = call(text, arguments);
    ASSERT_TRUE(y) << text;
    y->shape = shape;
    expectGolden(*y, *file.find(name + "/out/output"));
  });
}

TEST(GoldenOps, RmsNorm) {
  forEachCase("rms_norm", [](const std::string &name,
                             const llvm::json::Object &attributes,
                             const SafetensorsFile &file) {
    FloatTensor x = readFloats(*file.find(name + "/in/x"));
    const StoredTensor *weight = file.find(name + "/in/weight");
    auto shape = x.shape;
    // With heads in the shape they are groups side by side in a row.
    int64_t size = shape.back(), groups = shape.size() == 4 ? shape[2] : 1;
    x.shape = {static_cast<int64_t>(x.elements.size()) / (groups * size),
               groups * size};
    SmallVector<RuntimeValue> arguments = {share(x)};
    if (weight)
      arguments.push_back(share(readFloats(*weight)));
    bool unitOffset = attributes.getBoolean("unit_offset").value_or(false);
    std::string text = llvm::formatv(
        "func.func @f(%x: tensor<?x{0}xf32>{1}) -> tensor<?x{0}xf32> {{\n"
        "  %y = hexad.rms_norm %x {2} eps {3} {{groups = {4} : i64{5}} : "
        "tensor<?x{0}xf32>{6}\n"
        "  return %y : tensor<?x{0}xf32>\n}",
        groups * size,
        weight ? llvm::formatv(", %w: tensor<{0}xf32>", size).str() : "",
        weight ? "weight %w" : "", exact(*attributes.getNumber("eps")), groups,
        unitOffset ? ", unit_offset" : "",
        weight ? llvm::formatv(", tensor<{0}xf32>", size).str() : "");
    std::optional<FloatTensor> y = call(text, arguments);
    ASSERT_TRUE(y) << text;
    y->shape = shape;
    expectGolden(*y, *file.find(name + "/out/output"));
  });
}

TEST(GoldenOps, Gated) {
  forEachCase("gated", [](const std::string &name,
                          const llvm::json::Object &attributes,
                          const SafetensorsFile &file) {
    FloatTensor x = readFloats(*file.find(name + "/in/x"));
    auto shape = x.shape;
    int64_t columns = shape.back();
    int64_t inner = file.find(name + "/in/gate")->shape[0];
    llvm::StringRef kind = *attributes.getString("kind");
    const char *activation = kind == "swiglu"  ? "silu"
                             : kind == "geglu" ? "gelu"
                                               : "gelu_tanh";
    SmallVector<RuntimeValue> arguments = {share(asRows(x))};
    std::string parameters, body;
    auto addLinear = [&](const char *input, const std::string &weight,
                         int64_t in, int64_t out) {
      arguments.push_back(
          share(readFloats(*file.find(name + "/in/" + weight))));
      parameters +=
          llvm::formatv(", %{0}: tensor<{1}x{2}xf32>", weight, out, in);
      const StoredTensor *bias = file.find(name + "/in/" + weight + "_bias");
      if (bias) {
        arguments.push_back(share(readFloats(*bias)));
        parameters +=
            llvm::formatv(", %{0}_bias: tensor<{1}xf32>", weight, out);
      }
      body += llvm::formatv(
          "  %{0}_out = hexad.linear {1}, %{0} {2} : tensor<?x{3}xf32>, "
          "tensor<{4}x{3}xf32>{5} -> tensor<?x{4}xf32>\n",
          weight, input, bias ? "bias %" + weight + "_bias" : "", in, out,
          bias ? llvm::formatv(", tensor<{0}xf32>", out).str() : "");
    };
    addLinear("%x", "gate", columns, inner);
    addLinear("%x", "up", columns, inner);
    body += llvm::formatv(
        "  %a = hexad.activation {0} %gate_out : tensor<?x{1}xf32>\n"
        "  %m = hexad.multiply %a, %up_out : tensor<?x{1}xf32>\n",
        activation, inner);
    addLinear("%m", "down", inner, columns);
    std::string text = llvm::formatv(
        "func.func @f(%x: tensor<?x{0}xf32>{1}) -> tensor<?x{0}xf32> {{\n{2}"
        "  return %down_out : tensor<?x{0}xf32>\n}",
        columns, parameters, body);
    std::optional<FloatTensor> y = call(text, arguments);
    ASSERT_TRUE(y) << text;
    y->shape = shape;
    expectGolden(*y, *file.find(name + "/out/output"));
  });
}

/// `hexad.rope` on all heads of `x[batch, seq, heads, head_dim]`. The table of
/// cosines and sines is an argument, or that of `rotary`.
std::optional<FloatTensor> rotateHeads(const FloatTensor &x, StringRef pairing,
                                       int64_t rotated, RuntimeValue argument,
                                       const std::string &rotary = "") {
  int64_t heads = x.shape[2], headDim = x.shape[3], columns = heads * headDim;
  FloatTensor rows = x;
  rows.shape = {x.shape[0] * x.shape[1], columns};
  std::string table = llvm::formatv("tensor<?x{0}xf32>", rotated);
  std::string text = llvm::formatv(
      "func.func @f(%x: tensor<?x{0}xf32>, %{1}) -> tensor<?x{0}xf32> {{\n"
      "{2}"
      "  %y = hexad.rope {3} %x, %table {{heads = {4} : i64, head_dim = {5} : "
      "i64} : tensor<?x{0}xf32>, {6}\n"
      "  return %y : tensor<?x{0}xf32>\n}",
      columns, rotary.empty() ? "table: " + table : "positions: tensor<?xi32>",
      rotary, pairing, heads, headDim, table);
  std::optional<FloatTensor> y =
      call(text, {share(std::move(rows)), std::move(argument)});
  if (y)
    y->shape = x.shape;
  return y;
}

TEST(GoldenOps, Rope) {
  forEachCase("rope", [](const std::string &name,
                         const llvm::json::Object &attributes,
                         const SafetensorsFile &file) {
    FloatTensor x = readFloats(*file.find(name + "/in/x"));
    IntegerTensor positions = readIntegers(*file.find(name + "/in/positions"));
    positions.shape = {static_cast<int64_t>(positions.elements.size())};
    FloatTensor frequencies = readFloats(*file.find(name + "/out/inv_freq"));
    double factor =
        readFloats(*file.find(name + "/out/attention_factor")).elements[0];
    int64_t n = frequencies.elements.size();
    llvm::StringRef pairing = attributes.getString("form").value_or("half");

    // The golden output has the frequencies before they were rounded to f32,
    // and so has a table made here.
    if (!attributes.getObject("scaling")) {
      FloatTensor table({positions.getRows(), 2 * n});
      for (auto [row, position] : llvm::enumerate(positions.elements))
        for (int64_t i = 0; i < n; ++i) {
          double frequency = std::pow(*attributes.getNumber("theta"),
                                      -static_cast<double>(i) / n);
          table.getRow(row)[i] = std::cos(position * frequency);
          table.getRow(row)[n + i] = std::sin(position * frequency);
        }
      std::optional<FloatTensor> y =
          rotateHeads(x, pairing, 2 * n, share(std::move(table)));
      ASSERT_TRUE(y);
      expectGolden(*y, *file.find(name + "/out/output"));
    }

    // `hexad.rotary` has f32 frequencies: angles are off by up to
    // position · frequency · 2⁻²⁴, and the stored factor by 2⁻²⁴ of it.
    double angle = 0;
    std::string list;
    for (double frequency : frequencies.elements) {
      if (frequency != 1) // which is exact
        for (int64_t position : positions.elements)
          angle = std::max(angle, position * frequency);
      list += (list.empty() ? "" : ", ") +
              llvm::formatv("{0:X}", llvm::bit_cast<uint32_t>(float(frequency)))
                  .str();
    }
    std::string rotary = llvm::formatv(
        "  %table = hexad.rotary %positions {{inv_freq = array<f32: {0}>, "
        "attention_factor = {1} : f64} : tensor<?xi32> -> "
        "tensor<?x{2}xf32>\n",
        list, exact(factor), 2 * n);
    std::optional<FloatTensor> y = rotateHeads(
        x, pairing, 2 * n,
        std::make_shared<const IntegerTensor>(std::move(positions)), rotary);
    ASSERT_TRUE(y);
    expectGolden(*y, *file.find(name + "/out/output"),
                 std::ldexp(1 + 2 * angle, -24));
  });
}

/// Element (outer, n, inner) of a tensor, `n` along `axis`, to row
/// `outer · inner count + inner`, column n; or back.
FloatTensor moveAxisLast(const FloatTensor &x, ArrayRef<int64_t> shape,
                         int64_t axis, bool back) {
  int64_t outer = 1, inner = 1, count = shape[axis];
  for (auto [dim, size] : llvm::enumerate(shape)) {
    outer *= static_cast<int64_t>(dim) < axis ? size : 1;
    inner *= static_cast<int64_t>(dim) > axis ? size : 1;
  }
  FloatTensor moved({outer * inner, count});
  if (back)
    moved.shape.assign(shape.begin(), shape.end());
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t n = 0; n < count; ++n)
      for (int64_t i = 0; i < inner; ++i) {
        int64_t plain = (o * count + n) * inner + i;
        int64_t last = (o * inner + i) * count + n;
        moved.elements[back ? plain : last] = x.elements[back ? last : plain];
      }
  return moved;
}

TEST(GoldenOps, Softmax) {
  forEachCase("softmax", [](const std::string &name,
                            const llvm::json::Object &attributes,
                            const SafetensorsFile &file) {
    FloatTensor x = readFloats(*file.find(name + "/in/x"));
    auto shape = x.shape;
    int64_t axis = *attributes.getInteger("axis");
    std::optional<FloatTensor> y =
        call(llvm::formatv("func.func @f(%x: tensor<?x{0}xf32>) -> "
                           "tensor<?x{0}xf32> {{\n"
                           "  %y = hexad.softmax %x : tensor<?x{0}xf32>\n"
                           "  return %y : tensor<?x{0}xf32>\n}",
                           shape[axis]),
             share(moveAxisLast(x, shape, axis, /*back=*/false)));
    ASSERT_TRUE(y);
    expectGolden(moveAxisLast(*y, shape, axis, /*back=*/true),
                 *file.find(name + "/out/output"));
  });
}

/// The keys that each query row sees, by mask, causality and window.
std::vector<std::vector<int64_t>>
getVisibleKeys(const llvm::json::Object &attributes, const StoredTensor *mask,
               int64_t batch, int64_t queries, int64_t keys) {
  bool causal = attributes.getBoolean("causal").value_or(false);
  int64_t window = attributes.getInteger("window").value_or(keys + queries);
  std::vector<std::vector<int64_t>> visible;
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t s = 0; s < queries; ++s) {
      int64_t position = s + keys - queries;
      std::vector<int64_t> &seen = visible.emplace_back();
      for (int64_t t = 0; t < keys; ++t) {
        if (causal && (t > position || t <= position - window))
          continue;
        // [batch, 1, queries or 1, keys] of bool
        if (mask) {
          int64_t row = mask->shape[2] == 1 ? 0 : s;
          if (!mask->bytes[(b * mask->shape[2] + row) * keys + t])
            continue;
        }
        seen.push_back(t);
      }
    }
  return visible;
}

std::string getSoftcapText(const llvm::json::Object &attributes) {
  std::optional<double> softcap = attributes.getNumber("softcap");
  return softcap ? ", softcap = " + exact(*softcap) + " : f64" : "";
}

/// The op knows no masks, nor queries that are fewer than the keys: so each
/// query row becomes a segment of just the keys that it sees, with the query in
/// its first row; its other queries are 0. A query that sees nothing is a
/// segment without rows.
TEST(GoldenOps, Attention) {
  forEachCase("attention", [](const std::string &name,
                              const llvm::json::Object &attributes,
                              const SafetensorsFile &file) {
    FloatTensor query = readFloats(*file.find(name + "/in/query"));
    FloatTensor key = readFloats(*file.find(name + "/in/key"));
    FloatTensor value = readFloats(*file.find(name + "/in/value"));
    int64_t batch = query.shape[0], queries = query.shape[1];
    int64_t heads = query.shape[2], headDim = query.shape[3];
    int64_t keys = key.shape[1], kvHeads = key.shape[2];
    auto visible = getVisibleKeys(attributes, file.find(name + "/in/mask"),
                                  batch, queries, keys);

    // Segments as the door makes them: a mask [queries, keys].
    int64_t rows = 0;
    IntegerTensor mask({batch * queries, keys});
    for (auto [segment, seen] : llvm::enumerate(visible)) {
      rows += seen.size();
      std::fill_n(mask.getRow(segment).begin(), seen.size(), 1);
    }
    FloatTensor q({rows, heads * headDim}), k({rows, kvHeads * headDim}),
        v({rows, kvHeads * headDim});
    auto copyRow = [](const FloatTensor &from, int64_t fromRow, FloatTensor &to,
                      int64_t toRow) {
      int64_t columns = to.getColumns();
      llvm::copy(
          llvm::ArrayRef(from.elements).slice(fromRow * columns, columns),
          to.getRow(toRow).begin());
    };
    int64_t row = 0;
    for (auto [segment, seen] : llvm::enumerate(visible)) {
      if (!seen.empty())
        copyRow(query, segment, q, row);
      int64_t b = segment / queries;
      for (int64_t t : seen) {
        copyRow(key, b * keys + t, k, row);
        copyRow(value, b * keys + t, v, row++);
      }
    }

    double scale = attributes.getNumber("scale").value_or(
        1 / std::sqrt(static_cast<double>(headDim)));
    std::string text = llvm::formatv(
        "func.func @f(%q: tensor<?x{0}xf32>, %k: tensor<?x{1}xf32>, "
        "%v: tensor<?x{1}xf32>, %mask: tensor<?x?xi32>) -> tensor<?x{0}xf32> "
        "{{\n"
        "  %segments = hexad.segments %mask : tensor<?x?xi32>\n"
        "  %o = hexad.attention %q, %k, %v, %segments {{heads = {2} : i64, "
        "kv_heads = {3} : i64, head_dim = {4} : i64, scale = {5} : f64{6}} : "
        "tensor<?x{0}xf32>, tensor<?x{1}xf32>, tensor<?x{1}xf32> -> "
        "tensor<?x{0}xf32>\n"
        "  %p = hexad.pool first %o, %segments : tensor<?x{0}xf32> -> "
        "tensor<?x{0}xf32>\n"
        "  return %p : tensor<?x{0}xf32>\n}",
        heads * headDim, kvHeads * headDim, heads, kvHeads, headDim,
        exact(scale), getSoftcapText(attributes));
    std::optional<FloatTensor> output =
        call(text, {share(q), share(k), share(v),
                    std::make_shared<const IntegerTensor>(mask)});
    ASSERT_TRUE(output) << text;
    output->shape = query.shape;
    expectGolden(*output, *file.find(name + "/out/output"));
  });
}

/// Where there are as many queries as keys and no mask, each batch row is a
/// segment, and causality and windows are the op's.
TEST(GoldenOps, AttentionOfWholeSegments) {
  int causal = 0, windows = 0;
  forEachCase("attention", [&](const std::string &name,
                               const llvm::json::Object &attributes,
                               const SafetensorsFile &file) {
    FloatTensor query = readFloats(*file.find(name + "/in/query"));
    FloatTensor key = readFloats(*file.find(name + "/in/key"));
    FloatTensor value = readFloats(*file.find(name + "/in/value"));
    if (query.shape[1] != key.shape[1] || file.find(name + "/in/mask"))
      return;
    auto shape = query.shape;
    int64_t heads = shape[2], headDim = shape[3], kvHeads = key.shape[2];
    for (FloatTensor *tensor : {&query, &key, &value})
      tensor->shape = {shape[0] * shape[1], tensor->shape[2] * headDim};
    bool isCausal = attributes.getBoolean("causal").value_or(false);
    std::optional<int64_t> window = attributes.getInteger("window");
    causal += isCausal;
    windows += window.has_value();
    std::string text = llvm::formatv(
        "func.func @f(%q: tensor<?x{0}xf32>, %k: tensor<?x{1}xf32>, "
        "%v: tensor<?x{1}xf32>, %mask: tensor<?x?xi32>) -> tensor<?x{0}xf32> "
        "{{\n"
        "  %segments = hexad.segments %mask : tensor<?x?xi32>\n"
        "  %o = hexad.attention %q, %k, %v, %segments {{heads = {2} : i64, "
        "kv_heads = {3} : i64, head_dim = {4} : i64, scale = {5} : f64{6}{7}"
        "{8}} : tensor<?x{0}xf32>, tensor<?x{1}xf32>, tensor<?x{1}xf32> -> "
        "tensor<?x{0}xf32>\n"
        "  %s = hexad.select_rows %o, %segments : tensor<?x{0}xf32> -> "
        "tensor<?x{0}xf32>\n"
        "  return %s : tensor<?x{0}xf32>\n}",
        heads * headDim, kvHeads * headDim, heads, kvHeads, headDim,
        exact(attributes.getNumber("scale").value_or(
            1 / std::sqrt(static_cast<double>(headDim)))),
        getSoftcapText(attributes), isCausal ? ", causal" : "",
        window ? llvm::formatv(", window = {0} : i64", *window).str() : "");
    std::optional<FloatTensor> output =
        call(text, {share(query), share(key), share(value),
                    std::make_shared<const IntegerTensor>(
                        ArrayRef<int64_t>{shape[0], shape[1]}, 1)});
    ASSERT_TRUE(output) << text;
    output->shape = shape;
    expectGolden(*output, *file.find(name + "/out/output"));
  });
  EXPECT_GE(causal, 5);
  EXPECT_GE(windows, 2);
}

/// The losses of rows, or their mean, of one golden case.
std::optional<FloatTensor> callCrossEntropy(const FloatTensor &logits,
                                            const IntegerTensor &labels,
                                            bool shift, bool mean) {
  std::string text = llvm::formatv(
      "func.func @f(%x: tensor<?x{0}xf32>, %labels: tensor<?x?xi32>, "
      "%mask: tensor<?x?xi32>) -> {2} {{\n"
      "  %segments = hexad.segments %mask : tensor<?x?xi32>\n"
      "  %l = hexad.labels %labels, %segments {1} : tensor<?x?xi32> -> "
      "tensor<?xi32>\n"
      "  %each = hexad.cross_entropy %x, %l : tensor<?x{0}xf32>, "
      "tensor<?xi32> -> tensor<?x1xf32>\n"
      "  %mean = hexad.mean_loss %each, %l : tensor<?x1xf32>, tensor<?xi32> "
      "-> tensor<f32>\n"
      "  return %{3} : {2}\n}",
      logits.getColumns(), shift ? "{shift}" : "",
      mean ? "tensor<f32>" : "tensor<?x1xf32>", mean ? "mean" : "each");
  return call(text, {share(asRows(logits)),
                     std::make_shared<const IntegerTensor>(labels),
                     std::make_shared<const IntegerTensor>(labels.shape, 1)});
}

TEST(GoldenOps, CrossEntropy) {
  int shifted = 0;
  forEachCase("cross_entropy", [&](const std::string &name,
                                   const llvm::json::Object &attributes,
                                   const SafetensorsFile &file) {
    FloatTensor logits = readFloats(*file.find(name + "/in/logits"));
    IntegerTensor labels = readIntegers(*file.find(name + "/in/labels"));
    bool shift = attributes.getBoolean("shift").value_or(false);
    shifted += shift;
    std::optional<FloatTensor> mean =
        callCrossEntropy(logits, labels, shift, /*mean=*/true);
    ASSERT_TRUE(mean);
    expectGolden(*mean, *file.find(name + "/out/mean"));
    std::optional<FloatTensor> each =
        callCrossEntropy(logits, labels, shift, /*mean=*/false);
    ASSERT_TRUE(each);
    each->shape = labels.shape;
    if (shift) {
      // The last row of each segment has no label.
      FloatTensor dropped({labels.getRows(), labels.getColumns() - 1});
      for (int64_t row = 0; row < labels.getRows(); ++row) {
        EXPECT_EQ(each->getRow(row).back(), 0);
        llvm::copy(each->getRow(row).drop_back(), dropped.getRow(row).begin());
      }
      each = dropped;
    }
    expectGolden(*each, *file.find(name + "/out/each"));
  });
  EXPECT_EQ(shifted, 1);
}

} // namespace
