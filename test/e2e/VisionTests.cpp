//===- VisionTests.cpp - Models of images ---------------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledModel.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <optional>

using namespace hexad;
using namespace hexad::test;

namespace {

struct ImageModel {
  int64_t channels, height, width, patchHeight, patchWidth;
  int64_t prefix;      ///< rows in front of the patches
  int64_t columns;     ///< of a row, a multiple of 4
  bool hasBias = true; ///< of the patches

  size_t getTokens() const {
    return prefix + height / patchHeight * (width / patchWidth);
  }
  /// `count` images, each of its own.
  Call of(size_t count) const {
    return Call::of(std::vector<size_t>(count, getTokens()));
  }
  std::string getText() const;
};

/// Patches, class token and registers, positions, an attention with layer
/// scale; as outputs the patches, all rows, the first and the mean of the
/// patches' rows.
std::string ImageModel::getText() const {
  std::string text, body;
  int64_t tokens = getTokens();
  std::string rows = llvm::formatv("tensor<?x{0}xf32>", columns);
  std::string image =
      llvm::formatv("tensor<?x{0}x{1}x{2}xf32>", channels, height, width);
  auto parameter = [&](const std::string &name, const std::string &shape) {
    std::string type = "tensor<" + shape + "xf32>";
    text += "hexad.parameter @" + name + " : " + type +
            " from \"model.safetensors\" [\"" + name + "\"]\n";
    body += "  %" + name + " = hexad.load @" + name + " : " + type + "\n";
    return type;
  };
  auto number = [](int64_t value) { return std::to_string(value); };
  std::string filters = parameter(
      "matrix_patch", number(columns) + "x" + number(channels) + "x" +
                          number(patchHeight) + "x" + number(patchWidth));
  std::string vector = parameter("bias_patch", number(columns));
  std::string positions =
      parameter("table_position", number(tokens) + "x" + number(columns));
  parameter("gain_layer", number(columns));
  std::string square =
      parameter("matrix_query", number(columns) + "x" + number(columns));
  parameter("matrix_key", number(columns) + "x" + number(columns));
  parameter("matrix_value", number(columns) + "x" + number(columns));

  body +=
      "  %segments = hexad.image_segments %image {length = " + number(tokens) +
      " : i64} : " + image + "\n";
  body += "  %patches = hexad.patchify %image, %matrix_patch " +
          std::string(hasBias ? "bias %bias_patch" : "") +
          ", %segments {prefix = " + number(prefix) + " : i64} : " + image +
          ", " + filters + (hasBias ? ", " + vector : "") + " -> " + rows +
          "\n  %positions = hexad.positions %segments : tensor<?xi32>\n";
  std::string x = "%patches";
  if (prefix) {
    std::string table =
        parameter("table_prefix", number(prefix) + "x" + number(columns));
    body += "  %prefixed = hexad.prefix_rows %patches, %positions, "
            "%table_prefix : " +
            rows + ", tensor<?xi32>, " + table + "\n";
    x = "%prefixed";
  }
  body += "  %embedded = hexad.embedding %positions, %table_position : "
          "tensor<?xi32>, " +
          positions + " -> " + rows + "\n  %x = hexad.add " + x +
          ", %embedded : " + rows + "\n";
  for (const char *name : {"query", "key", "value"})
    body += std::string("  %") + name + " = hexad.linear %x, %matrix_" + name +
            " : " + rows + ", " + square + " -> " + rows + "\n";
  body += llvm::formatv(
      "  %attended = hexad.attention %query, %key, %value, %segments "
      "{{heads = 4 : i64, kv_heads = 4 : i64, head_dim = {0} : i64, scale = "
      "0.3 : f64} : {1}, {1}, {1} -> {1}\n"
      "  %scaled = hexad.scale_columns %attended, %gain_layer : {1}, {2}\n"
      "  %y = hexad.add %scaled, %x : {1}\n"
      "  %rows = hexad.unpack_rows %y, %segments : {1} -> tensor<?x?x{3}xf32>\n"
      "  %cut = hexad.unpack_rows %patches, %segments : {1} -> "
      "tensor<?x?x{3}xf32>\n"
      "  %first = hexad.pool first %y, %segments : {1} -> {1}\n"
      "  %mean = hexad.pool mean %y, %segments {{skip = {4} : i64} : {1} -> "
      "{1}\n"
      "  return %rows, %cut, %first, %mean : tensor<?x?x{3}xf32>, "
      "tensor<?x?x{3}xf32>, {1}, {1}\n",
      columns / 4, rows, vector, columns, prefix);
  return "module @images {\n" + text +
         llvm::formatv(
             "func.func @forward(%image: {0} {{hexad.name = \"pixels\"}) -> "
             "(tensor<?x?x{1}xf32> {{hexad.name = \"rows\"}, "
             "tensor<?x?x{1}xf32> {{hexad.name = \"patches\"}, {2} "
             "{{hexad.name = \"first\"}, {2} {{hexad.name = \"mean\"}) "
             "attributes {{hexad.position_limit = {3} : i64} {{\n",
             image, columns, rows, tokens)
             .str() +
         body + "}\n}\n";
}

const ImageModel models[] = {
    // As vision transformers are: square patches of three channels.
    {3, 32, 48, 8, 8, 1, 60},
    // Odd sizes of patches, narrower and wider than a vector.
    {3, 21, 15, 7, 5, 0, 20},
    {1, 6, 57, 3, 19, 5, 64},
    // One patch, that is the whole image; one pixel.
    {2, 9, 11, 9, 11, 1, 16, /*hasBias=*/false},
    {1, 1, 1, 1, 1, 0, 4},
    // Patches of one pixel; more tokens than one page of keys has.
    {4, 12, 13, 1, 1, 1, 36, /*hasBias=*/false},
};

std::string describe(const ImageModel &model) {
  return llvm::formatv("{0} channels, {1} x {2} in {3} x {4}, prefix {5}",
                       model.channels, model.height, model.width,
                       model.patchHeight, model.patchWidth, model.prefix);
}

TEST(Vision, AreAsTheReferenceSays) {
  for (const ImageModel &model : models) {
    SCOPED_TRACE(describe(model));
    expectRight(model.getText(), {model.of(1), model.of(2), model.of(5)});
    if (HasFatalFailure())
      return;
  }
}

TEST(Vision, BitsDependOnTheImageAlone) {
  for (const ImageModel &model : models) {
    SCOPED_TRACE(describe(model));
    ModelFiles files(model.getText());
    Call call = model.of(5);
    std::optional<Outputs> expected;
    for (const std::string &cpu : getRunnableCpus()) {
      SCOPED_TRACE(cpu);
      std::unique_ptr<CompiledModel> compiled = files.compile(cpu);
      ASSERT_TRUE(compiled) << files.messages;
      if (!expected)
        expected = compiled->run(call, {/*threads=*/1});
      for (size_t threads : {1, 2, 3}) {
        Outputs got = compiled->run(call, {threads});
        for (const auto &[name, values] : expected->values)
          EXPECT_TRUE(areIdentical(got.values[name], values))
              << name << ", threads " << threads;
      }
      // Each image alone.
      for (size_t image = 0; image < call.rows.size(); ++image) {
        Call alone = call;
        alone.rows = {call.rows[image]};
        Outputs got = compiled->run(alone);
        for (const auto &[name, values] : expected->values)
          EXPECT_TRUE(areIdentical(got.getSequence(name, alone, 0),
                                   expected->getSequence(name, call, image)))
              << name << " of image " << image;
      }
    }
  }
}

/// A call of the library as a program makes it.
struct RawCall {
  const CompiledModel &model;
  decltype(&hexad_runtime_forward) forward;
  decltype(&hexad_runtime_context_message) message;

