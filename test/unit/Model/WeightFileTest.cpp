//===- WeightFileTest.cpp - Packing by every recipe -----------------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hexad/Model/WeightFile.h"
#include "ModelTestUtilities.h"
#include "hexad/Model/HalfFloats.h"
#include "hexad/Model/ParameterRecipe.h"
#include "hexad/Runtime/abi.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Endian.h"
#include <cmath>

using namespace mlir;
using namespace hexad;

namespace {

/// A matrix whose element (r, c) is stored exactly in every float type.
struct StoredMatrix {
  std::string name;
  StoredType type;
  int64_t rows, columns; ///< a vector if columns is 0
  int64_t seed;
  int64_t members = 0; ///< not 0: so many matrices, `rows` of all

  float get(int64_t r, int64_t c) const {
    return static_cast<float>((r * 31 + c * 7 + seed) % 128) - 64.0f;
  }
};

/// What a parameter's recipe is, in the words of the op's definition.
struct Recipe {
  std::vector<std::vector<StoredMatrix>> layers; ///< parts of each layer
  bool transposed;
  int64_t panel;
  int64_t padding; ///< zeros behind each row

  /// Element (r, c) of a layer before padding.
  float get(int64_t layer, int64_t r, int64_t c) const {
    for (const StoredMatrix &part : layers[layer]) {
      int64_t rows = transposed ? part.columns : part.rows;
      if (r < rows)
        return transposed ? part.get(c, r) : part.get(r, c);
      r -= rows;
    }
    return 0.0f;
  }
  int64_t getRows() const {
    int64_t rows = 0;
    for (const StoredMatrix &part : layers.front())
      rows += transposed ? part.columns : part.rows;
    return rows;
  }
  int64_t getColumns() const {
    const StoredMatrix &part = layers.front().front();
    return transposed ? part.rows : part.columns;
  }
  std::vector<float> getExpected() const {
    std::vector<float> expected;
    int64_t rows = getRows(), columns = getColumns();
    for (size_t layer = 0; layer < layers.size(); ++layer) {
      if (panel == 0) {
        for (int64_t r = 0; r < rows; ++r)
          for (int64_t c = 0; c < columns + padding; ++c)
            expected.push_back(c < columns ? get(layer, r, c) : 0.0f);
        continue;
      }
      for (int64_t p = 0; p * panel < rows; ++p)
        for (int64_t c = 0; c < columns + padding; ++c)
          for (int64_t lane = 0; lane < panel; ++lane) {
            int64_t r = p * panel + lane;
            expected.push_back(r < rows && c < columns ? get(layer, r, c)
                                                       : 0.0f);
          }
    }
    return expected;
  }
  std::string getType() const {
    std::string type = "tensor<";
    llvm::raw_string_ostream stream(type);
    if (layers.size() > 1)
      stream << layers.size() << 'x';
    int64_t rows = getRows(), columns = getColumns() + padding;
    if (panel)
      stream << (rows + panel - 1) / panel << 'x' << columns << 'x' << panel;
    else
      stream << rows << 'x' << columns;
    stream << "xf32>";
    return type;
  }
};

class WeightFile : public ModelTest {
protected:
  void SetUp() override {
    context.loadDialect<HexadDialect, func::FuncDialect>();
  }

  /// Writes the stored matrices as `w.safetensors`.
  void store(ArrayRef<StoredMatrix> matrices) {
    std::vector<std::vector<uint8_t>> bytes;
    std::vector<TensorToWrite> tensors;
    for (const StoredMatrix &matrix : matrices) {
      unsigned width = getStoredTypeBytes(matrix.type);
      int64_t columns = std::max<int64_t>(matrix.columns, 1);
      std::vector<uint8_t> &data = bytes.emplace_back();
      for (int64_t r = 0; r < matrix.rows; ++r)
        for (int64_t c = 0; c < columns; ++c) {
          data.resize(data.size() + width);
          uint8_t *to = &data[data.size() - width];
          uint32_t single = llvm::bit_cast<uint32_t>(matrix.get(r, c));
          APFloat value(matrix.get(r, c));
          bool losesInfo;
          value.convert(APFloat::IEEEhalf(), APFloat::rmTowardZero, &losesInfo);
          if (matrix.type == StoredType::F32)
            llvm::support::endian::write32le(to, single);
          else if (matrix.type == StoredType::BF16)
            llvm::support::endian::write16le(to, single >> 16);
          else
            llvm::support::endian::write16le(
                to, value.bitcastToAPInt().getZExtValue());
        }
    }
    for (auto [matrix, data] : llvm::zip(matrices, bytes)) {
      llvm::SmallVector<int64_t, 4> shape = {matrix.rows};
      if (matrix.members)
        shape = {matrix.members, matrix.rows / matrix.members};
      if (matrix.columns)
        shape.push_back(matrix.columns);
      tensors.push_back({matrix.name, matrix.type, shape, data});
    }
    llvm::Error error =
        writeSafetensors(folder.getPath("w.safetensors"), tensors);
    ASSERT_FALSE(!!error) << llvm::toString(std::move(error));
  }

