//===- GoldenExpertsTest.cpp - Mixtures of experts against golden files ---===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GoldenOps.h"

using namespace hexad;
using namespace hexad::reference;

namespace {

/// Writes a function around a route, experts and a shared expert.
class ModelText {
public:
  ModelText(const std::string &name, const SafetensorsFile &file)
      : name(name), file(file) {}

  const StoredTensor *find(const std::string &tensor) {
    return file.find(name + "/in/" + tensor);
  }

  static std::string typeOf(llvm::ArrayRef<int64_t> shape) {
    std::string text = "tensor<";
    for (int64_t size : shape)
      text += (size < 0 ? "?" : std::to_string(size)) + "x";
    return text + "f32>";
  }

  /// `%tensor`, an argument of the function.
  std::string addArgument(const std::string &tensor, FloatTensor value) {
    parameters += (parameters.empty() ? "%" : ", %") + tensor + ": " +
                  typeOf(value.shape);
    arguments.push_back(share(std::move(value)));
    return "%" + tensor;
  }

  /// `result = linear(x[rows, in], weight[out, in])`.
  static std::string linear(const std::string &result, const std::string &x,
                            const std::string &weight, int64_t in, int64_t out,
                            const std::string &bias = "") {
    return llvm::formatv(
        "  {0} = hexad.linear {1}, {2} {3} : {4}, {5}{6} -> {7}\n", result, x,
        weight, bias.empty() ? "" : "bias " + bias, typeOf({-1, in}),
        typeOf({out, in}), bias.empty() ? "" : ", " + typeOf({out}),
        typeOf({-1, out}));
  }

  /// `prefix_down(silu(prefix_gate x) · prefix_up x)`.
  static std::string gated(const std::string &prefix, const std::string &x,
                           int64_t columns, int64_t inner) {
    std::string type = typeOf({-1, inner}), values = prefix + "_y";
    return linear(values + "0", x, prefix + "_gate", columns, inner) +
           linear(values + "1", x, prefix + "_up", columns, inner) + "  " +
           values + "2 = hexad.activation silu " + values + "0 : " + type +
           "\n  " + values + "3 = hexad.multiply " + values + "2, " + values +
           "1 : " + type + "\n" +
           linear(values, values + "3", prefix + "_down", inner, columns);
  }

