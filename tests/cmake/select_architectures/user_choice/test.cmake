needs_nvcc(13.0)

# A fresh build folder each: whose choice it is gets remembered.
function(chooses)
  file(REMOVE_RECURSE "${BUILD}")
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "")
  configure(${arg_UNPARSED_ARGUMENTS})
  set(LAST "${LAST}" PARENT_SCOPE)
endfunction()

set(missed_h100 "error 209 on NVIDIA H100 (9.0, fleet.csv:3): nothing in the list runs on 9.0")

# -D: kept, and judged.
chooses(ARGS "-DCMAKE_CUDA_ARCHITECTURES=80;90-real")
tells("the list is the user's (-D, a preset or the cache): 80;90-real")
warns()
says("architectures: 80;90-real")

chooses(ARGS -DCMAKE_CUDA_ARCHITECTURES=80-real)
tells("the list is the user's (-D, a preset or the cache): 80-real")
warns("archguard_select_architectures: your list misses devices: ${missed_h100} \
fix: -DCMAKE_CUDA_ARCHITECTURES=\"80-real;90-real\"")
says("architectures: 80-real")

# The same on the next configure.
configure()
tells("the list is the user's (-D, a preset or the cache): 80-real")

# PTX of CUDA 13 for a driver that offers 12.2, on which no program of CUDA 13 runs anyway.
chooses(ARGS -DCMAKE_CUDA_ARCHITECTURES=80-virtual -DFLEETS=old_driver.csv)
warns("archguard_select_architectures: your list misses devices: error 222 on NVIDIA L4 (8.9, old_driver.csv:2): \
only PTX in the list fits 8.9, and its ISA 9.0 is newer than a driver that offers CUDA 12.2 compiles \
fix: -DCMAKE_CUDA_ARCHITECTURES=\"80-virtual;89-real\""
  "archguard_select_architectures: the driver of NVIDIA L4 (8.9, old_driver.csv:2) offers CUDA 12.2, too old for programs of \
CUDA ${NVCC_VERSION} (error 35, cudaErrorInsufficientDriver): update it to CUDA 13.0 (driver 580) or newer, \
or build with CUDA 12.9")

# The environment, a preset, set().
chooses(ENV CUDAARCHS=80-real)
tells("the list is the user's (the environment variable CUDAARCHS): 80-real")
warns("archguard_select_architectures: your list misses devices: ${missed_h100} \
fix: CUDAARCHS=\"80-real;90-real\", in a fresh build folder")

file(REMOVE_RECURSE "${BUILD}")
configure_file("${SOURCE}/CMakePresets.json" "${SOURCE}/CMakePresets.json" @ONLY)
run(COMMAND "${CMAKE_COMMAND}" --preset mine -S "${SOURCE}" "-DCMAKE_MAKE_PROGRAM=${MAKE_PROGRAM}"
  "-DCMAKE_PREFIX_PATH=${PREFIX}")
says("architectures: 90")

chooses(ARGS "-DSET_BEFORE=80-real")
tells("the list is the user's (set() or a toolchain file): 80-real")
warns("archguard_select_architectures: your list misses devices: ${missed_h100} \
fix: set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real)")

# Words of nvcc are resolved by nvcc; words of others and a CMake that found no GPU break nothing.
chooses(ARGS -DCMAKE_CUDA_ARCHITECTURES=all-major)
tells("the list is the user's (-D, a preset or the cache): all-major")
chooses(ARGS -DCMAKE_CUDA_ARCHITECTURES=all-major -DFLEETS=orin.csv)  # beside it CMake takes no other entry
warns("archguard_select_architectures: your list misses devices: error 209 on Orin (8.7, orin.csv:2): nothing in the list \
runs on 8.7 fix: -DCMAKE_CUDA_ARCHITECTURES=\"75-real;80-real;90-real;100-real;110-real;120-virtual;120-real;87-real\"")
chooses(ARGS -DCMAKE_CUDA_ARCHITECTURES=RAPIDS)
tells("the list is the user's (-D, a preset or the cache): RAPIDS"
  "what RAPIDS stands for is not known yet; archguard_verify judges what is built")
chooses(ARGS -DCMAKE_CUDA_ARCHITECTURES=native "-DCMAKE_CUDA_ARCHITECTURES_NATIVE=No CUDA devices found.-real")
tells("the list is the user's (-D, a preset or the cache): native"
  "what native stands for is not known yet; archguard_verify judges what is built")
warns()
set(debug_only "$<$<CONFIG:Debug>:80;90>")
chooses(ARGS "-DCMAKE_CUDA_ARCHITECTURES=${debug_only}")
tells("the list is the user's (-D, a preset or the cache): ${debug_only}"
  "what \$<$<CONFIG:Debug>:80, 90> stands for is not known yet; archguard_verify judges what is built")
warns()

chooses(ARGS -DCMAKE_CUDA_ARCHITECTURES=OFF)
tells("the list is the user's (-D, a preset or the cache): OFF")
says("architectures: OFF")

# Words that were meant for architectures, and architectures that this nvcc cannot make: CMake is about to refuse both.
chooses(ARGS "-DCMAKE_CUDA_ARCHITECTURES=80;sm_80;8.6;compute_90a;90-rael;10.0+PTX;8")
warns("archguard_select_architectures: your list is not judged, for CMake knows no such architectures: \
'sm_80': write 80-real for SASS, 80-virtual for PTX, or 80 for both \
'8.6': write 86-real for SASS, 86-virtual for PTX, or 86 for both \
'compute_90a': write 90a-real for SASS, 90a-virtual for PTX, or 90a for both \
'90-rael': write 90-real for SASS, 90-virtual for PTX, or 90 for both \
'10.0+PTX': write 100-real for SASS, 100-virtual for PTX, or 100 for both")
chooses(ARGS "-DCMAKE_CUDA_ARCHITECTURES=80;90;gen7")
warns("archguard_select_architectures: your list is not judged, for CMake knows no such architectures: \
'gen7': write, for example, 80-real for SASS, 80-virtual for PTX, or 80 for both")
chooses(ARGS "-DCMAKE_CUDA_ARCHITECTURES=61;80;90;130-real")
tells("the list is the user's (-D, a preset or the cache): 61;80;90;130-real")
warns("archguard_select_architectures: your list cannot be compiled: \
CUDA ${NVCC_VERSION} makes no 61; the last toolkit that does is 12.9 \
CUDA ${NVCC_VERSION} makes no 130-real; no known toolkit does")

# Raw flags are a choice too: they, and CMake's default beside them, are what is judged.
chooses(ARGS "-DCMAKE_CUDA_FLAGS=-gencode arch=compute_90,code=[sm_90,compute_90] -gencode=arch=compute_80,code=sm_80")
set(both "90;80")
if(CMAKE_VERSION VERSION_LESS 3.23)  # takes one of them as its default
  set(both "90;80-real")
endif()
tells("the list is the user's (-gencode or -arch in CMAKE_CUDA_FLAGS): ${both}")
foreach(pair IN ITEMS "-arch=sm_80|80" "--gpu-architecture=compute_80|80" "-arch=compute_80 -code=sm_80|80"
    "-arch=sm_61|61,75")  # refused by nvcc, so by what they say
  string(REGEX REPLACE "\\|.*" "" flags "${pair}")
  string(REGEX REPLACE ".*\\|" "" list "${pair}")
  string(REPLACE "," ";" list "${list}")
  chooses(ARGS "-DCMAKE_CUDA_FLAGS=${flags}")
  tells("the list is the user's (-gencode or -arch in CMAKE_CUDA_FLAGS): ${list}")
endforeach()
