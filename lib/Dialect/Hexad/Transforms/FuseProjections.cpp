//===- FuseProjections.cpp - One product for query, key and value ---------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "hexad/Dialect/Hexad/Transforms/Passes.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace hexad;

namespace hexad {
#define GEN_PASS_DEF_FUSEPROJECTIONSPASS
#include "hexad/Dialect/Hexad/Transforms/Passes.h.inc"
} // namespace hexad

/// A parameter that holds, layer by layer, the rows of the given ones.
static ParameterOp concatenate(ArrayRef<ParameterOp> parts, StringRef name,
                               SymbolTable &symbols) {
  ParameterOp first = parts.front();
  SmallVector<int64_t> shape(first.getTensorType().getShape());
  unsigned rowDim = first.getLayers() ? 1 : 0;
  shape[rowDim] = 0;
  for (ParameterOp part : parts)
    shape[rowDim] += part.getTensorType().getDimSize(rowDim);

  SmallVector<Attribute> picks;
  if (first.getPicks())
    for (ParameterOp part : parts)
      llvm::append_range(picks, *part.getPicks());

  SmallVector<Attribute> tensors;
  int64_t stacks = first.getLayerCount() / first.getMemberCount();
  for (int64_t layer = 0; layer < stacks; ++layer)
    for (ParameterOp part : parts) {
      int64_t count = part.getPartsPerLayer();
      auto names = part.getTensors().getValue().slice(layer * count, count);
      tensors.append(names.begin(), names.end());
    }
  OpBuilder builder(first);
  auto fused = cast<ParameterOp>(builder.clone(*first));
  fused.setSymName(name);
  fused.setType(
      RankedTensorType::get(shape, first.getTensorType().getElementType()));
  fused.setTensorsAttr(builder.getArrayAttr(tensors));
  if (!picks.empty())
    fused.setPicksAttr(builder.getArrayAttr(picks));
  symbols.insert(fused); // Renames if the name is taken.
  return fused;
}

namespace {
/// A projection, and what is done to columns of it before attention: norms of
/// heads and rotation, in order.
struct Projection {
  LinearOp linear;
  SmallVector<Operation *> ops;

  /// Follows an operand of an attention back to the linear op. Nothing else but
  /// `maps` maps of the attention uses it.
  static FailureOr<Projection> match(Value operand, size_t maps) {
    Projection result;
    Operation *op = operand.getDefiningOp();
    size_t uses = 1 + maps;
    while (op && op->getResult(0).hasNUses(uses) &&
           isa<RmsNormOp, RopeOp>(op)) {
      result.ops.insert(result.ops.begin(), op);
      op = op->getOperand(0).getDefiningOp();
      uses = 1;
    }
    result.linear = dyn_cast_or_null<LinearOp>(op);
    if (!result.linear || !result.linear.getResult().hasNUses(uses))
      return failure();
    return result;
  }
};

/// The three projections of an attention, if they can be one.
struct Projections {
  Projection parts[3];
  SmallVector<AttentionMapOp> maps; ///< of the same query and key

  static FailureOr<Projections> match(AttentionOp attention) {
    Value operands[] = {attention.getQuery(), attention.getKey(),
                        attention.getValue()};
    Projections result;
    for (Operation *user : attention.getQuery().getUsers())
      if (auto map = dyn_cast<AttentionMapOp>(user);
          map && map.getQuery() == attention.getQuery() &&
          map.getKey() == attention.getKey() &&
          map->getBlock() == attention->getBlock() &&
          attention->isBeforeInBlock(map))
        result.maps.push_back(map);
    for (auto [operand, part] : llvm::zip(operands, result.parts)) {
      bool isValue = operand == attention.getValue();
      FailureOr<Projection> projection =
          Projection::match(operand, isValue ? 0 : result.maps.size());
      if (failed(projection))
        return failure();
      part = *projection;
    }
    LinearOp query = result.parts[0].linear;
    for (const Projection &part : result.parts) {
      LinearOp linear = part.linear;
      if (linear.getX() != query.getX() ||
          !linear.getBias() != !query.getBias() ||
          linear->getBlock() != query->getBlock())
        return failure();
    }
    return result;
  }

