# Packages by CPack: `cpack -G DEB` and `cpack -G TGZ` in the build folder. packaging/README.md tells which options to
# configure each with.
set(CPACK_PACKAGE_NAME "archguard")
set(CPACK_PACKAGE_VENDOR "the ArchGuard authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "proves that CUDA binaries run on every GPU they are meant for")
set(CPACK_PACKAGE_DESCRIPTION "Chooses the CUDA architectures of a CMake project for the GPUs that it
shall run on, then reads what was built and stops the build where a kernel
would not run on one of them. Reads executables, libraries, archives and
objects; needs no GPU.")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGE_FILE_NAME "archguard-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_GENERATOR "TGZ")
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)

# One Debian package holds the programs and the CMake files: these take 100 kB, and with two packages one could be
# missing.
set(CPACK_DEBIAN_COMPRESSION_TYPE "xz")
set(CPACK_DEBIAN_FILE_NAME "DEB-DEFAULT")
set(CPACK_PACKAGE_CONTACT "the ArchGuard authors <archguard@example.org>")
set(CPACK_DEBIAN_PACKAGE_SECTION "devel")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "cmake (>= 3.20)")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libarchive13 | libarchive13t64, nvidia-cuda-toolkit")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/packaging/debian/finish.cmake")
set(CPACK_ARCHGUARD_SOURCE_DIR "${PROJECT_SOURCE_DIR}")

include(CPack)
