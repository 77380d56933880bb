# Checks the files of several targets, some of which are alternatives. Runs as a script, after they are built:
#
#   cmake -DPARAMETERS=<file> [-DSTAMP=<file>] -P run_verify_any_of.cmake
#
# PARAMETERS is written by archguard_verify. STAMP is touched when all is well, and gone otherwise.
cmake_minimum_required(VERSION 3.20...4.0)
include("${CMAKE_CURRENT_LIST_DIR}/programs.cmake")
include("${PARAMETERS}")

if(STAMP)
  file(REMOVE "${STAMP}")
endif()
set(lines "")
foreach(file IN LISTS files)
  get_filename_component(short "${file}" ABSOLUTE)
  _archguard_short_path(short "${top}" "${short}")
  if(NOT EXISTS "${file}")
    message(FATAL_ERROR "archguard_verify: ANY_OF: ${short} is missing; build its target first")
  endif()
  string(APPEND lines "${short}\n")
endforeach()
file(WRITE "${list}" "${lines}")

set(globs "")
foreach(glob IN LISTS any_of)
  list(APPEND globs --any-of "${glob}")
endforeach()
execute_process(COMMAND "${archguard}" verify --files-from "${list}" ${options} ${globs} --brief
  WORKING_DIRECTORY "${top}" RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  set(text "could not be judged (${status})")
  if(status EQUAL 1)
    set(text "do not cover every device")
  endif()
  if(device_severity STREQUAL "warn")
    message("ArchGuard: warning: ANY_OF: the targets' files ${text}")
  else()
    message(FATAL_ERROR "archguard_verify: ANY_OF: the targets' files ${text}")
  endif()
endif()
if(STAMP)
  file(TOUCH "${STAMP}")
endif()
