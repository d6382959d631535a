# SPDX-License-Identifier: Apache-2.0
# cmake -DOUTPUT=FILE -P engine_id.cmake SOURCES…: a header with a hash of all sources of the engine and the code generator.
# A native image holds it: machine code is run only by the engine whose sources it was made with.
set(all)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE 4 ${last})  # after cmake, -D, -P and the script's name
  file(SHA256 ${CMAKE_ARGV${i}} hash)
  string(APPEND all ${hash})
endforeach()
string(SHA256 id "${all}")
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define STRATA_ENGINE_ID \"${id}\"\n")
