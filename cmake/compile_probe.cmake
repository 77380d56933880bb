# What an in-tree ArchGuard needs while the configure step runs, before anything is built.
include_guard(GLOBAL)

# Defines ArchGuard::arch_probe, compiled now from its one unity source. It is compiled again only when a source or the
# compiler changes, and a change of a source runs the configure step.
function(archguard_compile_probe)
  file(GLOB_RECURSE sources "${PROJECT_SOURCE_DIR}/tools/arch_probe/*" "${PROJECT_SOURCE_DIR}/src/base/*"
    "${PROJECT_SOURCE_DIR}/src/compat/*" "${PROJECT_SOURCE_DIR}/src/device/*" "${PROJECT_SOURCE_DIR}/src/select/*")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sources})
  set(state "${CMAKE_CXX_COMPILER} ${CMAKE_CXX_COMPILER_VERSION} ${PROJECT_VERSION}")
  foreach(source IN LISTS sources)
    file(SHA256 "${source}" hash)
    string(APPEND state " ${hash}")
  endforeach()
  string(SHA256 state "${state}")

  _archguard_value_of(known CACHE{ARCHGUARD_PROBE_STATE})
  set(program "${PROJECT_BINARY_DIR}/configure/arch_probe${CMAKE_EXECUTABLE_SUFFIX}")
  set(installed "")
  if(CMAKE_CROSSCOMPILING)
    _archguard_switch_value(archguard ARCHGUARD_EXECUTABLE)
    get_filename_component(folder "${archguard}" DIRECTORY)
    archguard_find_program(installed arch_probe "${folder}")
  endif()
  archguard_runner(runner "${program}")
  if(NOT installed STREQUAL "")
    set(runner "${installed}")
  elseif(runner STREQUAL "")
    message(FATAL_ERROR "ArchGuard: this build cross-compiles, so arch_probe cannot be compiled for this machine; "
      "install ArchGuard here, and put its bin folder on PATH or its archguard into ARCHGUARD_EXECUTABLE")
  elseif(NOT EXISTS "${program}" OR NOT known STREQUAL state)
    message(STATUS "ArchGuard: compiling arch_probe")
    archguard_isolate_variables(BUILD_TOOL)
    set(CMAKE_TRY_COMPILE_TARGET_TYPE EXECUTABLE)
    set(CMAKE_TRY_COMPILE_CONFIGURATION Debug)
    set(CMAKE_CXX_FLAGS_DEBUG "")  # neither optimised nor with debug information: compiling takes longer than it runs
    set(lean "")  # it throws nothing; the code and the tables for that take a fifth of the time to compile
    if(ARCHGUARD_GNU_OPTIONS)
      set(lean -fno-exceptions -fno-rtti -fno-asynchronous-unwind-tables)
    endif()
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
      list(APPEND lean -ffold-simple-inlines)  # no function for each std::move
    endif()
    unset(ARCHGUARD_PROBE_COMPILES CACHE)
    try_compile(ARCHGUARD_PROBE_COMPILES "${PROJECT_BINARY_DIR}/configure/try"
      "${PROJECT_SOURCE_DIR}/tools/arch_probe/unity.cc"
      CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${PROJECT_SOURCE_DIR}/src"
      COMPILE_DEFINITIONS "-DARCHGUARD_VERSION=\"${PROJECT_VERSION}\"" ${lean}
      LINK_LIBRARIES ${CMAKE_DL_LIBS} -pthread
      OUTPUT_VARIABLE output
      COPY_FILE "${program}"
      CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
    if(NOT ARCHGUARD_PROBE_COMPILES)
      message(FATAL_ERROR "ArchGuard: arch_probe does not compile with ${CMAKE_CXX_COMPILER}; it needs C++17\n${output}")
    endif()
    set(ARCHGUARD_PROBE_STATE "${state}" CACHE INTERNAL "Sources and compiler of the arch_probe in this tree")
  endif()
  if(NOT TARGET ArchGuard::arch_probe)
    add_executable(ArchGuard::arch_probe IMPORTED GLOBAL)
  endif()
  set_target_properties(ArchGuard::arch_probe PROPERTIES IMPORTED_LOCATION "${runner}")
endfunction()
