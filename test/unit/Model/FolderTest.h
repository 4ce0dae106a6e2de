//===- FolderTest.h - Checkpoint folders for tests --------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_TEST_UNIT_MODEL_FOLDERTEST_H
#define HEXAD_TEST_UNIT_MODEL_FOLDERTEST_H

#include "ModelTestUtilities.h"
#include <deque>

namespace hexad {

/// Makes a checkpoint folder of a configuration and tensors.
class FolderTest : public ModelTest {
protected:
  /// A tensor of zeros.
  void add(std::string name, llvm::SmallVector<int64_t, 4> shape,
           StoredType type = StoredType::F32) {
    int64_t bytes = getStoredTypeBytes(type);
    for (int64_t size : shape)
      bytes *= size;
    tensors.push_back(
        {name, type, shape, llvm::ArrayRef<uint8_t>(zeros).take_front(bytes)});
  }
  /// Gives each tensor of type F32 numbers of its own.
  void fill() {
    float next = 0;
    for (TensorToWrite &tensor : tensors) {
      std::vector<uint8_t> &bytes = contents.emplace_back(tensor.bytes.size());
      for (size_t i = 0; i < bytes.size(); i += sizeof next, ++next)
        memcpy(&bytes[i], &next, sizeof next);
      tensor.bytes = bytes;
    }
  }

  /// `text` with one piece replaced.
  static std::string change(llvm::StringRef from, llvm::StringRef to,
                            llvm::StringRef text) {
    size_t at = text.find(from);
    EXPECT_NE(at, llvm::StringRef::npos) << from.str();
    return (text.take_front(at) + to + text.drop_front(at + from.size())).str();
  }

  void store(llvm::StringRef config,
             llvm::StringRef name = "model.safetensors") {
    folder.write("config.json", config);
    llvm::Error error = writeSafetensors(folder.getPath(name), tensors);
    ASSERT_FALSE(!!error) << llvm::toString(std::move(error));
  }
  mlir::OwningOpRef<mlir::ModuleOp>
  readFolder(llvm::StringRef config, llvm::ArrayRef<std::string> outputs = {}) {
    store(config);
    diagnostics.clear();
    return read(folder.getPath(), outputs);
  }
  void expectConfigError(llvm::StringRef config, llvm::StringRef where,
                         llvm::StringRef what) {
    store(config);
    expectError(folder.getPath(), getPlace("config.json", where), what);
  }

  TemporaryFolder folder;
  std::vector<uint8_t> zeros = std::vector<uint8_t>(4096);
  std::deque<std::vector<uint8_t>> contents;
  std::vector<TensorToWrite> tensors;
};

} // namespace hexad

#endif // HEXAD_TEST_UNIT_MODEL_FOLDERTEST_H
