//===- DoorTests.cpp - Tables of rectangles against a plain version -------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"
#include "gtest/gtest.h"
#include <random>

using namespace hexad::test;

namespace {

/// What a value is before the door writes it.
constexpr int32_t untouched = -77;

/// The tables in vectors of their exact capacity.
struct Tables {
  Tables(const hexad_capacity &capacity) {
    size_t rows = roundUp(capacity.tokens);
    size_t segments = roundUp(capacity.segments);
    rowElement.assign(rows, untouched);
    elementRow.assign(capacity.elements, untouched);
    positions.assign(rows, untouched);
    segmentBounds.assign(segments + 1, untouched);
    segmentFirst.assign(segments, untouched);
    segmentPages.assign(capacity.segments + 1, untouched);
    tileSegment.assign(capacity.query_tiles, untouched);
    tileBounds.assign(2 * capacity.query_tiles, untouched);
    pageBounds.assign(2 * capacity.pages, untouched);
    pageSegment.assign(capacity.pages, untouched);
    labels.assign(std::max(rows, segments), untouched);
    selectedRow.assign(roundUp(capacity.selected), untouched);
    selectedElement.assign(roundUp(capacity.selected), untouched);
  }
  static size_t roundUp(size_t count) {
    return (count + HEXAD_ROW_GRANULE - 1) / HEXAD_ROW_GRANULE *
           HEXAD_ROW_GRANULE;
  }
  hexad_tables get() {
    return {rowElement.data(),   elementRow.data(),
            positions.data(),    segmentBounds.data(),
            segmentFirst.data(), segmentPages.data(),
            selectedRow.data(),  selectedElement.data(),
            tileSegment.data(),  tileBounds.data(),
            pageBounds.data(),   pageSegment.data(),
            labels.data(),       nullptr};
  }
  std::vector<int32_t> rowElement, elementRow, positions, segmentBounds,
      segmentFirst, segmentPages, tileSegment, tileBounds, pageBounds,
      pageSegment, labels, selectedRow, selectedElement;
};

/// The same by appending, straight from abi.h's words.
struct Expected {
  Expected(const hexad_model_info &info, size_t batch, size_t seq,
           const std::vector<int32_t> &mask) {
    for (size_t i = 0; i < batch; ++i) {
      int32_t begin = rowElement.size();
      for (size_t s = 0; s < seq; ++s) {
        bool real = mask[i * seq + s] != 0;
        elementRow.push_back(real ? int32_t(rowElement.size()) : -1);
        if (real) {
          positions.push_back(int32_t(rowElement.size()) - begin);
          rowElement.push_back(i * seq + s);
        }
      }
      int32_t end = rowElement.size();
      segmentBounds.push_back(begin);
      segmentFirst.push_back(begin == end ? -1 : begin);
      segmentPages.push_back(pageBounds.size() / 2);
      for (int32_t row = begin; row < end; row += info.page) {
        pageBounds.push_back(row);
        pageBounds.push_back(std::min(end, row + info.page));
        pageSegment.push_back(i);
      }
      for (int32_t row = begin; row < end; row += info.query_tile) {
        tileSegment.push_back(i);
        tileBounds.push_back(row);
        tileBounds.push_back(std::min(end, row + info.query_tile));
      }
    }
    tokens = rowElement.size();
    // With selection: every row is wanted, where it stands in the rectangle.
    for (int32_t row = 0; row < tokens; ++row) {
      selectedRow.push_back(row);
      selectedElement.push_back(rowElement[row]);
    }
    while (selectedRow.size() % HEXAD_ROW_GRANULE) {
      selectedRow.push_back(-1);
      selectedElement.push_back(-1);
    }
    segmentPages.push_back(pageBounds.size() / 2);
    while (rowElement.size() % HEXAD_ROW_GRANULE) {
      rowElement.push_back(-1);
      positions.push_back(0);
    }
    while (segmentFirst.size() % HEXAD_ROW_GRANULE) {
      segmentFirst.push_back(-1);
      segmentBounds.push_back(tokens);
    }
    segmentBounds.push_back(tokens);
  }
  int64_t tokens;
  std::vector<int32_t> rowElement, elementRow, positions, segmentBounds,
      segmentFirst, segmentPages, tileSegment, tileBounds, pageBounds,
      pageSegment, selectedRow, selectedElement;
};

/// The beginning of `got` is `want`, the rest is as it was.
void expectTable(const char *name, std::vector<int32_t> want,
                 const std::vector<int32_t> &got) {
  ASSERT_LE(want.size(), got.size()) << name;
  want.resize(got.size(), untouched);
  EXPECT_EQ(want, got) << name;
}

class DoorTest : public testing::Test {
protected:
  /// Opens the door for exactly the capacity that the rectangle needs.
  hexad_status open(size_t batch, size_t seq, const std::vector<int32_t> &mask,
                    bool passMask = true, bool selects = false) {
    size_t tokens = 0;
    for (int32_t real : mask)
      tokens += real != 0;
    capacity = {tokens,
                batch,
                batch * seq,
                selects ? tokens : 0,
                hexad_most_pieces(tokens, batch, model.info.query_tile),
                hexad_most_pieces(tokens, batch, model.info.page)};
    tables.emplace(capacity);
    hexad_tables pointers = tables->get();
    return hexad_door_open(&model.info, &capacity, batch, seq,
                           passMask ? mask.data() : nullptr, selects, &pointers,
                           extents, {message, sizeof(message)});
  }

