//===- LoadedLibrary.h - A compiled library, opened at run time -*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_TOOLS_HEXADRUN_LOADEDLIBRARY_H
#define HEXAD_TOOLS_HEXADRUN_LOADEDLIBRARY_H

#include "hexad/Driver/LibraryInfo.h"
#include "hexad/Runtime/interface.h"

namespace hexad {

class LoadedContext;
class LoadedSession;

/// A library with its model; unloaded at the end.
class LoadedLibrary {
public:
  /// Checks the file before any of it is executed.
  static llvm::Expected<std::unique_ptr<LoadedLibrary>>
  open(llvm::StringRef path,
       hexad_weights_memory weightsMemory = HEXAD_MAP_WEIGHTS);
  ~LoadedLibrary();

  const LibraryInfo &getInfo() const { return info; }
  /// A context for calls of up to `tokens` tokens in `batch` rows of `seq`. The
  /// library must outlive it.
  llvm::Expected<std::unique_ptr<LoadedContext>>
  createContext(size_t batch, size_t seq, size_t tokens, size_t threads);
  /// A context for calls of up to `tokens` tokens of `sessions` sessions, with
  /// the logits of one token of each.
  llvm::Expected<std::unique_ptr<LoadedContext>>
  createDecodingContext(size_t tokens, size_t sessions, size_t threads);
  /// A session of up to `capacity` tokens. The library must outlive it, and its
  /// info must have caches.
  llvm::Expected<std::unique_ptr<LoadedSession>> createSession(size_t capacity);
  /// Runs one call on a context made for it. `pointers`: inputs, then outputs.
  /// `seconds` receives the duration of each of `repeat` runs.
  llvm::Error run(size_t batch, size_t seq, llvm::ArrayRef<void *> pointers,
                  size_t tokens, size_t threads, unsigned repeat,
                  std::vector<double> &seconds);

private:
  friend class LoadedContext;
  friend class LoadedSession;
  LoadedLibrary(LibraryInfo info) : info(std::move(info)) {}
  llvm::Error load(llvm::StringRef path, hexad_weights_memory weightsMemory);
  llvm::Error loadSessionFunctions();
  template <typename Function>
  llvm::Error find(llvm::StringRef name, Function *&function);
  llvm::Expected<std::unique_ptr<LoadedContext>>
  createContext(hexad_context_options options);

  LibraryInfo info;
  void *handle = nullptr;
  hexad_model *model = nullptr;
  hexad_status (*modelCreate)(const hexad_model_options *, hexad_model **);
  void (*modelDestroy)(hexad_model *);
  hexad_status (*contextCreate)(const hexad_model *,
                                const hexad_context_options *,
                                hexad_context **);
  void (*contextDestroy)(hexad_context *);
  const char *(*contextMessage)(const hexad_context *);
  hexad_status (*forward)(hexad_context *, const hexad_arguments *);
  hexad_status (*sessionCreate)(const hexad_model *,
                                const hexad_session_options *,
                                hexad_session **);
  void (*sessionDestroy)(hexad_session *);
  hexad_status (*sessionRewind)(hexad_session *, size_t);
  const char *(*sessionMessage)(const hexad_session *);
  hexad_status (*extendBatch)(hexad_context *, const hexad_extension *, size_t,
                              float *);
};

/// A context of a loaded model; destroyed at the end.
class LoadedContext {
public:
  LoadedContext(LoadedLibrary &library, hexad_context *context)
      : library(library), context(context) {}
  ~LoadedContext() { library.contextDestroy(context); }
  LoadedContext(const LoadedContext &) = delete;
  LoadedContext &operator=(const LoadedContext &) = delete;

  /// One call. `pointers`: inputs, then outputs.
  llvm::Error forward(size_t batch, size_t seq,
                      llvm::ArrayRef<void *> pointers);
  /// One call on sessions. `logits` receives rows in the order of the
  /// extensions.
  llvm::Error extend(llvm::ArrayRef<hexad_extension> extensions, float *logits);

private:
  LoadedLibrary &library;
  hexad_context *context;
};

/// A session of a loaded model; destroyed at the end.
class LoadedSession {
public:
  LoadedSession(LoadedLibrary &library, hexad_session *session)
      : library(library), session(session) {}
  ~LoadedSession() { library.sessionDestroy(session); }
  LoadedSession(const LoadedSession &) = delete;
  LoadedSession &operator=(const LoadedSession &) = delete;

  hexad_session *get() const { return session; }
  llvm::Error rewind(size_t position);

private:
  LoadedLibrary &library;
  hexad_session *session;
};

} // namespace hexad

#endif // HEXAD_TOOLS_HEXADRUN_LOADEDLIBRARY_H
