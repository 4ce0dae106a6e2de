//===- BuilderVision.cpp - Images, their patches and positions ------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModuleBuilder.h"

using namespace mlir;
using namespace hexad;

static std::string format(GridSize size) {
  return std::to_string(size.height) + " x " + std::to_string(size.width);
}

LogicalResult hexad::setImageSize(Description &description, GridSize size,
                                  Location loc) {
  for (InputDescription &input : description.inputs)
    if (input.image) {
      input.image->size = size;
      input.sizeLoc = loc;
      return success();
    }
  return emitError(loc, "an image size is given to a model without an input of "
                        "images");
}

LogicalResult ModuleBuilder::buildImage(const InputDescription &input) {
  if (description.inputs.size() > 1)
    return emitError(input.loc, "expected an input of images to be the only "
                                "input");
  const Layer *source = nullptr;
  forEachLayer(llvm::MutableArrayRef(
                   // Only looks.
                   const_cast<Layer *>(description.layers.data()),
                   description.layers.size()),
               [&](Layer &layer, int64_t) {
                 if (!source &&
                     std::holds_alternative<PatchifyLayer>(layer.kind))
                   source = &layer;
               });
  if (!source)
    return emitError(input.loc, "no 'patchify' reads input '")
           << input.name << "'";
  const auto &layer = std::get<PatchifyLayer>(source->kind);
  const ImageShape &shape = *input.image;
  Location sizeLoc = input.sizeLoc.value_or(input.loc);
  if (shape.size.height % layer.patch.height != 0 ||
      shape.size.width % layer.patch.width != 0) {
    InFlightDiagnostic diagnostic =
        emitError(sizeLoc, "expected images in whole patches of ")
        << format(layer.patch) << " pixels, found images of "
        << format(shape.size);
    diagnostic.attachNote(source->loc) << "the patches are here";
    return diagnostic;
  }
  image = Image{{},
                {shape.size.height / layer.patch.height,
                 shape.size.width / layer.patch.width},
                layer.hasClassToken,
                layer.registers};
  int64_t elements;
  if (llvm::MulOverflow(shape.size.height, shape.size.width, elements) ||
      llvm::MulOverflow(elements, shape.channels, elements) ||
      elements > maxDimension || image->getTokens() > maxDimension)
    return emitError(sizeLoc, "expected images of fewer than 2^31 elements "
                              "and tokens");

  auto type = RankedTensorType::get({ShapedType::kDynamic, shape.channels,
                                     shape.size.height, shape.size.width},
                                    f32);
  function = func::FuncOp::create(builder, description.loc, "forward",
                                  builder.getFunctionType(type, {}));
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  image->pixels = body->getArgument(0);
  image->pixels.setLoc(input.loc);
  function.setArgAttr(0, "hexad.name", builder.getStringAttr(input.name));
  segments = ImageSegmentsOp::create(builder, input.loc,
                                     SegmentsType::get(builder.getContext()),
                                     image->pixels, image->getTokens());
  lastInput = segments.getDefiningOp();
  if (loss)
    buildLabels();
  return success();
}

Value ModuleBuilder::getPositions(Location loc) {
  if (!positions)
    positions = PositionsOp::create(
        builder, loc,
        RankedTensorType::get({ShapedType::kDynamic}, builder.getI32Type()),
        segments);
  return positions;
}

FailureOr<ModuleBuilder::Activations>
ModuleBuilder::build(Location loc, const PatchifyLayer &layer, Activations) {
  if (!image || description.inputs.front().name != layer.input)
    return emitError(loc, "expected the name of an input of images, found '")
           << layer.input << "'";
  if (hasPatches)
    return emitError(loc, "there is another 'patchify' in front of this one");
  hasPatches = true;
  Value weight = load(loc, layer.name + ".weight",
                      {layer.dim, description.inputs.front().image->channels,
                       layer.patch.height, layer.patch.width},
                      layer.tensors.weight);
  Value bias = layer.bias ? load(loc, layer.name + ".bias", {layer.dim},
                                 layer.tensors.bias)
                          : Value();
  Value x =
      PatchifyOp::create(builder, loc, getRowsType(layer.dim), image->pixels,
                         weight, bias, segments, layer.getPrefix());
  if (layer.getPrefix() > 0) {
    SmallVector<Attribute> tensors;
    if (layer.hasClassToken)
      tensors.push_back(builder.getStringAttr(layer.classToken.weight));
    if (layer.registers)
      tensors.push_back(builder.getStringAttr(layer.registerTokens.weight));
    std::string name = layer.name + ".prefix";
    Value table = load(loc, name, {layer.getPrefix(), layer.dim},
                       cast<StringAttr>(tensors.front()).getValue());
    parameters[name].setTensorsAttr(builder.getArrayAttr(tensors));
    x = PrefixRowsOp::create(builder, loc, x, getPositions(loc), table);
  }
  return Activations{x};
}

/// The table with a row for each token of an image.
FailureOr<Value>
ModuleBuilder::loadImagePositions(Location loc, const PositionsLayer &layer) {
  int64_t tokens = image->getTokens();
  positionLimit = tokens;
  if (!layer.grid && layer.entries != tokens)
    return emitError(loc, "expected a position for each of the ")
           << tokens << " tokens of an image, found " << layer.entries
           << "; 'grid' resizes them";
  std::string name = layer.name + ".weight";
  Value table = load(loc, name, {tokens, layer.dim}, layer.tensors.weight);
  if (!layer.grid || (*layer.grid == image->patches && !image->registers))
    return table;
  parameters[name].setGridAttr(builder.getDenseI64ArrayAttr(
      {image->hasClassToken, image->registers, layer.grid->height,
       layer.grid->width, image->patches.height, image->patches.width}));
  parameters[name].setAntialias(layer.antialias);
  return table;
}
