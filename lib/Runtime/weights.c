/*===- weights.c - Finding, checking and loading the weights file ---*- C -*-===
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

/*===--- Where the weights lie
 * ---------------------------------------------===*/

static hexad_status map_file(int file, size_t bytes, const char *path,
                             hexad_message message, hexad_weights *weights) {
  weights->bytes = bytes;
  weights->mapping = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, file, 0);
  if (weights->mapping == MAP_FAILED)
    return cannot_read(message, path, errno);
  return HEXAD_OK;
}

/* Of x86-64. A region that does not begin at a multiple would have small pages
 * at both ends. */
#define HUGE_PAGE ((size_t)2 << 20)

/* One read(2) does no more than 2 GiB. */
#define COPIED_AT_ONCE ((size_t)256 << 20)

static hexad_status no_memory(hexad_message message, size_t bytes,
                              const char *path) {
  return hexad_fail(message, HEXAD_OUT_OF_MEMORY,
                    "not enough memory for a copy of the %zu bytes of the "
                    "weights file '%s'",
                    bytes, path);
}

/* Reads the first `bytes` of the file to `memory`. */
static hexad_status read_file(int file, char *memory, size_t bytes,
                              const char *path, hexad_message message) {
  for (size_t done = 0; done < bytes;) {
    size_t left = bytes - done;
    ssize_t got =
        pread(file, memory + done,
              left < COPIED_AT_ONCE ? left : COPIED_AT_ONCE, (off_t)done);
    if (got > 0)
      done += (size_t)got;
    else if (got == 0)
      return hexad_fail(message, HEXAD_WEIGHTS_MISMATCH,
                        "the weights file '%s' was truncated while it was "
                        "read: %zu of its %zu bytes are there",
                        path, done, bytes);
    else if (errno == ENOMEM || errno == EFAULT)
      /* The system promised pages that it does not have. */
      return no_memory(message, bytes, path);
    else if (errno != EINTR)
      return cannot_read(message, path, errno);
  }
  return HEXAD_OK;
}

/* Pages of 4 KiB, as those of a file are, cost a token's walk through all
 * weights a TLB miss each. */
static hexad_status copy_file(int file, size_t bytes, const char *path,
                              hexad_message message, hexad_weights *weights) {
  size_t rounded = (bytes + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
  char *memory = mmap(NULL, rounded + HUGE_PAGE, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return no_memory(message, bytes, path);
  /* Keep `rounded` bytes from the first multiple of a huge page. */
  size_t front = -(uintptr_t)memory & (HUGE_PAGE - 1);
  if (front)
    munmap(memory, front);
  munmap(memory + front + rounded, HUGE_PAGE - front);
  memory += front;
  /* A hint: a system without huge pages is slower, no more. */
  madvise(memory, rounded, MADV_HUGEPAGE);
  hexad_status status = read_file(file, memory, bytes, path, message);
  if (status == HEXAD_OK && mprotect(memory, rounded, PROT_READ) != 0)
    status = no_memory(message, bytes, path);
  if (status != HEXAD_OK) {
    munmap(memory, rounded);
    return status;
  }
  weights->bytes = rounded;
  weights->mapping = memory;
  return HEXAD_OK;
}

hexad_status hexad_weights_load(const hexad_model_info *info, const char *path,
                                hexad_weights_memory memory,
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
  if (status == HEXAD_OK)
    status = (memory == HEXAD_COPY_WEIGHTS ? copy_file : map_file)(
        file, (size_t)facts.st_size, path, message, weights);
  close(file);
  if (status == HEXAD_OK)
    weights->data = (const char *)weights->mapping + HEXAD_WEIGHTS_ALIGNMENT;
  return status;
}

void hexad_weights_unload(hexad_weights *weights) {
  munmap(weights->mapping, weights->bytes);
}
