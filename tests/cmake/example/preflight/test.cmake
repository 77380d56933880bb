needs_nvcc(13.0)
file(COPY "${REPOSITORY}/examples/preflight/" DESTINATION "${SOURCE}")
set(with_nvml "LD_LIBRARY_PATH=${WORK}/driver:${FAKE_DRIVER}/nvml")
machine("driver 580.95.05\ncuda 13000\ndevice cc=7.5 uuid=GPU-1 pci=0000:3B:00.0 name=Tesla T4\n")
configure(ARGS "-DCMAKE_CUDA_ARCHITECTURES=80-real;86-real;90")
build()
run(FAILS ENV ${with_nvml} COMMAND "${BUILD}${config}/saxpy")
compare("output" "${LAST}" "saxpy 2.1 holds code for 8.0, 8.6, 9.0 and PTX 9.0; this machine has a Tesla T4 (7.5), driver CUDA 13.0: it needs \
a build with 75-real\n")
