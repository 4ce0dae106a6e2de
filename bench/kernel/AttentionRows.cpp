//===- AttentionRows.cpp - Attention alone --------------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Calls.h"
#include "Parts.h"
#include "Rows.h"
#include "common/Clock.h"
#include "common/FmaLoop.h"
#include "common/ReadLoop.h"
#include "common/Report.h"
#include "llvm/Support/MathExtras.h"

using namespace hexad;
using namespace hexad::bench;
using namespace llvm;

static ExitOnError exitOnError("kernel-bench: ");

namespace {

/// Several attentions of one shape in one call.
class AttentionRow : public KernelRow {
public:
  static Expected<std::unique_ptr<AttentionRow>>
  create(const AttentionShape &shape, int64_t tokens, StringRef cpu,
         int64_t vectorBits, unsigned threads, Table &table);

  void measure(bool warmsUp) override {
    double before = measureFmaLoop(vectorBits, /*milliseconds=*/2);
    double seconds = 0;
    restAfter(
        [&] { seconds = measureSeconds([&] { exitOnError(call->run()); }); });
    double loop = (before + measureFmaLoop(vectorBits, /*milliseconds=*/2)) / 2;
    double onThreads = 0;
    if (threaded)
      restAfter([&] {
        onThreads = measureSeconds([&] { exitOnError(threaded->run()); });
      });
    if (warmsUp)
      return;
    table.addYardstick("fma_loop_gflops", loop / 1e9);
    line->add("milliseconds", Unit::Time, seconds / times);
    line->add("share_of_fma_loop", Unit::Share, operations / seconds / loop);
    if (threaded)
      line->add("times_one_thread", Unit::Ratio, seconds / onThreads);
  }

private:
  AttentionRow(int64_t vectorBits, Table &table)
      : vectorBits(vectorBits), table(table) {}

  int64_t vectorBits, times = 0;
  double operations = 0;
  Table &table;
  Line *line = nullptr;
  std::unique_ptr<LoadedLibrary> library;
  std::unique_ptr<ForwardCall> call, threaded;
};

Expected<std::unique_ptr<AttentionRow>>
AttentionRow::create(const AttentionShape &shape, int64_t tokens, StringRef cpu,
                     int64_t vectorBits, unsigned threads, Table &table) {
  std::unique_ptr<AttentionRow> row(new AttentionRow(vectorBits, table));
  double operationsOfOne = shape.countOperations(tokens);
  // Half a second at 200 GFLOP/s: Linux leaves the CPU to a real-time process
  // for less than one.
  row->times = std::clamp<int64_t>(100e9 / operationsOfOne, 1, 8);
  row->operations = row->times * operationsOfOne;
  auto library = compileAttention(shape, row->times, /*isCached=*/false, cpu);
  if (!library)
    return library.takeError();
  row->library = std::move(*library);
  auto call = ForwardCall::create(*row->library, /*batch=*/1, tokens, 1);
  if (!call)
    return call.takeError();
  row->call = std::move(*call);
  if (threads > 1) {
    auto call =
        ForwardCall::create(*row->library, /*batch=*/1, tokens, threads);
    if (!call)
      return call.takeError();
    row->threaded = std::move(*call);
  }
  row->line = &table.addLine(("attention " + Twine(tokens) + " of " +
                              Twine(shape.heads) + "x" + Twine(shape.headDim) +
                              (shape.isCausal ? " causal" : " full"))
                                 .str());
  return row;
}

/// One token of a session of attentions, against reading its keys and values.
class QueryRow : public KernelRow {
public:
  static constexpr AttentionShape shape = {12, 12, 64, /*isCausal=*/true};
  static constexpr int64_t keys = 2048, layers = 24;

  QueryRow(std::unique_ptr<LoadedLibrary> library,
           std::unique_ptr<SessionCalls> calls, Table &table, Line &line)
      : library(std::move(library)), calls(std::move(calls)), table(table),
        line(line) {}

  void measure(bool warmsUp) override {
    double before = read.measure();
    double seconds = measureSeconds([&] { exitOnError(calls->decode()); });
    double rate = (before + read.measure()) / 2;
    if (warmsUp)
      return;
    double bytes = 2.0 * layers * keys * shape.getKeyColumns() * sizeof(float);
    table.addYardstick("read_loop_gigabytes", rate / 1e9);
    line.add("milliseconds", Unit::Time, seconds / layers);
    line.add("share_of_read_loop", Unit::Share, bytes / seconds / rate);
  }

private:
  std::unique_ptr<LoadedLibrary> library;
  std::unique_ptr<SessionCalls> calls;
  Table &table;
  Line &line;
  ReadLoop read{/*threads=*/1};
};

} // namespace

Error bench::addAttentionRows(StringRef cpu, const Target &target,
                              unsigned threads, Table &table,
                              KernelRows &rows) {
  for (int64_t tokens : {1024, 4096})
    for (bool isCausal : {false, true})
      for (int64_t headDim : {64, 80, 128}) {
        auto row = AttentionRow::create({12, 12, headDim, isCausal}, tokens,
                                        cpu, target.vectorBits, threads, table);
        if (!row)
          return row.takeError();
        rows.push_back(std::move(*row));
      }
  return Error::success();
}

Error bench::addQueryRow(StringRef cpu, Table &table, KernelRows &rows) {
  auto library = compileAttention(QueryRow::shape, QueryRow::layers,
                                  /*isCached=*/true, cpu);
  if (!library)
    return library.takeError();
  auto calls = SessionCalls::create(**library, QueryRow::keys - 1,
                                    /*decodeTokens=*/1, 1);
  if (!calls)
    return calls.takeError();
  if (Error error = (*calls)->prefill())
    return error;
  Line &line = table.addLine(
      ("one query on " + Twine(QueryRow::keys) + " keys, 12x64").str());
  rows.push_back(std::make_unique<QueryRow>(std::move(*library),
                                            std::move(*calls), table, line));
  return Error::success();
}
