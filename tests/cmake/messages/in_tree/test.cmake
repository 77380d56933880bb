# What an in-tree ArchGuard says where it cannot make arch_probe, or does not take an archguard of PATH.
file(WRITE "${WORK}/other/archguard" "#!/bin/sh\necho archguard 9.9.9\n")
file(CHMOD "${WORK}/other/archguard" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
configure(ARGS "-DREPOSITORY=${REPOSITORY}" -DCMAKE_PREFIX_PATH= -DBROKEN= --log-level=VERBOSE ENV "PATH=${WORK}/other:$ENV{PATH}")
says("-- ArchGuard: compiling arch_probe")
says("-- ArchGuard: ${WORK}/other/archguard is not used: version 'archguard 9.9.9', wanted 0.1.0")

file(REMOVE_RECURSE "${BUILD}")
configure(FAILS ARGS "-DREPOSITORY=${REPOSITORY}" -DBROKEN=--target=no_such_machine)
file(STRINGS "${BUILD}/CMakeCache.txt" compiler REGEX "^CMAKE_CXX_COMPILER:")
string(REGEX REPLACE "^[^=]*=" "" compiler "${compiler}")
says("ArchGuard: arch_probe does not compile with ${compiler}; it needs C++17")
says("no_such_machine")

find_program(ON_PATH arch_probe)
if(ON_PATH)
  message("SKIPPED: there is an arch_probe on PATH, which would be taken")
  return()
endif()
file(REMOVE_RECURSE "${BUILD}")
configure(FAILS ARGS "-DREPOSITORY=${REPOSITORY}" -DBROKEN= -DCMAKE_PREFIX_PATH= -DCMAKE_SYSTEM_NAME=Linux
  -DCMAKE_SYSTEM_PROCESSOR=aarch64)
errs("ArchGuard: this build cross-compiles, so arch_probe cannot be compiled for this machine; install ArchGuard here, and \
put its bin folder on PATH or its archguard into ARCHGUARD_EXECUTABLE")
configure(ARGS "-DARCHGUARD_EXECUTABLE=${PREFIX}/bin/archguard")
