//===- RunTests.cpp - hexad run on a library made by hand -----------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EchoLibrary.h"
#include "hexad/Model/Safetensors.h"
#include "llvm/Support/Compiler.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace hexad;
using namespace hexad::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class RunTest : public testing::Test {
protected:
  void SetUp() override {
    library = cantFail(makeEchoLibrary(getEchoInfo(), folder.getPath()));
    inputs = folder.file("in.safetensors");
    outputs = folder.file("out.safetensors");
  }

  /// Runs hexad-run; its exit code. Both its streams go to `text`.
  int run(std::vector<std::string> options) {
    std::vector<StringRef> arguments = {HEXAD_RUN, library};
    arguments.insert(arguments.end(), options.begin(), options.end());
    std::string log = folder.file("log");
    sys::fs::remove(log);
    int code =
        sys::ExecuteAndWait(HEXAD_RUN, arguments, std::nullopt,
                            {StringRef(), StringRef(log), StringRef(log)});
    text = readFile(log);
    return code;
  }
  int runFiles() { return run({"--inputs", inputs, "--outputs", outputs}); }

  template <typename T>
  TensorToWrite make(StringRef name, StoredType type,
                     SmallVector<int64_t, 4> shape,
                     const std::vector<T> &data) {
    return {name.str(), type, shape,
            ArrayRef(reinterpret_cast<const uint8_t *>(data.data()),
                     data.size() * sizeof(T))};
  }
  void writeInputs(ArrayRef<TensorToWrite> tensors) {
    cantFail(writeSafetensors(inputs, tensors));
  }
  /// Exit code 1, one line that begins like this, no output.
  void expectRefused(StringRef message) {
    EXPECT_EQ(1, runFiles());
    EXPECT_THAT(text, testing::StartsWith("hexad-run: error: "));
    EXPECT_THAT(text, HasSubstr(message.str()));
    EXPECT_EQ(1, StringRef(text).count('\n'));
    EXPECT_FALSE(sys::fs::exists(outputs));
  }
  void writeNpy(StringRef name, StringRef header, StringRef data) {
    std::error_code error;
    raw_fd_ostream os(folder.file(name), error);
    os << "\x93NUMPY" << '\1' << '\0' << char(header.size()) << '\0' << header
       << data;
  }

  TemporaryFolder folder;
  std::string library, inputs, outputs, text;
  std::vector<int64_t> ids = {3, 4, 999, 1, 2, -1};
  std::vector<int64_t> mask = {1, 1, 1, 1, 1, 0};
};

TEST_F(RunTest, WritesEveryOutput) {
  writeInputs({make("input_ids", StoredType::I64, {2, 3}, ids),
               make("attention_mask", StoredType::I64, {2, 3}, mask)});
  for (std::string threads : {"1", "3"}) {
    ASSERT_EQ(0, run({"--inputs", inputs, "--outputs=" + outputs, "--threads",
                      threads}))
        << text;
    EXPECT_EQ("", text);
    auto file = cantFail(SafetensorsFile::open(outputs));
    std::vector<float> echo(12), firsts(2);
    ASSERT_EQ(4u, file->getTensors().size());
    for (const char *name : {"echo", "hidden.0", "hidden.1"}) {
      const StoredTensor *tensor = file->find(name);
      ASSERT_NE(nullptr, tensor) << name;
      EXPECT_THAT(tensor->shape, ElementsAre(2, 3, 2));
      tensor->readFloats(0, echo);
      EXPECT_THAT(echo, ElementsAre(3, 0, 4, 1, 999, 2, 1, 0, 2, 1, 0, 0));
    }
    EXPECT_THAT(file->find("firsts")->shape, ElementsAre(2, 1));
    file->find("firsts")->readFloats(0, firsts);
    EXPECT_THAT(firsts, ElementsAre(0, 3));
  }
}

TEST_F(RunTest, PrintsASummary) {
  writeInputs({make("input_ids", StoredType::I64, {1, 3}, ids)});
  ids.resize(3);
  writeInputs({make("input_ids", StoredType::I64, {1, 3}, ids)});
  ASSERT_EQ(0, run({"--inputs", inputs, "--json", "--repeat=3"})) << text;
  EXPECT_THAT(text, HasSubstr("\"name\": \"echo-model\""));
  EXPECT_THAT(text, HasSubstr("\"tokens\": 3"));
}

