# SPDX-License-Identifier: Apache-2.0
# strata_program(NAME FILE [MORE files…] [FLAGS …] [ARGS …] [MODES …] [TIMEOUT seconds] [NEEDS_LANES])
# Compiles a CUDA source (and MORE, if it has several) with the build tree's nvcc and runs it on the CPU device as ctest entries NAME.MODE with the
# label "program". It passes if it exits with 0. Modes: vector and lane (with the best SIMD target), avx2, portable,
# one_worker and five_workers; vector mode needs no name for its SIMD target, the others are forced. In lane and avx2 mode the IR is
# verified after each pass. In all but lane mode each kernel must be vectorised, except in programs with NEEDS_LANES: some of
# their kernels cannot be, and NAME.needs_lanes sees to it that this is still so.
set(STRATA_PROGRAM_MODES vector lane avx2 portable)
if(STRATA_SANITIZE)
  string(REPLACE "," ",-fsanitize=" strata_sanitize "-fsanitize=${STRATA_SANITIZE}")  # -Xcompiler's argument is itself a list
  set(strata_sanitize -Xcompiler ${strata_sanitize})
endif()

set(strata_mode_vector STRATA_MODE=vector)
set(strata_mode_lane STRATA_MODE=lane STRATA_PASSES=verify)
set(strata_mode_avx2 STRATA_MODE=vector STRATA_SIMD=avx2 STRATA_PASSES=verify)
set(strata_mode_portable STRATA_MODE=vector STRATA_SIMD=portable)
set(strata_mode_one_worker STRATA_MODE=vector STRATA_WORKERS=1)
set(strata_mode_five_workers STRATA_MODE=vector STRATA_WORKERS=5)

function(strata_program name file)
  cmake_parse_arguments(arg "NEEDS_LANES" "TIMEOUT" "MORE;FLAGS;ARGS;MODES" ${ARGN})
  if(NOT arg_MODES)
    set(arg_MODES ${STRATA_PROGRAM_MODES})
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  get_filename_component(source ${file} ABSOLUTE)
  set(program ${CMAKE_BINARY_DIR}/programs/${name})
  # Only what the compiled file depends on; the driver and the code generator are found when it runs.
  set(depends nvcc strata_clang libdevice cudart_static cuda_stub)
  list(TRANSFORM arg_MORE PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  add_custom_command(OUTPUT ${program}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/programs
    COMMAND nvcc -O3 -lineinfo -arch=sm_90 ${strata_sanitize} ${arg_FLAGS} -MD -MF ${program}.d -MT ${program} ${source} ${arg_MORE} -o ${program}
    DEPENDS ${source} ${arg_MORE} ${depends} ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libcudart_static.a
    DEPFILE ${program}.d
    COMMENT "nvcc ${name}"
    VERBATIM)
  add_custom_target(program_${name} ALL DEPENDS ${program})
  set(common LABELS program TIMEOUT ${arg_TIMEOUT})
  set(environment "STRATA_DEVICE=cpu;STRATA_CACHE_DIR=${CMAKE_BINARY_DIR}/cache")
  foreach(mode ${arg_MODES})
    set(knobs ${strata_mode_${mode}})
    if(arg_NEEDS_LANES)
      list(TRANSFORM knobs REPLACE "=vector" "=auto")
    endif()
    add_test(NAME ${name}.${mode} COMMAND ${program} ${arg_ARGS} WORKING_DIRECTORY ${CMAKE_BINARY_DIR}/programs)
    set_tests_properties(${name}.${mode} PROPERTIES ${common} ENVIRONMENT "${environment};${knobs}")
  endforeach()
  if(arg_NEEDS_LANES)
    add_test(NAME ${name}.needs_lanes COMMAND ${program} ${arg_ARGS} WORKING_DIRECTORY ${CMAKE_BINARY_DIR}/programs)
    set_tests_properties(${name}.needs_lanes PROPERTIES ${common} ENVIRONMENT "${environment};STRATA_MODE=vector"
      PASS_REGULAR_EXPRESSION "runs in lane mode only")
  endif()
endfunction()
