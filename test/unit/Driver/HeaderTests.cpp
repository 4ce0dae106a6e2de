//===- HeaderTests.cpp - The C header -------------------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EchoLibrary.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace hexad;
using namespace hexad::test;
using testing::HasSubstr;

namespace {

TEST(Identifier, Made) {
  EXPECT_EQ("bert", makeCName("bert"));
  EXPECT_EQ("my_model_v2", makeCName("my-model.v2"));
  EXPECT_EQ("m_7b", makeCName("7b"));
  EXPECT_EQ("a_b", makeCName("--a -- b--"));
  EXPECT_EQ("class_", makeCName("class"));
  EXPECT_EQ("", makeCName("ééé"));
  EXPECT_EQ("", makeCName(""));
}

TEST(Identifier, Assigned) {
  LibraryInfo info = getEchoInfo();
  EXPECT_EQ("echo_model", info.prefix);
  info.name = "***";
  EXPECT_THAT(
      toString(assignIdentifiers(info)),
      HasSubstr("no identifier can be made from the model's name '***'"));
  info.name = std::string(300, 'x');
  EXPECT_THAT(toString(assignIdentifiers(info)), HasSubstr("longer than 200"));
  info = getEchoInfo();
  info.outputs[0].name = "input.ids";
  EXPECT_THAT(toString(assignIdentifiers(info)),
              HasSubstr("the name of the output 'input.ids' is taken"));
  info = getEchoInfo();
  info.inputs[0].name = "batch";
  EXPECT_THAT(toString(assignIdentifiers(info)), HasSubstr("is taken"));
}

class HeaderTest : public testing::Test {
protected:
  /// Compiles a file that includes the header; returns the exit code.
  int compile(StringRef compiler, ArrayRef<StringRef> options,
              StringRef extension, const LibraryInfo &info, StringRef program) {
    write(info.getHeaderFile(), generateHeader(info));
    std::string source = "program." + extension.str();
    write(source, program);
    std::string include = "-I" + folder.getPath().str();
    std::string path = folder.file(source), object = folder.file("program.o");
    std::vector<StringRef> arguments = {
        compiler, "-Wall", "-Wextra", "-Werror", "-pedantic",
        include,  "-c",    path,      "-o",      object};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return sys::ExecuteAndWait(compiler, arguments);
  }
  void write(StringRef name, StringRef text) {
    std::error_code error;
    raw_fd_ostream os(folder.file(name), error);
    os << text;
  }
  TemporaryFolder folder;
};

constexpr StringLiteral program = R"(
#include "echo_model.h"
#include "echo_model.h"

int run(const int32_t *ids, float *echo);
int run(const int32_t *ids, float *echo) {
  echo_model_model *model;
  echo_model_context *context;
  echo_model_model_options how = {0};
  echo_model_context_options options = {0};
  echo_model_arguments call = {0};
  size_t bytes;
  how.weights_memory = ECHO_MODEL_COPY_WEIGHTS;
  options.max_tokens = 512;
  options.max_segments = 8;
  if (echo_model_model_create(&how, &model) != ECHO_MODEL_OK)
    return 1;
  if (echo_model_context_size(model, &options, &bytes) != ECHO_MODEL_OK ||
      echo_model_context_create(model, &options, &context) != ECHO_MODEL_OK)
    return 2;
  call.batch = 1;
  call.seq = 3;
  call.input_ids = ids;
  call.attention_mask = NULL;
  call.token_type_ids = NULL;
  call.echo = echo;
  call.firsts = NULL;
  call.hidden = NULL;
  if (echo_model_forward(context, &call) != ECHO_MODEL_OK ||
      echo_model_forward_on(context, 0, &call) != ECHO_MODEL_OK)
    return echo_model_context_message(context)[0];
  echo_model_context_destroy(context);
  echo_model_model_destroy(model);
  return echo_model_status_text(ECHO_MODEL_SYSTEM_ERROR)[0];
}
)";

TEST_F(HeaderTest, IsC99) {
  EXPECT_EQ(0, compile(HEXAD_C_COMPILER,
                       {"-std=c99", "-Wno-missing-field-initializers"}, "c",
                       getEchoInfo(), program));
}

