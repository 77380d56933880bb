# Cross-compiling in the tree: what is compiled for the target runs by the emulator; an ArchGuard of this machine goes before it.
needs_nvcc(13.0)
find_program(ON_PATH NAMES archguard arch_probe)
if(ON_PATH)
  message("SKIPPED: there is an ArchGuard on PATH, which would be taken")
  return()
endif()
file(WRITE "${WORK}/an emulator" "#!/bin/sh\n[ \"$1\" = '-L it'\\''s' ] || exit 1\nshift\nbasename \"$1\" >>'${WORK}/emulated'\nexec \"$@\"\n")
file(CHMOD "${WORK}/an emulator" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
file(WRITE "${WORK}/toolchain.cmake" "set(CMAKE_SYSTEM_NAME Linux)\nset(CMAKE_SYSTEM_PROCESSOR aarch64)\n"
  "set(CMAKE_CROSSCOMPILING_EMULATOR \"${WORK}/an emulator\" \"-L it's\")\n")
configure(ARGS "-DREPOSITORY=${REPOSITORY}" -DCMAKE_PREFIX_PATH= "-DCMAKE_TOOLCHAIN_FILE=${WORK}/toolchain.cmake")
tells("compiling arch_probe" "CMAKE_CUDA_ARCHITECTURES=80-real;80-virtual" "for the devices of fleet.csv, with <nvcc>")
file(STRINGS "${WORK}/emulated" names)
list(REMOVE_DUPLICATES names)
compare("what the emulator ran" "${names}" "arch_probe")

# The build's archguard runs by it, too.
file(READ "${BUILD}/program" program)
compare("archguard" "${program}" "${BUILD}/archguard/bin/archguard.emulated")
file(MAKE_DIRECTORY "${BUILD}/archguard/bin")
file(COPY "${PREFIX}/bin/archguard" DESTINATION "${BUILD}/archguard/bin")
run(COMMAND "${program}" --version)
says("archguard 0.1.0")
file(STRINGS "${WORK}/emulated" names)
list(GET names -1 last)
compare("what the emulator ran" "${last}" "archguard")

# So does one that is installed with the project.
file(REMOVE "${WORK}/emulated")
configure(ARGS -DCMAKE_PREFIX_PATH= -DARCHGUARD_INSTALL=ON)
file(READ "${BUILD}/program" program)
compare("archguard" "${program}" "${BUILD}/archguard/bin/archguard.emulated")
file(REMOVE "${WORK}/emulated")
file(REMOVE_RECURSE "${BUILD}")
configure(ARGS "-DREPOSITORY=${REPOSITORY}" "-DCMAKE_TOOLCHAIN_FILE=${WORK}/toolchain.cmake"
  "-DARCHGUARD_EXECUTABLE=${PREFIX}/bin/archguard")
tells("CMAKE_CUDA_ARCHITECTURES=80-real;80-virtual" "for the devices of fleet.csv, with <nvcc>")
if(EXISTS "${WORK}/emulated")
  message(FATAL_ERROR "the emulator ran, though an arch_probe of this machine is there")
endif()

# An arch_probe of this machine alone cannot check, and an archguard that is built here would not run.
file(COPY "${PREFIX}/bin/arch_probe" DESTINATION "${WORK}/probe")
file(REMOVE_RECURSE "${BUILD}")
configure(FAILS ENV "PATH=${WORK}/probe:$ENV{PATH}" ARGS "-DREPOSITORY=${REPOSITORY}" -DCMAKE_PREFIX_PATH= -DCMAKE_SYSTEM_NAME=Linux
  -DCMAKE_SYSTEM_PROCESSOR=aarch64)
errs("archguard_verify: there is no program archguard, and what this build makes runs on another machine; install ArchGuard here, \
and put its bin folder on PATH or its archguard into ARCHGUARD_EXECUTABLE")
