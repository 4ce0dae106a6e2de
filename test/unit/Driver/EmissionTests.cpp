//===- EmissionTests.cpp - Libraries as the loader sees them --------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EchoLibrary.h"
#include "hexad/Driver/Emission.h"
#include "hexad/Runtime/interface.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <dlfcn.h>

using namespace llvm;
using namespace hexad;
using namespace hexad::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAreArray;

namespace {

std::string messageOf(Error error) { return toString(std::move(error)); }

TEST(Emission, ExportsTheHeadersFunctionsOnly) {
  TemporaryFolder folder;
  LibraryInfo info = getEchoInfo();
  std::string library = cantFail(makeEchoLibrary(info, folder.getPath()));
  auto binary = cantFail(object::ObjectFile::createObjectFile(library));
  auto *elf = cast<object::ELF64LEObjectFile>(binary.getBinary());
  std::vector<std::string> exported, wanted, needed;
  for (object::ELFSymbolRef symbol : elf->getDynamicSymbolIterators()) {
    uint32_t flags = cantFail(symbol.getFlags());
    if (!(flags & object::SymbolRef::SF_Undefined))
      exported.push_back(cantFail(symbol.getName()).str());
  }
  for (StringRef function : getExportedFunctions(info))
    wanted.push_back("echo_model_" + function.str());
  EXPECT_THAT(exported, UnorderedElementsAreArray(wanted));

  // Needed libraries, from the dynamic section.
  uint64_t strings = 0;
  const auto &file = elf->getELFFile();
  for (const auto &entry : cantFail(file.dynamicEntries()))
    if (entry.d_tag == ELF::DT_STRTAB)
      strings = entry.d_un.d_ptr;
  const uint8_t *table = cantFail(file.toMappedAddr(strings));
  std::string soname;
  for (const auto &entry : cantFail(file.dynamicEntries())) {
    const char *text = reinterpret_cast<const char *>(table) + entry.d_un.d_val;
    if (entry.d_tag == ELF::DT_NEEDED)
      needed.push_back(text);
    if (entry.d_tag == ELF::DT_SONAME)
      soname = text;
  }
  EXPECT_THAT(needed, ElementsAre("libc.so.6"));
  EXPECT_EQ("libecho_model.so", soname);
}

TEST(Emission, SameInputSameBytes) {
  TemporaryFolder first, second;
  LibraryInfo info = getEchoInfo();
  std::string a = cantFail(makeEchoLibrary(info, first.getPath()));
  std::string b = cantFail(makeEchoLibrary(info, second.getPath()));
  EXPECT_TRUE(readFile(a) == readFile(b));
}

TEST(Emission, LeavesNoOtherFiles) {
  TemporaryFolder folder;
  cantFail(makeEchoLibrary(getEchoInfo(), folder.getPath()));
  std::error_code error;
  std::vector<std::string> names;
  for (sys::fs::directory_iterator entry(folder.getPath(), error), end;
       entry != end; entry.increment(error))
    names.push_back(sys::path::filename(entry->path()).str());
  EXPECT_THAT(names, testing::UnorderedElementsAre("libecho_model.so",
                                                   "echo_model.weights"));
}

TEST(Emission, MetadataAreRead) {
  TemporaryFolder folder;
  LibraryInfo info = getEchoInfo();
  std::string library = cantFail(makeEchoLibrary(info, folder.getPath()));
  LibraryInfo got = cantFail(readLibraryInfo(library));
  EXPECT_EQ(info.name, got.name);
  EXPECT_EQ(info.prefix, got.prefix);
  EXPECT_EQ(info.toolVersion, got.toolVersion);
  EXPECT_EQ(info.parameterCount, got.parameterCount);
  EXPECT_EQ(info.activeParameterCount, got.activeParameterCount);
  EXPECT_EQ(info.positionLimit, got.positionLimit);
  EXPECT_EQ(info.cpu, got.cpu);
  EXPECT_EQ(info.features, got.features);
  EXPECT_EQ(info.weightsFile, got.weightsFile);
  EXPECT_EQ(info.weightsBytes, got.weightsBytes);
  EXPECT_EQ(info.weightsType, got.weightsType);
  EXPECT_EQ(info.fingerprint, got.fingerprint);
  ASSERT_EQ(3u, got.inputs.size());
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(info.inputs[i].name, got.inputs[i].name);
    EXPECT_EQ(info.inputs[i].kind, got.inputs[i].kind);
    EXPECT_EQ(info.inputs[i].optional, got.inputs[i].optional);
    EXPECT_EQ(info.inputs[i].limit, got.inputs[i].limit);
  }
  ASSERT_EQ(3u, got.outputs.size());
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(info.outputs[i].name, got.outputs[i].name);
    EXPECT_EQ(info.outputs[i].kind, got.outputs[i].kind);
    EXPECT_EQ(info.outputs[i].stacked, got.outputs[i].stacked);
    EXPECT_EQ(info.outputs[i].count, got.outputs[i].count);
    EXPECT_EQ(info.outputs[i].columns, got.outputs[i].columns);
  }
}

