//===- TensorNames.cpp - Which stored tensor a layer reads ----------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorNames.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace hexad;

std::string hexad::expandTensorName(llvm::StringRef stored, int64_t iteration,
                                    int64_t expert) {
  std::string name;
  while (!stored.empty()) {
    if (stored.consume_front("{i}")) {
      name += std::to_string(iteration);
    } else if (stored.consume_front("{e}")) {
      name += std::to_string(expert);
    } else {
      name += stored.front();
      stored = stored.drop_front();
    }
  }
  return name;
}

bool hexad::matchesGlob(llvm::StringRef name, llvm::StringRef glob) {
  auto [head, tail] = glob.split('*');
  if (head.size() == glob.size())
    return name == glob;
  if (!name.consume_front(head))
    return false;
  // The piece behind a star: earliest match first, the last one at the end.
  while (true) {
    auto [piece, rest] = tail.split('*');
    if (piece.size() == tail.size())
      return name.ends_with(piece);
    size_t at = name.find(piece);
    if (at == llvm::StringRef::npos)
      return false;
    name = name.drop_front(at + piece.size());
    tail = rest;
  }
}

std::vector<llvm::StringRef>
hexad::findUnreadTensors(ModuleOp module, const TensorSource &source) {
  llvm::StringSet<> read;
  for (auto parameter : module.getOps<ParameterOp>())
    for (auto name : parameter.getTensors().getAsValueRange<StringAttr>())
      read.insert(name);
  std::vector<llvm::StringRef> unread;
  for (llvm::StringRef name : source.getNames())
    if (!read.contains(name))
      unread.push_back(name);
  return unread;
}

namespace {

/// Finds the names of a description's tensors in a family's table.
class NameResolver {
public:
  NameResolver(const FamilyNames *family, const TensorSource &source)
      : family(family), source(source) {
    // Base models are published with and without the prefix.
    hasPrefix =
        family && llvm::any_of(source.getNames(), [&](llvm::StringRef name) {
          return name.starts_with(family->prefix);
        });
  }

  /// Fills in the open names of one layer. `bias` says whether it has one,
  /// `iteration` is the first in which it is used.
  LogicalResult resolve(Location loc, llvm::StringRef layer, int64_t iteration,
                        bool bias, TensorNames &names) {
    // What stands in a description is whole, unless a family completes it.
    bool isKnown = family && llvm::any_of(family->stems, [&](auto &stem) {
                     return stem.layer == layer;
                   });
    if (bias && !isKnown && names.weight.empty() != names.bias.empty()) {
      bool isBias = names.bias.empty();
      return emitError(loc, "expected 'tensors' of '")
             << layer << "' to name 'weight' and 'bias', found "
             << (isBias ? "'weight'" : "'bias'") << " alone, '"
             << (isBias ? names.weight : names.bias) << "'";
    }
    if (names.weight.empty() &&
        failed(find(loc, layer, iteration, {".weight", ".gamma", ""},
                    names.weight)))
      return failure();
    if (bias && names.bias.empty())
      return find(loc, layer, iteration, {".bias", ".beta", "_bias"},
                  names.bias);
    return success();
  }

  /// The same for a lone tensor, whose name is the stem.
  LogicalResult resolveBare(Location loc, llvm::StringRef layer,
                            int64_t iteration, TensorNames &names) {
    if (!names.weight.empty())
      return success();
    return find(loc, layer, iteration, {"", ".weight", ".gamma"}, names.weight);
  }

  /// Whether a tensor is stored for a layer.
  bool isStored(llvm::StringRef layer, int64_t iteration) {
    return family && llvm::any_of(family->stems, [&](const NameStem &stem) {
             std::string name = expandTensorName(getBase(stem), iteration);
             return stem.layer == layer &&
                    (source.find(name) || source.find(name + ".weight"));
           });
  }

