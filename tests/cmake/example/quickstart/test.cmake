needs_nvcc(13.0)
file(COPY "${REPOSITORY}/examples/quickstart/" DESTINATION "${SOURCE}")
machine("driver 580.95.05\ncuda 13000\ndevice cc=8.6 uuid=GPU-1 pci=0000:3B:00.0 name=NVIDIA GeForce RTX 3090\n")

configure()
tells("CMAKE_CUDA_ARCHITECTURES=86-real;86-virtual" "for the devices of this machine, with <nvcc>")
warns()
build()
says("saxpy: 1 of 1 covered")

# The choice stays, and nothing is built twice.
configure()
tells("CMAKE_CUDA_ARCHITECTURES=86-real;86-virtual" "for the devices of this machine, with <nvcc>")
build()
says_not("verifying")

# Without a GPU the program says what is wrong.
run(FAILS ENV --unset=LD_LIBRARY_PATH CUDA_VISIBLE_DEVICES=-1 COMMAND "${BUILD}${config}/saxpy")
if(NOT LAST MATCHES "^allocate x: error (35|100): ")
  message(FATAL_ERROR "unexpected: ${LAST}")
endif()