  void check(size_t batch, size_t seq, const std::vector<int32_t> &mask,
             bool passMask = true, bool selects = false) {
    SCOPED_TRACE(testing::Message() << "batch " << batch << ", seq " << seq);
    ASSERT_EQ(HEXAD_OK, open(batch, seq, mask, passMask, selects)) << message;
    Expected want(model.info, batch, seq, mask);
    if (!selects) {
      want.selectedRow.clear();
      want.selectedElement.clear();
    }
    int64_t selected = selects ? want.tokens : 0;
    expectTable("row_element", want.rowElement, tables->rowElement);
    expectTable("element_row", want.elementRow, tables->elementRow);
    expectTable("positions", want.positions, tables->positions);
    expectTable("segment_bounds", want.segmentBounds, tables->segmentBounds);
    expectTable("segment_first", want.segmentFirst, tables->segmentFirst);
    expectTable("segment_pages", want.segmentPages, tables->segmentPages);
    expectTable("tile_segment", want.tileSegment, tables->tileSegment);
    expectTable("tile_bounds", want.tileBounds, tables->tileBounds);
    expectTable("page_bounds", want.pageBounds, tables->pageBounds);
    expectTable("page_segment", want.pageSegment, tables->pageSegment);
    expectTable("selected_row", want.selectedRow, tables->selectedRow);
    expectTable("selected_element", want.selectedElement,
                tables->selectedElement);
    expectTable("labels",
                std::vector<int32_t>(
                    std::max(want.rowElement.size(), want.segmentFirst.size()),
                    HEXAD_NO_LABEL),
                tables->labels);
    auto tiles = [&](int64_t count) {
      return (count + model.info.tile_rows - 1) / model.info.tile_rows;
    };
    EXPECT_EQ(int64_t(want.rowElement.size()), extents[HEXAD_EXTENT_ROWS]);
    EXPECT_EQ(want.tokens, extents[HEXAD_EXTENT_TOKENS]);
    EXPECT_EQ(tiles(want.tokens), extents[HEXAD_EXTENT_STRIPS]);
    EXPECT_EQ(selected, extents[HEXAD_EXTENT_SELECTED]);
    EXPECT_EQ(int64_t(want.selectedRow.size()),
              extents[HEXAD_EXTENT_SELECTED_ROWS]);
    EXPECT_EQ(tiles(selected), extents[HEXAD_EXTENT_SELECTED_STRIPS]);
    EXPECT_EQ(int64_t(batch), extents[HEXAD_EXTENT_SEGMENTS]);
    EXPECT_EQ(int64_t(want.segmentFirst.size()),
              extents[HEXAD_EXTENT_SEGMENT_ROWS]);
    EXPECT_EQ(tiles(batch), extents[HEXAD_EXTENT_SEGMENT_STRIPS]);
    EXPECT_EQ(int64_t(want.tileSegment.size()),
              extents[HEXAD_EXTENT_QUERY_TILES]);
    EXPECT_EQ(int64_t(want.pageBounds.size() / 2), extents[HEXAD_EXTENT_PAGES]);
    EXPECT_EQ(int64_t(batch * seq), extents[HEXAD_EXTENT_ELEMENTS]);
  }