  /// The loads of the weights (or biases), if their parameters agree in all but
  /// the number of rows.
  FailureOr<SmallVector<LoadOp>> getLoads(bool bias, SymbolTable &symbols) {
    SmallVector<LoadOp> loads;
    ParameterOp first;
    for (const Projection &part : parts) {
      LinearOp linear = part.linear;
      auto load = (bias ? linear.getBias() : linear.getWeight())
                      .getDefiningOp<LoadOp>();
      if (!load)
        return failure();
      auto parameter = symbols.lookup<ParameterOp>(load.getParameter());
      if (!first)
        first = parameter;
      if (parameter.getFile() != first.getFile() ||
          parameter.getLayers() != first.getLayers() ||
          parameter.getTransposed() != first.getTransposed() ||
          parameter.getMembers() != first.getMembers() ||
          !parameter.getPicks() != !first.getPicks() ||
          parameter.getColumns() != first.getColumns() ||
          parameter.getStorage() != first.getStorage() ||
          parameter.getPanel() ||
          load.getLayer() != (loads.empty() ? load : loads[0]).getLayer())
        return failure();
      loads.push_back(load);
    }
    return loads;
  }
};

struct FuseProjectionsPass
    : hexad::impl::FuseProjectionsPassBase<FuseProjectionsPass> {
  using FuseProjectionsPassBase::FuseProjectionsPassBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<AttentionOp> attentions;
    getOperation().walk([&](AttentionOp op) { attentions.push_back(op); });
    for (AttentionOp attention : attentions)
      // A query alone needs no fusing.
      if (attention.getKey() && failed(fuse(attention, symbols)))
        remark::missed(attention.getLoc(),
                       remark::RemarkOpts::name("ProjectionsNotFused")
                           .category("hexad-fuse-projections"))
            << "query, key and value are not three linear ops on the same rows "
               "with parameters of the same kind";
    eraseUnusedParameters(symbols);
  }

private:
  /// Loads the concatenation of what `loads` load.
  Value loadFused(OpBuilder &builder, ArrayRef<LoadOp> loads,
                  SymbolTable &symbols) {
    SmallVector<ParameterOp> parts;
    for (LoadOp load : loads)
      parts.push_back(symbols.lookup<ParameterOp>(load.getParameter()));
    LoadOp first = loads.front();
    auto key = std::make_tuple(parts[0].getOperation(), parts[1].getOperation(),
                               parts[2].getOperation());
    ParameterOp &fused = fusedParameters[key];
    if (!fused) {
      std::string name = parts[0].getSymName().str();
      size_t query = name.find("query");
      if (query != std::string::npos)
        name.replace(query, 5, "query_key_value");
      else
        name += ".key_value";
      fused = concatenate(parts, name, symbols);
    }
    return LoadOp::create(builder, first.getLoc(), fused.getLayerType(),
                          fused.getSymName(), first.getLayer());
  }

  static int64_t getColumns(const Projection &part) {
    LinearOp linear = part.linear;
    return cast<RankedTensorType>(linear.getResult().getType()).getDimSize(1);
  }

  /// Does what was done to each projection to its columns of the fused one: the
  /// first op of each, then the second ones, so that rotations of the query and
  /// of the key come together and become one.
  static Value moveOps(OpBuilder &builder, const Projections &projections,
                       ArrayRef<int64_t> offsets, Value fused) {
    size_t most = 0;
    for (const Projection &part : projections.parts)
      most = std::max(most, part.ops.size());
    for (size_t level = 0; level < most; ++level)
      for (auto [part, offset] : llvm::zip_equal(projections.parts, offsets)) {
        if (level >= part.ops.size())
          continue;
        Operation *op = part.ops[level];
        if (auto norm = dyn_cast<RmsNormOp>(op))
          fused = moveNorm(builder, norm, offset, fused);
        else
          fused = moveRotation(builder, cast<RopeOp>(op), offset, fused);
      }
    return fused;
  }

