//===- StagedFilesTests.cpp - Files that appear together or not at all ----===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EchoLibrary.h"
#include "hexad/Driver/StagedFiles.h"
#include "llvm/Support/FileSystem.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace hexad;
using namespace hexad::test;
using testing::HasSubstr;

namespace {

size_t countFiles(StringRef folder) {
  std::error_code error;
  size_t count = 0;
  for (sys::fs::directory_iterator entry(folder, error), end;
       !error && entry != end; entry.increment(error))
    ++count;
  return count;
}

Error writeText(StagedFiles &staged, StringRef name) {
  return staged.write(name, [](raw_pwrite_stream &os) {
    os << "text";
    return Error::success();
  });
}

TEST(StagedFiles, AppearAtTheEnd) {
  TemporaryFolder folder;
  {
    StagedFiles staged = cantFail(StagedFiles::create(folder.file("new/sub")));
    cantFail(writeText(staged, "a"));
    cantFail(writeText(staged, "b"));
    cantFail(staged.writeTemporary("scratch").takeError());
    EXPECT_FALSE(sys::fs::exists(folder.file("new/sub/a")));
    std::vector<StagedFile> written = cantFail(staged.commit());
    ASSERT_EQ(2u, written.size());
    EXPECT_EQ(folder.file("new/sub/b"), written[1].path);
    EXPECT_EQ(4u, written[1].bytes);
  }
  EXPECT_EQ("text", readFile(folder.file("new/sub/a")));
  EXPECT_EQ("text", readFile(folder.file("new/sub/b")));
  EXPECT_EQ(2u, countFiles(folder.file("new/sub")));
}

TEST(StagedFiles, InAFolderOfAnyName) {
  TemporaryFolder folder;
  StagedFiles staged = cantFail(StagedFiles::create(folder.file("50%")));
  cantFail(writeText(staged, "a"));
  EXPECT_EQ(1u, cantFail(staged.commit()).size());
  EXPECT_EQ("text", readFile(folder.file("50%/a")));
}

TEST(StagedFiles, NothingWithoutCommit) {
  TemporaryFolder folder;
  {
    StagedFiles staged = cantFail(StagedFiles::create(folder.file("new")));
    cantFail(writeText(staged, "a"));
  }
  EXPECT_FALSE(sys::fs::exists(folder.file("new")));
  {
    StagedFiles staged = cantFail(StagedFiles::create(folder.getPath()));
    cantFail(writeText(staged, "a"));
    Error error = staged.write(
        "b", [](raw_pwrite_stream &) { return createStringError("no b"); });
    EXPECT_EQ("no b", toString(std::move(error)));
  }
  EXPECT_EQ(0u, countFiles(folder.getPath()));
}

TEST(StagedFiles, FolderInTheWay) {
  TemporaryFolder folder;
  ASSERT_FALSE(sys::fs::create_directory(folder.file("b")));
  StagedFiles staged = cantFail(StagedFiles::create(folder.getPath()));
  cantFail(writeText(staged, "a"));
  cantFail(writeText(staged, "b"));
  EXPECT_THAT(toString(staged.commit().takeError()),
              HasSubstr("it is a folder"));
  EXPECT_FALSE(sys::fs::exists(folder.file("a")));
}

TEST(StagedFiles, NotAFolder) {
  TemporaryFolder folder;
  std::error_code error;
  raw_fd_ostream(folder.file("file"), error) << "x";
  EXPECT_THAT(toString(StagedFiles::create(folder.file("file")).takeError()),
              HasSubstr("is not a folder"));
  EXPECT_THAT(
      toString(StagedFiles::create(folder.file("file/sub")).takeError()),
      HasSubstr("cannot make the output folder"));
  EXPECT_THAT(toString(StagedFiles::create("/proc/hexad").takeError()),
              HasSubstr("cannot make the output folder"));
}

} // namespace
