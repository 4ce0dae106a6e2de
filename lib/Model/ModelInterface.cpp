//===- ModelInterface.cpp - What a module must look like ------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Model/ModelInterface.h"
#include "hexad/Dialect/Hexad/IR/HexadDialect.h"
#include "hexad/Model/Description.h"
#include "hexad/Model/Json.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace hexad;

/// Words that a generated header, read as C or C++, cannot have as a name.
static constexpr llvm::StringLiteral reservedWords[] = {
    "alignas",  "alignof",  "and",       "asm",     "auto",      "bitand",
    "bitor",    "bool",     "break",     "case",    "catch",     "char",
    "class",    "compl",    "concept",   "const",   "constexpr", "continue",
    "decltype", "default",  "delete",    "do",      "double",    "else",
    "enum",     "explicit", "export",    "extern",  "false",     "float",
    "for",      "friend",   "goto",      "if",      "inline",    "int",
    "long",     "mutable",  "namespace", "new",     "noexcept",  "not",
    "nullptr",  "operator", "or",        "private", "protected", "public",
    "register", "requires", "restrict",  "return",  "short",     "signed",
    "sizeof",   "static",   "struct",    "switch",  "template",  "this",
    "throw",    "true",     "try",       "typedef", "typeid",    "typename",
    "union",    "unsigned", "using",     "virtual", "void",      "volatile",
    "while",    "xor"};

bool hexad::isIdentifier(llvm::StringRef name) {
  // Underscores in front are the implementation's in C.
  return !name.empty() && llvm::isAlpha(name.front()) &&
         llvm::all_of(name,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; }) &&
         name.size() <= 200 && !llvm::is_contained(reservedWords, name);
}

std::string hexad::makeIdentifier(llvm::StringRef name) {
  std::string identifier = name.take_front(180).str();
  for (char &c : identifier)
    if (!llvm::isAlnum(c))
      c = '_';
  if (!isIdentifier(identifier))
    identifier = "model_" + identifier;
  return identifier;
}

namespace {

/// Checks the names of arguments and results.
class NameChecker {
public:
  /// `subject` is "argument 1" or the like.
  LogicalResult check(Location loc, Attribute attribute,
                      const llvm::Twine &subject) {
    auto name = dyn_cast_or_null<StringAttr>(attribute);
    if (!name)
      return emitError(loc, "expected hexad.name on ") << subject;
    if (!isIdentifier(name))
      return emitError(loc, "expected hexad.name of ")
             << subject
             << " to consist of letters, digits and '_', to begin with a "
                "letter and to be no word of C, found "
             << quoteName(name);
    if (!seen.insert(name.getValue()).second)
      return emitError(loc, "the name ")
             << quoteName(name) << " of " << subject << " is taken";
    return success();
  }

private:
  llvm::StringSet<> seen;
};

} // namespace

/// Checks the upper end of a limit, which the dialect knows to be positive.
static LogicalResult checkLimit(Location loc, Attribute limit) {
  if (cast<IntegerAttr>(limit).getInt() <= maxDimension)
    return success();
  return emitError(loc, "expected a limit of at most ")
         << maxDimension << ", found " << limit;
}

/// Checks an argument of rank 4: images.
static LogicalResult verifyImages(func::FuncOp function, unsigned index,
                                  const std::string &subject) {
  BlockArgument argument = function.getArgument(index);
  Location loc = argument.getLoc();
  auto type = cast<RankedTensorType>(argument.getType());
  if (!type.isDynamicDim(0) || !hexad::detail::isImageShape(type.getShape()) ||
      !type.getElementType().isF32() || type.getEncoding())
    return emitError(loc, "expected ")
           << subject
           << " to be images tensor<?xCxYxXxf32> of fewer than 2^31 elements "
              "each, found "
           << type;
  for (StringRef attribute : {"hexad.limit", "hexad.optional"})
    if (function.getArgAttr(index, attribute))
      return emitError(loc, "expected ")
             << subject << ", which is images, to have no " << attribute;
  if (!llvm::any_of(argument.getUsers(), llvm::IsaPred<ImageSegmentsOp>))
    return emitError(loc, "expected hexad.image_segments of ") << subject;
  for (Operation *user : argument.getUsers())
    if (!isa<ImageSegmentsOp, PatchifyOp>(user))
      return emitError(user->getLoc(), "expected ")
             << subject
             << ", which is images, to be used by hexad.image_segments and "
                "hexad.patchify only";
  return success();
}

