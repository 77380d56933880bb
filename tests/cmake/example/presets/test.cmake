# Every preset of examples/presets.
needs_nvcc(13.0)
find_program(NINJA ninja)
if(NOT NINJA)
  message("SKIPPED: no ninja, which the presets ask for")
  return()
endif()
file(COPY "${REPOSITORY}/examples/presets/" DESTINATION "${SOURCE}")
set(BUILD "${SOURCE}/build/own-list")

macro(preset name)
  run(ENV "CMAKE_PREFIX_PATH=${PREFIX}" COMMAND "${CMAKE_COMMAND}" -E chdir "${SOURCE}" "${CMAKE_COMMAND}" --preset ${name})
endmacro()
macro(build_preset name)
  run(${ARGN} COMMAND "${CMAKE_COMMAND}" -E chdir "${SOURCE}" "${CMAKE_COMMAND}" --build --preset ${name})
endmacro()

run(COMMAND "${CMAKE_COMMAND}" -E chdir "${SOURCE}" "${CMAKE_COMMAND}" --list-presets=all)
foreach(name IN ITEMS this-machine fleet baseline own-list look)
  says("\"${name}\"")
endforeach()

preset(fleet)
tells("CMAKE_CUDA_ARCHITECTURES=75-real;80-real;90-real;90-virtual" "for the devices of fleet.csv, with <nvcc>")
warns()
build_preset(fleet)
says("build/fleet/scale: 3 of 3 covered")
run(COMMAND "${CMAKE_COMMAND}" -E chdir "${SOURCE}" "${CMAKE_CTEST_COMMAND}" --preset fleet)
says("1/1 Test #1: archguard.verify.scale")

preset(baseline)
tells("CMAKE_CUDA_ARCHITECTURES=75-real;80-real;90-real;90-virtual" "a baseline without devices, for <nvcc>")
build_preset(baseline)
says("archguard: target 'scale' holds what its CUDA_ARCHITECTURES asks for")

machine("driver 580.95.05\ncuda 13000\ndevice cc=8.6 uuid=GPU-1 pci=0000:3B:00.0 name=NVIDIA GeForce RTX 3090\n")
preset(this-machine)
tells("CMAKE_CUDA_ARCHITECTURES=86-real;86-virtual" "for the devices of this machine, with <nvcc>")

# The own list misses the T4.
preset(own-list)
tells("the list is the user's (-D, a preset or the cache): 80-real;90")
warns("archguard_select_architectures: your list misses devices: \
error 209 on NVIDIA T4 (7.5, fleet.csv:2): nothing in the list runs on 7.5 \
fix: -DCMAKE_CUDA_ARCHITECTURES=\"80-real;90;75-real\"")
build_preset(own-list FAILS)
says("archguard: error: target 'scale' does not cover every device")
preset(look)
build_preset(look)
says("archguard: warning: target 'scale' does not cover every device")
