# What configuring says, beyond the cases of the single commands.
needs_nvcc(13.0)
file(WRITE "${SOURCE}/fleet.csv" "name, compute_cap, driver_version\nNVIDIA A100, 8.0, 580.95.05\n")
file(WRITE "${SOURCE}/old.csv" "name, compute_cap, driver_cuda\nNVIDIA A100, 8.0, 12.9\n")
file(WRITE "${SOURCE}/unknown.csv" "name, compute_cap\nNVIDIA A100, 8.0\nNVIDIA K20, [N/A]\n")
file(WRITE "${SOURCE}/bad.csv" "name, compute_cap\nNVIDIA A100, eight\n")
set(select "archguard_select_architectures")

# Each line tells its command to those who show the context, and the reasons to those who ask.
configure(ARGS "-DCODE=${select}(FLEET fleet.csv)" -DCMAKE_MESSAGE_CONTEXT_SHOW=ON --log-level=VERBOSE)
says("-- [${select}] ArchGuard: CMAKE_CUDA_ARCHITECTURES=80-real;80-virtual \
-- [${select}] ArchGuard: for the devices of fleet.csv, with <nvcc> \
-- [${select}] ArchGuard: the reasons \
[${select}] 80-real NVIDIA A100 (8.0, fleet.csv:2) [${select}] 80-virtual PTX fallback for GPUs newer than 8.0")
configure(FAILS ARGS "-DCODE=archguard_compile_check(TARGETS no)")
errs("archguard_compile_check: there is no target 'no' (yet); \
call archguard_compile_check behind the add_executable or add_library that creates it")
configure(ARGS "-DCODE=archguard_detect()" -DARCHGUARD_DETECT=OFF)
says("-- [archguard_detect] ArchGuard: not looking for GPUs, as ARCHGUARD_DETECT is off")

# Without any device.
configure(ARGS -DCMAKE_MESSAGE_CONTEXT_SHOW=OFF "-DCODE=${select}(BASELINE 80)\narchguard_verify()" --log-level=VERBOSE)
says("-- ArchGuard: no devices are known, so only what CUDA_ARCHITECTURES asks for is verified")
configure(ARGS "-DCODE=archguard_verify_install()" -DARCHGUARD_VERIFY=off --log-level=VERBOSE)
says("-- ArchGuard: nothing that is installed will be verified, as ARCHGUARD_VERIFY is off")
machine("driver 580.95.05\ncuda 13000\nhang cuInit\n")
configure(ARGS -UARCHGUARD_VERIFY -UARCHGUARD_DETECT "-DCODE=archguard_detect(TIMEOUT 1)")
tells("no usable GPU (failed): libcuda (${WORK}/driver/libcuda.so.1) did not answer within 1 s")

# A device whose capability nobody told, and files that cannot be read.
configure(ARGS "-DCODE=${select}(FLEET unknown.csv)")
warns("${select}: without a compute capability, so archguard_verify cannot judge them and will stop the build; write their \
compute_cap, or into a column excluded why they are left out: NVIDIA K20 (compute capability unknown, unknown.csv:3)")
configure(ARGS "-DCODE=${select}(FLEET bad.csv)" -DCMAKE_CUDA_ARCHITECTURES=80)
warns("${select}: your list was not judged: arch_probe: error: bad.csv:2: compute_cap is 'eight', expected X.Y such as \
8.6, or [N/A]")
configure(FAILS ARGS "-DCODE=add_library(own OBJECT k.cu)\narchguard_compile_check(TARGETS own FLEET bad.csv)")
errs("archguard_compile_check: the devices cannot be read arch_probe: error: bad.csv:2: compute_cap is 'eight', expected X.Y \
such as 8.6, or [N/A]")
configure(FAILS ARGS "-DCODE=add_library(own OBJECT k.cu)\narchguard_compile_check(TARGETS own)")
errs("archguard_compile_check: no devices are known to check for; give FLEET <file>, or call \
archguard_select_architectures with one")

