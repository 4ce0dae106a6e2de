//===- Sessions.h - Sessions of a compiled model ----------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_TEST_E2E_SESSIONS_H
#define HEXAD_TEST_E2E_SESSIONS_H

#include "CompiledModel.h"

namespace hexad::test {

struct ContextCapacity {
  size_t tokens = 1, segments = 1, logits = 0, threads = 1;
};

/// A context for as long as it is in scope.
class ContextHandle {
public:
  ContextHandle(const CompiledModel &model, const ContextCapacity &capacity);
  ~ContextHandle() { model.destroyContext(context); }
  ContextHandle(const ContextHandle &) = delete;
  hexad_context *get() { return context; }

private:
  const CompiledModel &model;
  hexad_context *context;
};

/// The functions of a library that work on sessions.
struct SessionLibrary {
  explicit SessionLibrary(const CompiledModel &model);

  /// All logits that are asked for. A failure is one of the test.
  Floats extendBatch(ContextHandle &context,
                     llvm::ArrayRef<hexad_extension> batch) const;

  const CompiledModel &model;
  size_t columns = 0; ///< of logits
  decltype(&hexad_runtime_session_create) create;
  decltype(&hexad_runtime_session_destroy) destroy;
  decltype(&hexad_runtime_session_position) position;
  decltype(&hexad_runtime_session_message) message;
  decltype(&hexad_runtime_session_rewind) rewind;
  decltype(&hexad_runtime_session_fork) fork;
  decltype(&hexad_runtime_session_saved_size) savedSize;
  decltype(&hexad_runtime_session_save) save;
  decltype(&hexad_runtime_session_load) load;
  decltype(&hexad_runtime_extend) extend;
  decltype(&hexad_runtime_extend_batch) extendMany;
  decltype(&hexad_runtime_context_message) contextMessage;
};

struct SessionSettings {
  size_t capacity = 1, slack = 0;
};

/// A session for as long as it is in scope.
class SessionHandle {
public:
  SessionHandle(const SessionLibrary &library, const SessionSettings &settings);
  ~SessionHandle() { library.destroy(session); }
  SessionHandle(const SessionHandle &) = delete;

  hexad_session *get() { return session; }
  size_t getPosition() const { return library.position(session); }
  std::string getMessage() const { return library.message(session); }
  hexad_status rewind(size_t position) {
    return library.rewind(session, position);
  }
  hexad_status fork(SessionHandle &source) {
    return library.fork(session, source.session);
  }
  std::vector<char> save();
  hexad_status load(const std::vector<char> &state) {
    return library.load(session, state.data(), state.size());
  }
  /// The logits that are asked for. A failure is one of the test.
  Floats extend(ContextHandle &context, llvm::ArrayRef<int32_t> tokens,
                hexad_logits_of which);

private:
  const SessionLibrary &library;
  hexad_session *session = nullptr;
};

} // namespace hexad::test

#endif // HEXAD_TEST_E2E_SESSIONS_H
