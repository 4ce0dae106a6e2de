//===- ReadLoop.h - The yardstick: reading memory ---------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_BENCH_COMMON_READLOOP_H
#define HEXAD_BENCH_COMMON_READLOOP_H

#include <cstddef>
#include <vector>

namespace hexad::bench {

/// Sums memory that no cache holds, in as many ascending streams as read it
/// fastest: one stream alone does not fill the memory's queues.
class ReadLoop {
public:
  /// Finds the best of 2, 4 and 6 streams for each of `threads` threads.
  explicit ReadLoop(unsigned threads, size_t bytes = size_t(1) << 30);

  /// Bytes a second that all threads read together at this moment.
  double measure() { return measure(streams); }
  unsigned getStreams() const { return streams; }

private:
  double measure(unsigned streams);

  unsigned threads, streams = 2;
  std::vector<float> memory;
};

} // namespace hexad::bench

#endif // HEXAD_BENCH_COMMON_READLOOP_H
