# No compiler at all: said, and no error, for a project may do without CUDA.
file(MAKE_DIRECTORY "${WORK}/empty")
set(no_default -DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF)  # /usr/local/bin and the like
configure(ENV "PATH=${WORK}/empty" --unset=CUDA_PATH ARGS ${no_default})
tells("no CUDA compiler, so no architectures to choose (CMAKE_CUDA_COMPILER, CUDACXX, nvcc on PATH and \$CUDA_PATH/bin name none)")
warns()

needs_nvcc(13.0)
# CUDACXX with arguments, and $CUDA_PATH.
configure(ENV "PATH=${WORK}/empty" "CUDACXX=${NVCC} -ccbin g++")
tells("CMAKE_CUDA_ARCHITECTURES=80-real;80-virtual" "for the devices of fleet.csv, with <nvcc>")
get_filename_component(toolkit "${NVCC}/../.." ABSOLUTE)
configure(ENV "PATH=${WORK}/empty" "CUDA_PATH=${toolkit}" ARGS ${no_default})
tells("CMAKE_CUDA_ARCHITECTURES=80-real;80-virtual" "for the devices of fleet.csv, with <nvcc>")

# A compiler that does not answer, one that is clang, and one that comes later.
configure(FAILS ARGS "-DCMAKE_CUDA_COMPILER=${SOURCE}/other_nvcc")
says("archguard_select_architectures: no architectures were chosen")
configure(ARGS "-DCMAKE_CUDA_COMPILER=${SOURCE}/clang++" "-DCUDAToolkit_ROOT=${toolkit}")
tells("CMAKE_CUDA_ARCHITECTURES=80" "for the devices of fleet.csv, with <source>/clang++ and the toolkit of <nvcc>")
warns()
configure(FAILS ARGS "-DCMAKE_CUDA_COMPILER=${SOURCE}/clang++" -UCUDAToolkit_ROOT "-DCMAKE_FIND_ROOT_PATH=${WORK}/empty"
  -DCMAKE_FIND_ROOT_PATH_MODE_PROGRAM=ONLY)
errs("archguard_select_architectures: the CUDA compiler is <source>/clang++, which needs a CUDA toolkit, and there is none \
(CUDAToolkit_ROOT, \$CUDA_PATH/bin, PATH and /usr/local/cuda have no nvcc); pass -DCUDAToolkit_ROOT=<folder>")
file(REMOVE_RECURSE "${BUILD}")
configure(FAILS ARGS "-DCMAKE_CUDA_COMPILER=${NVCC}" "-DLATER=${SOURCE}/other_nvcc")
errs("archguard_select_architectures: the architectures were chosen for <nvcc>, but CUDA was enabled with \
<source>/other_nvcc; pass -DCMAKE_CUDA_COMPILER=<source>/other_nvcc to a fresh build folder, so that both are the same")
