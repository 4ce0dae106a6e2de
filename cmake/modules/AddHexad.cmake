# Thin helpers: one for each kind of target.

# hexad_add_doc(FILE generator options...): FILE.md from LLVM_TARGET_DEFINITIONS;
# hexad-doc copies it to docs/generated, a test compares it with what is there.
function(hexad_add_doc file)
  mlir_tablegen(${file}.md ${ARGN})
  set(TABLEGEN_OUTPUT ${TABLEGEN_OUTPUT} PARENT_SCOPE)
  set_property(GLOBAL APPEND PROPERTY HEXAD_DOCS ${CMAKE_CURRENT_BINARY_DIR}/${file}.md)
endfunction()

# hexad_add_dialect(NAME FILE DIALECT): TableGen of the ops, types, enums and
# attributes of one dialect, in the directory of its .td files.
function(hexad_add_dialect name file dialect)
  set(LLVM_TARGET_DEFINITIONS ${file}.td)
  mlir_tablegen(${file}.h.inc -gen-op-decls)
  mlir_tablegen(${file}.cpp.inc -gen-op-defs)
  mlir_tablegen(${name}Types.h.inc -gen-typedef-decls -typedefs-dialect=${dialect})
  mlir_tablegen(${name}Types.cpp.inc -gen-typedef-defs -typedefs-dialect=${dialect})
  mlir_tablegen(${name}Dialect.h.inc -gen-dialect-decls -dialect=${dialect})
  mlir_tablegen(${name}Dialect.cpp.inc -gen-dialect-defs -dialect=${dialect})
  mlir_tablegen(${name}Enums.h.inc -gen-enum-decls)
  mlir_tablegen(${name}Enums.cpp.inc -gen-enum-defs)
  mlir_tablegen(${name}Attributes.h.inc -gen-attrdef-decls -attrdefs-dialect=${dialect})
  mlir_tablegen(${name}Attributes.cpp.inc -gen-attrdef-defs -attrdefs-dialect=${dialect})
  hexad_add_doc(${name}Dialect -gen-dialect-doc -dialect=${dialect})
  add_public_tablegen_target(Hexad${name}IncGen)
  set_property(GLOBAL APPEND PROPERTY HEXAD_TABLEGEN_TARGETS Hexad${name}IncGen)
endfunction()

# hexad_add_passes(GROUP): TableGen of Passes.td in this directory.
function(hexad_add_passes group)
  set(LLVM_TARGET_DEFINITIONS Passes.td)
  mlir_tablegen(Passes.h.inc -gen-pass-decls -name ${group})
  hexad_add_doc(${group}Passes -gen-pass-doc)
  add_public_tablegen_target(Hexad${group}PassIncGen)
  set_property(GLOBAL APPEND PROPERTY HEXAD_TABLEGEN_TARGETS Hexad${group}PassIncGen)
endfunction()

# Precompiled MLIR headers for a target that uses MLIR; others must not see them,
# or they would need libMLIR.
function(hexad_use_precompiled_headers name)
  if(HEXAD_PRECOMPILED_HEADERS AND "MLIR" IN_LIST ARGN)
    target_precompile_headers(${name} REUSE_FROM HexadPrecompiled)
  endif()
endfunction()

# hexad_add_library(NAME sources... [LINK libs...]): a static library, installed.
function(hexad_add_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  get_property(generated GLOBAL PROPERTY HEXAD_TABLEGEN_TARGETS)
  if(generated)
    add_dependencies(${name} ${generated})
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  hexad_use_precompiled_headers(${name} ${ARG_LINK})
  install(TARGETS ${name} EXPORT HexadTargets ARCHIVE DESTINATION lib
          INCLUDES DESTINATION include)
endfunction()

# hexad_add_tool(NAME sources... [LINK libs...]): a program in bin/, installed.
function(hexad_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS} ${HEXAD_PROGRAM_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  hexad_use_precompiled_headers(${name} ${ARG_LINK})
  install(TARGETS ${name} RUNTIME DESTINATION bin)
  set_property(GLOBAL APPEND PROPERTY HEXAD_TOOLS ${name})
endfunction()

# hexad_add_unittest(NAME sources... [LINK libs...]): a GoogleTest program in
# test/unit of the build directory, run by check-hexad and check-hexad-unit. lit
# finds it by the end of its name, which must be Tests. HEXAD_TEST_DIR is the
# source directory test/, for golden files.
function(hexad_add_unittest name)
  if(NOT name MATCHES "Tests$")
    message(FATAL_ERROR "the name of unit test ${name} does not end in 'Tests'")
  endif()
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS} ${HEXAD_PROGRAM_SOURCES})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test/unit)
  target_compile_definitions(${name} PRIVATE HEXAD_TEST_DIR="${CMAKE_SOURCE_DIR}/test")
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest_main)
  hexad_use_precompiled_headers(${name} ${ARG_LINK})
  get_property(generated GLOBAL PROPERTY HEXAD_TABLEGEN_TARGETS)
  if(generated)
    add_dependencies(${name} ${generated})
  endif()
  set_property(GLOBAL APPEND PROPERTY HEXAD_UNITTESTS ${name})
endfunction()

# hexad_add_options(TOOL): the command line of Options.td in this directory, as
# Options.inc (llvm/Option).
find_program(LLVM_TABLEGEN_EXE llvm-tblgen HINTS ${LLVM_TOOLS_BINARY_DIR} REQUIRED)
function(hexad_add_options tool)
  set(LLVM_TARGET_DEFINITIONS Options.td)
  tablegen(LLVM Options.inc -gen-opt-parser-defs)
  add_public_tablegen_target(${tool}-options)
  add_dependencies(${tool} ${tool}-options)
  target_include_directories(${tool} PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
endfunction()
