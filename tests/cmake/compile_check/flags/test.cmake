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

# A device without a name; and C++03, which has no static_assert.
file(READ "${SOURCE}/fleet.csv" fleet)
file(WRITE "${SOURCE}/fleet.csv" "compute_cap\n8.0\n")
configure(ARGS -DFLAGS= "-DARGUMENTS=TARGETS;app" -DCMAKE_CUDA_ARCHITECTURES=90-real)
build(FAILS)
says("error 209 on 8.0 (fleet.csv:2): every architecture of this compilation is above it; add 80 to CUDA_ARCHITECTURES")
configure(ARGS -DFLAGS= "-DARGUMENTS=TARGETS;app" -DCMAKE_CUDA_ARCHITECTURES=90-real -DCMAKE_CUDA_STANDARD=98)
build()
configure(ARGS -DFLAGS= "-DARGUMENTS=TARGETS;app" -UCMAKE_CUDA_STANDARD)
file(WRITE "${SOURCE}/fleet.csv" "${fleet}")

# Nothing is left out of this fleet.
file(WRITE "${SOURCE}/fleet.csv" "name, compute_cap, driver_version\nNVIDIA A100, 8.0, 580.95.05\n")
configure(ARGS -DFLAGS= "-DARGUMENTS=TARGETS;app" -UCMAKE_CUDA_ARCHITECTURES -UARCHGUARD_CHOICE)
build()

# What the fleet leaves out, and what the environment hid, is not asked for.
file(WRITE "${SOURCE}/fleet.csv" "name, compute_cap, visible, excluded\nNVIDIA A100, 8.0, true,\nNVIDIA T4, 7.5, false,\n\
GeForce GT 710, 3.5, true, display card\n")
configure(ARGS -DFLAGS= "-DARGUMENTS=TARGETS;app")
build()
says_not("error 209")

# A GPU of this machine that nvcc cannot support stops nothing.
machine("driver 580.95.05\ncuda 13000\ndevice cc=8.0 name=A100\ndevice cc=6.1 name=MX330\n")
file(READ "${SOURCE}/CMakeLists.txt" text)
string(REPLACE "FLEET fleet.csv" "" text "${text}")
file(WRITE "${SOURCE}/CMakeLists.txt" "${text}")
configure(ARGS -DFLAGS= "-DARGUMENTS=TARGETS;app")
build()
says_not("error 209")

configure(FAILS ARGS -DFLAGS= "-DARGUMENTS=FLEET;fleet.csv")
errs("archguard_compile_check: TARGETS is missing; name the targets whose CUDA sources to check")
