//===- Decoder.cpp - A small language model for tests ---------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "llvm/Support/FormatVariadic.h"

using namespace hexad::test;
using llvm::formatv;

namespace {

/// Writes the text of a model of 40 columns, 4 heads and 2 KV heads of 20.
class DecoderWriter {
public:
  explicit DecoderWriter(bool maps) : maps(maps) {}

  std::string write() {
    line("%segments = hexad.segments %attention_mask : tensor<?x?xi32>");
    line("%ids = hexad.pack_rows %input_ids, %segments : tensor<?x?xi32> -> "
         "tensor<?xi32>");
    line("%positions = hexad.positions %segments : tensor<?xi32>");
    line("%rotary = hexad.rotary %positions {inv_freq = array<f32: 1.0, 0.6, "
         "0.36, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.001>} : tensor<?xi32> -> "
         "tensor<?x20xf32>");
    line("%partial = hexad.rotary %positions {inv_freq = array<f32: 0.9, 0.3, "
         "0.07>, attention_factor = 1.1 : f64} : tensor<?xi32> -> "
         "tensor<?x6xf32>");
    std::string table = load("table", "97x40");
    line("%x0 = hexad.embedding %ids, " + table +
         " : tensor<?xi32>, tensor<97x40xf32> -> tensor<?x40xf32>");
    line("%c0 = arith.constant 0 : index");
    line("%c1 = arith.constant 1 : index");
    line("%c3 = arith.constant 3 : index");
    if (maps) {
      line("%m0 = hexad.empty_maps %segments : " + mapsType);
      line("%y, %m1 = scf.for %layer = %c0 to %c3 step %c1 iter_args(%x = %x0, "
           "%m = %m0) -> (tensor<?x40xf32>, " +
           mapsType + ") {");
    } else {
      line("%y = scf.for %layer = %c0 to %c3 step %c1 iter_args(%x = %x0) -> "
           "(tensor<?x40xf32>) {");
    }
    layers = 3;
    caches += "  hexad.cache @all {layers = 3 : i64, kv_heads = 2 : i64, "
              "head_dim = 20 : i64}\n";
    lastMaps = "%m";
    std::string x = layer("%x", "half", "%rotary", "20", "@all[%layer]", "",
                          "%layer", true);
    if (maps)
      line("scf.yield " + x + ", " + lastMaps + " : tensor<?x40xf32>, " +
           mapsType);
    else
      line("scf.yield " + x + " : tensor<?x40xf32>");
    line("}");
    lastMaps = "%m1";
    layers = 0;
    caches += "  hexad.cache @near {kv_heads = 2 : i64, head_dim = 20 : i64, "
              "window = 40 : i64}\n";
    std::string z =
        layer("%y", "interleaved", "%partial", "6", "@near",
              "window = 40 : i64, softcap = 3.0 : f64, ", "%c3", false);
    std::string n = norm(z, 40, 1);
    line("%wanted = hexad.select_rows " + n +
         ", %segments : tensor<?x40xf32> -> tensor<?x40xf32>");
    line("%logits = hexad.linear %wanted, " + table +
         " : tensor<?x40xf32>, tensor<97x40xf32> -> tensor<?x97xf32>");
    line("%rectangle = hexad.unpack_rows %logits, %segments : "
         "tensor<?x97xf32> -> tensor<?x?x97xf32>");
    if (maps)
      line("return %rectangle, " + lastMaps + " : tensor<?x?x97xf32>, " +
           mapsType);
    else
      line("return %rectangle : tensor<?x?x97xf32>");
    return "module @decoder {\n" + parameters + caches +
           "  func.func @forward(%input_ids: tensor<?x?xi32> {hexad.name = "
           "\"input_ids\", hexad.limit = 97 : i64},\n"
           "      %attention_mask: tensor<?x?xi32> {hexad.name = "
           "\"attention_mask\", hexad.optional})\n"
           "      -> (tensor<?x?x97xf32> {hexad.name = \"logits\"}" +
           (maps ? ", " + mapsType +
                       " {hexad.name = \"attention\", hexad.stacked}"
                 : "") +
           ") {\n" + body + "  }\n}\n";
  }

private:
  void line(const std::string &text) { body += "    " + text + "\n"; }
  std::string value() { return "%v" + std::to_string(next++); }

