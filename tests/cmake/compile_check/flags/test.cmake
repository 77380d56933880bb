# Flags that no device can use stop the compiler, with the name of the device.
needs_nvcc(13.0)

configure(ARGS -DFLAGS= "-DARGUMENTS=TARGETS;app")
build()

configure(ARGS "-DFLAGS=-gencode=arch=compute_90,code=sm_90" "-DARGUMENTS=TARGETS;app")
build()  # 8.0 is among the architectures of CMAKE_CUDA_ARCHITECTURES still

configure(ARGS -DFLAGS= "-DARGUMENTS=TARGETS;app" -DCMAKE_CUDA_ARCHITECTURES=90-real)
build(FAILS)
says("error 209 on NVIDIA A100 '80GB' (8.0, fleet.csv:2): every architecture of this compilation is above it; add 80 to \
CUDA_ARCHITECTURES")
says_not("on NVIDIA H100")

configure(FAILS ARGS -DFLAGS= "-DARGUMENTS=FLEET;fleet.csv")
errs("archguard_compile_check: TARGETS is missing; name the targets whose CUDA sources to check")
