//===- EchoLibrary.cpp - A library whose code is written by hand ----------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EchoLibrary.h"
#include "hexad/Driver/Emission.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <cstring>

using namespace llvm;
using namespace hexad;

hexad::test::TemporaryFolder::TemporaryFolder() {
  if (sys::fs::createUniqueDirectory("hexad-driver", path))
    report_fatal_error("cannot make a folder for the test");
}

hexad::test::TemporaryFolder::~TemporaryFolder() {
  sys::fs::remove_directories(path);
}

std::string hexad::test::TemporaryFolder::file(StringRef name) const {
  SmallString<128> result(path);
  sys::path::append(result, name);
  return result.str().str();
}

std::string hexad::test::readFile(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : "";
}

LibraryInfo hexad::test::getEchoInfo() {
  LibraryInfo info;
  info.name = "echo-model";
  info.toolVersion = "hexad test";
  info.parameterCount = 12345;
  info.activeParameterCount = 2345;
  info.positionLimit = 64;
  info.inputs = {
      {"input_ids", "", HEXAD_INPUT_IDS, /*optional=*/false, /*limit=*/1000},
      {"attention_mask", "", HEXAD_INPUT_MASK, /*optional=*/true, 0},
      {"token_type_ids", "", HEXAD_INPUT_IDS, /*optional=*/true, 2}};
  info.outputs = {{"echo", "", HEXAD_OUTPUT_ROWS, false, 1, 2},
                  {"firsts", "", HEXAD_OUTPUT_POOLED, false, 1, 1},
                  {"hidden", "", HEXAD_OUTPUT_ROWS, true, 2, 2}};
  info.cpu = "x86-64-v3";
  info.features = "+avx2,+fma";
  info.cpuFeatures = HEXAD_CPU_AVX2 | HEXAD_CPU_FMA;
  info.vectorBits = 256;
  info.tileRows = 6;
  info.queryTile = 12;
  info.page = 128;
  info.arena.constant = 64;
  info.weightsFile = "echo_model.weights";
  info.weightsBytes = HEXAD_WEIGHTS_ALIGNMENT + 64;
  info.weightsType = "bf16";
  info.fingerprint = 0xfedcba9876543210;
  cantFail(assignIdentifiers(info));
  return info;
}

// Threads share the elements by their number; a barrier stands in front so that
// the runtime's is linked.
const char *const hexad::test::echoModule = R"mlir(
llvm.func @hexad_team_barrier(!llvm.ptr)