TEST_F(RunTest, ReadsNpy) {
  std::vector<int32_t> narrow = {5, 6};
  writeNpy("ids.npy",
           "{'descr': '<i4', 'fortran_order': False, 'shape': (1, 2), }\n",
           StringRef(reinterpret_cast<const char *>(narrow.data()), 8));
  ASSERT_EQ(0, run({"--input", "input_ids=" + folder.file("ids.npy"),
                    "--outputs", outputs}))
      << text;
  std::vector<float> echo(4);
  cantFail(SafetensorsFile::open(outputs))->find("echo")->readFloats(0, echo);
  EXPECT_THAT(echo, ElementsAre(5, 0, 6, 1));
}

TEST_F(RunTest, RefusesBadNpy) {
  auto refuse = [&](StringRef header, StringRef data, StringRef message) {
    writeNpy("bad.npy", header, data);
    EXPECT_EQ(1, run({"--input", "input_ids=" + folder.file("bad.npy")}));
    EXPECT_THAT(text, HasSubstr("input 'input_ids'"));
    EXPECT_THAT(text, HasSubstr(message.str()));
  };
  refuse("", "", "expected elements of type");
  refuse("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }", "",
         "found '<f8'");
  refuse("{'descr': '<i4', 'fortran_order': True, 'shape': (1, 2), }", "",
         "expected C order");
  refuse("{'descr': '<i4', 'fortran_order': False, 'shape': (1, 2), }",
         "1234567", "do not have the size of its shape [1, 2]");
  refuse("{'descr': '<i4', 'fortran_order': False, 'shape': (1, -2), }", "",
         "no valid shape");
  refuse("{'descr': '<i4', 'fortran_order': False, 'shape': "
         "(4611686018427387904, 4), }",
         "", "do not have the size");
  refuse("{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }",
         "12345678", "must have the shape [batch, seq], found [2]");
  refuse("{'descr': '<i4', 'fortran_order': False, 'shape'", "", "no shape");
  std::error_code error;
  raw_fd_ostream(folder.file("bad.npy"), error) << "\x93NUMPY\1";
  EXPECT_EQ(1, run({"--input", "input_ids=" + folder.file("bad.npy")}));
  EXPECT_THAT(text, HasSubstr("it is not an .npy file"));
  EXPECT_EQ(1, run({"--input", "input_ids"}));
  EXPECT_THAT(text, HasSubstr("--input expects NAME=FILE.npy"));
}

TEST_F(RunTest, RefusesInputs) {
  expectRefused("No such file or directory");
  writeInputs({});
  expectRefused("the input 'input_ids' is missing");
  writeInputs({make("labels", StoredType::I64, {2, 3}, ids)});
  expectRefused("the model has no input 'labels'; it has input_ids, "
                "attention_mask, token_type_ids");
  writeInputs({make("input_ids", StoredType::I64, {6}, ids)});
  expectRefused("must have the shape [batch, seq], found [6]");
  writeInputs({make("input_ids", StoredType::F64, {2, 3}, ids)});
  expectRefused("must be I32 or I64, found F64");
  writeInputs({make("input_ids", StoredType::I64, {2, 3}, ids),
               make("attention_mask", StoredType::I64, {3, 2}, mask)});
  expectRefused("but '");
  ids[4] = int64_t(1) << 32;
  writeInputs({make("input_ids", StoredType::I64, {2, 3}, ids)});
  expectRefused("input_ids[1, 1] is 4294967296, which does not fit 32 bits");
  ids[4] = 1000;
  ids[5] = 0;
  writeInputs({make("input_ids", StoredType::I64, {2, 3}, ids)});
  expectRefused("input_ids[1, 1] is 1000, it must be at least 0 and less than "
                "1000");
  ids[4] = 0;
  mask[1] = 0;
  writeInputs({make("input_ids", StoredType::I64, {2, 3}, ids),
               make("attention_mask", StoredType::I64, {2, 3}, mask)});
  expectRefused("batch row 0 of the mask has a hole");
  std::vector<int64_t> longer(65, 1);
  writeInputs({make("input_ids", StoredType::I64, {1, 65}, longer)});
  expectRefused("the model has positions for 64");
}

TEST_F(RunTest, NothingToDo) {
  for (SmallVector<int64_t, 4> shape :
       {SmallVector<int64_t, 4>{0, 3}, {2, 0}, {0, 0}}) {
    writeInputs(
        {make("input_ids", StoredType::I64, shape, std::vector<int64_t>())});
    EXPECT_EQ(0, runFiles()) << text;
    EXPECT_TRUE(sys::fs::exists(outputs));
  }
}

