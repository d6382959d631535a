# SPDX-License-Identifier: Apache-2.0
# What is shipped is linked so that a fault in it is harder to use: position-independent, relocations read-only and bound at
# the start, no stack that is executed. Included after all layers. Control-flow enforcement is left out: it counts only where
# all of a file has it, and what is linked in from elsewhere (LLVM, Boost.Context, crt1.o) has not.
foreach(layer base ptx simt driver cuda runtime toolkit tools)
  strata_targets_in(${CMAKE_SOURCE_DIR}/${layer} targets)
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    if(type MATCHES "SHARED|MODULE|EXECUTABLE")
      target_link_options(${target} PRIVATE -Wl,-z,relro,-z,now,-z,noexecstack $<$<STREQUAL:${type},EXECUTABLE>:-pie>)
    endif()
  endforeach()
endforeach()
