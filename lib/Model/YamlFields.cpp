//===- YamlFields.cpp - Values under the keys of a mapping ----------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "YamlFields.h"
#include "hexad/Model/Description.h"

using namespace mlir;
using namespace hexad;

LogicalResult hexad::readString(const YamlNode &node, std::string &text) {
  if (!node.isString() || node.text.empty())
    return emitExpected(node, "a string");
  text = node.text;
  return success();
}

LogicalResult hexad::readSize(const YamlNode &node, int64_t limit,
                              int64_t &size) {
  std::optional<int64_t> found = node.getInteger();
  if (!found || *found < 1 || *found > limit)
    return emitExpected(node, "an integer from 1 to " + llvm::Twine(limit));
  size = *found;
  return success();
}

LogicalResult hexad::readSize(const YamlNode &mapping, llvm::StringRef key,
                              int64_t &size) {
  const YamlEntry *entry = mapping.find(key);
  return entry ? readSize(entry->value, maxDimension, size) : success();
}

LogicalResult hexad::readNumber(const YamlNode &mapping, llvm::StringRef key,
                                double &number) {
  const YamlEntry *entry = mapping.find(key);
  if (!entry)
    return success();
  std::optional<double> found = entry->value.getNumber();
  if (!found || *found < 0)
    return emitExpected(entry->value, "a number of at least 0");
  number = *found;
  return success();
}

LogicalResult hexad::readPositive(const YamlNode &mapping, llvm::StringRef key,
                                  double &number) {
  const YamlEntry *entry = mapping.find(key);
  if (!entry)
    return success();
  std::optional<double> found = entry->value.getNumber();
  if (!found || *found <= 0)
    return emitExpected(entry->value, "a number above 0");
  number = *found;
  return success();
}

LogicalResult hexad::readSize(const YamlNode &mapping, llvm::StringRef key,
                              std::optional<int64_t> &size) {
  return mapping.find(key) ? readSize(mapping, key, size.emplace()) : success();
}

LogicalResult hexad::readPositive(const YamlNode &mapping, llvm::StringRef key,
                                  std::optional<double> &number) {
  return mapping.find(key) ? readPositive(mapping, key, number.emplace())
                           : success();
}

LogicalResult hexad::readFlag(const YamlNode &mapping, llvm::StringRef key,
                              bool &flag) {
  const YamlEntry *entry = mapping.find(key);
  if (!entry)
    return success();
  std::optional<bool> found = entry->value.getFlag();
  if (!found)
    return emitExpected(entry->value, "true or false");
  flag = *found;
  return success();
}

LogicalResult hexad::readIdentifier(const YamlNode &node, std::string &name) {
  if (!node.isString() || !isIdentifier(node.text))
    return emitExpected(node, "a name of letters, digits and '_' that begins "
                              "with a letter and is no word of C");
  name = node.text;
  return success();
}

LogicalResult hexad::readActivation(const YamlNode &node,
                                    Activation &activation) {
  std::optional<Activation> found;
  if (node.isString())
    found = symbolizeActivation(node.text);
  if (!found)
    return emitExpected(node, "an activation");
  activation = *found;
  return success();
}

LogicalResult hexad::readGridSize(const YamlNode &node, GridSize &size) {
  if (node.kind == YamlNode::Kind::Scalar) {
    if (failed(readSize(node, maxDimension, size.height)))
      return failure();
    size.width = size.height;
    return success();
  }
  if (node.kind != YamlNode::Kind::Sequence || node.items.size() != 2)
    return emitExpected(node, "a size, or height and width");
  return success(
      succeeded(readSize(node.items[0], maxDimension, size.height)) &&
      succeeded(readSize(node.items[1], maxDimension, size.width)));
}

LogicalResult hexad::requireKey(const YamlNode &mapping, llvm::StringRef what,
                                llvm::StringRef key) {
  if (mapping.find(key))
    return success();
  return emitError(mapping.loc, what) << " needs the key '" << key << "'";
}
