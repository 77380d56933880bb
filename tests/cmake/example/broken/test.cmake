needs_nvcc(13.0)
file(COPY "${REPOSITORY}/examples/broken/" DESTINATION "${SOURCE}")

configure()
tells("the list is the user's (set() or a toolchain file): 80-real")
warns("archguard_select_architectures: your list misses devices: \
error 209 on NVIDIA H100 80GB HBM3 (9.0, fleet.csv:4): nothing in the list runs on 9.0 \
fix: set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real)")

# The build stops each time, until it is mended; no stamp survives.
foreach(time IN ITEMS first second)
  build(FAILS)
  says("kernel 'scale(float*, float)' cannot run on NVIDIA H100 80GB HBM3 (9.0, fleet.csv:4) \
seen as: no kernel image is available for execution on the device found: sm_80 cubin, no PTX \
cause: it needs SASS of sm_90, or PTX of compute_90 or older \
toolkits: CUDA 11.8 and newer make SASS for 9.0 \
fix: add 90-real to CUDA_ARCHITECTURES of target 'scale' <build>/scale: 2 of 3 covered")
  says("archguard: error: target 'scale' does not cover every device")
endforeach()

file(READ "${SOURCE}/CMakeLists.txt" text)
string(REPLACE "set(CMAKE_CUDA_ARCHITECTURES 80-real)" "set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real)" text "${text}")
file(WRITE "${SOURCE}/CMakeLists.txt" "${text}")
build()
says("<build>/scale: 3 of 3 covered")
