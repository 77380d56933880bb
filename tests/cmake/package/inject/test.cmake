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
says("ArchGuard: note: target 'plain' has no device code")

# What the project sets itself stays, and its build stops.
configure(ARGS "${inject}" -DARCHGUARD_FLEET=fleet.csv -DPINNED=80-real)
build(FAILS)
says("kernel 'scale(float*)' cannot run on NVIDIA H100 (9.0, fleet.csv:3)")
errs("archguard_verify: target 'scale' does not cover every device")