llvm.func @hexad_entry(%thread: i64, %extents: !llvm.ptr, %pointers: !llvm.ptr) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %two = llvm.mlir.constant(2 : i64) : i64
  %none = llvm.mlir.constant(-1 : i32) : i32
  %void = llvm.mlir.zero : !llvm.ptr
  %blank = llvm.mlir.constant(0.0 : f32) : f32
  %team.at = llvm.getelementptr %pointers[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %team = llvm.load %team.at : !llvm.ptr -> !llvm.ptr
  llvm.call @hexad_team_barrier(%team) : (!llvm.ptr) -> ()
  %threads = llvm.load %extents : !llvm.ptr -> i64
  %segments.at = llvm.getelementptr %extents[4] : (!llvm.ptr) -> !llvm.ptr, i64
  %segments = llvm.load %segments.at : !llvm.ptr -> i64
  %elements.at = llvm.getelementptr %extents[12] : (!llvm.ptr) -> !llvm.ptr, i64
  %elements = llvm.load %elements.at : !llvm.ptr -> i64
  %element_row.at = llvm.getelementptr %pointers[5] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %element_row = llvm.load %element_row.at : !llvm.ptr -> !llvm.ptr
  %positions.at = llvm.getelementptr %pointers[6] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %positions = llvm.load %positions.at : !llvm.ptr -> !llvm.ptr
  %first.at = llvm.getelementptr %pointers[8] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %first = llvm.load %first.at : !llvm.ptr -> !llvm.ptr
  %ids.at = llvm.getelementptr %pointers[17] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %ids = llvm.load %ids.at : !llvm.ptr -> !llvm.ptr
  %echo.at = llvm.getelementptr %pointers[20] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %echo = llvm.load %echo.at : !llvm.ptr -> !llvm.ptr
  %firsts.at = llvm.getelementptr %pointers[21] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %firsts = llvm.load %firsts.at : !llvm.ptr -> !llvm.ptr
  %hidden.at = llvm.getelementptr %pointers[22] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %hidden = llvm.load %hidden.at : !llvm.ptr -> !llvm.ptr
  llvm.br ^element(%thread : i64)
^element(%e: i64):
  %more = llvm.icmp "slt" %e, %elements : i64
  llvm.cond_br %more, ^load, ^segment(%thread : i64)
^load:
  %row.at = llvm.getelementptr %element_row[%e] : (!llvm.ptr, i64) -> !llvm.ptr, i32
  %row = llvm.load %row.at : !llvm.ptr -> i32
  %padding = llvm.icmp "eq" %row, %none : i32
  llvm.cond_br %padding, ^store(%blank, %blank : f32, f32), ^real
^real:
  %id.at = llvm.getelementptr %ids[%e] : (!llvm.ptr, i64) -> !llvm.ptr, i32
  %id = llvm.load %id.at : !llvm.ptr -> i32
  %wide = llvm.sext %row : i32 to i64
  %position.at = llvm.getelementptr %positions[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, i32
  %position = llvm.load %position.at : !llvm.ptr -> i32
  %id.float = llvm.sitofp %id : i32 to f32
  %position.float = llvm.sitofp %position : i32 to f32
  llvm.br ^store(%id.float, %position.float : f32, f32)
^store(%a: f32, %b: f32):
  %at = llvm.mul %e, %two : i64
  %after = llvm.add %at, %one : i64
  %echo.null = llvm.icmp "eq" %echo, %void : !llvm.ptr
  llvm.cond_br %echo.null, ^stack, ^write
^write:
  %echo.a = llvm.getelementptr %echo[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.store %a, %echo.a : f32, !llvm.ptr
  %echo.b = llvm.getelementptr %echo[%after] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.store %b, %echo.b : f32, !llvm.ptr
  llvm.br ^stack
^stack:
  %hidden.null = llvm.icmp "eq" %hidden, %void : !llvm.ptr
  llvm.cond_br %hidden.null, ^next, ^push
^push:
  %hidden.a = llvm.getelementptr %hidden[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.store %a, %hidden.a : f32, !llvm.ptr
  %hidden.b = llvm.getelementptr %hidden[%after] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.store %b, %hidden.b : f32, !llvm.ptr
  %size = llvm.mul %elements, %two : i64
  %at.2 = llvm.add %at, %size : i64
  %after.2 = llvm.add %after, %size : i64
  %hidden.c = llvm.getelementptr %hidden[%at.2] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.store %a, %hidden.c : f32, !llvm.ptr
  %hidden.d = llvm.getelementptr %hidden[%after.2] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.store %b, %hidden.d : f32, !llvm.ptr
  llvm.br ^next
^next:
  %e.next = llvm.add %e, %threads : i64
  llvm.br ^element(%e.next : i64)
^segment(%s: i64):
  %more.segments = llvm.icmp "slt" %s, %segments : i64
  %wanted = llvm.icmp "ne" %firsts, %void : !llvm.ptr
  %go = llvm.and %more.segments, %wanted : i1
  llvm.cond_br %go, ^pool, ^done
^pool:
  %f.at = llvm.getelementptr %first[%s] : (!llvm.ptr, i64) -> !llvm.ptr, i32
  %f = llvm.load %f.at : !llvm.ptr -> i32
  %f.float = llvm.sitofp %f : i32 to f32
  %firsts.s = llvm.getelementptr %firsts[%s] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.store %f.float, %firsts.s : f32, !llvm.ptr
  %s.next = llvm.add %s, %threads : i64
  llvm.br ^segment(%s.next : i64)
^done:
  llvm.return
}
)mlir";

LibraryInfo hexad::test::getNextInfo() {
  LibraryInfo info = getEchoInfo();
  info.name = "next";
  info.inputs = {
      {"input_ids", "", HEXAD_INPUT_IDS, /*optional=*/false, /*limit=*/10},
      {"attention_mask", "", HEXAD_INPUT_MASK, /*optional=*/true, 0}};
  info.outputs = {{"logits", "", HEXAD_OUTPUT_SELECTED, false, 1, 10}};
  info.caches = {{/*page_bytes=*/64, /*layers=*/1, /*window=*/0, /*kept=*/0}};
  info.weightsFile = "next.weights";
  cantFail(assignIdentifiers(info));
  return info;
}

const char *const hexad::test::nextModule = R"mlir(
llvm.func @hexad_team_barrier(!llvm.ptr)

llvm.func @hexad_entry(%thread: i64, %extents: !llvm.ptr, %pointers: !llvm.ptr) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %ten = llvm.mlir.constant(10 : i64) : i64
  %ten.32 = llvm.mlir.constant(10 : i32) : i32
  %team.at = llvm.getelementptr %pointers[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %team = llvm.load %team.at : !llvm.ptr -> !llvm.ptr
  llvm.call @hexad_team_barrier(%team) : (!llvm.ptr) -> ()
  %threads = llvm.load %extents : !llvm.ptr -> i64
  %selected.at = llvm.getelementptr %extents[7] : (!llvm.ptr) -> !llvm.ptr, i64
  %selected = llvm.load %selected.at : !llvm.ptr -> i64
  %row_element.at = llvm.getelementptr %pointers[4] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %row_element = llvm.load %row_element.at : !llvm.ptr -> !llvm.ptr
  %positions.at = llvm.getelementptr %pointers[6] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %positions = llvm.load %positions.at : !llvm.ptr -> !llvm.ptr
  %selected_row.at = llvm.getelementptr %pointers[10] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %selected_row = llvm.load %selected_row.at : !llvm.ptr -> !llvm.ptr
  %selected_element.at = llvm.getelementptr %pointers[11] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %selected_element = llvm.load %selected_element.at : !llvm.ptr -> !llvm.ptr
  %ids.at = llvm.getelementptr %pointers[17] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %ids = llvm.load %ids.at : !llvm.ptr -> !llvm.ptr
  %logits.at = llvm.getelementptr %pointers[19] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %logits = llvm.load %logits.at : !llvm.ptr -> !llvm.ptr
  llvm.br ^row(%thread : i64)
^row(%i: i64):
  %more = llvm.icmp "slt" %i, %selected : i64
  llvm.cond_br %more, ^choose, ^done
^choose:
  %row.at = llvm.getelementptr %selected_row[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
  %row = llvm.load %row.at : !llvm.ptr -> i32
  %row.wide = llvm.sext %row : i32 to i64
  %element.at = llvm.getelementptr %row_element[%row.wide] : (!llvm.ptr, i64) -> !llvm.ptr, i32
  %element = llvm.load %element.at : !llvm.ptr -> i32
  %element.wide = llvm.sext %element : i32 to i64
  %id.at = llvm.getelementptr %ids[%element.wide] : (!llvm.ptr, i64) -> !llvm.ptr, i32
  %id = llvm.load %id.at : !llvm.ptr -> i32
  %position.at = llvm.getelementptr %positions[%row.wide] : (!llvm.ptr, i64) -> !llvm.ptr, i32
  %position = llvm.load %position.at : !llvm.ptr -> i32
  %sum = llvm.add %id, %position : i32
  %next = llvm.srem %sum, %ten.32 : i32
  %out.at = llvm.getelementptr %selected_element[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
  %out = llvm.load %out.at : !llvm.ptr -> i32
  %out.wide = llvm.sext %out : i32 to i64
  %base = llvm.mul %out.wide, %ten : i64
  llvm.br ^column(%zero : i64)
^column(%c: i64):
  %more.columns = llvm.icmp "slt" %c, %ten : i64
  llvm.cond_br %more.columns, ^write, ^after
^write:
  %column = llvm.trunc %c : i64 to i32
  %hit = llvm.icmp "eq" %column, %next : i32
  %value = llvm.uitofp %hit : i1 to f32
  %at = llvm.add %base, %c : i64
  %logit.at = llvm.getelementptr %logits[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.store %value, %logit.at : f32, !llvm.ptr
  %c.next = llvm.add %c, %one : i64
  llvm.br ^column(%c.next : i64)
^after:
  %i.next = llvm.add %i, %threads : i64
  llvm.br ^row(%i.next : i64)
^done:
  llvm.return
}
)mlir";

Expected<std::string> hexad::test::makeEchoLibrary(const LibraryInfo &info,
                                                   StringRef folder) {
  return makeLibrary(info, echoModule, folder);
}

Expected<std::string> hexad::test::makeLibrary(const LibraryInfo &info,
                                               StringRef text,
                                               StringRef folder) {
  mlir::MLIRContext context;
  context.loadDialect<mlir::LLVM::LLVMDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    return createStringError("the module does not parse");
  Emission emission(info);
  if (Error error = emission.translate(*module))
    return std::move(error);
  emission.optimize();

  auto path = [&](StringRef name) {
    SmallString<128> result(folder);
    sys::path::append(result, name);
    return result.str().str();
  };
  std::string object = path("code.o"), library = path(info.getLibraryFile());
  std::error_code code;
  raw_fd_ostream os(object, code);
  if (Error error = emission.writeObject(os))
    return std::move(error);
  os.close();
  if (Error error = linkLibrary(info, object, library))
    return std::move(error);
  sys::fs::remove(object);

  hexad_weights_header header = {};
  std::memcpy(header.magic, HEXAD_WEIGHTS_MAGIC, sizeof(header.magic));
  header.version = HEXAD_WEIGHTS_VERSION;
  header.data_offset = HEXAD_WEIGHTS_ALIGNMENT;
  header.file_bytes = info.weightsBytes;
  header.fingerprint = info.fingerprint;
  raw_fd_ostream weights(path(info.weightsFile), code);
  weights.write(reinterpret_cast<const char *>(&header), sizeof(header));
  weights.write_zeros(info.weightsBytes - sizeof(header));
  return library;
}
