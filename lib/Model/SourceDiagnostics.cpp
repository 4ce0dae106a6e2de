//===- SourceDiagnostics.cpp - Messages with lines of files ---------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Model/SourceDiagnostics.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace hexad;

/// A few lines of a terminal.
static constexpr size_t longestLine = 500;

SourceDiagnostics::SourceDiagnostics(llvm::SourceMgr &sources,
                                     MLIRContext *context)
    : SourceMgrDiagnosticHandler(sources, context), sources(sources) {
  setHandler([this](Diagnostic &diagnostic) {
    bool isReadable = isLineReadable(diagnostic.getLocation());
    for (const Diagnostic &note : diagnostic.getNotes())
      isReadable &= isLineReadable(note.getLocation());
    auto option = dyn_cast<NameLoc>(diagnostic.getLocation());
    if (option && !isa<UnknownLoc>(option.getChildLoc()))
      option = {};
    if (isReadable && !option)
      return SourceMgrDiagnosticHandler::emitDiagnostic(diagnostic);
    auto emit = [&](const Diagnostic &part) {
      if (option && part.getLocation() == option)
        this->sources.PrintMessage(
            llvm::errs(),
            llvm::SMDiagnostic(option.getName().getValue(),
                               llvm::SourceMgr::DK_Error, part.str()));
      else
        emitDiagnostic(part.getLocation(), part.str(), part.getSeverity(),
                       /*displaySourceLine=*/isReadable);
    };
    emit(diagnostic);
    for (const Diagnostic &note : diagnostic.getNotes())
      emit(note);
  });
}

Location hexad::getOptionLoc(MLIRContext *context, llvm::StringRef option) {
  return NameLoc::get(StringAttr::get(context, option));
}

bool SourceDiagnostics::isLineReadable(Location loc) const {
  auto place = loc->findInstanceOf<FileLineColLoc>();
  if (!place)
    return true;
  for (unsigned id = 1; id <= sources.getNumBuffers(); ++id) {
    const llvm::MemoryBuffer *buffer = sources.getMemoryBuffer(id);
    if (buffer->getBufferIdentifier() != place.getFilename().getValue())
      continue;
    llvm::SMLoc line =
        sources.FindLocForLineAndColumn(id, place.getLine(), /*ColNo=*/1);
    if (!line.isValid())
      continue;
    llvm::StringRef rest(line.getPointer(),
                         buffer->getBufferEnd() - line.getPointer());
    return rest.take_until([](char c) { return c == '\n'; }).size() <=
           longestLine;
  }
  return true;
}
