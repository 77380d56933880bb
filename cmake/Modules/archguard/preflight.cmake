#[=======================================================================[.rst:
archguard_preflight
-------------------

Makes programs explain error 209, 222 or 35 on the machine where it happens::

  archguard_preflight(TARGETS <target>... [ACTION warn|exit|call] [NAME <text>] [TABLE])

Each target, an executable or a shared library that links the CUDA runtime, gets one more source file and the linker's ``--wrap``, which
shows that source the fat binaries, kernels and variables that the program registers. It does nothing before the GPU is used, and prints
nothing if all is well. The `guide <../guide/preflight.md>`_ shows the messages. ELF targets only: not on Windows and macOS.

``ACTION``
  ``warn`` (default): the first kernel launch (``<<<>>>``, ``cudaLaunchKernel``, ``cudaLaunchKernelExC``, ``cudaLaunchCooperativeKernel``),
  ``cudaMalloc``, ``cudaMallocManaged``, ``cudaMallocAsync`` or ``cudaMemcpyToSymbol`` of the target's own code prints the message on stderr if
  the code will not run or that cannot be told, and goes on. ``exit``: the same, and the process ends with status 1 if the code
  will not run. ``call``: nothing by itself; the target calls ``archguard_preflight_check`` of ``archguard_preflight.h``, which is on its
  include path, or in C++ ``archguard_preflight::require``, which throws
``NAME``
  what the message calls the program; default: the target's name, and the project's version if it has one
``TABLE``
  after each link ``archguard preflight-table`` writes what the file holds into ``<file>.preflight``. Install it beside
  the file: ``install(PROGRAMS "$<TARGET_FILE:app>.preflight" TYPE BIN)``. The program then also knows the code that it passes to the driver
  API, and ``ACTION call`` needs no ``--wrap``. The target must belong to the same folder
#]=======================================================================]
include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/detail/arguments.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/programs.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/verify_target.cmake")

# Beside the package where it is installed, else in its source tree.
foreach(folder IN ITEMS "${CMAKE_CURRENT_LIST_DIR}/../preflight" "${CMAKE_CURRENT_LIST_DIR}/../../../preflight")
  if(EXISTS "${folder}/archguard_preflight.c")
    get_filename_component(folder "${folder}" ABSOLUTE)
    set_property(GLOBAL PROPERTY ARCHGUARD_PREFLIGHT_FOLDER "${folder}")
    break()
  endif()
endforeach()
unset(folder)

function(archguard_preflight)
  set(command "archguard_preflight")
  list(APPEND CMAKE_MESSAGE_CONTEXT "${command}")
  cmake_parse_arguments(PARSE_ARGV 0 arg "TABLE" "" "TARGETS;ACTION;NAME")
  _archguard_check_arguments(${command} arg OPTIONS TABLE MANY TARGETS ONE ACTION NAME)
  _archguard_check_choice(${command} arg ACTION warn exit call)
  if(NOT DEFINED arg_TARGETS)
    message(FATAL_ERROR "${command}: TARGETS is missing; name the executables and libraries that must look before they use a GPU")
  endif()
  if(DEFINED arg_NAME AND arg_NAME MATCHES "#|\\$<|;")
    string(REPLACE "\\;" ";" name "${arg_NAME}")
    message(FATAL_ERROR "${command}: NAME '${name}' has '${CMAKE_MATCH_0}', which CMake does not hand to compilers; leave it out")
  endif()
  if(WIN32 OR APPLE)
    message(FATAL_ERROR "${command}: what a program registers is only seen in ELF files; leave the call out for ${CMAKE_SYSTEM_NAME}")
  endif()
  # Not ENABLED_LANGUAGES, which are those of all folders together.
  if(NOT CMAKE_C_COMPILER_ID AND NOT CMAKE_CXX_COMPILER_ID)
    message(FATAL_ERROR "${command}: its source is C and C++, and neither is enabled; write project(... LANGUAGES CXX CUDA)")
  endif()
  if(NOT DEFINED arg_ACTION)
    set(arg_ACTION warn)
  endif()
  foreach(target IN LISTS arg_TARGETS)
    _archguard_check_target(${command} "${target}")
    get_target_property(aliased "${target}" ALIASED_TARGET)
    if(aliased)
      set(target "${aliased}")
    endif()
    get_target_property(type "${target}" TYPE)
    if(NOT type MATCHES "^(EXECUTABLE|(SHARED|MODULE)_LIBRARY)$")
      message(FATAL_ERROR "${command}: target '${target}' is of type ${type}, which no linker makes; name the targets that link it")
    endif()
    get_target_property(done "${target}" ARCHGUARD_PREFLIGHT_DONE)
    if(done)
      message(FATAL_ERROR "${command}: target '${target}' has its preflight already; leave one call out")
    endif()
    set_property(TARGET "${target}" PROPERTY ARCHGUARD_PREFLIGHT_DONE TRUE)
    set(name "${target}")
    if(DEFINED arg_NAME)
      set(name "${arg_NAME}")
    elseif(NOT "${PROJECT_VERSION}" STREQUAL "")
      string(APPEND name " ${PROJECT_VERSION}")
    endif()
    _archguard_add_preflight("${target}" ${arg_ACTION} "${name}" ${arg_TABLE})
    if(arg_TABLE)
      _archguard_add_preflight_table("${target}")
    endif()
  endforeach()
