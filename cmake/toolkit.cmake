# SPDX-License-Identifier: Apache-2.0
# The toolkit as a whole: what is built for it, and what an install prefix holds. Included after all its layers.

# All targets of a folder and its subfolders.
function(strata_targets_in folder result)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  get_property(subfolders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(subfolder ${subfolders})
    strata_targets_in(${subfolder} more)
    list(APPEND targets ${more})
  endforeach()
  set(${result} ${targets} PARENT_SCOPE)
endfunction()

# `ninja toolkit`: everything that compiling and running a CUDA program takes.
add_custom_target(toolkit)
foreach(layer simt driver cuda runtime toolkit tools)
  strata_targets_in(${CMAKE_SOURCE_DIR}/${layer} targets)
  foreach(target ${targets})
    get_target_property(forTestsOnly ${target} EXCLUDE_FROM_ALL)
    if(NOT forTestsOnly)
      add_dependencies(toolkit ${target})
    endif()
  endforeach()
endforeach()

# FindCUDAToolkit and other tools read the release from here.
file(WRITE ${CMAKE_BINARY_DIR}/version.json
  "{\n  \"cuda\": {\"name\": \"Strata ${PROJECT_VERSION}, CUDA compatible\", \"version\": \"13.0.0\"},\n"
  "  \"cuda_nvcc\": {\"name\": \"Strata's nvcc\", \"version\": \"13.0.0\"},\n"
  "  \"cuda_cudart\": {\"name\": \"Strata's CUDA runtime\", \"version\": \"13.0.0\"}\n}\n")

install(TARGETS nvcc ptxas strata RUNTIME DESTINATION bin)
install(TARGETS strata_clang LIBRARY DESTINATION lib64/strata)
install(TARGETS strata_codegen LIBRARY DESTINATION lib64)
install(TARGETS strata_driver LIBRARY DESTINATION lib64/strata NAMELINK_SKIP)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/toolkit/include/ DESTINATION include)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/python DESTINATION . PATTERN __pycache__ EXCLUDE)
install(FILES ${CMAKE_BINARY_DIR}/version.json DESTINATION .)
install(FILES ${CMAKE_BINARY_DIR}/nvvm/libdevice/libdevice.10.bc DESTINATION nvvm/libdevice)
