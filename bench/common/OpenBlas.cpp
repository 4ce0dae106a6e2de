//===- OpenBlas.cpp - The matmul that others use --------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "common/OpenBlas.h"
#include <cstdlib>
#include <dlfcn.h>

using namespace hexad::bench;
using namespace llvm;

Expected<std::unique_ptr<OpenBlas>> OpenBlas::open(StringRef core) {
  // It reads them when it is loaded; threads that it never uses would be made.
  for (const char *variable : {"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"})
    unsetenv(variable);
  if (core != "auto")
    setenv("OPENBLAS_CORETYPE", core.str().c_str(), /*overwrite=*/1);
  setenv("OPENBLAS_NUM_THREADS", "1", /*overwrite=*/1);
  void *handle = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return createStringError("no OpenBLAS to compare with, install "
                             "libopenblas0-pthread (" +
                             Twine(dlerror()) + ")");
  std::unique_ptr<OpenBlas> blas(new OpenBlas);
  blas->sgemm = reinterpret_cast<Sgemm>(dlsym(handle, "cblas_sgemm"));
  auto setThreads = reinterpret_cast<void (*)(int)>(
      dlsym(handle, "openblas_set_num_threads"));
  auto getCoreName =
      reinterpret_cast<char *(*)()>(dlsym(handle, "openblas_get_corename"));
  if (!blas->sgemm || !setThreads || !getCoreName)
    return createStringError("libopenblas.so.0 lacks cblas_sgemm, "
                             "openblas_set_num_threads or "
                             "openblas_get_corename");
  setThreads(1);
  blas->core = getCoreName();
  return blas;
}

void OpenBlas::multiply(int64_t m, int64_t n, int64_t k, const float *a,
                        const float *b, float *c) const {
  constexpr int rowMajor = 101, noTranspose = 111, transpose = 112;
  sgemm(rowMajor, noTranspose, transpose, m, n, k, 1.0f, a, k, b, k, 0.0f, c,
        n);
}
