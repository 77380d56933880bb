# An overlay port: it builds the source tree that it lies in.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

set(VCPKG_BUILD_TYPE release)                    # two programs and CMake files: nothing is linked to a user's program
set(VCPKG_POLICY_EMPTY_INCLUDE_FOLDER enabled)

# The programs go where vcpkg wants them. The CMake files then name them there by themselves, and lie where find_package
# looks, so that nothing is moved afterwards.
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    -DARCHGUARD_BUILD_TESTS=OFF
    -DCMAKE_INSTALL_BINDIR=tools/archguard
    -DCMAKE_INSTALL_LIBDIR=share
    -DCMAKE_INSTALL_DOCDIR=share/archguard)
vcpkg_cmake_install()

vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE" "${SOURCE_PATH}/packaging/copyright")
