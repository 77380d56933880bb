# Editing the fleet is enough: the next build configures, compiles and checks again.
needs_nvcc(13.0)
configure()
build()
says("<build>/app: 1 of 1 covered")

file(APPEND "${SOURCE}/fleet.csv" "NVIDIA H100, 9.0\n")
build()
tells("CMAKE_CUDA_ARCHITECTURES=80-real;90-real;90-virtual" "for the devices of fleet.csv, with <nvcc>")
says("<build>/app: 2 of 2 covered")

# A user's choice stays, is judged anew, and stops the build.
configure(ARGS -DCMAKE_CUDA_ARCHITECTURES=80-real)
build(FAILS)
says("fix: add 90-real to CUDA_ARCHITECTURES of target 'app'")
says("archguard: error: target 'app' does not cover every device")

# A comment changes the file and not the devices: checked again, built no more.
configure(ARGS "-DCMAKE_CUDA_ARCHITECTURES=80-real;90-real")
build()
file(APPEND "${SOURCE}/fleet.csv" "# seen by nobody\n")
build()
says("<build>/app: 2 of 2 covered")
says_not("Building CUDA")
