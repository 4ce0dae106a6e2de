//===- SessionTests.cpp - However a text is cut, the same bits ------------===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledModel.h"
#include "Decoder.h"
#include "Sessions.h"
#include <numeric>
#include <random>

using namespace hexad;
using namespace hexad::test;

namespace {

/// One decoder for all tests: layers with and without a window, both pairings.
class Session : public testing::Test {
protected:
  static void SetUpTestSuite() {
    files = new ModelFiles(getDecoderText());
    model = files->compile("native").release();
    ASSERT_TRUE(model) << files->messages;
    library = new SessionLibrary(*model);
  }
  static void TearDownTestSuite() {
    delete library;
    delete model;
    delete files;
  }

  /// The text that `seed` stands for.
  static std::vector<int32_t> getTokens(size_t count, uint32_t seed = 7) {
    Call call;
    call.seq = count;
    call.rows = {{seed, count, 0}};
    return call.getIds("input_ids", decoderIdLimit);
  }

  /// Logits of all tokens as `forward` gives them.
  static Floats forward(size_t count, uint32_t seed = 7) {
    Call call;
    call.seq = count;
    call.rows = {{seed, count, 0}};
    return model->run(call).values.at("logits");
  }

  /// Extends piece by piece and gives the logits of all tokens.
  static Floats extendInPieces(SessionHandle &session, ContextHandle &context,
                               const std::vector<int32_t> &tokens,
                               const std::vector<size_t> &pieces) {
    Floats logits;
    size_t done = 0;
    for (size_t piece : pieces) {
      Floats part = session.extend(
          context, llvm::ArrayRef(tokens).slice(done, piece), HEXAD_ALL_LOGITS);
      logits.insert(logits.end(), part.begin(), part.end());
      done += piece;
      EXPECT_EQ(session.getPosition(), done);
    }
    return logits;
  }

  static std::vector<size_t> cutRandomly(size_t count, uint32_t seed) {
    std::mt19937 random(seed);
    std::vector<size_t> pieces;
    while (count) {
      size_t most = seed % 2 ? 9 : 150;
      size_t piece = std::min<size_t>(count, random() % most);
      pieces.push_back(piece);
      count -= piece;
    }
    return pieces;
  }

