//===- Outputs.cpp - A call's outputs -------------------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Outputs.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include <cmath>

using namespace llvm;
using namespace hexad;

Expected<std::vector<Output>> hexad::makeOutputs(const LibraryInfo &info,
                                                 const Inputs &inputs,
                                                 ArrayRef<StringRef> wanted) {
  std::vector<Output> outputs;
  for (const OutputInfo &output : info.outputs) {
    if (!wanted.empty() && !is_contained(wanted, output.name))
      continue;
    SmallVector<int64_t, 4> shape;
    if (output.kind != HEXAD_OUTPUT_SCALAR) {
      shape.push_back(inputs.batch);
      if (output.kind != HEXAD_OUTPUT_POOLED)
        shape.push_back(inputs.seq);
      shape.push_back(output.columns);
    }
    if (output.kind == HEXAD_OUTPUT_MAPS)
      shape = {int64_t(inputs.batch), output.columns, int64_t(inputs.seq),
               int64_t(inputs.seq)};
    std::optional<int64_t> elements = output.count;
    for (int64_t dim : shape)
      if (elements)
        elements = checkedMul(*elements, dim);
    // Far more than any machine's memory, less than what overflows.
    if (!elements || *elements > int64_t(1) << 44)
      return createStringError("the output '" + output.name +
                               "' would be too large");
    // Null if a batch is too large for this machine; a vector would abort.
    auto *values =
        static_cast<float *>(std::calloc(*elements + 1, sizeof(float)));
    if (!values)
      return createStringError("not enough memory for the output '" +
                               output.name + "'");
    outputs.push_back(
        {&output, shape, static_cast<size_t>(*elements), {values, std::free}});
  }
  return outputs;
}

Error hexad::writeOutputs(ArrayRef<Output> outputs, StringRef path) {
  std::vector<TensorToWrite> tensors;
  for (const Output &output : outputs) {
    ArrayRef<uint8_t> bytes(
        reinterpret_cast<const uint8_t *>(output.values.get()),
        output.elements * sizeof(float));
    const size_t size = bytes.size() / output.info->count;
    for (int64_t i = 0; i < output.info->count; ++i) {
      std::string name = output.info->name;
      if (output.info->stacked)
        name += "." + std::to_string(i);
      tensors.push_back(
          {name, StoredType::F32, output.shape, bytes.slice(i * size, size)});
    }
  }
  return writeSafetensors(path, tensors);
}

size_t hexad::printScalars(ArrayRef<Output> outputs, raw_ostream &os) {
  size_t count = 0;
  for (const Output &output : outputs) {
    if (output.info->kind != HEXAD_OUTPUT_SCALAR)
      continue;
    os << output.info->name << ": ";
    // printf would give a NaN its sign.
    if (std::isnan(output.values[0]))
      os << "nan\n";
    else
      os << format("%.9g\n", output.values[0]);
    ++count;
  }
  return count;
}

void hexad::printSummary(const LibraryInfo &info, const Inputs &inputs,
                         ArrayRef<Output> outputs, ArrayRef<double> seconds,
                         raw_ostream &os) {
  json::OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    json.attribute("name", info.name);
    json.attribute("batch", int64_t(inputs.batch));
    json.attribute("seq", int64_t(inputs.seq));
    json.attribute("tokens", int64_t(inputs.countTokens()));
    json.attributeArray("seconds", [&] {
      for (double time : seconds)
        json.value(time);
    });
    json.attributeObject("outputs", [&] {
      for (const Output &output : outputs) {
        json::Array shape;
        if (output.info->stacked)
          shape.push_back(output.info->count);
        for (int64_t dim : output.shape)
          shape.push_back(dim);
        json.attribute(output.info->name, std::move(shape));
      }
    });
    // JSON has no NaN.
    json.attributeObject("scalars", [&] {
      for (const Output &output : outputs)
        if (output.info->kind == HEXAD_OUTPUT_SCALAR)
          json.attribute(output.info->name, std::isfinite(output.values[0])
                                                ? json::Value(output.values[0])
                                                : json::Value(nullptr));
    });
  });
  os << "\n";
}

bool hexad::isSameFile(StringRef a, StringRef b) {
  if (sys::fs::equivalent(a, b))
    return true;
  auto getPlace = [](StringRef path) {
    StringRef folder = sys::path::parent_path(path);
    SmallString<128> real;
    if (sys::fs::real_path(folder.empty() ? StringRef(".") : folder, real))
      return path.str();
    sys::path::append(real, sys::path::filename(path));
    return real.str().str();
  };
  return getPlace(a) == getPlace(b);
}
