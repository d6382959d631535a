# SPDX-License-Identifier: Apache-2.0
# strata_library(NAME [SHARED] SOURCES … [USES layers…] [LINK libraries…] [LLVM])
# USES names only layers below (design: serve, tools > libraries > tile > runtime > driver > simt > ptx > base).
add_library(strata_llvm INTERFACE)
target_include_directories(strata_llvm SYSTEM INTERFACE ${STRATA_LLVM_ROOT}/include)
# The code generator has inside it what it needs of LLVM: loading the whole libLLVM.so, with all its targets, would be half of
# a program's cold start. Tests share libLLVM.so.
execute_process(COMMAND ${STRATA_LLVM_ROOT}/bin/llvm-config --link-static --libfiles x86 passes debuginfodwarf
  OUTPUT_VARIABLE strata_llvm_archives OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(strata_llvm_archives)
add_library(strata_llvm_archives INTERFACE)
target_link_libraries(strata_llvm_archives INTERFACE ${strata_llvm_archives} -l:libz.so.1 zstd)
add_library(strata_llvm_shared INTERFACE)
target_link_libraries(strata_llvm_shared INTERFACE ${STRATA_LLVM_ROOT}/lib/libLLVM.so)
target_link_libraries(strata_llvm INTERFACE
  $<IF:$<BOOL:$<TARGET_PROPERTY:STRATA_CONTAINS_LLVM>>,strata_llvm_archives,strata_llvm_shared>)
target_compile_definitions(strata_llvm INTERFACE __STDC_LIMIT_MACROS __STDC_CONSTANT_MACROS _GNU_SOURCE)
target_compile_options(strata_llvm INTERFACE -fno-rtti -Wno-deprecated-declarations)

# What archives that hold a part of ours whole take of libstdc++.
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libstdc++.a
  OUTPUT_VARIABLE STRATA_LIBSTDCXX OUTPUT_STRIP_TRAILING_WHITESPACE)
if(STRATA_SANITIZE)  # which must see the library's locks; then only C++ programs link the archives
  set(STRATA_LIBSTDCXX)
endif()

function(strata_library name)
  cmake_parse_arguments(arg "SHARED;LLVM" "" "SOURCES;USES;LINK" ${ARGN})
  if(arg_SHARED)
    add_library(strata_${name} SHARED ${arg_SOURCES})
  else()
    add_library(strata_${name} STATIC ${arg_SOURCES})
  endif()
  target_include_directories(strata_${name} PUBLIC ${CMAKE_SOURCE_DIR})
  foreach(layer ${arg_USES})
    target_link_libraries(strata_${name} PUBLIC strata_${layer})
  endforeach()
  target_link_libraries(strata_${name} PUBLIC ${arg_LINK})
  if(arg_LLVM)
    target_link_libraries(strata_${name} PUBLIC strata_llvm)
  endif()
endfunction()

# strata_test(NAME SOURCES … [USES layers…] [LINK …] [LLVM]): one GoogleTest binary, one ctest entry.
function(strata_test name)
  cmake_parse_arguments(arg "LLVM" "" "SOURCES;USES;LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  foreach(layer ${arg_USES})
    target_link_libraries(${name} PRIVATE strata_${layer})
  endforeach()
  target_link_libraries(${name} PRIVATE ${arg_LINK} GTest::gtest_main)
  if(arg_LLVM)
    target_link_libraries(${name} PRIVATE strata_llvm)
  endif()
  add_test(NAME ${name} COMMAND ${name})
endfunction()