// Every byte that the loader would look at is covered by the checksum.
TEST(Emission, DamageIsSeenBeforeLoading) {
  TemporaryFolder folder;
  std::string library =
      cantFail(makeEchoLibrary(getEchoInfo(), folder.getPath()));
  const std::string whole = readFile(library);
  auto rewrite = [&](StringRef bytes) {
    std::error_code error;
    raw_fd_ostream os(library, error);
    os << bytes;
  };
  for (size_t size = 0; size < whole.size(); size += 1 + whole.size() / 97) {
    rewrite(StringRef(whole).take_front(size));
    Expected<LibraryInfo> info = readLibraryInfo(library);
    EXPECT_FALSE(bool(info)) << size << " bytes of " << whole.size();
    consumeError(info.takeError());
  }
  size_t loaded = 0;
  for (size_t place = 64; place < whole.size(); place += 61) {
    std::string changed = whole;
    changed[place] ^= 0x10;
    rewrite(changed);
    Expected<LibraryInfo> info = readLibraryInfo(library);
    loaded += bool(info);
    consumeError(info.takeError());
  }
  // Only what is not loaded (symbol table, section headers) may change unseen.
  EXPECT_LT(loaded, whole.size() / 61 / 2);
  rewrite(whole);
  EXPECT_TRUE(bool(readLibraryInfo(library)));
}

/// Reads an echo library in whose metadata `from` has become `to`.
std::string readChangedMetadata(StringRef from, StringRef to) {
  TemporaryFolder folder;
  std::string library =
      cantFail(makeEchoLibrary(getEchoInfo(), folder.getPath()));
  std::string bytes = readFile(library);
  size_t place = bytes.find(from.str());
  EXPECT_NE(std::string::npos, place) << from.str();
  EXPECT_EQ(from.size(), to.size());
  bytes.replace(place, from.size(), to.str());
  std::error_code error;
  raw_fd_ostream(library, error) << bytes;
  cantFail(sealLibrary(library));
  return messageOf(readLibraryInfo(library).takeError());
}

TEST(Emission, OtherVersionsSayWhich) {
  EXPECT_THAT(
      readChangedMetadata("\"hexad_metadata\":4", "\"hexad_metadata\":2"),
      HasSubstr("it was compiled by another version of hexad: its "
                "metadata have version 2, expected is 4; compile the "
                "model again"));
}

TEST(Emission, UnknownKindsAreErrors) {
  EXPECT_EQ("", readChangedMetadata("\"kind\":\"ids\"", "\"kind\":\"ids\""));
  EXPECT_THAT(
      readChangedMetadata("\"kind\":\"ids\"", "\"kind\":\"idz\""),
      HasSubstr("expected a kind that this hexad knows at metadata.inputs[0]"));
  EXPECT_THAT(
      readChangedMetadata("\"kind\":\"pooled\"", "\"kind\":\"PooleD\""),
      HasSubstr("expected a kind that this hexad knows at metadata.outputs["));
}

TEST(Emission, BrokenModulesAreErrors) {
  mlir::MLIRContext context;
  context.loadDialect<mlir::LLVM::LLVMDialect>();
  LibraryInfo info = getEchoInfo();
  auto translate = [&](StringRef text) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    Emission emission(info);
    return messageOf(emission.translate(*module));
  };
  EXPECT_THAT(translate("llvm.func @other() { llvm.return }"),
              HasSubstr("does not define hexad_entry"));
}

