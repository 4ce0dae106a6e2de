//===- ModuleBuilder.h - Making hexad IR of a description -------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_LIB_MODEL_MODULEBUILDER_H
#define HEXAD_LIB_MODEL_MODULEBUILDER_H

#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "hexad/Model/Description.h"
#include "hexad/Model/SourceDiagnostics.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"

namespace hexad {

/// Rows of a stored tensor: `count` blocks of `size`, `stride` apart; in layer
/// l of a tensor that holds several from `first + l·step` on.
struct RowPick {
  int64_t first, size, stride, count, step = 0;
};

/// `size` columns of a stored tensor, in layer l from `first + l·step` on.
struct ColumnPick {
  int64_t first, size, step;
};

/// Which part of the stored tensors a parameter is.
struct Selection {
  std::optional<RowPick> rows = {};
  std::optional<ColumnPick> columns = {};
};

/// Builds a module layer by layer.
class ModuleBuilder {
public:
  ModuleBuilder(const Description &description,
                llvm::ArrayRef<std::string> outputs, mlir::MLIRContext *context)
      : description(description), requested(outputs), builder(context),
        f32(builder.getF32Type()) {}

  mlir::OwningOpRef<mlir::ModuleOp> build();

private:
  /// What the layers so far give.
  struct Activations {
    mlir::Value rows;
    /// A row for each segment, no longer one for each token.
    bool pooled = false;
  };
  struct Result {
    std::string name;
    mlir::Value value;
    bool stacked = false;
  };
  /// The body of a repeat that is being built. In the loop it stands for the
  /// layers `first`, `first + stride`, …, one for each iteration; behind it
  /// (`index` is null) for one layer.
  struct Repeat {
    mlir::Value index;
    int64_t count, first, stride;

    /// What names of the body need behind them to be the only ones.
    std::string getSuffix() const {
      return stride == 1 && first == 0 ? "" : "." + std::to_string(first);
    }
  };
  /// The region of an expert that is being built: the parameters of all experts
  /// (of all layers of a repeat) are one.
  struct Expert {
    mlir::Value member;
    int64_t count;
  };
  /// An attention that appends to a cache.
  struct CacheUser {
    std::string attention;        ///< its name
    int64_t first, count, stride; ///< the numbers of its layers
    CacheOp cache;
  };

  /// The place of messages about outputs that were asked for.
  mlir::Location getOutputsLoc() {
    return getOptionLoc(builder.getContext(), "--outputs");
  }
  mlir::LogicalResult checkOutputs();
  mlir::LogicalResult buildInputs();
  mlir::FailureOr<Activations> buildLayers(llvm::ArrayRef<Layer> layers,
                                           Activations x);
  mlir::FailureOr<Activations> buildLayer(const Layer &layer, Activations x);

  mlir::FailureOr<Activations> build(mlir::Location loc, const EmbeddingLayer &,
                                     Activations);
  mlir::FailureOr<Activations> build(mlir::Location loc, const PositionsLayer &,
                                     Activations);
  mlir::FailureOr<Activations> build(mlir::Location loc, const PatchifyLayer &,
                                     Activations);
  mlir::FailureOr<Activations> build(mlir::Location loc, const SumLayer &,
                                     Activations);
  mlir::FailureOr<Activations> build(mlir::Location loc, const LayerNormLayer &,
                                     Activations);
  mlir::FailureOr<Activations> build(mlir::Location loc, const RmsNormLayer &,
                                     Activations);
  mlir::FailureOr<Activations> build(mlir::Location loc, const GatedLayer &,
                                     Activations);
  mlir::FailureOr<Activations> build(mlir::Location loc, const ScaleLayer &,
                                     Activations);
  mlir::FailureOr<Activations> build(mlir::Location loc,
                                     const ScaleColumnsLayer &, Activations);
  mlir::FailureOr<Activations> build(mlir::Location loc, const SoftcapLayer &,
                                     Activations);
  mlir::FailureOr<Activations> build(mlir::Location loc, const ParallelLayer &,
                                     Activations);
  mlir::FailureOr<Activations> build(mlir::Location loc, const LinearLayer &,
                                     Activations);
  mlir::FailureOr<Activations> build(mlir::Location loc, const AttentionLayer &,
                                     Activations);
  mlir::FailureOr<Activations> build(mlir::Location loc, const MoeLayer &,
                                     Activations);
  mlir::FailureOr<Activations> build(mlir::Location loc,
                                     const PerLayerInputLayer &, Activations);
  mlir::FailureOr<Activations> build(mlir::Location loc,
                                     const ActivationLayer &, Activations);
  mlir::FailureOr<Activations> build(mlir::Location loc, const PoolLayer &,
                                     Activations);
  mlir::FailureOr<Activations> build(mlir::Location loc,
                                     const L2NormalizeLayer &, Activations);
  mlir::FailureOr<Activations> build(mlir::Location loc, const SoftmaxLayer &,
                                     Activations);
  mlir::FailureOr<Activations> build(mlir::Location loc, const OutputLayer &,
                                     Activations);
  mlir::FailureOr<Activations> build(mlir::Location loc, const ResidualLayer &,
                                     Activations);
  mlir::FailureOr<Activations> build(mlir::Location loc, const RepeatLayer &,
                                     Activations);
  mlir::FailureOr<Activations> buildBody(mlir::Location loc,
                                         llvm::ArrayRef<Layer> layers,
                                         const Repeat &body, Activations x,
                                         mlir::Value &states,
                                         mlir::OpFoldResult member);

