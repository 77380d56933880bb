# ArchGuard as a part of another project's tree (add_subdirectory, FetchContent): the same commands and ArchGuard::
# targets as from an install. Nothing is downloaded.
include("${CMAKE_CURRENT_LIST_DIR}/Modules/ArchGuard.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/emulator.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/compile_probe.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/build_archguard.cmake")

set_property(GLOBAL PROPERTY ARCHGUARD_SOURCE_DIR "${PROJECT_SOURCE_DIR}")
archguard_compile_probe()

# archguard runs at build time: taken where the user or PATH has this version, else built on demand. One that is built anyway is
# taken where it runs on this machine.
set(ARCHGUARD_GIVEN "")
if(CMAKE_CROSSCOMPILING OR NOT ARCHGUARD_SEPARATE)
  _archguard_switch_value(ARCHGUARD_GIVEN ARCHGUARD_EXECUTABLE)
  if(ARCHGUARD_GIVEN STREQUAL "")
    archguard_find_program(ARCHGUARD_GIVEN archguard "")
  endif()
endif()
if(NOT ARCHGUARD_GIVEN STREQUAL "")
  add_executable(ArchGuard::archguard IMPORTED GLOBAL)
  set_target_properties(ArchGuard::archguard PROPERTIES IMPORTED_LOCATION "${ARCHGUARD_GIVEN}")
elseif(ARCHGUARD_SEPARATE)
  archguard_run_what_is_built(archguard)
else()
  archguard_isolate_variables(BUILD_TOOL)
  archguard_build_on_demand()
endif()
