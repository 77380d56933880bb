# The GPUs of this machine, played by a fake driver; a machine without any; and the packagers' switches.
needs_nvcc(13.0)
set(h100 "driver 580.95.05\ncuda 13000\ndevice cc=9.0 uuid=GPU-1 pci=0000:3B:00.0 name=NVIDIA H100\n")

machine("${h100}")
configure(ARGS -DARGUMENTS=)
tells("CMAKE_CUDA_ARCHITECTURES=90-real;90-virtual" "for the devices of this machine, with <nvcc>")
warns()

# The GPU is gone: a configure tells the truth of its day.
machine("driver 580.95.05\ncuda 13000\nfail cuInit 100\n")
set(baseline "75-real;80-real;90-real;100-real;120-real;120-virtual")
configure()
tells("CMAKE_CUDA_ARCHITECTURES=${baseline}" "a baseline without devices, for <nvcc>")
messages_of(warnings Warning)
if(NOT warnings MATCHES "^archguard_select_architectures: [^\n]*taking the baseline of CUDA ${NVCC_VERSION} instead: ${baseline}[^\n]*\n$")
  message(FATAL_ERROR "one warning that names the cause: ${warnings}")
endif()
configure(FAILS ARGS "-DARGUMENTS=ON_NO_DEVICE;error")
says("archguard_select_architectures: no architectures were chosen")

# A driver that fails is another matter than none.
machine("driver 580.95.05\ncuda 13000\nfail cuInit 999\n")
configure()
tells("CMAKE_CUDA_ARCHITECTURES=${baseline}" "a baseline without devices, for <nvcc>")
configure(FAILS ARGS "-DARGUMENTS=ON_DETECT_FAILURE;error")
says("archguard_select_architectures: no architectures were chosen")

# Switches: the cache beats the environment beats the arguments.
machine("${h100}")
configure(ARGS -DARGUMENTS= ENV ARCHGUARD_DETECT=OFF)
tells("CMAKE_CUDA_ARCHITECTURES=${baseline}" "a baseline without devices, for <nvcc>")
configure(ARGS -DARCHGUARD_DETECT=ON ENV ARCHGUARD_DETECT=OFF)
tells("CMAKE_CUDA_ARCHITECTURES=90-real;90-virtual" "for the devices of this machine, with <nvcc>")
configure(ARGS -DARCHGUARD_DETECT=OFF "-DARGUMENTS=BASELINE;80;90" ENV "ARCHGUARD_BASELINE=86-real")
tells("CMAKE_CUDA_ARCHITECTURES=86-real" "a baseline without devices, for <nvcc>")
configure()
tells("ARCHGUARD_BASELINE=86-real, as the environment said before; -DARCHGUARD_BASELINE=<value> or an empty variable changes that"
  "CMAKE_CUDA_ARCHITECTURES=86-real" "a baseline without devices, for <nvcc>")
configure(ENV ARCHGUARD_BASELINE=)
tells("CMAKE_CUDA_ARCHITECTURES=80-real;90-real;80-virtual;90-virtual" "a baseline without devices, for <nvcc>")
configure(ENV ARCHGUARD_FLEET=fleet.csv)
tells("CMAKE_CUDA_ARCHITECTURES=89-real;89-virtual" "for the devices of fleet.csv, with <nvcc>")
configure(FAILS ARGS -DARCHGUARD_DETECT=MAYBE)
errs("archguard_select_architectures: ARCHGUARD_DETECT is 'MAYBE'; it takes ON or OFF")