  std::optional<WeightFileResult> write(llvm::StringRef parameters) {
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(parameters, &context);
    if (!module)
      return std::nullopt;
    FailureOr<WeightFileResult> result =
        writeWeightFile(*module, folder.getPath(), folder.getPath("weights"));
    return succeeded(result) ? std::optional(*result) : std::nullopt;
  }

  std::string readFile(llvm::StringRef name) {
    auto buffer = llvm::MemoryBuffer::getFile(folder.getPath(name));
    return buffer ? (*buffer)->getBuffer().str() : "";
  }

  static std::vector<float> getFloats(llvm::StringRef file, int64_t offset,
                                      size_t count) {
    std::vector<float> floats(count);
    llvm::StringRef bytes =
        file.substr(HEXAD_WEIGHTS_ALIGNMENT + offset, count * sizeof(float));
    EXPECT_EQ(bytes.size(), count * sizeof(float));
    std::memcpy(floats.data(), bytes.data(), bytes.size());
    return floats;
  }

  TemporaryFolder folder;
};

TEST_F(WeightFile, FollowsEveryRecipe) {
  // Sizes at, below and above panels, and above the blocks they are made by.
  for (int64_t rows : {1, 16, 37})
    for (int64_t columns : {1, 24, 600})
      for (bool transposed : {false, true})
        for (int64_t panel : {0, 8, 16, 32})
          for (int64_t padding : {0, 5})
            for (int64_t layers : {1, 3})
              for (int64_t parts : {1, 2}) {
                Recipe recipe{{}, transposed, panel, padding};
                std::vector<StoredMatrix> stored;
                StoredType types[] = {StoredType::F32, StoredType::BF16,
                                      StoredType::F16};
                std::string names;
                for (int64_t layer = 0; layer < layers; ++layer) {
                  recipe.layers.emplace_back();
                  for (int64_t part = 0; part < parts; ++part) {
                    int64_t index = stored.size();
                    int64_t partRows = rows + part;
                    stored.push_back({"t" + std::to_string(index),
                                      types[index % 3],
                                      transposed ? columns : partRows,
                                      transposed ? partRows : columns, index});
                    recipe.layers.back().push_back(stored.back());
                    names +=
                        (index ? ", \"" : "\"") + stored.back().name + "\"";
                  }
                }
                store(stored);
                std::string text;
                llvm::raw_string_ostream stream(text);
                stream << "hexad.parameter @p : " << recipe.getType()
                       << " from \"w.safetensors\" [" << names
                       << "] {hexad.offset = 64 : i64";
                if (layers > 1)
                  stream << ", layers = " << layers << " : i64";
                if (panel)
                  stream << ", panel = " << panel << " : i64";
                stream << (transposed ? ", transposed}" : "}");
                ASSERT_TRUE(write(text)) << diagnostics << text;
                std::vector<float> expected = recipe.getExpected();
                std::string file = readFile("weights");
                ASSERT_EQ(getFloats(file, 64, expected.size()), expected)
                    << text;
              }
}

TEST_F(WeightFile, PicksBlocksOfRows) {
  // Two parts: blocks across the borders of panels, and one run of rows.
  int64_t stored = 41, columns = 27;
  struct {
    int64_t first, size, stride, count;
  } picks[] = {{2, 5, 13, 3}, {7, 20, 0, 1}};
  std::string attribute = ", picks = [array<i64: 2, 5, 13, 3>, array<i64: 7, "
                          "20, 0, 1>]";
  for (bool transposed : {false, true})
    for (int64_t panel : {0, 8, 16})
      for (int64_t layers : {1, 2}) {
        StoredType types[] = {StoredType::F32, StoredType::BF16,
                              StoredType::F16};
        std::vector<StoredMatrix> matrices;
        std::string names;
        for (int64_t i = 0; i < 2 * layers; ++i) {
          matrices.push_back({"t" + std::to_string(i), types[i % 3],
                              transposed ? columns : stored,
                              transposed ? stored : columns, i});
          names += (i ? ", \"t" : "\"t") + std::to_string(i) + "\"";
        }
        store(matrices);

        // What the recipe of the picked rows, stored by themselves, gives.
        std::vector<float> expected;
        for (int64_t layer = 0; layer < layers; ++layer) {
          std::vector<std::pair<const StoredMatrix *, int64_t>> rows;
          for (int64_t part = 0; part < 2; ++part)
            for (int64_t block = 0; block < picks[part].count; ++block)
              for (int64_t r = 0; r < picks[part].size; ++r)
                rows.push_back(
                    {&matrices[2 * layer + part],
                     picks[part].first + block * picks[part].stride + r});
          auto get = [&](size_t row, int64_t c) {
            if (row >= rows.size())
              return 0.0f;
            auto [matrix, r] = rows[row];
            return transposed ? matrix->get(c, r) : matrix->get(r, c);
          };
          if (!panel)
            for (size_t r = 0; r < rows.size(); ++r)
              for (int64_t c = 0; c < columns; ++c)
                expected.push_back(get(r, c));
          for (size_t r = 0; panel && r < rows.size(); r += panel)
            for (int64_t c = 0; c < columns; ++c)
              for (int64_t lane = 0; lane < panel; ++lane)
                expected.push_back(get(r + lane, c));
        }
        std::string shape = panel ? std::to_string((35 + panel - 1) / panel) +
                                        "x27x" + std::to_string(panel)
                                  : "35x27";
        std::string text = "hexad.parameter @p : tensor<" +
                           std::string(layers > 1 ? "2x" : "") + shape +
                           "xf32> from \"w.safetensors\" [" + names +
                           "] {hexad.offset = 0 : i64" + attribute;
        if (layers > 1)
          text += ", layers = 2 : i64";
        if (panel)
          text += ", panel = " + std::to_string(panel) + " : i64";
        text += transposed ? ", transposed}" : "}";
        ASSERT_TRUE(write(text)) << diagnostics << text;
        ASSERT_EQ(getFloats(readFile("weights"), 0, expected.size()), expected)
            << text;
      }
}

TEST_F(WeightFile, TakesMembersOfStacks) {
  // Two tensors of three matrices each, of which every other row is taken.
  constexpr int64_t members = 3, taken = 13, columns = 27;
  for (bool transposed : {false, true})
    for (int64_t panel : {0, 8}) {
      int64_t rows = transposed ? columns : 2 * taken;
      int64_t width = transposed ? 2 * taken : columns;
      StoredMatrix matrices[] = {
          {"a", StoredType::BF16, members * rows, width, 5, members},
          {"b", StoredType::F32, members * rows, width, 71, members}};
      store(matrices);
      std::vector<float> expected;
      for (int64_t layer = 0; layer < 2 * members; ++layer) {
        auto get = [&](int64_t r, int64_t c) {
          const StoredMatrix &matrix = matrices[layer / members];
          int64_t first = layer % members * rows;
          if (r >= taken)
            return 0.0f;
          return transposed ? matrix.get(first + c, 1 + 2 * r)
                            : matrix.get(first + 1 + 2 * r, c);
        };
        if (!panel)
          for (int64_t r = 0; r < taken; ++r)
            for (int64_t c = 0; c < columns; ++c)
              expected.push_back(get(r, c));
        for (int64_t r = 0; panel && r < taken; r += panel)
          for (int64_t c = 0; c < columns; ++c)
            for (int64_t lane = 0; lane < panel; ++lane)
              expected.push_back(get(r + lane, c));
      }
      std::string text =
          std::string("hexad.parameter @p : tensor<6x") +
          (panel ? "2x27x8" : "13x27") +
          "xf32> from \"w.safetensors\" [\"a\", \"b\"] {hexad.offset = 0 : "
          "i64, layers = 6 : i64, members = 3 : i64, picks = [array<i64: 1, 1, "
          "2, 13>]" +
          (panel ? ", panel = 8 : i64" : "") +
          (transposed ? ", transposed}" : "}");
      ASSERT_TRUE(write(text)) << diagnostics << text;
      EXPECT_EQ(getFloats(readFile("weights"), 0, expected.size()), expected)
          << text;
    }
}

TEST_F(WeightFile, TakesMembersOfVectors) {
  StoredMatrix matrix{"a", StoredType::F16, 10, 0, 5, 2};
  store({matrix});
  ASSERT_TRUE(write("hexad.parameter @p : tensor<2x5xf32> from "
                    "\"w.safetensors\" [\"a\"] {hexad.offset = 0 : i64, "
                    "layers = 2 : i64, members = 2 : i64}"))
      << diagnostics;
  std::vector<float> expected;
  for (int64_t i = 0; i < 10; ++i)
    expected.push_back(matrix.get(i, 0));
  EXPECT_EQ(getFloats(readFile("weights"), 0, 10), expected);
}

TEST_F(WeightFile, PicksLayersOfOneTensor) {
  // Rows or columns that move on from layer to layer.
  StoredMatrix stored{"t", StoredType::BF16, 41, 27, 3};
  store({stored});
  struct {
    const char *attribute;
    int64_t rows, columns;
    int64_t rowStep, columnStep, firstRow, firstColumn;
  } cases[] = {{"picks = [array<i64: 2, 5, 5, 1, 7>]", 5, 27, 7, 0, 2, 0},
               {"columns = array<i64: 1, 6, 9>", 41, 6, 0, 9, 0, 1}};
  for (auto &each : cases)
    for (int64_t panel : {0, 8, 16})
      for (int64_t padding : {0, 5}) {
        SCOPED_TRACE(each.attribute);
        std::vector<float> expected;
        int64_t panels = panel ? (each.rows + panel - 1) / panel : 0;
        int64_t width = each.columns + padding;
        for (int64_t layer = 0; layer < 3; ++layer) {
          auto get = [&](int64_t r, int64_t c) {
            bool inside = r < each.rows && c < each.columns;
            return inside ? stored.get(each.firstRow + layer * each.rowStep + r,
                                       each.firstColumn +
                                           layer * each.columnStep + c)
                          : 0.0f;
          };
          for (int64_t r = 0; !panel && r < each.rows; ++r)
            for (int64_t c = 0; c < width; ++c)
              expected.push_back(get(r, c));
          for (int64_t p = 0; p < panels; ++p)
            for (int64_t c = 0; c < width; ++c)
              for (int64_t lane = 0; lane < panel; ++lane)
                expected.push_back(get(p * panel + lane, c));
        }
        std::string text = "hexad.parameter @p : tensor<3x";
        text += panel ? std::to_string(panels) + "x" + std::to_string(width) +
                            "x" + std::to_string(panel)
                      : std::to_string(each.rows) + "x" + std::to_string(width);
        text += "xf32> from \"w.safetensors\" [\"t\", \"t\", \"t\"] "
                "{hexad.offset = 0 : i64, layers = 3 : i64, " +
                std::string(each.attribute);
        text += panel ? ", panel = " + std::to_string(panel) + " : i64}" : "}";
        ASSERT_TRUE(write(text)) << diagnostics << text;
        ASSERT_EQ(getFloats(readFile("weights"), 0, expected.size()), expected)
            << text;
      }
}

TEST_F(WeightFile, RepeatsAnElement) {
  store({{"s", StoredType::F32, 3, 0, 1}});
  ASSERT_TRUE(write("hexad.parameter @p : tensor<16xf32> from "
                    "\"w.safetensors\" [\"s\"] {hexad.offset = 0 : i64, picks "
                    "= [array<i64: 2, 1, 0, 13>]}"))
      << diagnostics;
  std::vector<float> expected(16, 0.0f);
  std::fill_n(expected.begin(), 13,
              StoredMatrix{"", StoredType::F32, 3, 0, 1}.get(2, 0));
  EXPECT_EQ(getFloats(readFile("weights"), 0, 16), expected);
}

TEST_F(WeightFile, PicksThatDoNotLieInside) {
  store({{"t", StoredType::F32, 20, 8, 1}});
  auto getError = [&](const std::string &type, const std::string &attribute) {
    diagnostics.clear();
    EXPECT_FALSE(write("hexad.parameter @p : tensor<" + type +
                       "xf32> from \"w.safetensors\" [\"t\", \"t\"] "
                       "{hexad.offset = 0 : i64, layers = 2 : i64, " +
                       attribute + "}"));
    return diagnostics;
  };
  struct {
    const char *type, *attribute, *message;
  } cases[] = {
      {"2x10x8", "picks = [array<i64: 5, 10, 10, 1, 6>]",
       "layer 1 takes rows 11 to 20 of tensor 't', which has shape [20, 8]"},
      {"2x20x4", "columns = array<i64: 1, 4, 4>",
       "layer 1 takes columns 5 to 8 of tensor 't', which has shape [20, 8]"},
      {"2x10x8", "picks = [array<i64: 0, 10, 10, 1, 9223372036854775807>]",
       "layer 1 takes rows beyond 64 bits of tensor 't'"},
      // As many rows as there are numbers.
      {"2x10x8", "picks = [array<i64: 0, 2, 0, 9223372036854775807>]",
       "layer 0 takes rows 0 to 1, 9223372036854775807 times, 0 apart, up to "
       "row 1, of tensor 't'"}};
  for (auto &each : cases) {
    std::string error = getError(each.type, each.attribute);
    EXPECT_NE(error.find(each.message), std::string::npos) << error;
  }
}

TEST_F(WeightFile, PadsVectors) {
  store({{"a", StoredType::F32, 5, 0, 1}, {"b", StoredType::F16, 3, 0, 2}});
  ASSERT_TRUE(write("hexad.parameter @p : tensor<16xf32> from "
                    "\"w.safetensors\" [\"a\", \"b\"] "
                    "{hexad.offset = 0 : i64}"))
      << diagnostics;
  std::vector<float> expected(16, 0.0f);
  for (int i = 0; i < 5; ++i)
    expected[i] = StoredMatrix{"", StoredType::F32, 5, 0, 1}.get(i, 0);
  for (int i = 0; i < 3; ++i)
    expected[5 + i] = StoredMatrix{"", StoredType::F32, 3, 0, 2}.get(i, 0);
  EXPECT_EQ(getFloats(readFile("weights"), 0, 16), expected);
}

TEST_F(WeightFile, PlacesParametersBehindTheHeader) {
  store({{"a", StoredType::F32, 2, 3, 1}, {"b", StoredType::F32, 3, 2, 2}});
  // Not in the order of their offsets.
  auto result =
      write("hexad.parameter @b : tensor<3x2xf32> from \"w.safetensors\" "
            "[\"b\"] {hexad.offset = 192 : i64}\n"
            "hexad.parameter @a : tensor<2x3xf32> from \"w.safetensors\" "
            "[\"a\"] {hexad.offset = 0 : i64}");
  ASSERT_TRUE(result) << diagnostics;
  std::string file = readFile("weights");
  EXPECT_EQ(file.size(), result->fileBytes);
  EXPECT_EQ(file.size(), size_t(HEXAD_WEIGHTS_ALIGNMENT) + 192 + 64);
  hexad_weights_header header;
  std::memcpy(&header, file.data(), sizeof(header));
  EXPECT_EQ(llvm::StringRef(header.magic, 8), HEXAD_WEIGHTS_MAGIC);
  EXPECT_EQ(header.version, HEXAD_WEIGHTS_VERSION);
  EXPECT_EQ(header.data_offset, uint32_t(HEXAD_WEIGHTS_ALIGNMENT));
  EXPECT_EQ(header.file_bytes, result->fileBytes);
  EXPECT_EQ(header.fingerprint, result->fingerprint);
  EXPECT_EQ(getFloats(file, 0, 6)[5],
            (StoredMatrix{"", StoredType::F32, 2, 3, 1}.get(1, 2)));
  EXPECT_EQ(getFloats(file, 192, 6)[5],
            (StoredMatrix{"", StoredType::F32, 3, 2, 2}.get(2, 1)));
  EXPECT_EQ(getFloats(file, 24, 42), std::vector<float>(42, 0.0f));
}

TEST_F(WeightFile, FingerprintDependsOnBytesAndShapes) {
  auto getFingerprint = [&](int64_t seed, llvm::StringRef type) {
    store({{"a", StoredType::F32, 4, 4, seed},
           {"v", StoredType::F32, 16, 0, seed}});
    auto result = write(
        ("hexad.parameter @a : " + type + " from \"w.safetensors\" [\"" +
         (type.count('x') == 1 ? "v" : "a") + "\"] {hexad.offset = 0 : i64}")
            .str());
    EXPECT_TRUE(result) << diagnostics;
    return result ? result->fingerprint : 0;
  };
  uint64_t fingerprint = getFingerprint(1, "tensor<4x4xf32>");
  EXPECT_EQ(fingerprint, getFingerprint(1, "tensor<4x4xf32>"));
  EXPECT_NE(fingerprint, getFingerprint(2, "tensor<4x4xf32>"));
  EXPECT_NE(fingerprint, getFingerprint(1, "tensor<4x8xf32>"));
  EXPECT_NE(fingerprint, 0u);
}

TEST_F(WeightFile, KeepsPayloadsOfNaN) {
  uint32_t bits[] = {0x7fc12345, 0x7f800001, 0xffffffff, 0x80000000};
  ArrayRef<uint8_t> bytes(reinterpret_cast<uint8_t *>(bits), sizeof(bits));
  llvm::Error error = writeSafetensors(folder.getPath("w.safetensors"),
                                       {{"a", StoredType::F32, {4}, bytes}});
  ASSERT_FALSE(!!error);
  ASSERT_TRUE(write("hexad.parameter @a : tensor<4xf32> from "
                    "\"w.safetensors\" [\"a\"] {hexad.offset = 0 : i64}"));
  EXPECT_EQ(llvm::StringRef(readFile("weights"))
                .substr(HEXAD_WEIGHTS_ALIGNMENT, sizeof(bits)),
            llvm::StringRef(reinterpret_cast<char *>(bits), sizeof(bits)));
}

/// The 16-bit elements of a file.
static std::vector<uint16_t> getHalves(llvm::StringRef file, size_t count) {
  std::vector<uint16_t> halves(count);
  std::memcpy(halves.data(), file.data() + HEXAD_WEIGHTS_ALIGNMENT,
              count * sizeof(uint16_t));
  return halves;
}

TEST_F(WeightFile, NarrowsElements) {
  // More elements than a chunk has; panels, and rows with padding.
  StoredMatrix a{"a", StoredType::F32, 300, 300, 4};
  store({a});
  for (bool isBF16 : {true, false}) {
    auto getWanted = [&](int64_t r, int64_t c) {
      float value = r < 300 && c < 300 ? a.get(r, c) : 0.0f;
      return isBF16 ? narrowToBF16(value) : narrowToF16(value);
    };
    std::string element = isBF16 ? "bf16" : "f16";
    auto panels = write("hexad.parameter @p : tensor<19x300x16x" + element +
                        "> from \"w.safetensors\" [\"a\"] {hexad.offset = 0 "
                        ": i64, panel = 16 : i64}");
    ASSERT_TRUE(panels) << diagnostics;
    EXPECT_EQ(panels->fileBytes,
              size_t(HEXAD_WEIGHTS_ALIGNMENT) + 19 * 300 * 16 * 2);
    std::vector<uint16_t> halves =
        getHalves(readFile("weights"), 19 * 300 * 16);
    for (int64_t r = 0; r < 19 * 16; ++r)
      for (int64_t c = 0; c < 300; ++c)
        ASSERT_EQ(halves[(r / 16 * 300 + c) * 16 + r % 16], getWanted(r, c));

    auto rows = write("hexad.parameter @p : tensor<300x304x" + element +
                      "> from \"w.safetensors\" [\"a\"] {hexad.offset = 0 : "
                      "i64}");
    ASSERT_TRUE(rows) << diagnostics;
    EXPECT_NE(rows->fingerprint, panels->fingerprint);
    halves = getHalves(readFile("weights"), 300 * 304);
    for (int64_t r = 0; r < 300; ++r)
      for (int64_t c = 0; c < 304; ++c)
        ASSERT_EQ(halves[r * 304 + c], getWanted(r, c));
  }
}

/// Of a tensor of the same type, no bit changes.
TEST_F(WeightFile, KeepsBitsOfNarrowElements) {
  std::vector<uint16_t> bits(1 << 16);
  for (size_t i = 0; i < bits.size(); ++i)
    bits[i] = i;
  ArrayRef<uint8_t> bytes(reinterpret_cast<uint8_t *>(bits.data()),
                          bits.size() * 2);
  llvm::Error error =
      writeSafetensors(folder.getPath("w.safetensors"),
                       {{"bf16", StoredType::BF16, {256, 256}, bytes},
                        {"f16", StoredType::F16, {256, 256}, bytes}});
  ASSERT_FALSE(!!error);
  for (std::string type : {"bf16", "f16"}) {
    ASSERT_TRUE(write("hexad.parameter @p : tensor<256x256x" + type +
                      "> from \"w.safetensors\" [\"" + type +
                      "\"] {hexad.offset = 0 : i64}"))
        << diagnostics;
    EXPECT_EQ(getHalves(readFile("weights"), bits.size()), bits) << type;
  }
}

/// `storage` alone rounds: elements are written as the type says.
TEST_F(WeightFile, RoundsToTheStorage) {
  float values[] = {1.0f / 3, 1e30f, -7.0f, 3.1415927f};
  ArrayRef<uint8_t> bytes(reinterpret_cast<uint8_t *>(values), sizeof(values));
  llvm::Error error = writeSafetensors(folder.getPath("w.safetensors"),
                                       {{"a", StoredType::F32, {2, 2}, bytes}});
  ASSERT_FALSE(!!error);
  std::string text = "hexad.parameter @p : tensor<2x2xf32> from "
                     "\"w.safetensors\" [\"a\"] {hexad.offset = 0 : i64, "
                     "storage = ";
  ASSERT_TRUE(write(text + "bf16}")) << diagnostics;
  std::vector<float> rounded = getFloats(readFile("weights"), 0, 4);
  for (size_t i = 0; i < 4; ++i)
    EXPECT_EQ(rounded[i], widenBF16(narrowToBF16(values[i])));
  EXPECT_NE(rounded[0], values[0]);

  EXPECT_FALSE(write(text + "f16}"));
  EXPECT_TRUE(llvm::StringRef(diagnostics)
                  .contains("parameter @p: expected elements that fit F16, "
                            "found 1e+30 in layer 0, tensor 'a'"))
      << diagnostics;
  // What is not finite fits.
  values[1] = INFINITY;
  values[2] = NAN;
  llvm::cantFail(writeSafetensors(folder.getPath("w.safetensors"),
                                  {{"a", StoredType::F32, {2, 2}, bytes}}));
  EXPECT_TRUE(write(text + "f16}"));
  EXPECT_EQ(getFloats(readFile("weights"), 0, 4)[1], INFINITY);
}

TEST_F(WeightFile, ReportsProgressInBytes) {
  // More than one block of output.
  store({{"a", StoredType::F32, 1000, 700, 1}});
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      "hexad.parameter @a : tensor<1000x700xf32> from \"w.safetensors\" "
      "[\"a\"] {hexad.offset = 0 : i64}",
      &context);
  std::vector<std::pair<uint64_t, uint64_t>> calls;
  auto result = writeWeightFile(
      *module, folder.getPath(), folder.getPath("weights"),
      [&](uint64_t done, uint64_t total) { calls.emplace_back(done, total); });
  ASSERT_TRUE(succeeded(result));
  ASSERT_GT(calls.size(), 2u);
  EXPECT_TRUE(llvm::is_sorted(calls));
  EXPECT_EQ(calls.back().first, 2'800'000u);
  EXPECT_EQ(calls.back().second, 2'800'000u);
}

