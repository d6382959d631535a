# SPDX-License-Identifier: Apache-2.0
# cmake -DOUTPUT=FILE -DLLVM=VERSION -P engine_id.cmake SOURCES…: a header with a hash of all sources of the engine and the
# code generator, and of LLVM's version. The cache's keys, native images and the code generator hold it: machine code is run
# only by the engine whose sources it was made with.
set(all ${LLVM})
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE 5 ${last})  # after cmake, -D, -D, -P and the script's name
  file(SHA256 ${CMAKE_ARGV${i}} hash)
  string(APPEND all ${hash})
endforeach()
string(SHA256 id "${all}")
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define STRATA_ENGINE_ID \"${id}\"\n")
