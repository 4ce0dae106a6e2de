/*===- weights.c - Finding, checking and mapping the weights file ---*- C -*-===
 *
 * Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/
#include "runtime.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Writes the path of `file` in the folder of `library`; 0 if it is too long. */
static int beside(const char *library, const char *file, char path[PATH_MAX]) {
  const char *slash = strrchr(library, '/');
  int folder = slash ? (int)(slash - library + 1) : 0;
  int length = snprintf(path, PATH_MAX, "%.*s%s", folder, library, file);
  return length > 0 && length < PATH_MAX;
}

/* Not blocking: a pipe, which is refused later, would wait for a writer. */
#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK)

/* Opens the file beside the library as it was loaded, or, if that was a
 * symbolic link, beside the library itself. Leaves the path tried first in
 * `path`. */
static int open_beside_library(const hexad_model_info *info,
                               char path[PATH_MAX]) {
  Dl_info library;
  if (!dladdr((const void *)info, &library) || !library.dli_fname) {
    errno = ENOENT;
    return -1;
  }
  if (!beside(library.dli_fname, info->weights_file, path)) {
    errno = ENAMETOOLONG;
    return -1;
  }
  int file = open(path, OPEN_FLAGS);
  if (file >= 0 || errno != ENOENT)
    return file;
  char resolved[PATH_MAX], other[PATH_MAX];
  if (realpath(library.dli_fname, resolved) &&
      beside(resolved, info->weights_file, other))
    file = open(other, OPEN_FLAGS);
  else
    errno = ENOENT;
  return file;
}

static hexad_status cannot_read(hexad_message message, const char *path,
                                int error) {
  char reason[128] = "";
  return hexad_fail(message, HEXAD_WEIGHTS_NOT_FOUND,
                    "cannot read the weights file '%s': %s", path,
                    strerror_r(error, reason, sizeof(reason)));
}

/* Is the open file the one that was written together with the library? */
static hexad_status check_header(const hexad_model_info *info, int file,
                                 uint64_t bytes, const char *path,
                                 hexad_message message) {
  const hexad_status mismatch = HEXAD_WEIGHTS_MISMATCH;
  hexad_weights_header header;
  ssize_t got = pread(file, &header, sizeof(header), 0);
  if (got < 0)
    return cannot_read(message, path, errno);
  if ((size_t)got < sizeof(header))
    return hexad_fail(message, mismatch,
                      "the weights file '%s' is truncated: %llu bytes are less "
                      "than its header",
                      path, (unsigned long long)bytes);
  if (memcmp(header.magic, HEXAD_WEIGHTS_MAGIC, sizeof(header.magic)) != 0)
    return hexad_fail(message, mismatch, "'%s' is not a weights file of Hexad",
                      path);
  if (header.version != HEXAD_WEIGHTS_VERSION)
    return hexad_fail(message, mismatch,
                      "the weights file '%s' has format version %u, the "
                      "library reads version %u",
                      path, header.version, HEXAD_WEIGHTS_VERSION);
  if (header.file_bytes != bytes)
    return hexad_fail(message, mismatch,
                      "the weights file '%s' is %s: it has %llu bytes and "
                      "should have %llu",
                      path, bytes < header.file_bytes ? "truncated" : "damaged",
                      (unsigned long long)bytes,
                      (unsigned long long)header.file_bytes);
  if (header.fingerprint != info->fingerprint ||
      header.file_bytes != info->weights_bytes ||
      header.data_offset != HEXAD_WEIGHTS_ALIGNMENT)
    return hexad_fail(message, mismatch,
                      "the weights file '%s' belongs to another library: its "
                      "fingerprint is %016llx, expected is %016llx",
                      path, (unsigned long long)header.fingerprint,
                      (unsigned long long)info->fingerprint);
  return HEXAD_OK;
}

hexad_status hexad_weights_map(const hexad_model_info *info, const char *path,
                               hexad_message message, hexad_weights *weights) {
  char found[PATH_MAX] = "";
  int file;
  if (path) {
    file = open(path, OPEN_FLAGS);
  } else {
    file = open_beside_library(info, found);
    path = found[0] ? found : info->weights_file;
  }
  if (file < 0)
    return cannot_read(message, path, errno);

  struct stat facts;
  hexad_status status;
  if (fstat(file, &facts) != 0)
    status = cannot_read(message, path, errno);
  else if (!S_ISREG(facts.st_mode))
    status = hexad_fail(message, HEXAD_WEIGHTS_MISMATCH,
                        "the weights file '%s' is not a regular file", path);
  else
    status = check_header(info, file, (uint64_t)facts.st_size, path, message);
  if (status != HEXAD_OK) {
    close(file);
    return status;
  }

  size_t bytes = (size_t)facts.st_size;
  void *mapping = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, file, 0);
  int error = errno;
  close(file);
  if (mapping == MAP_FAILED)
    return cannot_read(message, path, error);
  weights->mapping = mapping;
  weights->bytes = bytes;
  weights->data = (const char *)mapping + HEXAD_WEIGHTS_ALIGNMENT;
  return HEXAD_OK;
}

void hexad_weights_unmap(hexad_weights *weights) {
  munmap(weights->mapping, weights->bytes);
}