TEST_F(WeightFile, ReadsLayersInDoublePrecision) {
  StoredMatrix a{"a", StoredType::BF16, 3, 2, 4},
      b{"b", StoredType::F32, 3, 2, 9};
  store({a, b});
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      "hexad.parameter @p : tensor<2x3x2xf32> from \"w.safetensors\" "
      "[\"a\", \"b\"] {layers = 2 : i64}",
      &context);
  TensorSources sources(folder.getPath());
  auto recipe =
      ParameterRecipe::resolve(*module->getOps<ParameterOp>().begin(), sources);
  ASSERT_TRUE(succeeded(recipe)) << diagnostics;
  EXPECT_EQ(recipe->getLayerCount(), 2);
  EXPECT_EQ(*recipe->readLayer(1),
            (std::vector<double>{b.get(0, 0), b.get(0, 1), b.get(1, 0),
                                 b.get(1, 1), b.get(2, 0), b.get(2, 1)}));
  EXPECT_EQ((*recipe->readLayer(0))[3], a.get(1, 1));
}

TEST_F(WeightFile, RefusesRecipesThatDoNotFit) {
  store({{"a", StoredType::F32, 4, 3, 1},
         {"b", StoredType::F32, 4, 2, 2},
         {"v", StoredType::F32, 4, 0, 3}});
  auto expectMessage = [&](llvm::StringRef parameter, llvm::StringRef part) {
    diagnostics.clear();
    EXPECT_FALSE(write(("hexad.parameter @p : " + parameter).str()));
    EXPECT_TRUE(llvm::StringRef(diagnostics).contains(part)) << diagnostics;
    EXPECT_FALSE(llvm::sys::fs::exists(folder.getPath("weights")));
  };
  std::string from = "xf32> from \"w.safetensors\" ";
  std::string offset = "{hexad.offset = 0 : i64";
  expectMessage("tensor<2x3" + from + "[\"a\"] " + offset +
                    ", layers = 2 : i64, members = 2 : i64}",
                "expected tensor 'a' to hold 2 layers along its first "
                "dimension, found shape [4, 3]");
  expectMessage("tensor<4x3" + from + "[\"v\"] " + offset +
                    ", layers = 4 : i64, members = 4 : i64}",
                "expected tensor 'v' to hold 4 layers along its first "
                "dimension, found shape [4]");
  expectMessage("tensor<4x2" + from + "[\"a\"] " + offset +
                    ", layers = 4 : i64, members = 4 : i64}",
                "expected layers of shape [2], found [3]");
  expectMessage("tensor<4x3" + from + "[\"none\"] " + offset + "}",
                "there is no tensor 'none'");
  expectMessage("tensor<3x4" + from + "[\"a\"] " + offset + "}",
                "expected shape [3, 4], found [4, 3]");
  expectMessage("tensor<12" + from + "[\"a\"] " + offset + "}",
                "expected shape [12], found [4, 3]");
  expectMessage("tensor<4x2000" + from + "[\"a\"] " + offset + "}",
                "expected shape [4, 2000]");
  expectMessage("tensor<5x3" + from + "[\"a\"] " + offset + "}",
                "expected shape [5, 3]");
  expectMessage("tensor<8x3" + from + "[\"a\", \"b\"] " + offset + "}",
                "tensor 'b' of shape [4, 2] does not go with 'a'");
  expectMessage("tensor<2x4x3" + from + "[\"a\", \"b\"] " + offset +
                    ", layers = 2 : i64}",
                "tensor 'b' of shape [4, 2] does not go with 'a'");
  expectMessage("tensor<4x4" + from + "[\"v\"] " + offset + ", transposed}",
                "to have two dimensions");
  expectMessage("tensor<1x3x8" + from + "[\"v\"] " + offset +
                    ", panel = 8 : i64}",
                "in panels of 8");
  expectMessage("tensor<2x3x8" + from + "[\"a\"] " + offset +
                    ", panel = 8 : i64}",
                "in panels of 8");
  for (auto [pick, rows] :
       {std::pair("4, 1, 0, 1", "row 4"),
        std::pair("0, 5, 0, 1", "rows 0 to 4"),
        std::pair("1, 2, 2, 2", "rows 1 to 2, 2 times, 2 apart, up to row 4,"),
        std::pair("0, 1, 4611686018427387904, 4", "rows beyond 64 bits"),
        std::pair("9223372036854775807, 1, 0, 1", "row 9223372036854775807")})
    expectMessage("tensor<4x3" + from + "[\"a\"] " + offset +
                      ", picks = [array<i64: " + std::string(pick) + ">]}",
                  "layer 0 takes " + std::string(rows) +
                      " of tensor 'a', which has shape [4, 3]");
  expectMessage("tensor<4x3" + from + "[\"a\"] " + offset +
                    ", picks = [array<i64: 0, 2, 0, 1>]}",
                "expected shape [4, 3], found [2, 3]");
  expectMessage("tensor<4x3" + from + "[\"a\"] {hexad.offset = 32 : i64}",
                "expected hexad.offset, a multiple of 64");
  expectMessage("tensor<4x3" + from + "[\"a\"]", "expected hexad.offset");
  expectMessage("tensor<4x3xf32> from \"../w.safetensors\" [\"a\"] " + offset +
                    "}",
                "expected a file inside the model's folder");
  expectMessage("tensor<4x3xf32> from \"/w.safetensors\" [\"a\"] " + offset +
                    "}",
                "expected a file inside the model's folder");
  expectMessage("tensor<4x3xf32> from \"x.safetensors\" [\"a\"] " + offset +
                    "}",
                "x.safetensors: ");
  expectMessage("tensor<4x3" + from + "[\"a\"] " + offset +
                    "}\nhexad.parameter @q : tensor<4x3" + from + "[\"a\"] " +
                    offset + "}",
                "within the bytes of another parameter");
}