# The user's list, and no device.
configure(ARGS -UCMAKE_CUDA_ARCHITECTURES -UARCHGUARD_CHOICE "-DCODE=${select}()" -DCMAKE_CUDA_ARCHITECTURES=80 -DARCHGUARD_DETECT=OFF)
warns("${select}: detection is switched off; your list was not checked against any device (fix: name the GPUs to build for in a fleet \
file: --fleet, or FLEET in CMake)")

# A fleet holds until another is named.
configure(ARGS -UARCHGUARD_DETECT "-DCODE=${select}(FLEET old.csv)\n${select}(PTX none)")
says("the list is the user's (-D, a preset or the cache): 80")
says_not("held against no device")

# A device that its driver does not know: no list helps.
file(WRITE "${SOURCE}/no_driver.csv" "name, compute_cap, driver_cuda\nGTX 1080, 6.1, 13.2\n")
configure(ARGS -UCMAKE_CUDA_ARCHITECTURES -UARCHGUARD_CHOICE "-DCODE=${select}(FLEET no_driver.csv ON_UNSUPPORTED warn)"
  -DCMAKE_CUDA_ARCHITECTURES=80-real)
says("${select}: your list misses devices: error 100 on GTX 1080 (6.1, no_driver.csv:2): its driver offers CUDA 13.2, and \
the last driver for 6.1 is branch 580 (CUDA 13.0): keep its driver at branch 580, or leave this device out of the fleet")
says_not("fix: -DCMAKE_CUDA_ARCHITECTURES")

# Raw flags that miss a device, and a suffix that this CMake does not know.
configure(ARGS -UCMAKE_CUDA_ARCHITECTURES -UARCHGUARD_CHOICE "-DCMAKE_CUDA_FLAGS=-gencode=arch=compute_75,code=sm_75"
  "-DCODE=${select}(FLEET old.csv)" -DCMAKE_CUDA_ARCHITECTURES=)
says("${select}: your list misses devices: error 222 on NVIDIA A100 (8.0, old.csv:2): only PTX in the list fits 8.0")
says("fix: -DCMAKE_CUDA_ARCHITECTURES=\"75;80-real\", and no -gencode or -arch in the flags")
if(CMAKE_VERSION VERSION_LESS 3.31.8)
  configure(FAILS ARGS "-DCODE=${select}(SUFFIX f)")
  errs("${select}: SUFFIX f needs CMake 3.31.8 (of the 3.31 line) or 4.0.2 or newer, this is ${CMAKE_VERSION}; \
leave it out, or use a newer CMake")
endif()

# An arch_probe that crashes.
file(WRITE "${WORK}/crashes" "#!/bin/sh\nkill -SEGV $$\n")
file(CHMOD "${WORK}/crashes" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
configure(FAILS ARGS -UCMAKE_CUDA_FLAGS -UARCHGUARD_CHOICE
  "-DCODE=set_target_properties(ArchGuard::arch_probe PROPERTIES IMPORTED_LOCATION ${WORK}/crashes)\n${select}(FLEET fleet.csv)")
errs("${select}: no architectures were chosen arch_probe did not answer (Segmentation fault); try it by hand: \
arch_probe --timeout 60")

# The commands without the package.
configure(FAILS ARGS -UCMAKE_CUDA_ARCHITECTURES "-DCODE=include(${PREFIX}/lib/cmake/ArchGuard/ArchGuard.cmake)\n${select}()")
errs("${select}: there is no target ArchGuard::arch_probe; bring ArchGuard by find_package(ArchGuard REQUIRED), \
add_subdirectory or FetchContent")

# The package where it cannot serve.
configure(FAILS ARGS "-DCODE=set(CMAKE_VERSION 3.19.8)")
says("ArchGuard needs CMake 3.20 or newer, this is 3.19.8")
file(WRITE "${WORK}/script.cmake" "cmake_minimum_required(VERSION 3.20)\nfind_package(ArchGuard REQUIRED)\narchguard_verify()\n")
run(FAILS COMMAND "${CMAKE_COMMAND}" "-DCMAKE_PREFIX_PATH=${PREFIX}" -P "${WORK}/script.cmake")
says("ArchGuard's commands need a project, and a script (cmake -P) has none; run the programs there: arch_probe, archguard \
verify <file> --fleet <file>")
