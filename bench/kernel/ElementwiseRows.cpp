//===- ElementwiseRows.cpp - Activations and softmax ----------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rows.h"
#include "common/Clock.h"
#include "common/PackedMatmul.h"
#include "llvm/Support/MathExtras.h"

using namespace hexad;
using namespace hexad::bench;
using namespace llvm;

namespace {

/// A kernel of nanoseconds an element.
class ElementwiseRow : public KernelRow {
public:
  ElementwiseRow(double elements, std::function<void()> run, Line &line)
      : elements(elements), run(std::move(run)), line(line) {}

  void measure(bool warmsUp) override {
    double seconds = measureSeconds(run);
    if (!warmsUp)
      line.add("ns_per_element", Unit::PerItem, seconds / elements);
  }

private:
  double elements;
  std::function<void()> run;
  Line &line;
};

} // namespace

static std::string rowsType(int64_t columns) {
  return "memref<?x" + std::to_string(columns) + "xf32>";
}

static Error addActivation(StringRef kind, const Target &target, Table &table,
                           KernelRows &rows) {
  constexpr int64_t rowCount = 48, columns = 768;
  std::string type = rowsType(columns);
  auto compiled = KernelJit::create(
      "func.func @f(%x: " + type + ", %y: " + type +
          ") attributes {llvm.emit_c_interface} {\n"
          "  hexad_kernel.activation ins(%x : " +
          type + ") outs(%y : " + type + ") {kind = #hexad.activation<" +
          kind.str() + ">}\n  return\n}\n",
      target);
  if (!compiled)
    return compiled.takeError();
  std::shared_ptr<KernelJit> jit = std::move(*compiled);
  auto x = std::make_shared<RandomFloats>(rowCount * columns);
  auto y = std::make_shared<RandomFloats>(rowCount * columns);
  auto run = [=] {
    Buffer<float, 2> xBuffer(x->data(), {rowCount, columns});
    Buffer<float, 2> yBuffer(y->data(), {rowCount, columns});
    jit->call("f", &xBuffer, &yBuffer);
  };
  rows.push_back(std::make_unique<ElementwiseRow>(
      double(rowCount * columns), run, table.addLine(kind.str())));
  return Error::success();
}

static Error addSoftmaxPage(const Target &target, Table &table,
                            KernelRows &rows) {
  int64_t queries = target.queryTile, keys = target.page,
          padded = alignTo(queries, 16);
  std::string type = rowsType(keys);
  std::string statistics = "memref<6x" + std::to_string(padded) + "xf32>";
  auto compiled = KernelJit::create(
      "func.func @f(%m: index, %t: index, %x: " + type + ", %s: " + statistics +
          ") attributes {llvm.emit_c_interface} {\n"
          "  hexad_kernel.softmax_page ins(%m, %t : index, index) outs(%x, %s "
          ": " +
          type + ", " + statistics + ")\n  return\n}\n",
      target);
  if (!compiled)
    return compiled.takeError();
  std::shared_ptr<KernelJit> jit = std::move(*compiled);
  constexpr int visits = 4;
  auto x = std::make_shared<RandomFloats>(queries * keys);
  auto s = std::make_shared<RandomFloats>(6 * padded);
  auto run = [=] {
    Buffer<float, 2> xBuffer(x->data(), {queries, keys});
    Buffer<float, 2> sBuffer(s->data(), {6, padded});
    for (int visit = 0; visit < visits; ++visit)
      jit->call("f", queries, keys, &xBuffer, &sBuffer);
  };
  rows.push_back(std::make_unique<ElementwiseRow>(
      double(visits * queries * keys), run, table.addLine("softmax_page")));
  return Error::success();
}

Error bench::addElementwiseRows(const Target &target, Table &table,
                                KernelRows &rows) {
  if (Error error = addSoftmaxPage(target, table, rows))
    return error;
  for (StringRef kind : {"gelu", "gelu_tanh", "silu", "tanh"})
    if (Error error = addActivation(kind, target, table, rows))
      return error;
  return Error::success();
}
