# In the tree: arch_probe is compiled while configuring, once; archguard is built when a check needs it.
needs_nvcc(13.0)
find_program(ON_PATH archguard)
if(ON_PATH)
  message("SKIPPED: there is an archguard on PATH, which would be taken")
  return()
endif()
configure(ARGS "-DREPOSITORY=${REPOSITORY}" -DCMAKE_PREFIX_PATH=)
tells("compiling arch_probe" "CMAKE_CUDA_ARCHITECTURES=80-real;80-virtual" "for the devices of fleet.csv, with <nvcc>")
configure(ARGS -DCMAKE_PREFIX_PATH=)
tells("CMAKE_CUDA_ARCHITECTURES=80-real;80-virtual" "for the devices of fleet.csv, with <nvcc>")

# What ccmake and cmake-gui show of it: the switches, each with its help and the values that it takes. What the project sets in
# the cache counts, also behind the line that brings ArchGuard.
file(STRINGS "${BUILD}/CMakeCache.txt" entries REGEX "^ARCHGUARD_[A-Z_]*:(BOOL|STRING|PATH|FILEPATH|UNINITIALIZED)")
compare("cache entries" "${entries}" "ARCHGUARD_BASELINE:STRING=;ARCHGUARD_DETECT:STRING=;ARCHGUARD_DRIVER:STRING=warn;\
ARCHGUARD_EMBEDDED:STRING=;ARCHGUARD_EXECUTABLE:FILEPATH=;ARCHGUARD_FLEET:STRING=;ARCHGUARD_ON_UNSUPPORTED:STRING=;\
ARCHGUARD_PARTLY:STRING=;ARCHGUARD_VERDICTS:STRING=;ARCHGUARD_VERIFY:STRING=")
file(STRINGS "${BUILD}/CMakeCache.txt" entries REGEX "^(//ArchGuard: what a failed|ARCHGUARD_VERIFY-STRINGS)")
compare("ARCHGUARD_VERIFY" "${entries}" "//ArchGuard: what a failed check does (off: no check);ARCHGUARD_VERIFY-STRINGS:INTERNAL=\\;error\\;warn\\;off")

# Neither tests nor install rules of ArchGuard reach the project; its programs are no part of the default build but for
# the check, which builds the one it needs.
run(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" ${config_options} --prefix "${WORK}/prefix")
if(EXISTS "${WORK}/prefix/bin")
  message(FATAL_ERROR "ArchGuard installed itself with the project")
endif()
if(GENERATOR STREQUAL "Ninja")
  run(COMMAND "${MAKE_PROGRAM}" -C "${BUILD}" -n)
  says("Linking CXX executable archguard/bin/archguard")
  says_not("Linking CXX executable archguard/tools/arch_probe/arch_probe")
endif()

# One given by the user is taken instead, and then nothing of ArchGuard is compiled.
configure(ARGS "-DARCHGUARD_EXECUTABLE=${PREFIX}/bin/archguard")
build()
says("ArchGuard: verifying plain")
says_not("archguard/src")

# Without the libraries: selecting works, verifying names what is missing.
configure(FAILS ARGS -UARCHGUARD_EXECUTABLE -DCMAKE_PREFIX_PATH= -DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON
  -DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON)
says("architectures: 80-real;80-virtual")
errs("archguard_verify: there is no program archguard, and it cannot be built here without: libcli11-dev libfmt-dev; \
install them (Debian: apt install libcli11-dev libfmt-dev), or set ARCHGUARD_EXECUTABLE to an installed archguard")