/// Labels of each form, and a loss, which is one number.
TEST_F(HeaderTest, LabelsAndLoss) {
  LibraryInfo info = getEchoInfo();
  info.inputs.push_back({"own", "", HEXAD_INPUT_LABELS, true, 10});
  info.inputs.push_back({"next", "", HEXAD_INPUT_NEXT_LABELS, true, 10});
  info.inputs.push_back({"one", "", HEXAD_INPUT_SEGMENT_LABELS, true, 10});
  info.outputs.push_back({"loss", "", HEXAD_OUTPUT_SCALAR, false, 1, 1});
  cantFail(assignIdentifiers(info));
  EXPECT_EQ(0, compile(HEXAD_C_COMPILER, {"-std=c99"}, "c", info, R"(
#include "echo_model.h"
#ifdef ECHO_MODEL_LOSS_COLUMNS
#error "a number has no columns"
#endif
int run(echo_model_context *context, const int32_t *labels);
int run(echo_model_context *context, const int32_t *labels) {
  float loss;
  echo_model_arguments call;
  call.own = labels;
  call.next = labels;
  call.one = labels;
  call.loss = &loss;
  return echo_model_forward(context, &call) == ECHO_MODEL_OK && loss > 0;
}
)"));
  std::string header = generateHeader(info);
  EXPECT_THAT(header, HasSubstr("int32 [batch]: what the loss compares"));
  EXPECT_THAT(header, HasSubstr("than 10, or -100: no label."));
  EXPECT_THAT(header, HasSubstr("the label of\n   * the next element"));
}

TEST_F(HeaderTest, IsCxx) {
  std::string cxx = program.str();
  // `= {0}` is C; the rest is the same.
  for (size_t place; (place = cxx.find("{0}")) != std::string::npos;)
    cxx.replace(place, 3, "{}");
  EXPECT_EQ(0, compile(HEXAD_CXX_COMPILER, {"-std=c++11"}, "cpp", getEchoInfo(),
                       cxx));
}

TEST_F(HeaderTest, NamesCannotBreakIt) {
  LibraryInfo info = getEchoInfo();
  info.name = "echo */ int x = \"@$%\n; model";
  info.inputs[0].name = "int";
  info.inputs[1].name = "virtual";
  cantFail(assignIdentifiers(info));
  EXPECT_EQ("echo_int_x_model", info.prefix);
  EXPECT_EQ(0, compile(HEXAD_C_COMPILER, {"-std=c99"}, "c", info,
                       "#include \"echo_int_x_model.h\"\nint y;\n"));
  EXPECT_EQ(0, compile(HEXAD_CXX_COMPILER, {"-std=c++11"}, "cpp", info,
                       "#include \"echo_int_x_model.h\"\n"));
}

TEST_F(HeaderTest, Images) {
  LibraryInfo info = getEchoInfo();
  info.positionLimit = 0;
  info.inputs.resize(1);
  InputInfo &input = info.inputs[0];
  input = {"pixel_values", "", HEXAD_INPUT_IMAGE, /*optional=*/false};
  input.channels = 3;
  input.height = 32;
  input.width = 48;
  input.tokens = 25;
  cantFail(assignIdentifiers(info));
  std::string header = generateHeader(info);
  EXPECT_THAT(header, HasSubstr("float [batch, 3, 32, 48]"));
  EXPECT_THAT(header, HasSubstr("const float *pixel_values;"));
  EXPECT_THAT(header, HasSubstr("#define ECHO_MODEL_TOKENS 25"));
  EXPECT_THAT(header, HasSubstr("float [batch, 25, 2]; tokens in order."));
  // Whoever calls it need not know how many tokens there are.
  EXPECT_EQ(header.find("call.seq"), std::string::npos);
  EXPECT_EQ(0, compile(HEXAD_C_COMPILER, {"-std=c99"}, "c", info,
                       "#include \"echo_model.h\"\nfloat pixels[ECHO_MODEL_"
                       "TOKENS];\n"));
}

TEST_F(HeaderTest, SaysWhatTheModelTakesAndGives) {
  std::string header = generateHeader(getEchoInfo());
  EXPECT_THAT(header, HasSubstr("each at least 0 and less than 1000"));
  EXPECT_THAT(header, HasSubstr("float [batch, seq, 2]; 0 at padding."));
  EXPECT_THAT(header,
              HasSubstr("float [batch, 1]; one row for each batch row."));
  EXPECT_THAT(header, HasSubstr("float [2, batch, seq, 2]"));
  EXPECT_THAT(header, HasSubstr("sequences of at most 64 tokens"));
  EXPECT_THAT(header, HasSubstr("`echo_model.weights` in the folder"));
}

} // namespace
