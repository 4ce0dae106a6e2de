//===- DescriptionReader.cpp - YAML descriptions --------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DescriptionReader.h"
#include "Family.h"
#include "LayerReader.h"
#include "TextFile.h"
#include "YamlFields.h"
#include "hexad/Model/Json.h"
#include "hexad/Model/SourceDiagnostics.h"

using namespace mlir;
using namespace hexad;

/// Far more than any model needs; YAML is slow to read.
static constexpr uint64_t maxBytes = 4 << 20;

using Kind = YamlNode::Kind;

namespace {

/// Reads the tree of a description, part by part.
class DescriptionReader {
public:
  explicit DescriptionReader(Description &description)
      : description(description) {}

  LogicalResult read(const YamlNode &root);

  const Family *family = nullptr;  ///< of `names`; null if not given
  std::vector<std::string> unused; ///< globs of tensors

private:
  LogicalResult readInputs(const YamlNode &node);
  LogicalResult readInput(const YamlEntry &entry);
  LogicalResult readInputType(const YamlNode &node, InputDescription &input);
  LogicalResult readWeights(const YamlNode &node);

  Description &description;
};

} // namespace

//===----------------------------------------------------------------------===//
// Inputs and weights
//===----------------------------------------------------------------------===//

LogicalResult DescriptionReader::readInputType(const YamlNode &node,
                                               InputDescription &input) {
  std::string type = node.text;
  llvm::erase(type, ' ');
  llvm::StringRef sizes = type;
  if (node.isString() && type == "i32[batch,seq]")
    return success();
  SmallVector<llvm::StringRef> parts;
  if (node.isString() && sizes.consume_front("f32[batch,") &&
      sizes.consume_back("]"))
    sizes.split(parts, ',');
  SmallVector<int64_t> numbers;
  for (llvm::StringRef part : parts) {
    int64_t number;
    if (!part.getAsInteger(10, number) && number > 0 && number <= maxDimension)
      numbers.push_back(number);
  }
  if (parts.size() != 3 || numbers.size() != 3)
    return emitExpected(node, "the type \"i32[batch, seq]\", or \"f32[batch, "
                              "CHANNELS, HEIGHT, WIDTH]\" with numbers");
  input.image = ImageShape{numbers[0], {numbers[1], numbers[2]}};
  return success();
}

LogicalResult DescriptionReader::readInput(const YamlEntry &entry) {
  InputDescription input{entry.key, entry.keyLoc};
  if (!isIdentifier(entry.key))
    return emitError(entry.keyLoc,
                     "expected a name of letters, digits and '_' that begins "
                     "with a letter and is no word of C, found ")
           << quoteName(entry.key);
  const YamlNode &value = entry.value;
  if (value.kind != Kind::Mapping) {
    if (failed(readInputType(value, input)))
      return failure();
    description.inputs.push_back(input);
    return success();
  }
  if (failed(checkKeys(value, "an input", {"type", "mask", "optional"})) ||
      failed(requireKey(value, "an input", "type")) ||
      failed(readInputType(value.find("type")->value, input)) ||
      failed(readFlag(value, "mask", input.isMask)) ||
      failed(readFlag(value, "optional", input.optional)))
    return failure();
  if (input.image && (input.isMask || input.optional))
    return emitError(entry.keyLoc, "an input of images can be neither a mask "
                                   "nor optional");
  description.inputs.push_back(input);
  return success();
}

LogicalResult DescriptionReader::readInputs(const YamlNode &node) {
  if (node.kind != Kind::Mapping || node.entries.empty())
    return emitExpected(node, "a mapping of names to types");
  for (const YamlEntry &entry : node.entries)
    if (failed(readInput(entry)))
      return failure();
  return success();
}

LogicalResult DescriptionReader::readWeights(const YamlNode &node) {
  if (failed(checkKeys(node, "weights", {"file", "names", "unused"})) ||
      failed(requireKey(node, "weights", "file")) ||
      failed(readString(node.find("file")->value, description.weightsFile)))
    return failure();
  if (const YamlEntry *names = node.find("names")) {
    std::string known;
    for (const Family *candidate : getFamilies()) {
      if (names->value.isString() &&
          candidate->names.family == names->value.text)
        family = candidate;
      known += (known.empty() ? "" : ", ") + candidate->names.family.str();
    }
    if (!family)
      return emitExpected(names->value, "one of " + known);
  }
  const YamlEntry *globs = node.find("unused");
  if (!globs)
    return success();
  if (globs->value.kind != Kind::Sequence)
    return emitExpected(globs->value, "a sequence of tensors' names");
  for (const YamlNode &item : globs->value.items)
    if (failed(readString(item, unused.emplace_back())))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

LogicalResult DescriptionReader::read(const YamlNode &root) {
  constexpr llvm::StringLiteral what = "a model's description";
  if (failed(checkKeys(
          root, what,
          {"name", "inputs", "weights", "layers", "hidden_after_norm"})))
    return failure();
  for (llvm::StringRef key : {"name", "inputs", "weights", "layers"})
    if (failed(requireKey(root, what, key)))
      return failure();
  description.loc = root.find("name")->keyLoc;
  return success(
      succeeded(readIdentifier(root.find("name")->value, description.name)) &&
      succeeded(readInputs(root.find("inputs")->value)) &&
      succeeded(readWeights(root.find("weights")->value)) &&
      succeeded(
          readFlag(root, "hidden_after_norm", description.hiddenAfterNorm)) &&
      succeeded(LayerReader().readLayers(root.find("layers")->value,
                                         description.layers)));
}

/// A tensor that nothing reads is a layer that was forgotten.
static LogicalResult checkUnreadTensors(ModuleOp module,
                                        const TensorSource &source,
                                        llvm::ArrayRef<std::string> unused,
                                        Location loc) {
  for (llvm::StringRef name : findUnreadTensors(module, source))
    if (llvm::none_of(unused, [&](llvm::StringRef glob) {
          return matchesGlob(name, glob);
        }))
      return emitError(loc, "no layer reads the stored tensor ")
             << quoteName(name) << "; name it under 'unused' if this is meant";
  return success();
}

OwningOpRef<ModuleOp> hexad::readDescription(llvm::StringRef path,
                                             const ReadOptions &options,
                                             TensorSources &tensors,
                                             llvm::SourceMgr &sources,
                                             MLIRContext *context) {
  std::optional<llvm::StringRef> text =
      openTextFile(path, maxBytes, sources, context);
  if (!text)
    return nullptr;
  std::optional<YamlNode> root = readYaml(*text, path, context);
  if (!root)
    return nullptr;
  Description description{"", root->loc, {}, {}, {}};
  DescriptionReader reader(description);
  if (failed(reader.read(*root)))
    return nullptr;
  if (options.imageSize &&
      failed(setImageSize(description, *options.imageSize,
                          getOptionLoc(context, "--image-size"))))
    return nullptr;
  Location weightsLoc = root->find("weights")->value.find("file")->value.loc;
  llvm::Expected<const TensorSource *> source =
      tensors.get(description.weightsFile);
  if (!source) {
    emitError(weightsLoc, llvm::toString(source.takeError()));
    return nullptr;
  }
  const FamilyNames *names = reader.family ? &reader.family->names : nullptr;
  if (failed(resolveTensorNames(description, names, **source)))
    return nullptr;
  OwningOpRef<ModuleOp> module =
      buildModule(description, options.outputs, context);
  if (!module || failed(verifyParameterSources(*module, tensors)) ||
      failed(checkUnreadTensors(*module, **source, reader.unused, weightsLoc)))
    return nullptr;
  return module;
}
