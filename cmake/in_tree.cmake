# ArchGuard as a part of another project's tree (add_subdirectory, FetchContent): the same commands and ArchGuard::
# targets as from an install. Nothing is downloaded.
include("${CMAKE_CURRENT_LIST_DIR}/Modules/ArchGuard.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/compile_probe.cmake")

set_property(GLOBAL PROPERTY ARCHGUARD_SOURCE_DIR "${PROJECT_SOURCE_DIR}")
archguard_compile_probe()

# archguard runs at build time: taken where the user or PATH has this version, else built on demand.
if(NOT TARGET archguard)
  _archguard_switch(ARCHGUARD_GIVEN ARCHGUARD_EXECUTABLE)
  if(ARCHGUARD_GIVEN STREQUAL "")
    archguard_find_installed(ARCHGUARD_GIVEN)
  endif()
  if(NOT ARCHGUARD_GIVEN STREQUAL "")
    add_executable(ArchGuard::archguard IMPORTED GLOBAL)
    set_target_properties(ArchGuard::archguard PROPERTIES IMPORTED_LOCATION "${ARCHGUARD_GIVEN}")
  else()
    archguard_missing_packages(ARCHGUARD_MISSING)
    if(ARCHGUARD_MISSING STREQUAL "")
      add_subdirectory("${PROJECT_SOURCE_DIR}/src" src EXCLUDE_FROM_ALL)
      add_subdirectory("${PROJECT_SOURCE_DIR}/tools" tools EXCLUDE_FROM_ALL)
    else()
      set_property(GLOBAL PROPERTY ARCHGUARD_NO_ARCHGUARD ", and it cannot be built here without: ${ARCHGUARD_MISSING}; \
install them (Debian: apt install ${ARCHGUARD_MISSING}), or set ARCHGUARD_EXECUTABLE to an installed archguard")
    endif()
  endif()
endif()
if(TARGET archguard AND NOT TARGET ArchGuard::archguard)
  add_executable(ArchGuard::archguard ALIAS archguard)
endif()
