# A project that knows nothing of ArchGuard, steered from the command line alone.
needs_nvcc(13.0)
if(CMAKE_VERSION VERSION_LESS 3.24)
  message("SKIPPED: CMAKE_PROJECT_TOP_LEVEL_INCLUDES came with CMake 3.24, this is ${CMAKE_VERSION}")
  return()
endif()
set(inject "-DCMAKE_PROJECT_TOP_LEVEL_INCLUDES=${PREFIX}/lib/cmake/ArchGuard/ArchGuardInject.cmake")

configure(ARGS "${inject}" -DARCHGUARD_FLEET=fleet.csv)
tells("CMAKE_CUDA_ARCHITECTURES=80-real;90-real;90-virtual" "for the devices of fleet.csv, with <nvcc>")
warns()
build()
says("<build>/scale: 2 of 2 covered")
says("ArchGuard: verifying plain")

# What the project sets itself, or gives a target, stays: it is judged before anything is compiled, and the build stops.
set(misses "archguard_select_architectures: your list misses devices: \
error 209 on NVIDIA H100 (9.0, fleet.csv:3): nothing in the list runs on 9.0 \
fix: CUDA_ARCHITECTURES \"80-real;90-real\", through the project's own option")
foreach(way IN ITEMS OWN PINNED)
  configure(ARGS "${inject}" -DARCHGUARD_FLEET=fleet.csv -UOWN -D${way}=80-real)
  tells("CMAKE_CUDA_ARCHITECTURES=80-real;90-real;90-virtual" "for the devices of fleet.csv, with <nvcc>"
    "the list is the user's (set by the project for target 'scale'): 80-real")
  warns("${misses}")
endforeach()
build(FAILS)
says("kernel 'scale(float*)' cannot run on NVIDIA H100 (9.0, fleet.csv:3)")
says("archguard: error: target 'scale' does not cover every device")

# Flags of the target alone say what is built, so only what was built can tell.
configure(ARGS "${inject}" -DARCHGUARD_FLEET=fleet.csv -UPINNED -DFLAGS=-gencode=arch=compute_90,code=sm_90)
tells("CMAKE_CUDA_ARCHITECTURES=80-real;90-real;90-virtual" "for the devices of fleet.csv, with <nvcc>")
build(FAILS)
says("kernel 'scale(float*)' cannot run on NVIDIA A100 (8.0, fleet.csv:2)")