  mlir::FailureOr<Activations> buildSum(const ParallelLayer &layer,
                                        Activations x);
  /// The rows that the layers of a branch give, like its input's.
  mlir::FailureOr<mlir::Value> buildBranch(mlir::Location loc,
                                           llvm::StringRef what,
                                           llvm::ArrayRef<Layer> layers,
                                           Activations x);
  /// Declares a parameter that is stored as `names` says and loads it: the
  /// current layer of it inside a repeat, the current expert's inside experts.
  mlir::Value load(mlir::Location loc, const llvm::Twine &name,
                   llvm::ArrayRef<int64_t> shape, llvm::StringRef stored,
                   bool transposed = false, const Selection &selection = {});
  /// A linear op with weight and bias of `names`.
  mlir::Value buildProjection(mlir::Location loc, const llvm::Twine &name,
                              mlir::Value x, int64_t out, bool bias,
                              const TensorNames &names, bool transposed = false,
                              std::optional<RowPick> pick = {});

  /// Query, key and value of an attention, in this order.
  struct Heads {
    mlir::Value query, key, value;
  };
  /// Sizes of an attention, given or not.
  struct HeadShape {
    int64_t heads, kvHeads, headDim;
  };
  Heads buildHeads(mlir::Location loc, const AttentionLayer &layer,
                   HeadShape shape, mlir::Value x);
  mlir::Value buildHeadNorm(mlir::Location loc, const AttentionLayer &layer,
                            const llvm::Twine &name, const TensorNames &names,
                            int64_t heads, mlir::Value x);
  mlir::Value buildRotation(mlir::Location loc, const AttentionLayer &layer,
                            int64_t heads, int64_t headDim, mlir::Value x);
  /// The table of `rope`, made once in front of all layers.
  mlir::Value getRotary(mlir::Location loc, const RopeDescription &rope,
                        int64_t columns);
  CacheOp buildCache(mlir::Location loc, const AttentionLayer &layer,
                     HeadShape shape);
  /// The vector of the current layer for each row.
  mlir::Value buildLayerInput(mlir::Location loc,
                              const PerLayerInputLayer &layer, mlir::Value ids);
  /// The cache of the attention of the same name in the layer that
  /// `layer.keysOf` says, and the layer of that cache.
  mlir::FailureOr<std::pair<CacheOp, mlir::Value>>
  findCache(mlir::Location loc, const AttentionLayer &layer, HeadShape shape);

  mlir::FailureOr<mlir::Value>
  buildRoutes(mlir::Location loc, const MoeLayer &layer, Activations x);
  mlir::Value buildGate(mlir::Location loc, const MoeLayer &layer,
                        mlir::Value gate, mlir::Value up);
  mlir::Value buildExpert(mlir::Location loc, const MoeLayer &layer,
                          mlir::Value x, int64_t out);
  mlir::Value buildExpertsOp(
      mlir::Location loc, mlir::Value x, mlir::Value routes, int64_t count,
      int64_t out,
      llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> body);
  mlir::Value buildSharedExpert(mlir::Location loc, const MoeLayer &layer,
                                mlir::Value x, int64_t out);

  void findHead();
  /// Whether all attention among the layers is causal; `pools` and `attends`
  /// are set if there is a pool, or attention.
  static bool isCausal(llvm::ArrayRef<Layer> layers, bool &pools,
                       bool &attends);

  // BuilderVision.cpp
  /// Creates the function with its one argument, and the segments of it.
  mlir::LogicalResult buildImage(const InputDescription &input);
  mlir::FailureOr<mlir::Value> loadImagePositions(mlir::Location loc,
                                                  const PositionsLayer &layer);
  mlir::Value getPositions(mlir::Location loc);

  // BuilderLoss.cpp
  /// Finds the logits that the loss is of.
  mlir::LogicalResult findLoss();
  void buildLabels();
  mlir::LogicalResult buildLoss(mlir::Location loc, Activations logits);