  static Value moveNorm(OpBuilder &builder, RmsNormOp norm, int64_t offset,
                        Value fused) {
    auto moved = cast<RmsNormOp>(builder.clone(*norm));
    moved.setGroupSize(norm.getColumnsPerGroup());
    moved.setOffset(norm.getOffset() + offset);
    moved.getXMutable().assign(fused);
    moved.getResult().setType(cast<RankedTensorType>(fused.getType()));
    return moved.getResult();
  }

  static Value moveRotation(OpBuilder &builder, RopeOp rope, int64_t offset,
                            Value fused) {
    offset += rope.getOffset();
    auto last = fused.getDefiningOp<RopeOp>();
    if (last && last.getRotary() == rope.getRotary() &&
        last.getPairing() == rope.getPairing() &&
        last.getHeadDim() == rope.getHeadDim() &&
        last.getOffset() + last.getHeads() * last.getHeadDim() ==
            static_cast<uint64_t>(offset)) {
      last.setHeads(last.getHeads() + rope.getHeads());
      return fused;
    }
    auto moved = cast<RopeOp>(builder.clone(*rope));
    moved.setOffset(offset);
    moved.getXMutable().assign(fused);
    moved.getResult().setType(cast<RankedTensorType>(fused.getType()));
    return moved.getResult();
  }

  LogicalResult fuse(AttentionOp attention, SymbolTable &symbols) {
    FailureOr<Projections> projections = Projections::match(attention);
    if (failed(projections) ||
        llvm::any_of(attention.getOffsets(), [](int64_t o) { return o; }) ||
        llvm::any_of(projections->maps, [](AttentionMapOp map) {
          return llvm::any_of(map.getOffsets(), [](int64_t o) { return o; });
        }))
      return failure();
    FailureOr<SmallVector<LoadOp>> weights =
        projections->getLoads(/*bias=*/false, symbols);
    if (failed(weights))
      return failure();
    FailureOr<SmallVector<LoadOp>> biases = SmallVector<LoadOp>();
    LinearOp query = projections->parts[0].linear;
    bool hasBias = static_cast<bool>(query.getBias());
    if (hasBias && failed(biases = projections->getLoads(true, symbols)))
      return failure();

    OpBuilder builder(attention);
    Value weight = loadFused(builder, *weights, symbols);
    Value bias = hasBias ? loadFused(builder, *biases, symbols) : Value();
    Value fused = LinearOp::create(builder, attention.getLoc(), query.getX(),
                                   weight, bias);
    SmallVector<int64_t> offsets{0};
    for (const Projection &part : ArrayRef(projections->parts).drop_back())
      offsets.push_back(offsets.back() + getColumns(part));
    fused = moveOps(builder, *projections, offsets, fused);
    attention.getQueryMutable().assign(fused);
    attention.getKeyMutable().assign(fused);
    attention.getValueMutable().assign(fused);
    attention.setOffsets(offsets);
    for (AttentionMapOp map : projections->maps) {
      map.getQueryMutable().assign(fused);
      map.getKeyMutable().assign(fused);
      map.setOffsets(ArrayRef(offsets).take_front(2));
    }
    for (const Projection &part : projections->parts) {
      for (Operation *op : llvm::reverse(part.ops))
        op->erase();
      LinearOp linear = part.linear;
      linear.erase();
    }
    for (LoadOp load : *weights)
      if (load.use_empty())
        load.erase();
    for (LoadOp load : *biases)
      if (load.use_empty())
        load.erase();
    return success();
  }

  /// Parameters that only the fused projections read.
  void eraseUnusedParameters(SymbolTable &symbols) {
    for (auto &[parts, fused] : fusedParameters)
      std::apply([&](auto... part) { (unused.insert(part), ...); }, parts);
    getOperation().walk([&](LoadOp load) {
      unused.erase(symbols.lookup(load.getParameter()));
    });
    for (Operation *parameter : unused)
      symbols.erase(parameter);
    unused.clear();
    fusedParameters.clear();
  }

  DenseMap<std::tuple<Operation *, Operation *, Operation *>, ParameterOp>
      fusedParameters;
  llvm::SmallPtrSet<Operation *, 8> unused;
};
} // namespace
