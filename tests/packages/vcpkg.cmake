# Runs the portfile of packaging/vcpkg with stand-ins for vcpkg's functions, then uses what it installed in a project:
#
#   cmake -DREPOSITORY=<folder> -DWORK=<folder> -P vcpkg.cmake
#
# This is not vcpkg: it shows that the portfile is right in what CMake sees of it.
cmake_minimum_required(VERSION 3.20...4.0)
file(REMOVE_RECURSE "${WORK}")
set(CURRENT_PACKAGES_DIR "${WORK}/installed")

function(step)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output ERROR_VARIABLE output COMMAND_ECHO STDOUT RESULT_VARIABLE status)
  set(output "${output}" PARENT_SCOPE)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${output}")
  endif()
endfunction()
function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
  step("${CMAKE_COMMAND}" -S "${arg_SOURCE_PATH}" -B "${WORK}/build" -DCMAKE_BUILD_TYPE=Release
    "-DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR}" -Werror=dev ${arg_OPTIONS}
    -DCMAKE_UNITY_BUILD=ON)
endfunction()
function(vcpkg_cmake_install)
  step("${CMAKE_COMMAND}" --build "${WORK}/build" --parallel 2)
  step("${CMAKE_COMMAND}" --install "${WORK}/build")
endfunction()
function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
  foreach(file IN LISTS arg_FILE_LIST)
    file(READ "${file}" text)
    file(APPEND "${CURRENT_PACKAGES_DIR}/share/archguard/copyright" "${text}")
  endforeach()
endfunction()

# The portfile takes the tree that it lies in.
file(STRINGS "${REPOSITORY}/packaging/sources" sources)
list(TRANSFORM sources PREPEND "${REPOSITORY}/")
file(COPY ${sources} DESTINATION "${WORK}/tree")
include("${WORK}/tree/packaging/vcpkg/archguard/portfile.cmake")

# vcpkg refuses programs in bin and CMake files in lib/cmake. One more folder is moved along with all it holds.
file(GLOB folders RELATIVE "${CURRENT_PACKAGES_DIR}" "${CURRENT_PACKAGES_DIR}/*")
if(NOT folders STREQUAL "share;tools")
  message(FATAL_ERROR "installed: ${folders}")
endif()
file(RENAME "${CURRENT_PACKAGES_DIR}" "${WORK}/moved")
step("${WORK}/moved/tools/archguard/archguard" --cmakedir)
if(NOT output MATCHES "/moved/share/cmake/ArchGuard\n")
  message(FATAL_ERROR "archguard --cmakedir: ${output}")
endif()
step("${CMAKE_COMMAND}" -E env ARCHGUARD_DETECT=OFF "${CMAKE_COMMAND}" -S "${REPOSITORY}/packaging/conan/test_package"
  -B "${WORK}/consumer" "-DCMAKE_PREFIX_PATH=${WORK}/moved")
step("${CMAKE_COMMAND}" --build "${WORK}/consumer")
if(NOT output MATCHES "ArchGuard: verifying consumer")
  message(FATAL_ERROR "${output}")
endif()
file(REMOVE_RECURSE "${WORK}")
