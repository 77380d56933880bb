# Runs one case: a fresh copy of its project in WORK/source, built in WORK/build, through the steps of test.cmake. When it has passed,
# WORK is removed.
#
# For the matrix: CMAKE is the cmake that runs the case, COMPILER the CUDA compiler (steps.cmake), and what the case took
# goes to SECONDS when it passed.
cmake_minimum_required(VERSION 3.20...4.0)

# CMake tells itself without links.
get_filename_component(wanted "${CMAKE}" REALPATH)
get_filename_component(running "${CMAKE_COMMAND}" REALPATH)
if(DEFINED CMAKE AND NOT wanted STREQUAL running)
  if(NOT EXISTS "${CMAKE}")
    string(REGEX MATCH "cmake-[0-9.]+" name "${CMAKE}")
    message("SKIPPED: ${CMAKE} is missing (tests/support/fetch ${name})")
    return()
  endif()
  set(arguments "")
  math(EXPR last "${CMAKE_ARGC} - 1")
  foreach(i RANGE 1 ${last})
    list(APPEND arguments "${CMAKE_ARGV${i}}")
  endforeach()
  execute_process(COMMAND "${CMAKE}" ${arguments} RESULT_VARIABLE status)
  if(NOT status STREQUAL "0")
    message(FATAL_ERROR "the case failed with ${CMAKE}")
  endif()
  return()
endif()

string(TIMESTAMP began "%s")
include("${CMAKE_CURRENT_LIST_DIR}/steps.cmake")

file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")
get_filename_component(WORK "${WORK}" REALPATH)
file(COPY "${CASE}/" DESTINATION "${WORK}/source" PATTERN test.cmake EXCLUDE)
set(SOURCE "${WORK}/source")
set(BUILD "${WORK}/build")
# The package lies in the source tree: --warn-uninitialized looks at the files of the project alone.
file(COPY "${PREFIX}/" DESTINATION "${SOURCE}/prefix")
set(PREFIX "${SOURCE}/prefix")
machine("driver 580.95.05\ncuda 13000\n")  # no GPU, unless the case says otherwise

needs_compiler()
include("${CASE}/test.cmake")

if(SECONDS)
  string(TIMESTAMP ended "%s")
  math(EXPR seconds "${ended} - ${began}")
  file(WRITE "${SECONDS}" "${seconds}\n")
endif()
file(REMOVE_RECURSE "${WORK}")