  std::string load(const std::string &kind, const std::string &shape) {
    std::string name = kind + std::to_string(next++), tensors = "\"" + name;
    for (int64_t i = 1; i < layers; ++i)
      tensors += formatv(".{0}\", \"{1}", i - 1, name).str();
    if (layers)
      tensors += "." + std::to_string(layers - 1);
    parameters += formatv("  hexad.parameter @{0} : tensor<{1}{2}xf32> from "
                          "\"model.safetensors\" [{3}\"]{4}\n",
                          name, layers ? std::to_string(layers) + "x" : "",
                          shape, tensors, layers ? " {layers = 3 : i64}" : "");
    std::string result = value();
    line(result + " = hexad.load @" + name + (layers ? "[%layer]" : "") +
         " : tensor<" + shape + "xf32>");
    return result;
  }

  std::string linear(const std::string &x, int64_t in, int64_t out) {
    std::string weight = load("matrix", formatv("{0}x{1}", out, in));
    std::string result = value();
    line(formatv("{0} = hexad.linear {1}, {2} : tensor<?x{3}xf32>, "
                 "tensor<{4}x{3}xf32> -> tensor<?x{4}xf32>",
                 result, x, weight, in, out));
    return result;
  }

  std::string norm(const std::string &x, int64_t columns, int64_t groups) {
    std::string weight = load("gain", std::to_string(columns / groups));
    std::string result = value();
    line(formatv("{0} = hexad.rms_norm {1} weight {2} eps 1.0e-6 {{groups = "
                 "{3} : i64} : tensor<?x{4}xf32>, tensor<{5}xf32>",
                 result, x, weight, groups, columns, columns / groups));
    return result;
  }

  std::string rope(const std::string &x, int64_t heads,
                   const std::string &pairing, const std::string &table,
                   const std::string &rotated) {
    std::string result = value();
    line(formatv("{0} = hexad.rope {1} {2}, {3} {{heads = {4} : i64, head_dim "
                 "= 20 : i64} : tensor<?x{5}xf32>, tensor<?x{6}xf32>",
                 result, pairing, x, table, heads, heads * 20, rotated));
    return result;
  }

  std::string add(const std::string &lhs, const std::string &rhs) {
    std::string result = value();
    line(result + " = hexad.add " + lhs + ", " + rhs + " : tensor<?x40xf32>");
    return result;
  }

  std::string layer(const std::string &x, const std::string &pairing,
                    const std::string &table, const std::string &rotated,
                    const std::string &cache, const std::string &mask,
                    const std::string &number, bool normsHeads) {
    std::string n = norm(x, 40, 1);
    std::string q = linear(n, 40, 80), k = linear(n, 40, 40),
                v = linear(n, 40, 40);
    if (normsHeads) {
      q = norm(q, 80, 4);
      k = norm(k, 40, 2);
    }
    q = rope(q, 4, pairing, table, rotated);
    k = rope(k, 2, pairing, table, rotated);
    std::string a = value();
    line(formatv("{0} = hexad.attention {1}, {2}, {3}, %segments cache {4} "
                 "{{causal, {5}heads = 4 : i64, kv_heads = 2 : i64, head_dim = "
                 "20 : i64, scale = 0.2236068 : f64} : tensor<?x80xf32>, "
                 "tensor<?x40xf32>, tensor<?x40xf32> -> tensor<?x80xf32>",
                 a, q, k, v, cache, mask));
    if (maps) {
      // Names of weights count values: those of a model without maps.
      std::string m = lastMaps + "x";
      line(formatv("{0} = hexad.attention_map {1}, {2}, %segments into {3}[{4}]"
                   " {{causal, {5}heads = 4 : i64, kv_heads = 2 : i64, head_dim"
                   " = 20 : i64, scale = 0.2236068 : f64} : tensor<?x80xf32>, "
                   "tensor<?x40xf32>, {6}",
                   m, q, k, lastMaps, number, mask, mapsType));
      lastMaps = m;
    }
    std::string r = add(linear(a, 80, 40), x);
    std::string m = norm(r, 40, 1);
    std::string gate = linear(m, 40, 70), silu = value();
    line(silu + " = hexad.activation silu " + gate + " : tensor<?x70xf32>");
    std::string up = linear(m, 40, 70), product = value();
    line(product + " = hexad.multiply " + silu + ", " + up +
         " : tensor<?x70xf32>");
    return add(linear(product, 70, 40), r);
  }

  bool maps;
  const std::string mapsType = "tensor<4x?x4x?x?xf32>";
  std::string lastMaps; ///< the stack so far
  unsigned next = 0;
  int64_t layers = 0; ///< of the loop around; 0 outside
  std::string parameters, caches, body;
};

} // namespace

std::string hexad::test::getDecoderText(bool maps) {
  return DecoderWriter(maps).write();
}