  // Outputs that layers of a kind add to (BuilderStacks.cpp).
  using IsMember = bool (*)(const Layer &);
  /// Members in the order in which the layers run that give one each.
  struct LayerStack {
    IsMember isMember;
    bool isAskedFor = false;
    mlir::Value members = {}; ///< so far; null if there is no stack yet
    /// The next member is `first` (0 if null) plus `next`.
    mlir::Value first = {};
    int64_t next = 0;
  };
  /// Visits the layers of a kind, those of a repeat once for its period.
  static void forEachMember(llvm::ArrayRef<Layer> layers, IsMember isMember,
                            llvm::function_ref<void(const Layer &)> visit);
  static int64_t countMembers(llvm::ArrayRef<std::vector<Layer>> period,
                              IsMember isMember);
  /// Of the whole model, the iterations of repeats counted.
  int64_t countMembers(IsMember isMember) const;
  /// The stacks that the layers of `period` add to.
  llvm::SmallVector<LayerStack *>
  getStacks(llvm::ArrayRef<std::vector<Layer>> period);
  /// The number of the next member, which is then that of the one behind.
  mlir::Value takeMember(mlir::Location loc, LayerStack &stack);
  /// Inside a loop: members so far are `members`, and each iteration adds
  /// `perIteration` behind those of layers in front of the loop.
  void enterLoop(mlir::Location loc, LayerStack &stack, mlir::Value members,
                 mlir::Value iteration, int64_t perIteration);

  // Attention maps (BuilderMaps.cpp).
  mlir::LogicalResult checkMaps();
  void startMaps();
  void buildMap(AttentionOp attention);

  // Logits of routers (BuilderRouters.cpp).
  mlir::LogicalResult checkRouters();
  /// Of as many rows as `rows` has; if there is none yet.
  void startRouters(mlir::Location loc, mlir::Value rows);
  mlir::LogicalResult keepLogits(mlir::Location loc,
                                 const RouterDescription &router,
                                 Activations logits);
  void finishRouters();

  // Stacks of hidden states.
  mlir::Value startStates(mlir::Location loc, int64_t count, mlir::Value first);
  mlir::Value insertState(mlir::Location loc, mlir::Value state,
                          mlir::Value states, mlir::OpFoldResult index);
  /// Rectangles of the members of a stack of rows.
  mlir::Value unpackStack(mlir::Location loc, mlir::Value stack);

  static int64_t getColumns(mlir::Value rows) {
    return llvm::cast<mlir::RankedTensorType>(rows.getType()).getDimSize(1);
  }
  mlir::RankedTensorType getRowsType(int64_t columns) {
    return mlir::RankedTensorType::get({mlir::ShapedType::kDynamic, columns},
                                       f32);
  }

  /// The loss, if it is asked for.
  struct Loss {
    bool pooled; ///< a label for each segment
    bool shift;  ///< the label of the next token
    /// The first layer that is built twice, and what it gets; null: none is.
    const LinearLayer *head;
    mlir::Value input;
    bool isOpen = false; ///< the layers of the loss are being built
    LabelsOp labels;
    mlir::Value mean;
  };

  /// The images that the model is about.
  struct Image {
    mlir::Value pixels;
    GridSize patches; ///< in each direction
    bool hasClassToken;
    int64_t registers;

    int64_t getTokens() const {
      return hasClassToken + registers + patches.height * patches.width;
    }
  };

  const Description &description;
  llvm::ArrayRef<std::string> requested;
  mlir::OpBuilder builder;
  mlir::Type f32;

  mlir::ModuleOp module;
  mlir::func::FuncOp function;
  mlir::Value segments, positions;
  std::optional<Image> image;
  bool hasPatches = false;          ///< whether a patchify has been built
  llvm::StringMap<mlir::Value> ids; ///< rows of each input that is not a mask
  llvm::StringMap<int64_t> limits;  ///< smallest table that an input indexes
  std::optional<int64_t> positionLimit;
  std::optional<Repeat> repeat;
  std::optional<Expert> expert;
  int nesting = 0; ///< of layers inside layers; 1 is outermost
  /// What enters the repeats that are numbered as one, and how many layers they
  /// have so far; null and 0 where there is none right in front.
  mlir::Value stackInput;
  int64_t stackLayers = 0;
  std::vector<CacheUser> cacheUsers;
  /// Members of the stack of hidden states, if they are asked for.
  std::optional<int64_t> hiddenCount;
  /// The stack, while there may be more repeats.
  mlir::Value openStates;
  mlir::Value hiddenStates;
  LayerStack maps = {[](const Layer &layer) {
    return std::holds_alternative<AttentionLayer>(layer.kind);
  }};
  LayerStack routers = {[](const Layer &layer) {
    return std::holds_alternative<MoeLayer>(layer.kind);
  }};
  /// The linear layer that works on selected rows; null if the model has no
  /// sessions.
  const LinearLayer *head = nullptr;
  bool wantsLoss = false;
  std::optional<Loss> loss;
  mlir::Operation *lastInput =
      nullptr; ///< behind which tables of positions stand
  std::vector<std::pair<RopeDescription, mlir::Value>> rotaries;
  llvm::StringMap<ParameterOp> parameters; ///< by their symbols
  std::vector<Result> results;
};

} // namespace hexad

#endif // HEXAD_LIB_MODEL_MODULEBUILDER_H