  TestModel model;
  hexad_capacity capacity;
  std::optional<Tables> tables;
  int64_t extents[HEXAD_EXTENT_COUNT] = {};
  char message[256] = "";
};

TEST_F(DoorTest, RandomRectangles) {
  std::mt19937 random(7);
  model.info.position_limit = 0;
  for (int round = 0; round < 400; ++round) {
    model.info.page = round % 3 ? 128 : 8;
    model.info.query_tile = round % 2 ? 12 : 48;
    size_t batch = random() % 60, seq = random() % (round % 5 ? 20 : 400);
    std::vector<int32_t> mask(batch * seq, 0);
    for (size_t i = 0; seq != 0 && i < batch; ++i) {
      size_t length = random() % 4 ? random() % (seq + 1) : seq;
      // Padding behind, before, on both sides.
      size_t room = seq - length;
      size_t first = room ? (random() % 3 == 0   ? 0
                             : random() % 2 == 0 ? room
                                                 : random() % (room + 1))
                          : 0;
      for (size_t s = first; s < first + length; ++s)
        mask[i * seq + s] = random() % 2 ? 1 : -5;
    }
    check(batch, seq, mask, /*passMask=*/true, /*selects=*/random() % 2);
    if (HasFailure())
      return;
  }
}

TEST_F(DoorTest, WithoutMaskEverythingIsReal) {
  for (size_t seq : {0, 1, 12, 47, 48, 49, 127, 128, 129, 300})
    for (size_t batch : {0, 1, 2, 48, 49})
      check(batch, seq, std::vector<int32_t>(batch * seq, 1),
            /*passMask=*/false);
}

TEST_F(DoorTest, PageAndTileBoundaries) {
  for (size_t length = 120; length < 140; ++length)
    check(3, length, std::vector<int32_t>(3 * length, 1));
}

TEST_F(DoorTest, FullyMasked) { check(3, 5, std::vector<int32_t>(15, 0)); }

TEST_F(DoorTest, HoleNamesTheRow) {
  EXPECT_EQ(HEXAD_MASK_WITH_HOLE,
            open(3, 4, {1, 1, 1, 0, 0, 1, 1, 0, 1, 0, 1, 1}));
  EXPECT_STREQ("batch row 2 of the mask has a hole: element 2 is real again "
               "after padding",
               message);
}

TEST_F(DoorTest, TooLongForThePositions) {
  model.info.position_limit = 3;
  check(1, 4, {0, 1, 1, 1});
  EXPECT_EQ(HEXAD_INPUT_OUT_OF_RANGE, open(2, 4, {0, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_STREQ("batch row 1 has 4 tokens, the model has positions for 3",
               message);
}

TEST_F(DoorTest, Capacity) {
  std::vector<int32_t> mask(12, 1);
  ASSERT_EQ(HEXAD_OK, open(3, 4, mask, /*passMask=*/true, /*selects=*/true));
  hexad_tables pointers = tables->get();
  auto reopen = [&](size_t batch, size_t seq, hexad_capacity smaller,
                    int selects = 0) {
    return hexad_door_open(&model.info, &smaller, batch, seq, mask.data(),
                           selects, &pointers, extents,
                           {message, sizeof(message)});
  };
  hexad_capacity less = capacity;
  less.segments = 2;
  EXPECT_EQ(HEXAD_CAPACITY_EXCEEDED, reopen(3, 4, less));
  EXPECT_STREQ("batch is 3, the context was created for max_segments = 2",
               message);
  less = capacity;
  less.elements = 11;
  EXPECT_EQ(HEXAD_CAPACITY_EXCEEDED, reopen(3, 4, less));
  less = capacity;
  less.tokens = 11;
  EXPECT_EQ(HEXAD_CAPACITY_EXCEEDED, reopen(3, 4, less));
  EXPECT_STREQ("batch rows 0 to 2 have 12 tokens, the context was created for "
               "max_tokens = 11",
               message);
  EXPECT_EQ(HEXAD_CAPACITY_EXCEEDED, reopen(2, SIZE_MAX / 2 + 2, capacity));
  less = capacity;
  less.selected = 11;
  EXPECT_EQ(HEXAD_CAPACITY_EXCEEDED, reopen(3, 4, less, /*selects=*/1));
  EXPECT_STREQ("batch rows 0 to 2 have 12 tokens of which results are wanted, "
               "the context was created for max_logits = 11",
               message);
}

TEST_F(DoorTest, IdsAreCheckedWhereReal) {
  ASSERT_EQ(HEXAD_OK, open(2, 3, {0, 1, 1, 1, 1, 0}));
  hexad_tables pointers = tables->get();
  auto check = [&](std::vector<int32_t> ids) {
    return hexad_door_check_ids(&model.inputs[0], 3, ids.data(), 4, &pointers,
                                {message, sizeof(message)});
  };
  EXPECT_EQ(HEXAD_OK, check({-1, 0, 99, 1, 2, 100}));
  EXPECT_EQ(HEXAD_INPUT_OUT_OF_RANGE, check({0, 0, 0, 0, 100, 0}));
  EXPECT_STREQ(
      "input_ids[1, 1] is 100, it must be at least 0 and less than 100",
      message);
  EXPECT_EQ(HEXAD_INPUT_OUT_OF_RANGE, check({0, -3, 0, 0, 0, 0}));
  EXPECT_STREQ("input_ids[0, 1] is -3, it must be at least 0 and less than 100",
               message);
}

/// Labels of two batch rows of four elements: two real ones, then three.
class LabelsTest : public DoorTest {
protected:
  hexad_status take(hexad_input_kind kind, const std::vector<int32_t> &labels,
                    bool wanted = true) {
    EXPECT_EQ(HEXAD_OK, open(3, 4, {0, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 0}));
    hexad_tables pointers = tables->get();
    const hexad_input_info input = {"labels", kind, 1, /*limit=*/10,
                                    0,        0,    0, 0};
    return hexad_door_take_labels(&input, 3, 4, labels.data(), wanted,
                                  &pointers, {message, sizeof(message)});
  }
  void expectLabels(std::vector<int32_t> want) {
    want.resize(HEXAD_ROW_GRANULE, HEXAD_NO_LABEL);
    expectTable("labels", want, tables->labels);
  }
};

TEST_F(LabelsTest, OfTheRowItself) {
  EXPECT_EQ(HEXAD_OK, take(HEXAD_INPUT_LABELS,
                           {77, 1, 9, 77, 77, 77, 77, 77, 0, -100, 5, 77}));
  expectLabels({1, 9, 0, -100, 5});
  EXPECT_EQ(HEXAD_INPUT_OUT_OF_RANGE,
            take(HEXAD_INPUT_LABELS, {0, 1, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_STREQ("labels[0, 2] is 10, it must be -100 (no label), or at least 0 "
               "and less than 10",
               message);
  EXPECT_EQ(HEXAD_INPUT_OUT_OF_RANGE,
            take(HEXAD_INPUT_LABELS, {0, 1, 2, 0, 0, 0, 0, 0, -1, 0, 0, 0}));
  EXPECT_STREQ("labels[2, 0] is -1, it must be -100 (no label), or at least 0 "
               "and less than 10",
               message);
}

TEST_F(LabelsTest, OfTheNextRow) {
  // The first of each segment is not looked at, the last has none.
  EXPECT_EQ(HEXAD_OK, take(HEXAD_INPUT_NEXT_LABELS,
                           {77, 77, 9, 77, 77, 77, 77, 77, 77, -100, 5, 77}));
  expectLabels({9, -100, -100, 5, -100});
  EXPECT_EQ(HEXAD_INPUT_OUT_OF_RANGE,
            take(HEXAD_INPUT_NEXT_LABELS,
                 {77, 77, 9, 77, 77, 77, 77, 77, 77, -100, 12, 77}));
  EXPECT_STREQ("labels[2, 2] is 12, it must be -100 (no label), or at least 0 "
               "and less than 10",
               message);
}

TEST_F(LabelsTest, OfSegments) {
  EXPECT_EQ(HEXAD_OK, take(HEXAD_INPUT_SEGMENT_LABELS, {3, 77, -100}));
  expectLabels({3, -100, -100});
  EXPECT_EQ(HEXAD_INPUT_OUT_OF_RANGE,
            take(HEXAD_INPUT_SEGMENT_LABELS, {3, 0, 10}));
  EXPECT_STREQ("labels[2] is 10, it must be -100 (no label), or at least 0 and "
               "less than 10",
               message);
}

TEST_F(LabelsTest, CheckedWithoutBeingWanted) {
  EXPECT_EQ(HEXAD_OK, take(HEXAD_INPUT_SEGMENT_LABELS, {3, 1, 2}, false));
  expectLabels({});
  EXPECT_EQ(HEXAD_INPUT_OUT_OF_RANGE,
            take(HEXAD_INPUT_SEGMENT_LABELS, {3, 1, 20}, false));
  EXPECT_EQ(HEXAD_INPUT_OUT_OF_RANGE,
            take(HEXAD_INPUT_LABELS, std::vector<int32_t>(12, 20), false));
}

TEST(MostPieces, IsReached) {
  // Every way of cutting few tokens into segments stays below, one reaches it.
  for (size_t tokens = 0; tokens <= 8; ++tokens)
    for (size_t segments = 1; segments <= 4; ++segments)
      for (size_t size = 1; size <= 4; ++size) {
        size_t most = 0;
        std::vector<size_t> lengths(segments, 0);
        auto cut = [&](auto &self, size_t segment, size_t left,
                       size_t pieces) -> void {
          if (segment == segments) {
            most = std::max(most, pieces);
            return;
          }
          for (size_t length = 0; length <= left; ++length)
            self(self, segment + 1, left - length,
                 pieces + (length + size - 1) / size);
        };
        cut(cut, 0, tokens, 0);
        EXPECT_EQ(most, hexad_most_pieces(tokens, segments, size))
            << tokens << " tokens, " << segments << " segments, size " << size;
      }
}

// Caches that are read later have places of their own, the others one together.
TEST(ContextPages, AreSharedUnlessTheyAreKept) {
  hexad_model_info info = {};
  const hexad_cache_info caches[] = {
      {64, 3, 0, 0}, {128, 1, 8, 1}, {192, 1, 0, 0}, {64, 2, 0, 1}};
  info.caches = caches;
  int64_t kept = -1;
  EXPECT_EQ(hexad_context_page_bytes(&info, &kept), 0);
  EXPECT_EQ(kept, 0);
  info.cache_count = 1;
  EXPECT_EQ(hexad_context_page_bytes(&info, &kept), 64);
  EXPECT_EQ(kept, 64);
  info.cache_count = 4;
  EXPECT_EQ(hexad_context_page_bytes(&info, &kept), 192 + 128 + 64);
  EXPECT_EQ(kept, 192);
}

TEST(MostPages, AreEnoughAndReached) {
  hexad_model_info info = {};
  const hexad_cache_info cache = {64, 1, 0, 0};
  info.caches = &cache;
  info.cache_count = 1;
  for (size_t tokens = 0; tokens <= 8; ++tokens)
    for (size_t segments = 1; segments <= 3; ++segments)
      for (size_t size = 1; size <= 4; ++size) {
        info.page = size;
        size_t most = 0;
        // Every length of each segment, from every position in a page.
        auto cut = [&](auto &self, size_t segment, size_t left,
                       size_t pages) -> void {
          most = std::max(most, pages);
          if (segment == segments)
            return;
          for (size_t length = 1; length <= left; ++length)
            for (size_t first = 0; first < size; ++first)
              self(self, segment + 1, left - length,
                   pages + (first + length + size - 1) / size);
        };
        cut(cut, 0, tokens, 0);
        size_t bound = hexad_most_pages(&info, tokens, segments);
        EXPECT_LE(most, bound) << tokens << " tokens, " << segments
                               << " segments, pages of " << size;
        EXPECT_LE(bound, most + segments) << tokens << " tokens, " << segments
                                          << " segments, pages of " << size;
      }
}

} // namespace
