configure(ARGS "-DWANTED=0.1;REQUIRED")
says("new variables: .")
says("<prefix>/bin/arch_probe: arch_probe 0.1.0")
says("<prefix>/bin/archguard: archguard 0.1.0")
tells()
build()
says("ArchGuard: verifying plain")

configure(ARGS "-DWANTED=0.1;COMPONENTS;gpu")
says("not found: ArchGuard has no components, asked for: gpu")
configure(FAILS ARGS "-DWANTED=0.2;REQUIRED" -UArchGuard_DIR)
says("compatible with requested version \"0.2\"")

# A moved prefix works from where it is.
file(COPY "${PREFIX}/" DESTINATION "${WORK}/moved")
file(REMOVE_RECURSE "${BUILD}")
configure(ARGS "-DWANTED=0.1;REQUIRED" "-DCMAKE_PREFIX_PATH=${WORK}/moved")
says("${WORK}/moved/bin/arch_probe: arch_probe 0.1.0")
run(COMMAND "${WORK}/moved/bin/archguard" --cmakedir)
says("${WORK}/moved/lib/cmake/ArchGuard")

# The programs alone, for a machine that checks and builds nothing.
run(COMMAND "${CMAKE_COMMAND}" --install "${TREE}" --prefix "${WORK}/runtime" --component ArchGuard_Runtime)
file(GLOB_RECURSE files RELATIVE "${WORK}/runtime" "${WORK}/runtime/*")
list(FILTER files EXCLUDE REGEX "share/")
compare("ArchGuard_Runtime" "${files}" "bin/arch_probe;bin/archguard")