  /// Checks that the table of a tied layer, where it is stored as well, is that
  /// of the embedding.
  LogicalResult checkTied(Location loc, llvm::StringRef layer,
                          llvm::StringRef embedding) {
    if (!family)
      return success();
    for (const NameStem &stem : family->stems) {
      std::string name = getBase(stem) + ".weight";
      const StoredTensor *own = source.find(name);
      const StoredTensor *table = source.find(embedding);
      if (stem.layer == layer && own && table &&
          (own->type != table->type || own->shape != table->shape ||
           own->bytes != table->bytes))
        return emitError(loc, "the stored tensor '")
               << name << "' differs from '" << embedding
               << "', to which it is tied";
    }
    return success();
  }

private:
  std::string getBase(const NameStem &stem) const {
    return (hasPrefix && stem.isInBase ? family->prefix.str() : "") +
           stem.stem.str();
  }

  /// The first name that is stored of those that the table and the spellings of
  /// the suffix (the second is that of the oldest checkpoints, the third that
  /// of fused experts) give.
  LogicalResult find(Location loc, llvm::StringRef layer, int64_t iteration,
                     std::array<llvm::StringLiteral, 3> suffixes,
                     std::string &name) {
    if (!family)
      return emitError(loc, "layer '")
             << layer << "' needs 'tensors', or the weights need 'names'";
    for (const NameStem &stem : family->stems) {
      if (stem.layer != layer)
        continue;
      std::string base = getBase(stem);
      for (llvm::StringRef suffix : suffixes) {
        std::string candidate = base + suffix.str();
        if (source.find(expandTensorName(candidate, iteration))) {
          name = candidate;
          return success();
        }
      }
      // Missing: what the diagnostic of the parameter will name.
      name = base + suffixes[0].str();
    }
    if (!name.empty())
      return success();
    InFlightDiagnostic diagnostic = emitError(loc, "the names of '")
                                    << family->family << "' know no layer '"
                                    << layer << "'; expected one of ";
    llvm::StringRef previous;
    for (const NameStem &stem : family->stems) {
      if (stem.layer == previous)
        continue;
      diagnostic << (previous.empty() ? "'" : ", '") << stem.layer << "'";
      previous = stem.layer;
    }
    return diagnostic;
  }

  const FamilyNames *family;
  const TensorSource &source;
  bool hasPrefix;
};

} // namespace

