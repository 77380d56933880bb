# One cell of the matrix (matrix.py): COMPILER, WAY and ORDER beside the CMake and the generator. What a project can rely on in
# all of them: the list, who chose it, checks that run when something changed and only then, and that stop the build.
if(NOT COMPILER STREQUAL "nvcc-11.8")
  if(NOT COMPILER STREQUAL "clang-11.8")
    needs_nvcc(13.0)
  endif()
endif()
set(list "80-real;90-real;90-virtual")
set(by "<nvcc>")
if(COMPILER STREQUAL "clang-11.8")
  set(list "80-real;90")
  set(by "${CLANG} and the toolkit of ${CUDA_11_8}/bin/nvcc")
endif()

set(options ${compiler_options} "-DWAY=${WAY}" "-DORDER=${ORDER}")
set(environment "")
if(WAY STREQUAL "inject")
  list(APPEND options "-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES=${PREFIX}/lib/cmake/ArchGuard/ArchGuardInject.cmake"
    -DARCHGUARD_FLEET=fleet.csv)
elseif(NOT WAY STREQUAL "installed")
  # An archguard of this version on PATH saves building one; arch_probe's objects are the same in all cells.
  set(environment "PATH=${PREFIX}/bin:$ENV{PATH}" "ARCHGUARD_OBJECTS=${GIT}.objects"
    "CMAKE_CXX_COMPILER_LAUNCHER=${REPOSITORY}/tests/support/quick_compiler")
  list(APPEND options -DCMAKE_PREFIX_PATH=)
  if(WAY STREQUAL "add_subdirectory")
    list(APPEND options "-DREPOSITORY=${REPOSITORY}")
  elseif(WAY STREQUAL "fetch_git")
    list(APPEND options "-DGIT=${GIT}")
  else()
    list(APPEND options "-DFETCHCONTENT_SOURCE_DIR_ARCHGUARD=${REPOSITORY}" -DGIT=/nowhere)
  endif()
endif()

# Every error of the last step is such a one. How many there are is up to the generator.
function(fails_so pattern)
  string(REPLACE ";" "," output "${LAST}")
  string(REGEX MATCHALL "archguard: error: [^\n]*" errors "${output}")
  foreach(error IN LISTS errors)
    if(NOT error MATCHES "^${pattern}$")
      message(FATAL_ERROR "expected: ${pattern}\nactual: ${error}")
    endif()
  endforeach()
  if("${errors}" STREQUAL "")
    message(FATAL_ERROR "expected: ${pattern}\nin: ${LAST}")
  endif()
  errs()
endfunction()

# The choice, twice: CMake writes a default of its own into the cache in between.
foreach(time IN ITEMS first second)
  configure(ENV ${environment} ARGS ${options})
  says("-- ArchGuard: CMAKE_CUDA_ARCHITECTURES=${list} -- ArchGuard: for the devices of fleet.csv, with ${by} --")
  warns()
  says_not("CMake Warning")
endforeach()

# Every target is checked, once.
build(ENV ${environment})
foreach(file IN ITEMS lib/libst.a libsh.so app)
  says("<build>/${file}: 2 of 2 covered")
endforeach()
says("ArchGuard: verifying ")
build(ENV ${environment})
if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.21 OR NOT GENERATOR MATCHES "Multi-Config")
  says_not("verifying")  # CMake 3.20 looks for the list of needed libraries in the wrong place there, and checks each time
endif()

if(NOT WAY STREQUAL "inject")
  run(COMMAND "${CMAKE_COMMAND}" -E chdir "${BUILD}" "${CMAKE_CTEST_COMMAND}" -C Debug -L archguard)
  says("5/5 Test")
  says("100% tests passed")
  run(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" ${config_options} --prefix "${WORK}/whole")
  says("${WORK}/whole/bin/app: 2 of 2 covered ${WORK}/whole/lib/libsh.so: 2 of 2 covered")
endif()

# The user's list stays, is judged, and the build stops on each attempt, with the reason.
configure(ENV ${environment} ARGS -DCMAKE_CUDA_ARCHITECTURES=80-real)
says("-- ArchGuard: the list is the user's (-D, a preset or the cache): 80-real")
warns("archguard_select_architectures: your list misses devices: error 209 on NVIDIA H100 (9.0, fleet.csv:3): \
nothing in the list runs on 9.0 fix: -DCMAKE_CUDA_ARCHITECTURES=\"80-real;90-real\"")
build(FAILS ENV ${environment})
says("cannot run on NVIDIA H100 (9.0, fleet.csv:3) seen as: no kernel image is available for execution on the device \
found: sm_80 cubin, no PTX")
fails_so("archguard: error: target '[a-z]+' does not cover every device")
build(FAILS ENV ${environment})
fails_so("archguard: error: target '[a-z]+' does not cover every device")

# Another fleet is enough to check again, and to pass.
file(WRITE "${SOURCE}/fleet.csv" "name, compute_cap\nNVIDIA A100, 8.0\n")
build(ENV ${environment})
says("<build>/app: 1 of 1 covered")
