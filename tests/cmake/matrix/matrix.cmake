# The cells and runs that matrix.py lists, each a test of its own; label `full`. docs/measured/cmake.md shows them.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(matrix_py "${CMAKE_CURRENT_LIST_DIR}/matrix.py")
set(matrix_times "${CMAKE_CURRENT_BINARY_DIR}/matrix.seconds")
add_test(NAME cmake.matrix.page COMMAND "${Python3_EXECUTABLE}" -B "${matrix_py}" check "${PROJECT_SOURCE_DIR}")
set_tests_properties(cmake.matrix.page PROPERTIES LABELS cmake)

# A git repository of this source as it is, for FetchContent.
add_test(NAME cmake.matrix.git COMMAND "${CMAKE_COMMAND}" "-DREPOSITORY=${PROJECT_SOURCE_DIR}"
  "-DGIT=${CMAKE_CURRENT_BINARY_DIR}/matrix.git" "-DSECONDS=${matrix_times}" -P "${CMAKE_CURRENT_LIST_DIR}/git.cmake")
set_tests_properties(cmake.matrix.git PROPERTIES FIXTURES_SETUP matrix LABELS "cmake;full")

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${matrix_py}")
execute_process(COMMAND "${Python3_EXECUTABLE}" -B "${matrix_py}" list OUTPUT_VARIABLE tests
  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" tests "${tests}")
set(names "")
foreach(test IN LISTS tests)
  string(REGEX MATCH "^(.*)\\|(.*)\\|(.*)\\|(.*)\\|(.*)\\|(.*)\\|(.*)$" ignored "${test}")
  set(name "${CMAKE_MATCH_1}")
  archguard_cmake_test("${name}" "${CMAKE_MATCH_2}" "${CMAKE_COMMAND}" "${CMAKE_MATCH_4}"
    "-DCMAKE=${ARCHGUARD_CACHE}/cmake-${CMAKE_MATCH_3}/cmake/data/bin/cmake" "-DCOMPILER=${CMAKE_MATCH_5}"
    "-DWAY=${CMAKE_MATCH_6}" "-DORDER=${CMAKE_MATCH_7}" "-DGIT=${CMAKE_CURRENT_BINARY_DIR}/matrix.git"
    "-DSECONDS=${matrix_times}/${name}.seconds")
  set_property(TEST "${name}" APPEND PROPERTY LABELS full)
  set_property(TEST "${name}" APPEND PROPERTY FIXTURES_REQUIRED matrix)
  if(name MATCHES "origins|hostile")
    set_property(TEST "${name}" PROPERTY COST 100)
  endif()
  list(APPEND names "${name}")
endforeach()

add_test(NAME cmake.matrix.summary COMMAND "${Python3_EXECUTABLE}" -B "${matrix_py}" summary "${matrix_times}")
set_tests_properties(cmake.matrix.summary PROPERTIES FIXTURES_CLEANUP matrix LABELS "cmake;full")