  const std::string &name;
  const SafetensorsFile &file;
  std::string parameters, body;
  llvm::SmallVector<RuntimeValue> arguments;
};

/// `%shared`, and in front of it the ops that compute it.
std::string addShared(ModelText &text, int64_t rows, int64_t columns) {
  int64_t inner = text.find("shared_gate")->shape[0];
  for (const char *part : {"shared_gate", "shared_up", "shared_down"})
    text.addArgument(part, readFloats(*text.find(part)));
  text.body += ModelText::gated("%shared", "%x", columns, inner);
  const StoredTensor *router = text.find("shared_router");
  if (!router)
    return "%shared_y";
  // One logit for a row, in every column of it.
  FloatTensor one = readFloats(*router), all({columns, columns});
  for (int64_t n = 0; n < columns; ++n)
    llvm::copy(one.elements, all.getRow(n).begin());
  text.addArgument("shared_router", std::move(all));
  std::string type = ModelText::typeOf({-1, columns});
  text.body +=
      ModelText::linear("%shared_logit", "%x", "%shared_router", columns,
                        columns) +
      "  %shared_open = hexad.activation sigmoid %shared_logit : " + type +
      "\n  %shared = hexad.multiply %shared_y, %shared_open : " + type + "\n";
  return "%shared";
}

/// The attributes of the route.
std::string getAttributes(const llvm::json::Object &attributes) {
  std::string order = attributes.getString("order")->str();
  std::string text =
      llvm::formatv("{{top_k = {0} : i64", *attributes.getInteger("top_k"));
  // A softmax over the chosen logits.
  if (order == "topk_softmax" ||
      attributes.getBoolean("renormalize").value_or(false))
    text += ", renormalize";
  if (auto scaling = attributes.getNumber("scaling"))
    text += ", scaling = " + exact(*scaling) + " : f64";
  for (const char *name : {"groups", "top_groups"})
    if (auto value = attributes.getInteger(name))
      text += llvm::formatv(", {0} = {1} : i64", name, *value);
  return text + "}";
}

TEST(GoldenOps, Experts) {
  forEachCase("moe", [](const std::string &name,
                        const llvm::json::Object &attributes,
                        const SafetensorsFile &file) {
    ModelText text(name, file);
    FloatTensor x = readFloats(*text.find("x"));
    int64_t rows = x.getRows(), columns = x.getColumns();
    int64_t experts = text.find("gate")->shape[0];
    int64_t inner = text.find("gate")->shape[1];
    int64_t topK = *attributes.getInteger("top_k");
    x.shape = {rows, columns};
    text.arguments.push_back(share(std::move(x)));
    std::string rowsType = ModelText::typeOf({-1, columns});
    text.parameters = "%x: " + rowsType;

    text.addArgument("router", readFloats(*text.find("router")));
    std::string routerBias;
    if (const StoredTensor *bias = text.find("router_bias"))
      routerBias = text.addArgument("router_bias", readFloats(*bias));
    text.body = ModelText::linear("%logits", "%x", "%router", columns, experts,
                                  routerBias);
    bool isSigmoid = *attributes.getString("order") == "sigmoid";
    std::string selection, selectionType;
    if (const StoredTensor *bias = text.find("selection_bias")) {
      selection = "selection_bias " +
                  text.addArgument("selection_bias", readFloats(*bias));
      selectionType = " selection_bias " + ModelText::typeOf({experts});
    }
    std::string routesType = ModelText::typeOf({-1, 2 * topK});
    text.body += llvm::formatv(
        "  %routes = hexad.route {0} %logits {1} {2} : {3}{4} -> {5}\n",
        isSigmoid ? "sigmoid" : "softmax", selection, getAttributes(attributes),
        ModelText::typeOf({-1, experts}), selectionType, routesType);
    text.body += llvm::formatv(
        "  %y = hexad.experts %x, %routes count {0} : {1}, {2} -> {1} {{\n"
        "  ^bb0(%expert: index, %rows: {1}):\n",
        experts, rowsType, routesType);
    std::string module;
    for (auto [part, out, in] :
         {std::tuple("gate", inner, columns), std::tuple("up", inner, columns),
          std::tuple("down", columns, inner)}) {
      text.body += llvm::formatv("  %e_{0} = hexad.load @{0}[%expert] : {1}\n",
                                 part, ModelText::typeOf({out, in}));
      module +=
          llvm::formatv("hexad.parameter @{0} : {1} from \"m.safetensors\" [",
                        part, ModelText::typeOf({experts, out, in}));
      for (int64_t e = 0; e < experts; ++e)
        module += (e ? ", \"" : "\"") + std::to_string(e) + part + "\"";
      module += "] {layers = " + std::to_string(experts) + " : i64}\n";
    }
    text.body += ModelText::gated("%e", "%rows", columns, inner) +
                 "  hexad.yield %e_y : " + rowsType + "\n  }\n";
    std::string result = "%y";
    if (text.find("shared_gate")) {
      std::string shared = addShared(text, rows, columns);
      text.body += "  %sum = hexad.add %y, " + shared + " : " + rowsType + "\n";
      result = "%sum";
    }
    module += "func.func @f(" + text.parameters + ") -> (" + rowsType + ", " +
              routesType + ") {\n" + text.body + "  return " + result +
              ", %routes : " + rowsType + ", " + routesType + "\n}\n";

    auto readExpert =
        [&](ParameterOp parameter,
            std::optional<int64_t> layer) -> mlir::FailureOr<FloatTensor> {
      FloatTensor all = readFloats(*text.find(parameter.getSymName().str()));
      FloatTensor one({all.shape[1], all.shape[2]});
      llvm::copy(llvm::ArrayRef(all.elements)
                     .slice(*layer * one.elements.size(), one.elements.size()),
                 one.elements.begin());
      return one;
    };
    auto results = callForAll(module, text.arguments, readExpert);
    ASSERT_TRUE(results) << module;
    expectGolden((*results)[0], *file.find(name + "/out/output"));

    const FloatTensor &routes = (*results)[1];
    IntegerTensor chosen = readIntegers(*file.find(name + "/out/experts"));
    FloatTensor weights({rows, topK});
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t rank = 0; rank < topK; ++rank) {
        EXPECT_EQ(routes.getRow(row)[rank], chosen.getRow(row)[rank])
            << row << " " << rank;
        weights.getRow(row)[rank] = routes.getRow(row)[topK + rank];
      }
    expectGolden(weights, *file.find(name + "/out/weights"));
  });
}

} // namespace
