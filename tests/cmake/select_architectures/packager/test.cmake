# Two builders with different GPUs make the same product where detection is off, by the cache or the environment.
needs_nvcc(13.0)
set(h100 "driver 580.95.05\ncuda 13000\ndevice cc=9.0 uuid=GPU-1 pci=0000:3B:00.0 name=NVIDIA H100\n")
set(rtx "driver 580.95.05\ncuda 13000\ndevice cc=12.0 uuid=GPU-2 pci=0000:5E:00.0 name=NVIDIA RTX 5090\n")

function(makes out machine)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "ARGS;ENV")
  machine("${machine}")
  file(REMOVE_RECURSE "${BUILD}")
  configure(ARGS ${arg_ARGS} ENV ${arg_ENV})
  build()
  run(COMMAND "${PREFIX}/bin/archguard" inspect "${BUILD}${config}/app" --kernels --format json)
  set(${out} "${LAST}" PARENT_SCOPE)
endfunction()

makes(one "${h100}" ARGS -DARCHGUARD_DETECT=OFF)
makes(two "${rtx}" ENV ARCHGUARD_DETECT=OFF)
compare("images in the binary of another builder" "${two}" "${one}")

# With detection on, the GPU tells: the comparison can fail.
makes(one "${h100}")
if(one STREQUAL two)
  message(FATAL_ERROR "the machine made no difference")
endif()