TEST_F(RunTest, RefusesWeightsAndLibraries) {
  ids[5] = 0;
  writeInputs({make("input_ids", StoredType::I64, {2, 3}, ids)});
  std::string weights = folder.file("echo_model.weights");
  int file;
  ASSERT_FALSE(sys::fs::openFileForReadWrite(
      weights, file, sys::fs::CD_OpenExisting, sys::fs::OF_None));
  ASSERT_FALSE(sys::fs::resize_file(file, HEXAD_WEIGHTS_ALIGNMENT));
  sys::Process::SafelyCloseFileDescriptor(file);
  expectRefused("is truncated: it has 4096 bytes and should have 4160");
  sys::fs::remove(weights);
  expectRefused("cannot read the weights file '" + weights + "'");
  library = inputs;
  expectRefused("it is not a shared library");
  library = folder.file("not-there.so");
  expectRefused("No such file or directory");
  library = folder.file("pipe");
  ASSERT_EQ(0, mkfifo(library.c_str(), 0600));
  expectRefused("expected a regular file");
}

TEST_F(RunTest, RefusesPipes) {
  std::string pipe = folder.file("pipe");
  ASSERT_EQ(0, mkfifo(pipe.c_str(), 0600));
  EXPECT_EQ(1, run({"--inputs", pipe}));
  EXPECT_TRUE(StringRef(text).contains("expected a regular file")) << text;
  EXPECT_EQ(1, run({"--input", "input_ids=" + pipe}));
  EXPECT_TRUE(StringRef(text).contains("expected a regular file")) << text;
}

/// Rows without elements need no memory, their pooled outputs do.
TEST_F(RunTest, RefusesABatchBeyondMemory) {
  // The sanitizer's malloc ends the program where the system's returns null.
  if (LLVM_ADDRESS_SANITIZER_BUILD)
    GTEST_SKIP() << "the sanitizer has its own malloc";
  writeInputs({make("input_ids", StoredType::I64, {int64_t(1) << 40, 0},
                    std::vector<int64_t>())});
  EXPECT_EQ(1, runFiles());
  EXPECT_EQ(1, StringRef(text).count('\n')) << text;
}

TEST_F(RunTest, RefusesOutputPaths) {
  ids[5] = 0;
  writeInputs({make("input_ids", StoredType::I64, {2, 3}, ids)});
  EXPECT_EQ(1, run({"--inputs", inputs, "--outputs", "/proc/out.safetensors"}));
  EXPECT_EQ(1, run({"--inputs", inputs, "--outputs", folder.getPath().str()}));
  EXPECT_EQ(1, StringRef(text).count('\n')) << text;
}

/// A device would be gone if a file were renamed to its place.
TEST_F(RunTest, WritesThroughLinksAndPipes) {
  ids[5] = 0;
  writeInputs({make("input_ids", StoredType::I64, {2, 3}, ids)});
  std::string link = folder.file("link"), pipe = folder.file("pipe");
  ASSERT_EQ(0, runFiles()) << text;
  ASSERT_FALSE(sys::fs::create_link(outputs, link));
  EXPECT_EQ(0, run({"--inputs", inputs, "--outputs", link})) << text;
  bool isLink = false;
  ASSERT_FALSE(sys::fs::is_symlink_file(link, isLink));
  EXPECT_TRUE(isLink);

  ASSERT_EQ(0, mkfifo(pipe.c_str(), 0600));
  int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  EXPECT_EQ(0, run({"--inputs", inputs, "--outputs", pipe})) << text;
  char byte;
  EXPECT_EQ(1, read(reader, &byte, 1));
  close(reader);
  sys::fs::file_status status;
  ASSERT_FALSE(sys::fs::status(pipe, status));
  EXPECT_EQ(sys::fs::file_type::fifo_file, status.type());
}

//===----------------------------------------------------------------------===//
// Generation
//===----------------------------------------------------------------------===//

class GenerateTest : public RunTest {
protected:
  void SetUp() override {
    RunTest::SetUp();
    library =
        cantFail(makeLibrary(getNextInfo(), nextModule, folder.getPath()));
  }

