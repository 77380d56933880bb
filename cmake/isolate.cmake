# In another project's tree: what that project set for its own targets is put aside for ArchGuard's. They run while the
# project is built and are no part of it. The compiler, its launcher, the toolchain file and what flags say about
# the machine stay.
include_guard()

# Are options for the compiler written as g++ takes them?
set(ARCHGUARD_GNU_OPTIONS FALSE)
if(CMAKE_CXX_COMPILER_ID MATCHES "^(GNU|Clang|AppleClang)$" AND NOT MSVC)
  set(ARCHGUARD_GNU_OPTIONS TRUE)
endif()

# The flags that choose the machine, the system's headers and libraries, or the standard library. An x86 that only the product
# is for may not be the one that builds it.
function(archguard_machine_flags out flags)
  separate_arguments(words NATIVE_COMMAND "${flags}")
  set(machine "arch|cpu|tune|abi|fpu|float-abi|thumb|arm")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|i.86)$")
    set(machine "abi")
  endif()
  set(kept "")
  set(takes_next FALSE)
  foreach(word IN LISTS words)
    if(takes_next)
      string(APPEND kept " \"${word}\"")
      set(takes_next FALSE)
    elseif(word MATCHES "^(-target|-arch|-isysroot|-B|--sysroot)$")
      string(APPEND kept " ${word}")
      set(takes_next TRUE)
    elseif(word MATCHES "^(-m(32|64|x32|(${machine})(=.*)?)|--?(sysroot|target|gcc-toolchain|gcc-install-dir)=.*\
|-stdlib=.*|--?rtlib=.*|--?unwindlib=.*|-fuse-ld=.*|-B.+)$")
      string(APPEND kept " \"${word}\"")
    endif()
  endforeach()
  string(STRIP "${kept}" kept)
  set(${out} "${kept}" PARENT_SCOPE)
endfunction()

# The flags less those that say how the project's own sources are written and tested: the language, warnings, sanitizers.
function(archguard_other_flags out flags)
  set(about_sources "-W([^lap ]|[lap][^, ])|-pedantic|-std=|-ansi|-fsanitize|-fno-exceptions|-fno-rtti")
  string(REGEX REPLACE "(^| )(${about_sources})[^ ]*" "" flags "${flags}")
  set(${out} "${flags}" PARENT_SCOPE)
endfunction()

# Variables that a target or try_compile starts with. What comes for one configuration counts as well, such as
# CMAKE_RUNTIME_OUTPUT_DIRECTORY_DEBUG. Empty, not unset: behind a variable that is unset its cache entry shows.
set_property(GLOBAL PROPERTY ARCHGUARD_PUT_ASIDE
  AUTOMOC AUTORCC AUTOUIC COMPILE_WARNING_AS_ERROR CXX_CLANG_TIDY CXX_CPPCHECK CXX_CPPLINT CXX_ICSTAT CXX_INCLUDE_WHAT_YOU_USE
  CXX_MODULE_STD CXX_SCAN_FOR_MODULES CXX_VISIBILITY_PRESET EXECUTABLE_ENABLE_EXPORTS ENABLE_EXPORTS EXPORT_COMPILE_COMMANDS
  INCLUDE_CURRENT_DIR LINK_LIBRARIES_ONLY_TARGETS LINK_WARNING_AS_ERROR LINK_WHAT_YOU_USE MACOSX_BUNDLE SKIP_LINTING UNITY_BUILD
  VISIBILITY_INLINES_HIDDEN WIN32_EXECUTABLE)
set_property(GLOBAL PROPERTY ARCHGUARD_PUT_ASIDE_FOR_TOOLS
  ARCHIVE_OUTPUT_DIRECTORY BUILD_RPATH BUILD_WITH_INSTALL_RPATH INSTALL_RPATH INTERPROCEDURAL_OPTIMIZATION LIBRARY_OUTPUT_DIRECTORY
  PDB_OUTPUT_DIRECTORY POSITION_INDEPENDENT_CODE RUNTIME_OUTPUT_DIRECTORY SKIP_BUILD_RPATH SKIP_RPATH)

#   archguard_isolate_variables(BUILD_TOOL|INSTALLED)
#
# What is INSTALLED with the project is placed, optimised and hardened as the project's own programs are; a BUILD_TOOL is not.
macro(archguard_isolate_variables purpose)
  get_property(archguard_put_aside GLOBAL PROPERTY ARCHGUARD_PUT_ASIDE)
  if("${purpose}" STREQUAL "BUILD_TOOL")
    get_property(archguard_names GLOBAL PROPERTY ARCHGUARD_PUT_ASIDE_FOR_TOOLS)
    list(APPEND archguard_put_aside ${archguard_names})
  endif()
  list(JOIN archguard_put_aside "|" archguard_put_aside)
  get_cmake_property(archguard_names VARIABLES)
  foreach(archguard_name IN LISTS archguard_names)
    if(archguard_name MATCHES "^CMAKE_(${archguard_put_aside})(_[A-Z0-9_]+)?$" OR
        (archguard_name STREQUAL "EXECUTABLE_OUTPUT_PATH" AND "${purpose}" STREQUAL "BUILD_TOOL"))
      set(${archguard_name} "")
      if(archguard_name MATCHES "VISIBILITY_PRESET")
        set(${archguard_name} default)
      endif()
    elseif(ARCHGUARD_GNU_OPTIONS AND archguard_name MATCHES "^CMAKE_(CXX|EXE_LINKER)_FLAGS(_[A-Z0-9_]+)?$" AND
        NOT archguard_name MATCHES "_INIT$")
      set(archguard_flags "")
      if("${purpose}" STREQUAL "INSTALLED")
        archguard_other_flags(archguard_flags "${${archguard_name}}")
      elseif(archguard_name MATCHES "FLAGS$")
        archguard_machine_flags(archguard_flags "${${archguard_name}}")
      endif()
      set(${archguard_name} "${archguard_flags}")
    endif()
  endforeach()
  set(CMAKE_CXX_STANDARD 17)
  set(CMAKE_CXX_STANDARD_REQUIRED ON)
  set(CMAKE_CXX_EXTENSIONS OFF)
endmacro()

# What a folder hands to its targets: add_compile_options, add_compile_definitions, include_directories, link_libraries and the
# like. Of what add_definitions brought, only options that are known can be taken back.
function(archguard_isolate_folder)
  foreach(property IN ITEMS COMPILE_DEFINITIONS COMPILE_OPTIONS INCLUDE_DIRECTORIES LINK_DIRECTORIES LINK_LIBRARIES LINK_OPTIONS)
    set_property(DIRECTORY PROPERTY ${property} "")
  endforeach()
  remove_definitions(-Werror)
endfunction()
