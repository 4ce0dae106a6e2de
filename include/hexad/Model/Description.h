//===- Description.h - What a model is, before any IR -----------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The YAML reader and the families of checkpoint folders make a Description;
// one builder makes hexad IR of it. docs/ModelDescription.md explains each
// field as the YAML key that it is.
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_MODEL_DESCRIPTION_H
#define HEXAD_MODEL_DESCRIPTION_H

#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "hexad/Model/GridSize.h"
#include "hexad/Model/Safetensors.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace hexad {

/// Most iterations of a `repeat`.
inline constexpr int64_t maxRepeat = 4096;
/// Most rows or columns of anything, so that products of two fit 64 bits.
inline constexpr int64_t maxDimension = (int64_t(1) << 31) - 1;

/// Most experts, those of all times of a `repeat` together: each has names of
/// its own.
inline constexpr int64_t maxExperts = int64_t(1) << 17;

/// The stored tensors that one layer reads; `{i}` stands for the iteration of
/// the `repeat` around it, `{e}` for the expert. Empty: to be found by the
/// family's names.
struct TensorNames {
  std::string weight, bias;
};

struct ImageShape {
  int64_t channels;
  GridSize size;
};

struct InputDescription {
  std::string name;
  mlir::Location loc;
  /// Says which elements are real; the others are ids or images.
  bool isMask = false;
  bool optional = false;
  std::optional<ImageShape> image = {};
  /// Where the size of images was asked for, if not at `loc`.
  std::optional<mlir::Location> sizeLoc = {};
};

/// Rows of a table, chosen by the ids of an input.
struct EmbeddingLayer {
  std::string name, input;
  int64_t entries, dim;
  TensorNames tensors = {};
};

/// Rows of a table, chosen by the position in the segment.
struct PositionsLayer {
  std::string name;
  /// Of the table; of no account with a grid.
  int64_t entries, dim;
  TensorNames tensors = {};
  /// The table is a row for the class token, if there is one, and a grid of
  /// this size, which is resized to that of the image's patches.
  std::optional<GridSize> grid = {};
  bool antialias = false;
};

/// Patches of the images of an input, projected to rows (hexad.patchify).
/// Parameters NAME.weight, NAME.bias, and NAME.prefix for the rows in front of
/// each image's patches.
struct PatchifyLayer {
  std::string name, input;
  int64_t dim;
  GridSize patch;
  bool bias = true;
  bool hasClassToken = false;
  /// Rows behind the class token; they have no positions.
  int64_t registers = 0;
  TensorNames tensors = {}, classToken = {}, registerTokens = {};

  int64_t getPrefix() const { return hasClassToken + registers; }
};

struct LayerNormLayer {
  std::string name;
  double eps;
  bool bias = true;
  TensorNames tensors = {};
};

struct RmsNormLayer {
  std::string name;
  double eps;
  /// The factor is 1 + weight.
  bool unitOffset = false;
  /// Without one the factor is 1.
  bool weight = true;
  TensorNames tensors = {};
};

struct LinearLayer {
  std::string name;
  int64_t out;
  bool bias = false;
  /// Stored as [in, out].
  bool transposed = false;
  /// The weight is so many columns of the stored one as the input has, from
  /// this one on; all if absent.
  std::optional<int64_t> firstColumn = {};
  /// Name of the embedding whose table is the weight; empty: its own.
  std::string tied = {};
  TensorNames tensors = {};
};

/// down(activation(gate(x)) · up(x)): parameters NAME.gate, NAME.up, NAME.down.
struct GatedLayer {
  std::string name;
  int64_t hidden;
  Activation activation;
  bool bias = false;
  TensorNames gate = {}, up = {}, down = {};
  /// Gate and up are the rows of one stored tensor, one behind the other.
  bool fused = false;
  TensorNames gateUp = {};
};

/// How the frequencies of a rotary embedding are scaled.
struct RopeScaling {
  enum Kind { None, Linear, Llama3, Yarn, Proportional } kind = None;
  double factor = 1;
  /// proportional: pairs of columns that turn, the first ones, by all. The
  /// frequency of the others is 0.
  double share = 1;
  /// llama3: turns within the original positions below which a frequency is
  /// scaled wholly, and above which not at all.
  double lowFrequencyFactor = 1, highFrequencyFactor = 4;
  /// yarn: turns between which the scaling ramps up.
  double betaFast = 32, betaSlow = 1;
  /// yarn: factor of sines and cosines; 0.1·ln(factor) + 1 if absent.
  std::optional<double> attentionFactor = {};
  /// yarn: whether the ramp's ends are rounded to whole frequencies.
  bool truncate = true;
  /// llama3, yarn: positions that the model was trained on.
  int64_t originalPositions = 0;

