//===- BuilderStacks.cpp - Outputs that layers of a kind add to -----------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModuleBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace hexad;

void ModuleBuilder::forEachMember(
    llvm::ArrayRef<Layer> layers, IsMember isMember,
    llvm::function_ref<void(const Layer &)> visit) {
  // Only looks.
  auto *mutableLayers = const_cast<Layer *>(layers.data());
  forEachLayer({mutableLayers, layers.size()}, [&](Layer &layer, int64_t) {
    if (isMember(layer))
      visit(layer);
  });
}

int64_t ModuleBuilder::countMembers(llvm::ArrayRef<std::vector<Layer>> period,
                                    IsMember isMember) {
  int64_t count = 0;
  for (const std::vector<Layer> &body : period)
    forEachMember(body, isMember, [&](const Layer &) { ++count; });
  return count;
}

int64_t ModuleBuilder::countMembers(IsMember isMember) const {
  // A repeat has its period once for each iteration, and a part of it behind.
  int64_t count = 0;
  for (const Layer &layer : description.layers) {
    auto *repeat = std::get_if<RepeatLayer>(&layer.kind);
    if (!repeat) {
      forEachMember(layer, isMember, [&](const Layer &) { ++count; });
      continue;
    }
    llvm::ArrayRef period(repeat->period);
    count += repeat->count / period.size() * countMembers(period, isMember) +
             countMembers(period.take_front(repeat->count % period.size()),
                          isMember);
  }
  return count;
}

SmallVector<ModuleBuilder::LayerStack *>
ModuleBuilder::getStacks(llvm::ArrayRef<std::vector<Layer>> period) {
  SmallVector<LayerStack *> stacks;
  for (LayerStack *stack : {&maps, &routers})
    if (stack->members && countMembers(period, stack->isMember) != 0)
      stacks.push_back(stack);
  return stacks;
}

Value ModuleBuilder::takeMember(Location loc, LayerStack &stack) {
  Value member = stack.first;
  if (stack.next != 0 || !member) {
    Value offset = arith::ConstantIndexOp::create(builder, loc, stack.next);
    member =
        member ? arith::AddIOp::create(builder, loc, member, offset).getResult()
               : offset;
  }
  ++stack.next;
  return member;
}

void ModuleBuilder::enterLoop(Location loc, LayerStack &stack, Value members,
                              Value iteration, int64_t perIteration) {
  stack.members = members;
  // Sums are what hexad-check-model can follow.
  stack.first = iteration;
  for (int64_t i = 1; i < perIteration; ++i)
    stack.first = arith::AddIOp::create(builder, loc, stack.first, iteration);
}
