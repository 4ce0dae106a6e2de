//===- GoldenVisionTest.cpp - Ops of images against golden files ----------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GoldenOps.h"

using namespace hexad;
using namespace hexad::reference;

namespace {

TEST(GoldenOps, Patchify) {
  forEachCase("patchify", [](const std::string &name,
                             const llvm::json::Object &,
                             const SafetensorsFile &file) {
    FloatTensor image = readFloats(*file.find(name + "/in/image"));
    FloatTensor weight = readFloats(*file.find(name + "/in/weight"));
    FloatTensor bias = readFloats(*file.find(name + "/in/bias"));
    const StoredTensor *want = file.find(name + "/out/output");
    const StoredTensor *pixels = file.find(name + "/out/patches");
    auto typeOf = [](const FloatTensor &tensor, bool dynamic) {
      std::string type = "tensor<";
      for (auto [dim, size] : llvm::enumerate(tensor.shape))
        type += (dynamic && dim == 0 ? "?" : std::to_string(size)) + "x";
      return type + "f32>";
    };
    std::string text = llvm::formatv(
        "func.func @f(%image: {0}, %w: {1}, %b: {2}) -> (tensor<?x?x{3}xf32>, "
        "tensor<?x?x{4}xf32>) {{\n"
        "  %s = hexad.image_segments %image {{length = {5} : i64} : {0}\n"
        "  %y = hexad.patchify %image, %w bias %b, %s : {0}, {1}, {2} -> "
        "tensor<?x{3}xf32>\n"
        "  %e = hexad.elements %s : tensor<?xi32>\n"
        "  %p = hexad.patches %e, %image {{patch = array<i64: {6}, {7}>} : "
        "tensor<?xi32>, {0} -> tensor<?x{4}xf32>\n"
        "  %0 = hexad.unpack_rows %y, %s : tensor<?x{3}xf32> -> "
        "tensor<?x?x{3}xf32>\n"
        "  %1 = hexad.unpack_rows %p, %s : tensor<?x{4}xf32> -> "
        "tensor<?x?x{4}xf32>\n"
        "  return %0, %1 : tensor<?x?x{3}xf32>, tensor<?x?x{4}xf32>\n}",
        typeOf(image, true), typeOf(weight, false), typeOf(bias, false),
        want->shape.back(), pixels->shape.back(), want->shape[1],
        weight.shape[2], weight.shape[3]);
    auto results = callForAll(text, {share(image), share(weight), share(bias)},
                              noParameters());
    ASSERT_TRUE(results) << text;
    expectGolden((*results)[0], *want);
    expectGolden((*results)[1], *pixels, /*noise=*/0);
  });
}

} // namespace
