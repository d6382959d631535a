# SPDX-License-Identifier: Apache-2.0
# What is shipped is built so that a fault in it is harder to use: position-independent, relocations read-only and bound at the
# start, no stack that is executed, stack protectors, fortified functions; and its messages name no path of the machine that
# built it. Included after all layers. Control-flow enforcement is left out: it counts only where all of a file has it, and what
# is linked in from elsewhere (LLVM, Boost.Context, crt1.o) has not.
set(strata_hardening -fstack-protector-strong -fstack-clash-protection
  -ffile-prefix-map=${CMAKE_SOURCE_DIR}=strata -ffile-prefix-map=${CMAKE_BINARY_DIR}=strata/build)
if(NOT STRATA_SANITIZE)  # whose own checks the fortified functions would hide
  list(APPEND strata_hardening $<$<CONFIG:Release>:-U_FORTIFY_SOURCE> $<$<CONFIG:Release>:-D_FORTIFY_SOURCE=2>)
endif()

foreach(layer base ptx simt driver cuda runtime toolkit tools)
  strata_targets_in(${CMAKE_SOURCE_DIR}/${layer} targets)
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    if(type MATCHES "LIBRARY|EXECUTABLE" AND NOT type STREQUAL "INTERFACE_LIBRARY")
      target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C,CXX>:${strata_hardening}>)
    endif()
    if(type MATCHES "SHARED|MODULE|EXECUTABLE")
      target_link_options(${target} PRIVATE -Wl,-z,relro,-z,now,-z,noexecstack $<$<STREQUAL:${type},EXECUTABLE>:-pie>)
    endif()
  endforeach()
endforeach()
