# Another nvcc for a build tree that has one: CMake starts anew by itself, and the architectures are chosen for the new one.
needs_nvcc(13.0)
configure()
build()
says("app: 1 of 1 covered")

file(WRITE "${WORK}/other/nvcc" "#!/bin/sh\nexec '${NVCC}' \"$@\"\n")
run(COMMAND chmod +x "${WORK}/other/nvcc")
configure(ENV "CMAKE_PREFIX_PATH=${PREFIX}" ARGS "-DCMAKE_CUDA_COMPILER=${WORK}/other/nvcc")
errs()
says("-- ArchGuard: for the devices of fleet.csv, with ${WORK}/other/nvcc")
build()
says("app: 1 of 1 covered")