  bool operator==(const RopeScaling &) const = default;
};

/// Rotary position embedding of queries and keys.
struct RopeDescription {
  double theta = 10000;
  /// Columns of a head that turn; all if absent.
  std::optional<int64_t> rotary = {};
  Pairing pairing = Pairing::Half;
  RopeScaling scaling = {};
};

/// RMS norm of queries and keys: of each head with a weight of `head_dim`, or
/// of the whole projection with a weight of all its columns.
enum class QkNorm { None, Heads, Projection };

/// How query, key and value lie in one stored tensor: one behind the other, or
/// for each head its query, key and value.
enum class FusedLayout { None, Blocks, Heads };

/// Projections, attention of each segment with itself, and the projection back.
struct AttentionLayer {
  std::string name;
  int64_t heads;
  /// As many as `heads` if absent.
  std::optional<int64_t> kvHeads = {};
  /// Columns of the input by `heads` if absent.
  std::optional<int64_t> headDim = {};
  /// 1 / sqrt(head_dim) if absent.
  std::optional<double> scale = {};
  bool bias = false;
  /// As `bias` if absent.
  std::optional<bool> outputBias = {};
  bool causal = false;
  /// Keys that a query sees: itself and the ones before it.
  std::optional<int64_t> window = {};
  std::optional<double> softcap = {};
  std::optional<RopeDescription> rope = {};
  /// Before the rotation; parameters NAME.query_norm and NAME.key_norm.
  QkNorm qkNorm = QkNorm::None;
  double qkNormEps = 0;
  bool qkNormUnitOffset = false;
  /// Of an RMS norm of each head of the values, without a weight.
  std::optional<double> valueNormEps = {};
  /// The values are what the projection of the keys gives (before norms and
  /// rotation): `value` is not stored.
  bool valueFromKey = false;
  /// Number of an earlier layer whose keys and values are attended to; there
  /// are none of its own.
  std::optional<int64_t> keysOf = {};
  FusedLayout fused = FusedLayout::None;
  /// All weights are stored as [in, out].
  bool transposed = false;
  TensorNames query = {}, key = {}, value = {}, output = {};
  /// Instead of `query`, `key` and `value` if `fused`.
  TensorNames qkv = {};
  TensorNames queryNorm = {}, keyNorm = {};
};

/// What each layer of a repeat knows of a token beside its row (Gemma Team,
/// "Gemma 3n"): projection(activation(gate(x)) · v). The vector v of `size`
/// columns is (norm(context(e) / √columns of e) + √size · table[id]) / √2, e
/// the rows that enter the repeat. `table` and `context` are stored for all
/// layers side by side. Parameters NAME.gate, NAME.projection, NAME.table,
/// NAME.context, NAME.norm.
struct PerLayerInputLayer {
  std::string name, input;
  int64_t entries, size;
  Activation activation;
  double eps;
  TensorNames gate = {}, projection = {}, table = {}, context = {}, norm = {};
};

struct ActivationLayer {
  Activation kind;
};

struct Layer;

/// What the output `router_logits` is of a router: its logits, or their softmax
/// over all experts.
enum class ReportedScores { Logits, Softmax };

/// Which experts a row goes to (hexad.route): by the logits that a linear layer
/// gives, NAME.router with the weight [experts, columns].
struct RouterDescription {
  int64_t topK;
  RouterScore score = RouterScore::Softmax;
  /// The weights of the chosen are divided by their sum.
  bool renormalize = false;
  double scaling = 1;
  /// Experts stand in groups, of which only the best are open.
  std::optional<int64_t> groups = {}, topGroups = {};
  /// Of the linear layer.
  bool bias = false;
  /// NAME.router.selection_bias, added to scores for the choice alone.
  bool selectionBias = false;
  /// NAME.router.expert_scale, a factor of each expert's weight.
  bool expertScale = false;
  ReportedScores reported = ReportedScores::Logits;
  /// Layers in front of the linear layer, of the input of the experts' layer.
  std::vector<Layer> input;
  TensorNames linear = {}, selection = {}, scale = {};
};

/// How gate and up of an expert lie in the rows of one stored tensor: one
/// behind the other, or in turn. `AsStored`: in one, one behind the other, if
/// the family's names find it so; else in two.
enum class GateLayout { AsStored, Separate, Blocks, Interleaved };

/// An expert that every row goes to: NAME.shared.gate, .up and .down. `gated`:
/// its result is multiplied by σ(x · weight), NAME.shared.router with the
/// weight [1, columns].
struct SharedExpert {
  int64_t hidden;
  bool gated = false;
  TensorNames gate = {}, up = {}, down = {}, router = {};
};

