# What a check says, beyond the cases of tests/cmake/verify.
needs_nvcc(13.0)
file(WRITE "${SOURCE}/fleet.csv" "name, compute_cap, driver_version\nNVIDIA A100, 8.0, 580.95.05\n")
file(WRITE "${SOURCE}/unknown.csv" "name, compute_cap\nNVIDIA K20, [N/A]\n")

# A fleet that cannot be read is told before anything is built.
file(WRITE "${SOURCE}/bad.csv" "name, compute_cap\nNVIDIA A100, 8,0\n")
configure(FAILS ARGS -DCMAKE_CUDA_ARCHITECTURES=80-real "-DARGUMENTS=FLEET;bad.csv")
errs("archguard_verify: the devices cannot be read arch_probe: error: bad.csv:2: the line has 3 fields, the header in line 1 names 2 \
fix: put a field that holds a comma in double quotes")
file(WRITE "${SOURCE}/bad.csv" "name, compute_cap\n")
configure(FAILS ARGS -DCMAKE_CUDA_ARCHITECTURES=80-real "-DARGUMENTS=FLEET;bad.csv")
says("fleet: bad.csv: names no device")

# A test that CTest does not see.
configure(ARGS -DCMAKE_CUDA_ARCHITECTURES=80-real "-DARGUMENTS=FLEET;fleet.csv;TEST")
tells("TEST adds no test, since testing is not enabled; call enable_testing() in the top CMakeLists.txt")
configure(ARGS -DBUILD_TESTING=OFF)
says_not("TEST adds no test")
configure(ARGS -UBUILD_TESTING -DENABLED=ON)
says_not("TEST adds no test")

# The program does not run any more.
set(answers "#!/bin/sh\necho archguard 0.1.0\n")
file(WRITE "${WORK}/no_program" "${answers}")
execute_process(COMMAND chmod +x "${WORK}/no_program")
configure(ARGS -DCMAKE_CUDA_ARCHITECTURES=80-real "-DARGUMENTS=FLEET;fleet.csv" "-DARCHGUARD_EXECUTABLE=${WORK}/no_program")
file(WRITE "${WORK}/no_program" "#!/no/interpreter\n")
build(FAILS)
says("no_program: ")  # the reason is worded by the shell

# A device without a capability, and a file that lost the code which its objects have.
configure(ARGS -UARCHGUARD_EXECUTABLE "-DARGUMENTS=FLEET;unknown.csv")
build(FAILS)
says("archguard: error: target 'kernel' could not be judged")
configure(ARGS -UARCHGUARD_EXECUTABLE "-DARGUMENTS=FLEET;fleet.csv" -DSTRIPPED=.nv_fatbin)
build(FAILS ARGS --clean-first)
says("archguard: error: <build>/libkernel.so(.nvFatBinSegment+0x8): a fat binary is registered at address")
says(", where the file has nothing: device code was removed, or the registration overwritten fix: build it anew, and keep the sections .nv_fatbin, __nv_relfatbin and .nvFatBinSegment")
says("archguard: error: target 'kernel' could not be judged")
configure(ARGS "-DSTRIPPED=.nv_fatbin;.nvFatBinSegment")
build(FAILS ARGS --clean-first)
says("archguard: error: target 'kernel' has objects with kernels, and none in its file")

# CMake found no GPU for `native`: played by the file that the check reads, for newer CMakes stop earlier.
configure(ARGS -DSTRIPPED=OFF)
build(ARGS --clean-first)
file(READ "${BUILD}/archguard/verify${config}/kernel.built" text)
string(REPLACE "architectures 80-real" "architectures native" text "${text}")
file(WRITE "${WORK}/kernel.built" "${text}")
run(FAILS COMMAND "${CMAKE_COMMAND}" -E chdir "${SOURCE}" "${PREFIX}/bin/archguard" check-target "${BUILD}/CMakeFiles/archguard/check-1.json" --built "${WORK}/kernel.built")
says("archguard: error: target 'kernel' asks for 'native' in CUDA_ARCHITECTURES, and what that stands for here is not known \
fix: name the architectures (80-real;90-virtual), or let ArchGuard choose: cmake -U CMAKE_CUDA_ARCHITECTURES \
-U ARCHGUARD_CHOICE <build folder>")

file(GLOB_RECURSE library "${BUILD}/*libkernel.so")
file(COPY "${library}" DESTINATION "${WORK}")

# What was installed cannot be judged, or holds nothing to judge.
configure(ARGS -DARGUMENTS= "-DINSTALLS=${WORK}/libkernel.so")
run(FAILS COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/installed" --config Debug)
says("archguard: error: what was installed could not be judged")
configure(ARGS "-DINSTALLS=fleet.csv")
run(FAILS COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/empty" --config Debug)
says("archguard: error: what was installed holds no device code: leave archguard_verify_install out, or call it behind \
the last install()")
file(WRITE "${WORK}/no_program" "${answers}")
configure(ARGS "-DARCHGUARD_EXECUTABLE=${WORK}/no_program")
file(WRITE "${WORK}/no_program" "#!/no/interpreter\n")
run(FAILS COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/empty" --config Debug)
says("archguard did not run: ${WORK}/no_program: ")  # the reason is worded by CMake