TEST_F(WeightFile, RefusesOtherTypes) {
  std::vector<uint8_t> bytes(48);
  for (StoredType type : {StoredType::F64, StoredType::I32, StoredType::U8,
                          StoredType::F8E4M3, StoredType::Bool}) {
    diagnostics.clear();
    llvm::Error error = writeSafetensors(
        folder.getPath("w.safetensors"),
        {{"a", type, {int64_t(48 / getStoredTypeBytes(type))}, bytes}});
    ASSERT_FALSE(!!error);
    EXPECT_FALSE(write("hexad.parameter @a : tensor<12xf32> from "
                       "\"w.safetensors\" [\"a\"] {hexad.offset = 0 : i64}"));
    EXPECT_TRUE(llvm::StringRef(diagnostics)
                    .contains("to be of F32, F16 or BF16, found " +
                              getStoredTypeName(type).str()))
        << diagnostics;
  }
}

TEST_F(WeightFile, ReportsWriteErrors) {
  store({{"a", StoredType::F32, 300, 1000, 1}});
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      "hexad.parameter @a : tensor<300x1000xf32> from \"w.safetensors\" "
      "[\"a\"] {hexad.offset = 0 : i64}",
      &context);
  for (std::string path : {folder.getPath("no/weights"), folder.getPath(),
                           std::string("/dev/full")}) {
    if (!llvm::sys::fs::exists(llvm::sys::path::parent_path(path)) &&
        llvm::StringRef(path).starts_with("/dev"))
      continue;
    diagnostics.clear();
    EXPECT_TRUE(failed(writeWeightFile(*module, folder.getPath(), path)));
    EXPECT_TRUE(
        llvm::StringRef(diagnostics).contains("cannot write '" + path + "': "))
        << diagnostics;
  }
}

} // namespace
