# For CMAKE_TOOLCHAIN_FILE: programs for Linux of ARCHGUARD_FOR (x86_64, aarch64) with glibc 2.28 or newer, by zig, with
# nothing but libc shared. packaging/wheel/build puts ARCHGUARD_FOR and both folders into the environment.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR "$ENV{ARCHGUARD_FOR}")
set(CMAKE_LIBRARY_ARCHITECTURE "$ENV{ARCHGUARD_FOR}-linux-gnu")

set(tools "$ENV{ARCHGUARD_ZIG_TOOLS}")  # cc, c++, ar, ranlib
set(CMAKE_C_COMPILER "${tools}/cc")
set(CMAKE_CXX_COMPILER "${tools}/c++")
set(CMAKE_AR "${tools}/ar" CACHE FILEPATH "")
set(CMAKE_RANLIB "${tools}/ranlib" CACHE FILEPATH "")
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXE_LINKER_FLAGS_INIT "-pie -s -flto -Wl,--gc-sections")
set(CMAKE_CXX_FLAGS_INIT "-w -flto -ffunction-sections -fdata-sections")

set(CMAKE_FIND_ROOT_PATH "$ENV{ARCHGUARD_STATIC_LIBRARIES}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ARCHGUARD_ZLIB_LIBRARY "${CMAKE_FIND_ROOT_PATH}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/libz.a" CACHE FILEPATH "")