TEST(Emission, UndefinedFunctionsAreLinkErrors) {
  TemporaryFolder folder;
  mlir::MLIRContext context;
  context.loadDialect<mlir::LLVM::LLVMDialect>();
  LibraryInfo info = getEchoInfo();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(R"(
    llvm.func @memrefCopy()
    llvm.func @hexad_entry(%a: i64, %b: !llvm.ptr, %c: !llvm.ptr) {
      llvm.call @memrefCopy() : () -> ()
      llvm.return
    })",
                                                        &context);
  Emission emission(info);
  cantFail(emission.translate(*module));
  std::string object = folder.file("x.o"), library = folder.file("x.so");
  {
    std::error_code error;
    raw_fd_ostream os(object, error);
    cantFail(emission.writeObject(os));
  }
  EXPECT_THAT(messageOf(linkLibrary(info, object, library)),
              HasSubstr("undefined symbol: memrefCopy"));
  EXPECT_FALSE(sys::fs::exists(library));
}

// The layouts of the header and of the runtime are the same: a call by hand.
TEST(Emission, RunsWhereverThePairIsMovedTo) {
  TemporaryFolder made, moved;
  std::string library = moved.file("renamed.so");
  std::string original =
      cantFail(makeEchoLibrary(getEchoInfo(), made.getPath()));
  ASSERT_FALSE(sys::fs::rename(original, library));
  void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(nullptr, handle) << dlerror();
  auto find = [&]<typename T>(const char *name, T *&function) {
    function = reinterpret_cast<T *>(
        dlsym(handle, ("echo_model_" + std::string(name)).c_str()));
    ASSERT_NE(nullptr, function) << name;
  };
  hexad_status (*modelCreate)(const hexad_model_options *, hexad_model **);
  void (*modelDestroy)(hexad_model *);
  hexad_status (*contextCreate)(
      const hexad_model *, const hexad_context_options *, hexad_context **);
  void (*contextDestroy)(hexad_context *);
  const char *(*contextMessage)(const hexad_context *);
  hexad_status (*forward)(hexad_context *, const void *);
  const char *(*statusText)(hexad_status);
  find("model_create", modelCreate);
  find("model_destroy", modelDestroy);
  find("context_create", contextCreate);
  find("context_destroy", contextDestroy);
  find("context_message", contextMessage);
  find("forward", forward);
  find("status_text", statusText);

  // The weights are still where the library was.
  char message[512] = "";
  hexad_model_options options = {nullptr, message, sizeof(message),
                                 HEXAD_MAP_WEIGHTS};
  hexad_model *model = nullptr;
  EXPECT_EQ(HEXAD_WEIGHTS_NOT_FOUND, modelCreate(&options, &model));
  EXPECT_THAT(message, HasSubstr(moved.file("echo_model.weights")));
  ASSERT_FALSE(sys::fs::rename(made.file("echo_model.weights"),
                               moved.file("echo_model.weights")));
  ASSERT_EQ(HEXAD_OK, modelCreate(&options, &model)) << message;

  hexad_context_options contextOptions = {};
  contextOptions.max_tokens = 8;
  contextOptions.max_segments = 3;
  contextOptions.max_elements = 12;
  contextOptions.threads = 2;
  hexad_context *context = nullptr;
  ASSERT_EQ(HEXAD_OK, contextCreate(model, &contextOptions, &context));
  struct {
    size_t batch, seq;
    const int32_t *inputIds, *attentionMask, *tokenTypeIds;
    float *echo, *firsts, *hidden;
  } arguments = {};
  const int32_t ids[] = {7, 8, 9, -1, -1, -1, -1, 5},
                mask[] = {1, 1, 1, 0, 0, 0, 0, 1};
  float echo[16], firsts[2];
  arguments.batch = 2;
  arguments.seq = 4;
  arguments.inputIds = ids;
  arguments.attentionMask = mask;
  arguments.echo = echo;
  arguments.firsts = firsts;
  ASSERT_EQ(HEXAD_OK, forward(context, &arguments)) << contextMessage(context);
  EXPECT_THAT(echo,
              ElementsAre(7, 0, 8, 1, 9, 2, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0));
  EXPECT_THAT(firsts, ElementsAre(0, 3));
  EXPECT_STREQ("no error", statusText(HEXAD_OK));
  contextDestroy(context);
  modelDestroy(model);
  dlclose(handle);
}

} // namespace
