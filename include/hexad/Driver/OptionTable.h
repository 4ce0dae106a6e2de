//===- OptionTable.h - The options of a program -----------------*- C++ -*-===//
//
// Part of Hexad, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Included once, by the main file of a program with an Options.td of its own
// (hexad_add_options): defines `OptionID` and `optionTable` from it.
//
//===----------------------------------------------------------------------===//

#ifndef HEXAD_DRIVER_OPTIONTABLE_H
#define HEXAD_DRIVER_OPTIONTABLE_H

#include "llvm/Option/OptTable.h"

using llvm::opt::DefaultVis; // What the generated tables name without its
                             // namespace.

enum OptionID {
  OPT_INVALID = 0,
#define OPTION(...) LLVM_MAKE_OPT_ID(__VA_ARGS__),
#include "Options.inc"
#undef OPTION
};

#define OPTTABLE_STR_TABLE_CODE
#include "Options.inc"
#undef OPTTABLE_STR_TABLE_CODE
#define OPTTABLE_PREFIXES_TABLE_CODE
#include "Options.inc"
#undef OPTTABLE_PREFIXES_TABLE_CODE
static constexpr llvm::opt::OptTable::Info optionTable[] = {
#define OPTION(...) LLVM_CONSTRUCT_OPT_INFO(__VA_ARGS__),
#include "Options.inc"
#undef OPTION
};

#endif // HEXAD_DRIVER_OPTIONTABLE_H