LogicalResult hexad::resolveTensorNames(Description &description,
                                        const FamilyNames *family,
                                        const TensorSource &source) {
  NameResolver resolver(family, source);
  llvm::StringMap<std::string> tables;
  LogicalResult result = success();
  auto visit = [&](Layer &layer, int64_t iteration) {
    if (failed(result))
      return;
    auto resolve = [&](const llvm::Twine &name, bool bias, TensorNames &names) {
      if (succeeded(result))
        result =
            resolver.resolve(layer.loc, name.str(), iteration, bias, names);
    };
    auto resolveBare = [&](const llvm::Twine &name, TensorNames &names) {
      if (succeeded(result))
        result = resolver.resolveBare(layer.loc, name.str(), iteration, names);
    };
    if (auto *embedding = std::get_if<EmbeddingLayer>(&layer.kind)) {
      resolve(embedding->name, false, embedding->tensors);
      tables[embedding->name] = embedding->tensors.weight;
    } else if (auto *positions = std::get_if<PositionsLayer>(&layer.kind)) {
      resolve(positions->name, false, positions->tensors);
    } else if (auto *patches = std::get_if<PatchifyLayer>(&layer.kind)) {
      resolve(patches->name, patches->bias, patches->tensors);
      if (patches->hasClassToken)
        resolveBare(patches->name + ".class_token", patches->classToken);
      if (patches->registers)
        resolveBare(patches->name + ".registers", patches->registerTokens);
    } else if (auto *norm = std::get_if<LayerNormLayer>(&layer.kind)) {
      resolve(norm->name, norm->bias, norm->tensors);
    } else if (auto *norm = std::get_if<RmsNormLayer>(&layer.kind)) {
      if (norm->weight)
        resolve(norm->name, false, norm->tensors);
    } else if (auto *gated = std::get_if<GatedLayer>(&layer.kind)) {
      if (gated->fused) {
        resolve(gated->name + ".gate_up", gated->bias, gated->gateUp);
      } else {
        resolve(gated->name + ".gate", gated->bias, gated->gate);
        resolve(gated->name + ".up", gated->bias, gated->up);
      }
      resolve(gated->name + ".down", gated->bias, gated->down);
    } else if (auto *linear = std::get_if<LinearLayer>(&layer.kind)) {
      if (!linear->tied.empty()) {
        auto table = tables.find(linear->tied);
        if (table == tables.end()) {
          result = emitError(layer.loc, "expected 'tied' to name an embedding "
                                        "in front of this layer, found '")
                   << linear->tied << "'";
          return;
        }
        linear->tensors.weight = table->second;
        if (failed(result = resolver.checkTied(layer.loc, linear->name,
                                               table->second)))
          return;
      }
      resolve(linear->name, linear->bias, linear->tensors);
    } else if (auto *scale = std::get_if<ScaleColumnsLayer>(&layer.kind)) {
      resolve(scale->name, false, scale->tensors);
    } else if (auto *input = std::get_if<PerLayerInputLayer>(&layer.kind)) {
      resolve(input->name + ".gate", false, input->gate);
      resolve(input->name + ".projection", false, input->projection);
      resolve(input->name + ".table", false, input->table);
      resolve(input->name + ".context", false, input->context);
      resolve(input->name + ".norm", false, input->norm);
    } else if (auto *attention = std::get_if<AttentionLayer>(&layer.kind)) {
      if (attention->fused == FusedLayout::None) {
        resolve(attention->name + ".query", attention->bias, attention->query);
        if (!attention->keysOf)
          resolve(attention->name + ".key", attention->bias, attention->key);
        if (!attention->keysOf && !attention->valueFromKey)
          resolve(attention->name + ".value", attention->bias,
                  attention->value);
      } else {
        resolve(attention->name + ".qkv", attention->bias, attention->qkv);
      }
      if (attention->qkNorm != QkNorm::None) {
        resolve(attention->name + ".query_norm", false, attention->queryNorm);
        if (!attention->keysOf)
          resolve(attention->name + ".key_norm", false, attention->keyNorm);
      }
      resolve(attention->name + ".output",
              attention->outputBias.value_or(attention->bias),
              attention->output);
    } else if (auto *experts = std::get_if<MoeLayer>(&layer.kind)) {
      RouterDescription &router = experts->router;
      const std::string &name = experts->name;
      resolve(name + ".router", router.bias, router.linear);
      if (router.selectionBias)
        resolve(name + ".router.selection_bias", false, router.selection);
      if (router.expertScale)
        resolve(name + ".router.expert_scale", false, router.scale);
      if (experts->layout == GateLayout::AsStored)
        experts->layout = resolver.isStored(name + ".gate_up", iteration)
                              ? GateLayout::Blocks
                              : GateLayout::Separate;
      if (experts->layout == GateLayout::Separate) {
        resolve(name + ".gate", experts->bias, experts->gate);
        resolve(name + ".up", experts->bias, experts->up);
      } else {
        resolve(name + ".gate_up", experts->bias, experts->gateUp);
      }
      resolve(name + ".down", experts->bias, experts->down);
      if (experts->shared) {
        SharedExpert &shared = *experts->shared;
        resolve(name + ".shared.gate", false, shared.gate);
        resolve(name + ".shared.up", false, shared.up);
        resolve(name + ".shared.down", false, shared.down);
        if (shared.gated)
          resolve(name + ".shared.router", false, shared.router);
      }
    }
  };
  forEachLayer(description.layers, visit);
  return result;
}