  static ModelFiles *files;
  static CompiledModel *model;
  static SessionLibrary *library;
};
ModelFiles *Session::files = nullptr;
CompiledModel *Session::model = nullptr;
SessionLibrary *Session::library = nullptr;

TEST_F(Session, ForwardIsTrue) {
  for (const std::string &cpu : getRunnableCpus()) {
    std::unique_ptr<CompiledModel> other = files->compile(cpu);
    ASSERT_TRUE(other) << files->messages;
    for (const Call &call :
         {Call::of({130, 1, 0, 59}), Call::of({300}).padLeft(),
          Call::of({5, 9}).padLeft(), Call::of({128, 129, 127})})
      files->expectTrue(*other, call);
  }
}

/// Threads take causal tiles in turn, every second head backwards: odd and even
/// numbers of tiles, fewer tiles than threads.
TEST_F(Session, ForwardOnAnyNumberOfThreads) {
  for (const Call &call : {Call::of({59}), Call::of({119}), Call::of({179}),
                           Call::of({300}), Call::of({61, 3, 130})}) {
    Floats want = model->run(call, {.threads = 1}).values.at("logits");
    for (size_t threads : {2, 3, 5, 13})
      EXPECT_TRUE(areIdentical(
          model->run(call, {.threads = threads}).values.at("logits"), want))
          << threads << " threads, " << call.seq << " tokens";
  }
}

TEST_F(Session, AnyCuttingGivesWhatForwardGives) {
  constexpr size_t count = 300;
  std::vector<int32_t> tokens = getTokens(count);
  Floats want = forward(count);
  std::vector<std::vector<size_t>> cuts = {{count},
                                           std::vector<size_t>(count, 1),
                                           {1, 127, 1, 1, 127, 43},
                                           {128, 128, 44},
                                           {64, 0, 236}};
  for (uint32_t seed : {1, 2, 3, 4})
    cuts.push_back(cutRandomly(count, seed));
  for (size_t threads : {1, 2, 3})
    for (const auto &pieces : cuts) {
      ContextHandle context(*model, {.tokens = count, .threads = threads});
      SessionHandle session(*library, {.capacity = count});
      EXPECT_TRUE(
          areIdentical(extendInPieces(session, context, tokens, pieces), want))
          << pieces.size() << " pieces, " << threads << " threads";
    }
}

/// The ring of pages of the layer with a window is used many times over; steps
/// longer than the slack, and longer than the context, are cut inside.
TEST_F(Session, SmallSlackAndSmallContext) {
  constexpr size_t count = 900;
  std::vector<int32_t> tokens = getTokens(count);
  Floats want = forward(count);
  for (size_t slack : {1, 7, 128, 200})
    for (size_t most : {1, 50, 900}) {
      if (slack * most < 20)
        continue;
      ContextHandle context(*model, {.tokens = most, .threads = 2});
      SessionHandle session(*library, {.capacity = count, .slack = slack});
      EXPECT_TRUE(areIdentical(
          extendInPieces(session, context, tokens, {500, 1, 399}), want))
          << "slack " << slack << ", context of " << most;
    }
}

TEST_F(Session, FewLogitsAtATime) {
  constexpr size_t count = 70;
  std::vector<int32_t> tokens = getTokens(count);
  Floats want = forward(count);
  ContextHandle context(*model, {.tokens = count, .logits = 3});
  SessionHandle session(*library, {.capacity = count});
  EXPECT_TRUE(
      areIdentical(extendInPieces(session, context, tokens, {count}), want));
}

TEST_F(Session, LastLogitsAreTheLastOfAll) {
  std::vector<int32_t> tokens = getTokens(140);
  Floats want = forward(140);
  size_t columns = want.size() / 140;
  ContextHandle context(*model, {.tokens = 140, .logits = 1});
  SessionHandle session(*library, {.capacity = 140});
  size_t done = 0;
  for (size_t piece : {100, 1, 39}) {
    Floats last = session.extend(
        context, llvm::ArrayRef(tokens).slice(done, piece), HEXAD_LAST_LOGITS);
    done += piece;
    Floats row(want.begin() + (done - 1) * columns,
               want.begin() + done * columns);
    EXPECT_TRUE(areIdentical(last, row)) << done;
  }
}

/// Sessions at different positions, with different numbers of tokens, in one
/// batch, some without logits, some without tokens.
TEST_F(Session, BatchesShareNothingButTheWeights) {
  std::mt19937 random(5);
  constexpr size_t sessionCount = 5, total = 200;
  ContextHandle context(
      *model, {.tokens = 150, .segments = sessionCount, .threads = 2});
  std::vector<std::unique_ptr<SessionHandle>> sessions;
  std::vector<std::vector<int32_t>> tokens;
  std::vector<Floats> want, got(sessionCount);
  for (size_t i = 0; i < sessionCount; ++i) {
    sessions.push_back(std::make_unique<SessionHandle>(
        *library, SessionSettings{.capacity = total, .slack = 30}));
    tokens.push_back(getTokens(total, 100 + i));
    want.push_back(forward(total, 100 + i));
  }
  for (bool more = true; more;) {
    std::vector<hexad_extension> batch;
    std::vector<size_t> owners;
    more = false;
    for (size_t i = 0; i < sessionCount; ++i) {
      size_t done = sessions[i]->getPosition();
      size_t piece = std::min<size_t>(total - done, random() % (20 * i + 2));
      more |= done + piece < total;
      batch.push_back({sessions[i]->get(), tokens[i].data() + done, piece,
                       HEXAD_ALL_LOGITS});
    }
    Floats logits = library->extendBatch(context, batch);
    size_t columns = want[0].size() / total, row = 0;
    for (size_t i = 0; i < sessionCount; ++i) {
      auto begin = logits.begin() + row * columns;
      got[i].insert(got[i].end(), begin, begin + batch[i].count * columns);
      row += batch[i].count;
    }
  }
  for (size_t i = 0; i < sessionCount; ++i)
    EXPECT_TRUE(areIdentical(got[i], want[i])) << "session " << i;
}

TEST_F(Session, RewoundSessionsGiveTheSame) {
  constexpr size_t count = 400;
  std::vector<int32_t> tokens = getTokens(count), others = getTokens(60, 9);
  Floats want = forward(count);
  size_t columns = want.size() / count;
  ContextHandle context(*model, {.tokens = count});
  SessionHandle session(*library, {.capacity = count, .slack = 64});
  extendInPieces(session, context, tokens, {count});
  for (size_t position : {399, 380, 336}) {
    // Something else in between must leave nothing.
    ASSERT_EQ(session.rewind(position), HEXAD_OK) << session.getMessage();
    session.extend(context,
                   llvm::ArrayRef(others).take_front(
                       std::min<size_t>(count - position, 60)),
                   HEXAD_NO_LOGITS);
    ASSERT_EQ(session.rewind(position), HEXAD_OK) << session.getMessage();
    Floats again = session.extend(
        context, llvm::ArrayRef(tokens).drop_front(position), HEXAD_ALL_LOGITS);
    EXPECT_TRUE(areIdentical(
        again, Floats(want.begin() + position * columns, want.end())))
        << position;
  }
  // The window of 40 at position 100 was forgotten long ago.
  EXPECT_EQ(session.rewind(100), HEXAD_REWIND_TOO_FAR);
  EXPECT_EQ(session.getPosition(), count);
  EXPECT_EQ(session.rewind(401), HEXAD_INVALID_ARGUMENT);
  ASSERT_EQ(session.rewind(0), HEXAD_OK);
  session.extend(context, llvm::ArrayRef(tokens).take_front(150),
                 HEXAD_NO_LOGITS);
  EXPECT_EQ(session.rewind(120), HEXAD_OK);
  Floats again = session.extend(context, llvm::ArrayRef(tokens).slice(120, 280),
                                HEXAD_ALL_LOGITS);
  EXPECT_TRUE(
      areIdentical(again, Floats(want.begin() + 120 * columns, want.end())));
}

TEST_F(Session, ForksDoNotSeeEachOther) {
  std::vector<int32_t> tokens = getTokens(300), others = getTokens(100, 9);
  Floats want = forward(300);
  size_t columns = want.size() / 300;
  ContextHandle context(*model, {.tokens = 300});
  SessionHandle source(*library, {.capacity = 300});
  SessionHandle copy(*library, {.capacity = 400, .slack = 20});
  source.extend(context, llvm::ArrayRef(tokens).take_front(200),
                HEXAD_NO_LOGITS);
  ASSERT_EQ(copy.fork(source), HEXAD_OK) << copy.getMessage();
  source.extend(context, others, HEXAD_NO_LOGITS);
  Floats rest = copy.extend(context, llvm::ArrayRef(tokens).drop_front(200),
                            HEXAD_ALL_LOGITS);
  EXPECT_TRUE(
      areIdentical(rest, Floats(want.begin() + 200 * columns, want.end())));
}

TEST_F(Session, SavedStatesGoOn) {
  std::vector<int32_t> tokens = getTokens(300);
  Floats want = forward(300);
  size_t columns = want.size() / 300;
  ContextHandle context(*model, {.tokens = 300});
  std::vector<char> state;
  {
    SessionHandle session(*library, {.capacity = 300});
    session.extend(context, llvm::ArrayRef(tokens).take_front(170),
                   HEXAD_NO_LOGITS);
    state = session.save();
  }
  SessionHandle session(*library, {.capacity = 350, .slack = 40});
  ASSERT_EQ(session.load(state), HEXAD_OK) << session.getMessage();
  Floats rest = session.extend(context, llvm::ArrayRef(tokens).drop_front(170),
                               HEXAD_ALL_LOGITS);
  EXPECT_TRUE(
      areIdentical(rest, Floats(want.begin() + 170 * columns, want.end())));
  state[state.size() / 2] ^= 1;
  EXPECT_EQ(session.load(state), HEXAD_STATE_MISMATCH);
  EXPECT_EQ(session.getPosition(), 300u);
}

/// AVX2 and AVX-512 code give the same bits, also token by token.
TEST_F(Session, TargetsAgree) {
  std::vector<Floats> all;
  std::vector<int32_t> tokens = getTokens(150);
  for (const std::string &cpu : getRunnableCpus()) {
    std::unique_ptr<CompiledModel> other = files->compile(cpu);
    ASSERT_TRUE(other);
    SessionLibrary functions(*other);
    ContextHandle context(*other, {.tokens = 150});
    SessionHandle session(functions, {.capacity = 150});
    std::vector<size_t> pieces(50, 1);
    pieces.push_back(100);
    all.push_back(extendInPieces(session, context, tokens, pieces));
  }
  for (const Floats &other : all)
    EXPECT_TRUE(areIdentical(other, all.front()));
}

/// Checkpoint folders of the families: fused and rotated projections, scaled
/// frequencies, windows, learned positions. Fails if a table, a page or a mask
/// depends on where a text was cut.
class FamilySession : public testing::TestWithParam<const char *> {};

TEST_P(FamilySession, AnyCuttingGivesWhatForwardGives) {
  ModelFiles files(ModelFiles::Existing{std::string(HEXAD_TEST_DIR) +
                                        "/golden/models/" + GetParam()},
                   {});
  std::unique_ptr<CompiledModel> model = files.compile();
  ASSERT_TRUE(model) << files.messages;
  // As many as the shortest table of positions has, more than a page.
  constexpr size_t count = 140;
  Call call = Call::of({count});
  const InputInfo &ids = model->getInfo().inputs.front();
  ASSERT_EQ(ids.kind, HEXAD_INPUT_IDS);
  std::vector<int32_t> tokens = call.getIds(ids.name, ids.limit);
  Floats want = model->run(call).values.at("logits");
  SessionLibrary library(*model);
  const std::vector<size_t> cuts[] = {
      {count}, std::vector<size_t>(count, 1), {5, 1, 121, 2, 1, 10}};
  for (size_t threads : {1, 2})
    for (const auto &pieces : cuts) {
      ContextHandle context(*model, {.tokens = count, .threads = threads});
      SessionHandle session(library, {.capacity = count, .slack = 9});
      Floats got;
      for (size_t piece : pieces) {
        Floats part = session.extend(
            context, llvm::ArrayRef(tokens).slice(session.getPosition(), piece),
            HEXAD_ALL_LOGITS);
        got.insert(got.end(), part.begin(), part.end());
      }
      EXPECT_TRUE(areIdentical(got, want))
          << pieces.size() << " pieces, " << threads << " threads";
    }
}

INSTANTIATE_TEST_SUITE_P(, FamilySession,
                         testing::Values("gemma3", "gemma4-per-layer-input",
                                         "gpt-neox", "gpt2", "llama-yarn",
                                         "qwen3-moe"),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

} // namespace
