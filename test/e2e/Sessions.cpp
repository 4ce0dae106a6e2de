//===- Sessions.cpp - Sessions of a compiled model ------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sessions.h"
#include "gtest/gtest.h"

using namespace hexad::test;

ContextHandle::ContextHandle(const CompiledModel &model,
                             const ContextCapacity &capacity)
    : model(model) {
  hexad_context_options options = {};
  options.max_tokens = capacity.tokens;
  options.max_segments = capacity.segments;
  options.max_logits = capacity.logits;
  options.threads = capacity.threads;
  context = model.createContext(options);
}

SessionLibrary::SessionLibrary(const CompiledModel &model) : model(model) {
  for (const OutputInfo &output : model.getInfo().outputs)
    if (output.kind == HEXAD_OUTPUT_SELECTED)
      columns = output.columns;
  model.find(create, "session_create");
  model.find(destroy, "session_destroy");
  model.find(position, "session_position");
  model.find(message, "session_message");
  model.find(rewind, "session_rewind");
  model.find(fork, "session_fork");
  model.find(savedSize, "session_saved_size");
  model.find(save, "session_save");
  model.find(load, "session_load");
  model.find(extend, "extend");
  model.find(extendMany, "extend_batch");
  model.find(contextMessage, "context_message");
}

Floats
SessionLibrary::extendBatch(ContextHandle &context,
                            llvm::ArrayRef<hexad_extension> batch) const {
  size_t rows = 0;
  for (const hexad_extension &extension : batch)
    rows += extension.logits == HEXAD_ALL_LOGITS ? extension.count
                                                 : extension.logits;
  // Something to write to, also where nothing is written.
  Floats logits(rows * columns + 1, 12345.0f);
  EXPECT_EQ(
      extendMany(context.get(), batch.data(), batch.size(), logits.data()),
      HEXAD_OK)
      << contextMessage(context.get());
  EXPECT_EQ(logits.back(), 12345.0f) << "written behind the end";
  logits.pop_back();
  return logits;
}

SessionHandle::SessionHandle(const SessionLibrary &library,
                             const SessionSettings &settings)
    : library(library) {
  char message[512] = "";
  hexad_session_options options = {};
  options.capacity = settings.capacity;
  options.slack = settings.slack;
  options.message = message;
  options.message_size = sizeof(message);
  EXPECT_EQ(library.create(library.model.get(), &options, &session), HEXAD_OK)
      << message;
}

std::vector<char> SessionHandle::save() {
  size_t bytes = 0;
  EXPECT_EQ(library.savedSize(session, &bytes), HEXAD_OK);
  std::vector<char> state(bytes);
  EXPECT_EQ(library.save(session, state.data(), state.size()), HEXAD_OK)
      << getMessage();
  return state;
}

Floats SessionHandle::extend(ContextHandle &context,
                             llvm::ArrayRef<int32_t> tokens,
                             hexad_logits_of which) {
  return library.extendBatch(context,
                             {{session, tokens.data(), tokens.size(), which}});
}
