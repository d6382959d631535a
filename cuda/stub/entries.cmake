# SPDX-License-Identifier: Apache-2.0
# Writes ENTRY(name) for each function of the driver API that LIBRARY exports to OUTPUT.
execute_process(COMMAND ${NM} -D --defined-only --format=posix ${LIBRARY} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "(^|\n)cu[A-Z][A-Za-z0-9_]* T" lines "${symbols}")
set(text "")
foreach(line ${lines})
  string(REGEX REPLACE "^\n?([A-Za-z0-9_]+) T" "\\1" name "${line}")
  string(APPEND text "ENTRY(${name})\n")
endforeach()
if(text STREQUAL "")
  message(FATAL_ERROR "${LIBRARY} exports no entry of the driver API")
endif()
file(WRITE ${OUTPUT} "${text}")
