//===- LoadedLibrary.cpp - A compiled library, opened at run time ---------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoadedLibrary.h"
#include "llvm/Support/FileSystem.h"
#include <chrono>
#include <dlfcn.h>

using namespace llvm;
using namespace hexad;

Expected<std::unique_ptr<LoadedLibrary>>
LoadedLibrary::open(StringRef path, hexad_weights_memory weightsMemory) {
  Expected<LibraryInfo> info = readLibraryInfo(path);
  if (!info)
    return info.takeError();
  std::unique_ptr<LoadedLibrary> library(new LoadedLibrary(std::move(*info)));
  if (Error error = library->load(path, weightsMemory))
    return std::move(error);
  return library;
}

template <typename Function>
Error LoadedLibrary::find(StringRef name, Function *&function) {
  std::string symbol = info.prefix + "_" + name.str();
  function = reinterpret_cast<Function *>(dlsym(handle, symbol.c_str()));
  if (!function)
    return createStringError("the library has no function " + symbol);
  return Error::success();
}

Error LoadedLibrary::load(StringRef path, hexad_weights_memory weightsMemory) {
  // A path without a slash would be looked for elsewhere.
  SmallString<128> absolute(path);
  sys::fs::make_absolute(absolute);
  handle = dlopen(absolute.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return createStringError("cannot load the library: " + Twine(dlerror()));
  if (Error error = find("model_create", modelCreate))
    return error;
  if (Error error = find("model_destroy", modelDestroy))
    return error;
  if (Error error = find("context_create", contextCreate))
    return error;
  if (Error error = find("context_destroy", contextDestroy))
    return error;
  if (Error error = find("context_message", contextMessage))
    return error;
  if (Error error = find("forward", forward))
    return error;
  // Only language models have them.
  if (!info.caches.empty())
    if (Error error = loadSessionFunctions())
      return error;

  char message[512] = "";
  hexad_model_options options = {nullptr, message, sizeof(message),
                                 weightsMemory};
  if (modelCreate(&options, &model) != HEXAD_OK)
    return createStringError(message);
  return Error::success();
}

Error LoadedLibrary::loadSessionFunctions() {
  if (Error error = find("session_create", sessionCreate))
    return error;
  if (Error error = find("session_destroy", sessionDestroy))
    return error;
  if (Error error = find("session_rewind", sessionRewind))
    return error;
  if (Error error = find("session_message", sessionMessage))
    return error;
  return find("extend_batch", extendBatch);
}

LoadedLibrary::~LoadedLibrary() {
  if (model)
    modelDestroy(model);
  if (handle)
    dlclose(handle);
}

Expected<std::unique_ptr<LoadedContext>>
LoadedLibrary::createContext(hexad_context_options options) {
  char message[512] = "";
  options.message = message;
  options.message_size = sizeof(message);
  hexad_context *context = nullptr;
  if (contextCreate(model, &options, &context) != HEXAD_OK)
    return createStringError(message);
  return std::make_unique<LoadedContext>(*this, context);
}

Expected<std::unique_ptr<LoadedContext>>
LoadedLibrary::createContext(size_t batch, size_t seq, size_t tokens,
                             size_t threads) {
  hexad_context_options options = {};
  options.max_tokens = std::max<size_t>(tokens, 1);
  options.max_segments = std::max<size_t>(batch, 1);
  options.max_elements = batch * seq;
  options.threads = threads;
  return createContext(options);
}

Expected<std::unique_ptr<LoadedContext>>
LoadedLibrary::createDecodingContext(size_t tokens, size_t sessions,
                                     size_t threads) {
  hexad_context_options options = {};
  options.max_tokens = tokens;
  options.max_segments = sessions;
  options.max_logits = sessions;
  options.threads = threads;
  return createContext(options);
}

Expected<std::unique_ptr<LoadedSession>>
LoadedLibrary::createSession(size_t capacity) {
  char message[512] = "";
  hexad_session_options options = {};
  options.capacity = capacity;
  options.message = message;
  options.message_size = sizeof(message);
  hexad_session *session = nullptr;
  if (sessionCreate(model, &options, &session) != HEXAD_OK)
    return createStringError(message);
  return std::make_unique<LoadedSession>(*this, session);
}

Error LoadedLibrary::run(size_t batch, size_t seq, ArrayRef<void *> pointers,
                         size_t tokens, size_t threads, unsigned repeat,
                         std::vector<double> &seconds) {
  auto context = createContext(batch, seq, tokens, threads);
  if (!context)
    return context.takeError();
  for (unsigned i = 0; i < repeat; ++i) {
    auto begin = std::chrono::steady_clock::now();
    if (Error error = (*context)->forward(batch, seq, pointers))
      return error;
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
            .count());
  }
  return Error::success();
}

Error LoadedContext::forward(size_t batch, size_t seq,
                             ArrayRef<void *> pointers) {
  // hexad_arguments ends in a flexible array.
  SmallVector<void *, 16> storage(sizeof(hexad_arguments) / sizeof(void *) +
                                  pointers.size());
  auto *arguments = reinterpret_cast<hexad_arguments *>(storage.data());
  arguments->batch = batch;
  arguments->seq = seq;
  copy(pointers, arguments->pointers);
  if (library.forward(context, arguments) != HEXAD_OK)
    return createStringError(library.contextMessage(context));
  return Error::success();
}

Error LoadedContext::extend(ArrayRef<hexad_extension> extensions,
                            float *logits) {
  if (library.extendBatch(context, extensions.data(), extensions.size(),
                          logits) != HEXAD_OK)
    return createStringError(library.contextMessage(context));
  return Error::success();
}

Error LoadedSession::rewind(size_t position) {
  if (library.sessionRewind(session, position) != HEXAD_OK)
    return createStringError(library.sessionMessage(session));
  return Error::success();
}
