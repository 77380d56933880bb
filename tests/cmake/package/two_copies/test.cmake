# A superproject whose parts each bring ArchGuard: the first copy serves all, and another version is named.
needs_nvcc(13.0)
# An installed copy, the sources, and the same two as they would be of a later version.
file(COPY "${PREFIX}/" DESTINATION "${WORK}/later")
file(GLOB files "${WORK}/later/lib*/cmake/ArchGuard/ArchGuardConfig*.cmake")
file(COPY "${REPOSITORY}/CMakeLists.txt" "${REPOSITORY}/cmake" DESTINATION "${WORK}/later_sources")
foreach(file IN LISTS files ITEMS "${WORK}/later_sources/CMakeLists.txt")
  file(READ "${file}" text)
  string(REPLACE "0.1.0" "0.2.0" text "${text}")
  file(WRITE "${file}" "${text}")
endforeach()
set(here "-DARCHGUARD_EXECUTABLE=${PREFIX}/bin/archguard")  # nothing more than arch_probe is compiled
set(list "CMAKE_CUDA_ARCHITECTURES=80-real;80-virtual")
set(origin "for the devices of fleet.csv, with <nvcc>")
file(GLOB installed "${PREFIX}/lib*/cmake/ArchGuard")
file(GLOB later "${WORK}/later/lib*/cmake/ArchGuard")

# From the sources in both, the same version: nobody is told, and one arch_probe is compiled.
file(COPY "${WORK}/later_sources/" DESTINATION "${WORK}/same_sources")
file(COPY "${REPOSITORY}/CMakeLists.txt" DESTINATION "${WORK}/same_sources")
configure(ARGS ${here} "-DA_FROM=${REPOSITORY}" "-DB_FROM=${WORK}/same_sources" --log-level=VERBOSE)
says("-- ArchGuard: compiling arch_probe")
says("-- ArchGuard: the copy in ${WORK}/same_sources is not used, since the same version in ${REPOSITORY} came first")
warns()
configure()
tells("${list}" "${origin}" "${list}" "${origin}")
build()
says("ArchGuard: verifying a")
says("ArchGuard: verifying b")

# Another version: the first wins.
configure(ARGS "-DB_FROM=${WORK}/later_sources")
warns("ArchGuard 0.2.0 in ${WORK}/later_sources is not used: this build has 0.1.0 in ${REPOSITORY} already, and one is used \
for all; use the same version everywhere, or add the newer one first")
tells("${list}" "${origin}" "${list}" "${origin}")

# The sources first, then an installed one; the same version, and a later one that is not asked for, and one that is.
configure(ARGS -DB_BY=install "-DB_FROM=${PREFIX}")
warns()
configure(ARGS -DB_BY=install "-DB_FROM=${WORK}/later" -UArchGuard_DIR)
warns("ArchGuard 0.2.0 in ${later} is not used: this build has 0.1.0 in ${REPOSITORY} already, and one is used for all; use \
the same version everywhere, or add the newer one first")
configure(FAILS ARGS -DB_WANTS=0.2)
says("ArchGuard 0.2 is asked for, and this build has 0.1.0 already")

# An installed one first, then the sources: nothing is compiled.
file(REMOVE_RECURSE "${BUILD}")
configure(ARGS -DA_BY=install "-DA_FROM=${PREFIX}" "-DB_FROM=${WORK}/later_sources")
warns("ArchGuard 0.2.0 in ${WORK}/later_sources is not used: this build has 0.1.0 in ${installed} already, and one is used \
for all; use the same version everywhere, or add the newer one first")
tells("${list}" "${origin}" "${list}" "${origin}")
build()
says("ArchGuard: verifying b")