  /// What standard output gets of --generate, with the rates removed.
  std::string generate(std::vector<std::string> options) {
    EXPECT_EQ(0, run(std::move(options))) << text;
    auto [steps, rates] = StringRef(text).split("prefill: ");
    EXPECT_THAT(rates.str(), HasSubstr("tokens/s"));
    return steps.str();
  }
  void refuse(std::vector<std::string> options, StringRef message) {
    options.insert(options.end(), {"--outputs", outputs});
    EXPECT_EQ(1, run(options));
    EXPECT_THAT(text, testing::StartsWith("hexad-run: error: "));
    EXPECT_THAT(text, HasSubstr(message.str()));
    EXPECT_EQ(1, StringRef(text).count('\n')) << text;
    EXPECT_FALSE(sys::fs::exists(outputs));
  }
  std::vector<int64_t> readTokens(SmallVector<int64_t, 4> shape) {
    auto file = cantFail(SafetensorsFile::open(outputs));
    const StoredTensor *tensor = file->find("tokens");
    EXPECT_EQ(1u, file->getTensors().size());
    if (!tensor || tensor->type != StoredType::I64 || tensor->shape != shape) {
      ADD_FAILURE() << "no such tensor";
      return {};
    }
    std::vector<int64_t> tokens(tensor->getElementCount());
    tensor->readIntegers(0, tokens);
    return tokens;
  }
};

TEST_F(GenerateTest, ContinuesAPrompt) {
  for (std::string threads : {"1", "3"})
    EXPECT_EQ("5\n8\n2\n7\n3\n",
              generate({"--prompt-tokens", "1,2,3", "--generate=5", "--threads",
                        threads, "--outputs", outputs}));
  EXPECT_THAT(readTokens({1, 5}), ElementsAre(5, 8, 2, 7, 3));
  EXPECT_THAT(text, HasSubstr("prefill: 3 tokens in "));
  EXPECT_THAT(text, HasSubstr("decode: 4 tokens in "));
  generate({"--prompt-tokens=1,2,3", "--generate=1"});
  EXPECT_THAT(text, testing::Not(HasSubstr("decode")));
}

/// Rows of other lengths do not matter, nor does where the padding is;
/// positions of real elements may be given, what stands at padding does not
/// count.
TEST_F(GenerateTest, ContinuesPaddedRows) {
  std::vector<int64_t> ids = {9, 1, 2, 3, 4, 77, 0, 0};
  std::vector<int64_t> mask = {0, 1, 1, 1, 1, 0, 0, 0};
  std::vector<int64_t> positions = {0, 0, 1, 2, 0, 1, 1, 1};
  auto write = [&] {
    writeInputs({make("input_ids", StoredType::I64, {2, 4}, ids),
                 make("attention_mask", StoredType::I64, {2, 4}, mask),
                 make("position_ids", StoredType::I64, {2, 4}, positions)});
  };
  write();
  EXPECT_EQ("5 4\n8 5\n2 7\n", generate({"--inputs", inputs, "--generate", "3",
                                         "--outputs", outputs}));
  EXPECT_THAT(readTokens({2, 3}), ElementsAre(5, 8, 2, 4, 5, 7));
  sys::fs::remove(outputs);

  // The same file without --generate.
  ASSERT_EQ(0, runFiles()) << text;
  std::vector<float> logits(10);
  auto file = cantFail(SafetensorsFile::open(outputs));
  file->find("logits")->readFloats(30, logits);
  EXPECT_THAT(logits, ElementsAre(0, 0, 0, 0, 0, 1, 0, 0, 0, 0));
  sys::fs::remove(outputs);

  positions[2] = 2;
  write();
  for (std::vector<std::string> more :
       {std::vector<std::string>(), {"--generate", "3"}}) {
    more.insert(more.end(), {"--inputs", inputs});
    refuse(more, inputs + ": position_ids[0, 2] is 2, but the model counts the "
                          "real elements of a row from 0 and has 1 there");
  }
}

TEST_F(GenerateTest, StopsRowsBehindATokenAskedFor) {
  std::vector<int64_t> ids = {1, 2, 3, 0, 0, 4};
  std::vector<int64_t> mask = {1, 1, 1, 0, 0, 1};
  writeInputs({make("input_ids", StoredType::I64, {2, 3}, ids),
               make("attention_mask", StoredType::I64, {2, 3}, mask)});
  EXPECT_EQ("5 4\n8 5\n- 7\n",
            generate({"--inputs", inputs, "--generate=20", "--stop-tokens",
                      "7,8", "--outputs", outputs}));
  EXPECT_THAT(readTokens({2, 3}), ElementsAre(5, 8, -1, 4, 5, 7));
}