/// Σ weight · expert(x) over the experts that a router chooses (hexad.experts).
/// An expert is down(activation(gate(x)) · up(x)) with parameters NAME.gate,
/// NAME.up, NAME.down, or NAME.gate_up where gate and up are stored as one. A
/// stored name with `{e}` is a tensor of one expert, one without holds those of
/// all, one behind the other: [experts, rows, columns].
struct MoeLayer {
  std::string name;
  int64_t experts, hidden;
  Activation activation = Activation::Silu;
  RouterDescription router;
  /// Bounds: gate is at most this, up between this and its negative.
  std::optional<double> limit = {};
  /// The factor is 1 + up.
  bool unitOffset = false;
  bool bias = false;
  GateLayout layout = GateLayout::AsStored;
  /// Matrices are stored as [in, out].
  bool transposed = false;
  /// Layers in front of the experts, the shared one too.
  std::vector<Layer> input;
  std::optional<SharedExpert> shared = {};
  TensorNames gate = {}, up = {}, down = {}, gateUp = {};
};

/// x · factor
struct ScaleLayer {
  double factor;
};

/// Each column times an element of a stored vector; or, if it is a scalar, all
/// columns times the one element that is stored.
struct ScaleColumnsLayer {
  std::string name;
  bool isScalar = false;
  TensorNames tensors = {};
};

/// cap · tanh(x / cap)
struct SoftcapLayer {
  double cap;
};

struct PoolLayer {
  Pooling kind;
  /// Rows in front of those that a mean is of.
  int64_t skip = 0;
};

struct L2NormalizeLayer {
  double eps;
};

struct SoftmaxLayer {};

/// Marks what the layers so far give as an output of the model.
struct OutputLayer {
  std::string name;
};

/// The sum of embeddings.
struct SumLayer {
  std::vector<Layer> terms;
};

/// x + layers(x).
struct ResidualLayer {
  std::vector<Layer> layers;
};

/// The sum of branch(x) for each branch, and of x itself if it is a residual.
struct ParallelLayer {
  std::vector<std::vector<Layer>> branches;
  bool isResidual = true;
};

/// `count` times layers, each time with other weights: time i those of
/// `period[i mod size of period]`. The layers are numbered from `first` on: 0,
/// or the number of those in the repeats right in front.
struct RepeatLayer {
  int64_t count;
  std::vector<std::vector<Layer>> period;
  int64_t first = 0;
};

struct Layer {
  mlir::Location loc;
  std::variant<EmbeddingLayer, PositionsLayer, PatchifyLayer, SumLayer,
               LayerNormLayer, RmsNormLayer, LinearLayer, GatedLayer,
               AttentionLayer, MoeLayer, PerLayerInputLayer, ActivationLayer,
               ScaleLayer, ScaleColumnsLayer, SoftcapLayer, PoolLayer,
               L2NormalizeLayer, SoftmaxLayer, OutputLayer, ResidualLayer,
               ParallelLayer, RepeatLayer>
      kind;
};

/// A model. Every name in it is an identifier.
struct Description {
  std::string name;
  mlir::Location loc;
  std::vector<InputDescription> inputs;
  /// Safetensors file or index, relative to the description's folder.
  std::string weightsFile;
  std::vector<Layer> layers;
  /// The last of `hidden` is what the layer right behind the repeat gives, not
  /// the repeat.
  bool hiddenAfterNorm = false;
};

/// Calls `visit` for every layer that is not made of layers alone, in order of
/// execution, with the number of its first iteration if it is in a repeat.
void forEachLayer(llvm::MutableArrayRef<Layer> layers,
                  llvm::function_ref<void(Layer &, int64_t)> visit);

/// Gives the images of `description` another size than they have, as `loc` asks
/// for. Emits a diagnostic if there are none.
mlir::LogicalResult setImageSize(Description &description, GridSize size,
                                 mlir::Location loc);

/// Makes hexad IR (docs/Architecture.md) of a description. `outputs` are asked
/// for beside the model's own: `hidden`, `attention` or names of its own. Emits
/// a diagnostic and gives null if the layers do not fit each other.
mlir::OwningOpRef<mlir::ModuleOp>
buildModule(const Description &description, llvm::ArrayRef<std::string> outputs,
            mlir::MLIRContext *context);

/// Whether `name` can be the name of an input, output, layer or model: it
/// becomes part of C identifiers.
bool isIdentifier(llvm::StringRef name);
/// `name` with everything that an identifier cannot hold replaced by `_`.
std::string makeIdentifier(llvm::StringRef name);

} // namespace hexad

#endif // HEXAD_MODEL_DESCRIPTION_H