  explicit RawCall(const CompiledModel &model) : model(model) {
    model.find(forward, "forward");
    model.find(message, "context_message");
  }
  hexad_status run(hexad_context *context, size_t batch, size_t seq,
                   const float *pixels, float *first) {
    std::vector<size_t> storage(sizeof(hexad_arguments) / sizeof(size_t) + 5);
    auto *arguments = reinterpret_cast<hexad_arguments *>(storage.data());
    arguments->batch = batch;
    arguments->seq = seq;
    arguments->pointers[0] = const_cast<float *>(pixels);
    arguments->pointers[3] = first;
    return forward(context, arguments);
  }
};

TEST(Vision, TheInterfaceKnowsTheTokens) {
  const ImageModel &images = models[0];
  ModelFiles files(images.getText());
  std::unique_ptr<CompiledModel> model = files.compile();
  ASSERT_TRUE(model) << files.messages;
  ASSERT_EQ(model->getInfo().inputs.size(), 1u);
  const InputInfo &input = model->getInfo().inputs[0];
  EXPECT_EQ(input.kind, HEXAD_INPUT_IMAGE);
  EXPECT_EQ(input.channels, 3);
  EXPECT_EQ(input.height, 32);
  EXPECT_EQ(input.width, 48);
  EXPECT_EQ(input.tokens, 25);

  hexad_context_options options = {};
  options.max_segments = 2; // and as many tokens as these have
  options.threads = 1;
  hexad_context *context = model->createContext(options);
  ASSERT_TRUE(context);
  RawCall raw(*model);
  Floats pixels = images.of(3).getPixels(input), given(3 * 60), zero(3 * 60);
  EXPECT_EQ(raw.run(context, 2, 25, pixels.data(), given.data()), HEXAD_OK);
  EXPECT_EQ(raw.run(context, 2, 0, pixels.data(), zero.data()), HEXAD_OK);
  EXPECT_TRUE(areIdentical(given, zero));
  EXPECT_EQ(raw.run(context, 2, 24, pixels.data(), zero.data()),
            HEXAD_INVALID_ARGUMENT);
  EXPECT_STREQ(raw.message(context), "seq is 24, an image has 25 tokens");
  EXPECT_EQ(raw.run(context, 2, 0, nullptr, zero.data()),
            HEXAD_INVALID_ARGUMENT);
  EXPECT_STREQ(raw.message(context), "pixels is null but not optional");
  EXPECT_EQ(raw.run(context, 3, 0, pixels.data(), zero.data()),
            HEXAD_CAPACITY_EXCEEDED);
  EXPECT_EQ(raw.run(context, 0, 0, nullptr, nullptr), HEXAD_OK);
  EXPECT_TRUE(areIdentical(given, zero)); // nothing was written
  model->destroyContext(context);
}

TEST(Vision, NaNStaysInItsImage) {
  const ImageModel &images = models[0];
  ModelFiles files(images.getText());
  std::unique_ptr<CompiledModel> model = files.compile();
  ASSERT_TRUE(model) << files.messages;
  hexad_context_options options = {};
  options.max_segments = 3;
  hexad_context *context = model->createContext(options);
  ASSERT_TRUE(context);
  RawCall raw(*model);
  const InputInfo &input = model->getInfo().inputs[0];
  Floats pixels = images.of(3).getPixels(input), clean(3 * 60), got(3 * 60);
  EXPECT_EQ(raw.run(context, 3, 0, pixels.data(), clean.data()), HEXAD_OK);
  pixels[pixels.size() / 2] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(raw.run(context, 3, 0, pixels.data(), got.data()), HEXAD_OK);
  for (size_t i = 0; i < got.size(); ++i) {
    if (i / 60 == 1)
      EXPECT_TRUE(std::isnan(got[i])) << i;
    else
      EXPECT_EQ(got[i], clean[i]) << i;
  }
  model->destroyContext(context);
}

} // namespace
