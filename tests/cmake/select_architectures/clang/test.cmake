# Clang with CUDA 11.8: what it makes is what was chosen, asked for by CMake and judged.
needs_clang()
set(runtime ENV "LD_LIBRARY_PATH=${WORK}/driver:${CUDA_11_8}/lib64")  # the program links the shared one

configure(ARGS ${clang_options} -DMORE=)
tells("CMAKE_CUDA_ARCHITECTURES=80-real;90" "for the devices of fleet.csv, with ${CLANG} and the toolkit of ${CUDA_11_8}/bin/nvcc"
  "archguard_compile_check checks nothing: clang does not tell a source what it compiles for; archguard_verify checks the result")
warns()
build(${runtime})
says("<build>/app: 2 of 2 covered")

# The choice stays ArchGuard's, also beside CMake's own default in the cache.
configure()
says("CMAKE_CUDA_ARCHITECTURES=80-real;90")
file(REMOVE_RECURSE "${BUILD}")
configure(ARGS ${clang_options} -DMORE=PTX\;80 -DCUDA_FIRST=ON)
says("CMAKE_CUDA_ARCHITECTURES=80;90-real")
configure()
says("CMAKE_CUDA_ARCHITECTURES=80;90-real")
build(${runtime})
says("<build>/app: 2 of 2 covered")

# Asked for apart, SASS takes the PTX away: foretold, and seen in what was built.
configure(ARGS "-DCMAKE_CUDA_ARCHITECTURES=80-real;80-virtual")
warns("archguard_select_architectures: '80-real;80-virtual' has no PTX where clang compiles, since 80-real takes it away; write 80"
  "archguard_select_architectures: your list misses devices: error 209 on NVIDIA H100 (9.0, fleet.csv:3): nothing in the \
list runs on 9.0 fix: -DCMAKE_CUDA_ARCHITECTURES=\"80-real;80-virtual;90-real\"")
build(FAILS ${runtime})
says("lacks PTX of compute_80, which CUDA_ARCHITECTURES of target 'app' asks for found: sm_80 cubin, no PTX")
says("archguard: error: target 'app' does not cover every device archguard: error: target 'app' lacks code that its CUDA_ARCHITECTURES asks for")

# CMake's words, which it spells out for clang itself; raw flags; nothing asked.
if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.23)
  configure(ARGS -DCMAKE_CUDA_ARCHITECTURES=all-major)
  warns()
  build(${runtime})
  says("<build>/app: 2 of 2 covered")
endif()
file(REMOVE_RECURSE "${BUILD}")
configure(ARGS ${clang_options} -DMORE= "-DCMAKE_CUDA_FLAGS=-isystem ${CUDA_11_8}/include --cuda-gpu-arch=sm_80 --offload-arch=sm_75 \
--no-cuda-include-ptx=sm_80")
says("the list is the user's (--cuda-gpu-arch in CMAKE_CUDA_FLAGS): 80-real;75;52")
warns()
configure(ARGS ${clang_options} -DMORE= -DCMAKE_CUDA_ARCHITECTURES=OFF)
says("the list is the user's (-D, a preset or the cache): OFF")
build(${runtime})
says("<build>/app: 2 of 2 covered")

# Another toolkit than the one that was asked.
configure(FAILS ARGS -DLATER=12.4.131)
errs("archguard_select_architectures: the architectures were chosen for the CUDA toolkit of ${CUDA_11_8}/bin/nvcc, but clang uses \
12.4.131 in ${CUDA_11_8}; pass -DCUDAToolkit_ROOT=${CUDA_11_8} to a fresh build folder, so that both are the same")