endfunction()

# Compiles the source by itself, out of reach of the project's warnings, its analysers, and the target's unity build and
# precompiled headers, as C or C++, and links it into the target. Not for link-time optimization, whatever the project's
# flags say: there some linkers pass --wrap by.
function(_archguard_add_preflight target action name table)
  get_property(folder GLOBAL PROPERTY ARCHGUARD_PREFLIGHT_FOLDER)
  set(file "${folder}/archguard_preflight.c")
  set(standard c_std_11)
  if(NOT CMAKE_C_COMPILER_ID)
    set(standard cxx_std_17)
    set_source_files_properties("${file}" PROPERTIES LANGUAGE CXX)
  endif()
  string(REGEX REPLACE "[\"\\\\\r\n%]" "'" name "${name}")  # it goes into a literal
  set(object "${target}_archguard_preflight")
  add_library("${object}" OBJECT "${file}")
  target_compile_features("${object}" PRIVATE ${standard})
  target_compile_definitions("${object}" PRIVATE "ARCHGUARD_PREFLIGHT_PROGRAM=\"${name}\"")
  set_target_properties("${object}" PROPERTIES POSITION_INDEPENDENT_CODE ON UNITY_BUILD OFF INTERPROCEDURAL_OPTIMIZATION OFF)
  target_compile_options("${object}" PRIVATE -w "$<$<OR:$<COMPILE_LANG_AND_ID:C,GNU,Clang>,$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>>:-fno-lto>")
  foreach(analyser IN ITEMS CLANG_TIDY CPPCHECK CPPLINT INCLUDE_WHAT_YOU_USE)
    set_target_properties("${object}" PROPERTIES C_${analyser} "" CXX_${analyser} "")
  endforeach()

  set(wrapped "")
  if(table)
    target_compile_definitions("${object}" PRIVATE ARCHGUARD_PREFLIGHT_TABLE)
  endif()
  if(NOT table OR NOT action STREQUAL "call")
    list(APPEND wrapped __cudaRegisterFatBinary __cudaRegisterFunction __cudaRegisterVar __cudaRegisterManagedVar
      __cudaRegisterTexture __cudaRegisterSurface)
  endif()
  if(NOT action STREQUAL "call")
    list(APPEND wrapped __cudaPushCallConfiguration cudaLaunchKernel cudaLaunchCooperativeKernel cudaLaunchKernelExC
      cudaMalloc cudaMallocManaged cudaMallocAsync cudaMemcpyToSymbol)
    target_compile_definitions("${object}" PRIVATE ARCHGUARD_PREFLIGHT_ACTION=ACTION_$<UPPER_CASE:${action}>)
    # What is wrapped is only asked for weakly; where nothing else asks for the runtime, an archive of it would be left out.
    target_link_options("${target}" PRIVATE "$<HOST_LINK:LINKER:-u,cudaGetLastError>")
  endif()
  target_sources("${target}" PRIVATE "$<TARGET_OBJECTS:${object}>")
  foreach(symbol IN LISTS wrapped)
    target_link_options("${target}" PRIVATE "$<HOST_LINK:LINKER:--wrap=${symbol}>")
  endforeach()
  # By the property: a target takes target_link_libraries with PRIVATE or without it, and not both.
  set_property(TARGET "${target}" APPEND PROPERTY LINK_LIBRARIES ${CMAKE_DL_LIBS})
  target_include_directories("${target}" PRIVATE "${folder}")
endfunction()

# Writes the target's table behind each link.
function(_archguard_add_preflight_table target)
  get_target_property(folder "${target}" SOURCE_DIR)
  if(NOT folder STREQUAL CMAKE_CURRENT_SOURCE_DIR)
    message(FATAL_ERROR "archguard_preflight: TABLE is a part of the link of '${target}', and no other folder may add to that; "
      "call archguard_preflight in ${folder}")
  endif()
  _archguard_find_archguard(program archguard_preflight)
  _archguard_program_target(builder)
  if(builder)
    add_dependencies("${target}" ${builder})
  endif()
  target_link_options("${target}" PRIVATE "$<HOST_LINK:LINKER:--build-id>")
  add_custom_command(TARGET "${target}" POST_BUILD COMMAND "${program}" preflight-table --allow-empty "$<TARGET_FILE:${target}>"
    WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}" VERBATIM)
endfunction()