static LogicalResult verifyArguments(func::FuncOp function,
                                     NameChecker &names) {
  unsigned masks = 0, images = 0, rectangles = 0;
  for (auto [index, argument] : llvm::enumerate(function.getArguments())) {
    std::string subject = "argument " + std::to_string(index);
    Location loc = argument.getLoc();
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (type && type.getRank() == 4) {
      ++images;
      if (failed(verifyImages(function, index, subject)) ||
          failed(names.check(loc, function.getArgAttr(index, "hexad.name"),
                             subject)))
        return failure();
      continue;
    }
    // Segments have one label each.
    bool isLabels(getLabelsOp(argument));
    if (!isLabels)
      ++rectangles;
    bool fits =
        type && (type.getRank() == 2 || (isLabels && type.getRank() == 1));
    if (!fits || !llvm::all_of(type.getShape(), ShapedType::isDynamic) ||
        !type.getElementType().isInteger(32) || type.getEncoding())
      return emitError(loc, "expected ")
             << subject << " to be a tensor<?x?xi32>"
             << (isLabels ? " or a tensor<?xi32>" : "") << ", found "
             << argument.getType();
    if (failed(names.check(loc, function.getArgAttr(index, "hexad.name"),
                           subject)))
      return failure();
    Attribute limit = function.getArgAttr(index, "hexad.limit");
    if (isLabels && !limit)
      return emitError(loc, "expected hexad.limit on ")
             << subject << ", which is labels";
    if (!limit)
      ++masks;
    else if (failed(checkLimit(loc, limit)))
      return failure();
    // The mask makes segments, ids make rows; nothing else is known of them.
    for (Operation *user : argument.getUsers())
      if (isLabels ? !isa<LabelsOp>(user)
          : limit  ? !isa<PackRowsOp>(user)
                   : !isa<SegmentsOp>(user))
        return emitError(user->getLoc(), "expected ")
               << subject
               << (isLabels ? ", which is labels, to be used by hexad.labels "
                              "only"
                   : limit  ? ", with hexad.limit, to be used by "
                              "hexad.pack_rows only"
                            : ", without hexad.limit, to be used by "
                              "hexad.segments only");
  }
  if (images > 1 || (images && rectangles))
    return emitError(function.getLoc(),
                     "expected images to be the only argument, found ")
           << images + rectangles << " arguments";
  if (images)
    return success();
  if (masks != 1)
    return emitError(function.getLoc(),
                     "expected one argument without hexad.limit, the "
                     "mask, found ")
           << masks;
  return success();
}

static LogicalResult verifyResults(func::FuncOp function, NameChecker &names) {
  if (function.getNumResults() == 0)
    return emitError(function.getLoc(), "expected at least one result");
  for (auto [index, resultType] : llvm::enumerate(function.getResultTypes())) {
    std::string subject = "result " + std::to_string(index);
    Location loc = function.getLoc();
    bool stacked(function.getResultAttr(index, "hexad.stacked"));
    auto type = dyn_cast<RankedTensorType>(resultType);
    // The loss.
    bool isScalar = type && type.getElementType().isF32() && !stacked &&
                    type.getRank() == 0;
    // [count,] batch, seq, columns or batch, columns; or count, batch, heads,
    // seq, seq.
    bool fits = type && type.getElementType().isF32() && !type.getEncoding() &&
                (stacked ? type.getRank() == 4 || type.getRank() == 5
                         : type.getRank() == 2 || type.getRank() == 3);
    if (fits) {
      ArrayRef<int64_t> shape = type.getShape();
      auto isStatic = [](int64_t size) {
        return size >= 1 && size <= maxDimension;
      };
      if (type.getRank() == 5)
        fits = isStatic(shape[0]) && type.isDynamicDim(1) &&
               isStatic(shape[2]) && type.isDynamicDim(3) &&
               type.isDynamicDim(4);
      else
        fits = isStatic(shape.back()) &&
               (!stacked || isStatic(shape.front())) &&
               llvm::all_of(shape.drop_front(stacked ? 1 : 0).drop_back(),
                            ShapedType::isDynamic);
    }
    if (!fits && !isScalar)
      return emitError(loc, "expected ")
             << subject << " to be "
             << (stacked
                     ? "a stack tensor<LxBxSxDxf32>, or tensor<LxBxHxSxSxf32> "
                       "of attention maps, with dynamic B and S"
                     : "rows tensor<?x?xDxf32>, pooled rows tensor<?xDxf32> or "
                       "a loss tensor<f32>")
             << ", found " << resultType;
    if (failed(names.check(loc, function.getResultAttr(index, "hexad.name"),
                           subject)))
      return failure();
  }
  return success();
}

/// A model is made of few ops; what else is valid MLIR, no later phase knows.
/// Blocks of rows are a decision of the compiler.
static LogicalResult verifyOps(ModuleOp module) {
  WalkResult walk = module.walk([&](Operation *op) {
    bool isKnown =
        op == module.getOperation() ||
        (isa_and_present<HexadDialect>(op->getDialect()) && !isa<RowsOp>(op)) ||
        isa<func::FuncOp, func::ReturnOp, scf::ForOp, scf::YieldOp,
            arith::ConstantOp, arith::AddIOp, arith::MulIOp, tensor::EmptyOp,
            tensor::DimOp, tensor::InsertSliceOp>(op);
    if (isKnown)
      return WalkResult::advance();
    emitError(op->getLoc(), "op '")
        << op->getName() << "' cannot be part of a model";
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}

LogicalResult hexad::verifyModelInterface(ModuleOp module) {
  if (failed(verifyOps(module)))
    return failure();
  func::FuncOp function;
  for (auto candidate : module.getOps<func::FuncOp>()) {
    if (function) {
      InFlightDiagnostic diagnostic =
          emitError(candidate.getLoc(), "expected one function, found another");
      diagnostic.attachNote(function.getLoc()) << "the first is here";
      return diagnostic;
    }
    function = candidate;
  }
  if (!function)
    return emitError(module.getLoc(),
                     "expected a module with one function, found none");
  if (!function.isPublic() || function.isExternal())
    return emitError(function.getLoc(),
                     "expected a public function with a body");
  if (Attribute limit = function->getAttr("hexad.position_limit"))
    if (failed(checkLimit(function.getLoc(), limit)))
      return failure();
  NameChecker names;
  return success(succeeded(verifyArguments(function, names)) &&
                 succeeded(verifyResults(function, names)));
}

func::FuncOp hexad::getModelFunction(ModuleOp module) {
  return *module.getOps<func::FuncOp>().begin();
}
