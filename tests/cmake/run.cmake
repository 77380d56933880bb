# Runs one case: a fresh copy of its project in WORK/source, built in WORK/build, through the steps of test.cmake.
cmake_minimum_required(VERSION 3.20...4.0)
include("${CMAKE_CURRENT_LIST_DIR}/steps.cmake")

file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")
get_filename_component(WORK "${WORK}" REALPATH)
file(COPY "${CASE}/" DESTINATION "${WORK}/source" PATTERN test.cmake EXCLUDE)
set(SOURCE "${WORK}/source")
set(BUILD "${WORK}/build")
machine("driver 580.95.05\ncuda 13000\n")  # no GPU, unless the case says otherwise

include("${CASE}/test.cmake")