TEST_F(GenerateTest, DrawsBySeed) {
  std::vector<std::string> options = {"--prompt-tokens=1,2,3", "--generate=40",
                                      "--temperature=2"};
  auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), options.begin(), options.end());
    return generate(more);
  };
  std::string first = with({});
  EXPECT_EQ(first, with({"--seed=0"}));
  EXPECT_NE(first, with({"--seed=1"}));
  EXPECT_EQ(with({"--seed=7", "--threads=1"}), with({"--seed=7"}));
  std::string greedy = generate({"--prompt-tokens=1,2,3", "--generate=40"});
  EXPECT_NE(first, greedy);
  EXPECT_EQ(greedy, with({"--top-k=1"}));
  EXPECT_EQ(greedy, with({"--top-p=0"}));
}

TEST_F(GenerateTest, PrintsJson) {
  ASSERT_EQ(0, run({"--prompt-tokens=1,2,3", "--generate=2", "--json"}))
      << text;
  auto value = json::parse(text);
  ASSERT_TRUE(bool(value)) << toString(value.takeError());
  const json::Array *rows = value->getAsObject()->getArray("tokens");
  ASSERT_EQ(1u, rows->size());
  EXPECT_EQ("[5,8]", formatv("{0}", (*rows)[0]).str());
  EXPECT_EQ(3,
            value->getAsObject()->getObject("prefill")->getInteger("tokens"));
}

TEST_F(GenerateTest, Refuses) {
  refuse({"--prompt-tokens=1", "--generate=0"},
         "the option '--generate' needs a number from 1 on, found '0'");
  refuse({"--inputs", inputs, "--seed=1"},
         "the option '--seed' needs --generate");
  refuse({"--prompt-tokens=", "--generate=1"}, "needs ids with commas between");
  refuse({"--prompt-tokens=1,x", "--generate=1"},
         "needs ids with commas between");
  refuse({"--prompt-tokens=1,10", "--generate=1"},
         "token 1 of the prompt is 10, it must be at least 0 and less than 10");
  refuse({"--prompt-tokens=1,2,3", "--generate=63"},
         "the prompt of batch row 0 has 3 tokens; with 63 more that is beyond "
         "the model's 64 positions");
  refuse({"--prompt-tokens=1", "--generate=2", "--repeat=2"},
         "exclude each other");
  refuse({"--prompt-tokens=1", "--generate=2", "--inputs", inputs},
         "exclude each other");
  refuse({"--prompt-tokens=1", "--generate=2", "--temperature=-1"},
         "the option '--temperature' needs a number from 0 on, found '-1'");
  refuse({"--prompt-tokens=1", "--generate=2", "--top-p=1.5"},
         "the option '--top-p' needs a number from 0 to 1, found '1.5'");
  refuse({"--prompt-tokens=1", "--generate=2", "--seed=1"},
         "--seed needs --temperature");
  refuse({"--generate=2"}, "the input 'input_ids' is missing");

  std::vector<int64_t> ids = {1, 2, 3, 4};
  std::vector<int64_t> mask = {1, 1, 0, 0};
  auto write = [&] {
    writeInputs({make("input_ids", StoredType::I64, {2, 2}, ids),
                 make("attention_mask", StoredType::I64, {2, 2}, mask)});
  };
  write();
  refuse({"--inputs", inputs, "--generate=2"},
         "the prompt of batch row 1 is empty");
  ids[1] = 10;
  write();
  refuse({"--inputs", inputs, "--generate=2"},
         "input_ids[0, 1] is 10, it must be at least 0 and less than 10");
  ids.resize(3);
  ids[1] = 2;
  mask = {1, 0, 1};
  writeInputs({make("input_ids", StoredType::I64, {1, 3}, ids),
               make("attention_mask", StoredType::I64, {1, 3}, mask)});
  refuse({"--inputs", inputs, "--generate=2"},
         "batch row 0 of the mask has a hole");
  writeInputs(
      {make("input_ids", StoredType::I64, {0, 3}, std::vector<int64_t>())});
  refuse({"--inputs", inputs, "--generate=2"}, "there is no prompt");
  library = cantFail(makeEchoLibrary(getEchoInfo(), folder.getPath()));
  refuse({"--prompt-tokens=1", "--generate=2"},
         "the model 'echo-model' keeps no sessions");
}

/// The most positions that fit: the last new token needs none.
TEST_F(GenerateTest, GoesUpToTheLastPosition) {
  std::string steps = generate({"--prompt-tokens=1,2,3", "--generate=62"});
  EXPECT_EQ(62, StringRef(steps).count('\n'));
}

} // namespace
