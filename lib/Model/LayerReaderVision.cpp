//===- LayerReaderVision.cpp - Layers of images ---------------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerReader.h"
#include "YamlFields.h"

using namespace mlir;
using namespace hexad;

LogicalResult LayerReader::read(const YamlEntry &entry, PatchifyLayer &layer) {
  const YamlNode &fields = entry.value;
  layer.dim = termColumns.value_or(0);
  if (failed(checkKeys(fields, entry.key,
                       {"name", "input", "patch", "dim", "bias", "class_token",
                        "registers", "tensors"})) ||
      failed(requireKey(fields, entry.key, "input")) ||
      failed(requireKey(fields, entry.key, "patch")) ||
      failed(readName(entry, layer.name)) ||
      failed(readIdentifier(fields.find("input")->value, layer.input)) ||
      failed(readGridSize(fields.find("patch")->value, layer.patch)) ||
      failed(readSize(fields, "dim", layer.dim)) ||
      failed(readFlag(fields, "bias", layer.bias)) ||
      failed(readFlag(fields, "class_token", layer.hasClassToken)) ||
      failed(readSize(fields, "registers", layer.registers)))
    return failure();
  if (!layer.dim)
    return requireKey(fields, entry.key, "dim");
  const YamlEntry *tensors = fields.find("tensors");
  if (!tensors)
    return success();
  const YamlNode &names = tensors->value;
  llvm::SmallVector<llvm::StringRef> keys = {"projection"};
  if (layer.hasClassToken)
    keys.push_back("class_token");
  if (layer.registers)
    keys.push_back("registers");
  if (failed(checkKeys(names, "tensors", keys)))
    return failure();
  for (llvm::StringRef key : keys)
    if (failed(requireKey(names, "tensors", key)))
      return failure();
  if (failed(
          readTensors(names, "projection", true, layer.bias, layer.tensors)) ||
      (layer.hasClassToken &&
       failed(readTensorName(names.find("class_token")->value,
                             layer.classToken.weight))))
    return failure();
  return layer.registers ? readTensorName(names.find("registers")->value,
                                          layer.registerTokens.weight)
                         : success();
}
