# What a project sets for its own targets reaches none of ArchGuard's: it compiles, runs, and puts nothing among the project's.
needs_nvcc(13.0)
find_program(ON_PATH archguard)
if(ON_PATH)
  message("SKIPPED: there is an archguard on PATH, which would be taken")
  return()
endif()
configure(ARGS "-DREPOSITORY=${REPOSITORY}" -DCMAKE_PREFIX_PATH=)
says("compiling arch_probe")
build()
says("ArchGuard: verifying plain")
if(EXISTS "${BUILD}/programs")
  message(FATAL_ERROR "a program of ArchGuard lies among those of the project")
endif()
if(EXISTS "${BUILD}/compile_commands.json")
  file(READ "${BUILD}/compile_commands.json" commands)
  if(commands MATCHES "archguard")
    message(FATAL_ERROR "compile_commands.json has sources of ArchGuard:\n${commands}")
  endif()
endif()

# Nothing of it is in the way of the project's users: no option of ArchGuard's tests, pages and benchmarks, no library that it found.
file(STRINGS "${BUILD}/CMakeCache.txt" entries REGEX "^(ARCHGUARD_(BUILD|INSTALL|STATIC|WERROR|Z|LZ4|FOUND)|CLI11|fmt|nlohmann_json)")
compare("cache entries" "${entries}" "")

# The same for an archguard that the project installs. One of its libraries says it: their sources are compiled alike.
file(REMOVE_RECURSE "${BUILD}")
configure(ARGS "-DREPOSITORY=${REPOSITORY}" -DCMAKE_PREFIX_PATH= -DARCHGUARD_INSTALL=ON)
build(ARGS --target archguard_base)
