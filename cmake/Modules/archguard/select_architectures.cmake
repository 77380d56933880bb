#[=======================================================================[.rst:
archguard_select_architectures
------------------------------

Sets ``CMAKE_CUDA_ARCHITECTURES`` in the caller's scope for the devices that the project must run on, unless the user
set it::

  archguard_select_architectures(
    [FLEET <file>...]                    devices from CSV files; default: those of an earlier call in this folder or a
                                         parent, else the GPUs of this machine
    [PTX newest|oldest|none|<cc>]        which PTX to add (newest)
    [SASS exact|minimal]                 one image per class of devices, or the fewest that reach all (exact)
    [SUFFIX none|a|f]                    SASS with the suffix where such an image exists: 90a runs on 9.0 only, 100f on its
                                         family; PTX stays plain (none)
    [SPELLING cmake|plain]               plain: 80;90, for projects that parse the list as numbers; each adds PTX, too (cmake)
    [BASELINE <arch>...]                 what to build if there is no device; default: what this nvcc calls all-major,
                                         without Tegra
    [ON_NO_DEVICE error|baseline]        (baseline)
    [ON_DETECT_FAILURE error|baseline]   a driver is installed but fails (baseline)
    [ON_UNSUPPORTED warn|error])         for a device that this nvcc does not support: error if a fleet is given, warn for
                                         the GPUs of this machine

Call it after ``project(... LANGUAGES CXX)`` and before ``enable_language(CUDA)`` and the first target: a target copies
the variable when it is created, and a warning names those that were created too early. It also works after ``project(... CUDA)``.

A user's choice (``-D``, a preset, ``CUDAARCHS``, ``set()``, raw ``-gencode``) is never changed. It is judged: one warning
names each device it misses and the entry that would fix it, another what this nvcc cannot generate or CMake cannot read.

The output is the chosen list and what will fail; ``--log-level=VERBOSE`` adds the reason for each entry. Editing a fleet
file runs the configure step again. Devices that its column ``excluded`` leaves out are listed in a STATUS line.

Packagers override the arguments from the cache or the environment: ``ARCHGUARD_FLEET`` (files),
``ARCHGUARD_BASELINE`` (a list), ``ARCHGUARD_ON_UNSUPPORTED`` (``error`` or ``warn``), ``ARCHGUARD_DETECT=OFF`` (the GPUs of the build machine never change the product).

Without a CUDA compiler it says so and sets nothing, so a project can build without CUDA.

Clang as the CUDA compiler is supported for the architectures that both it and its CUDA toolkit know. It cannot generate PTX
alone, so an entry with PTX is set as ``80``, never as ``80-real;80-virtual``, for which clang generates no PTX.
#]=======================================================================]
include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/detail/arguments.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/choice.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/early_targets.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/nvcc.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/programs.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/record.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/selection.cmake")

# A suffix in CMAKE_CUDA_ARCHITECTURES needs a CMake that knows it.
function(_archguard_check_suffix command suffix)
  set(known TRUE)
  if(suffix STREQUAL "a" AND CMAKE_VERSION VERSION_LESS 3.25)
    set(known FALSE)
    set(needed "3.25")
  elseif(suffix STREQUAL "f" AND (CMAKE_VERSION VERSION_LESS 3.31.8
      OR (CMAKE_VERSION VERSION_GREATER_EQUAL 4.0 AND CMAKE_VERSION VERSION_LESS 4.0.2)))
    set(known FALSE)
    set(needed "3.31.8 (of the 3.31 line) or 4.0.2")
  endif()
  if(NOT known)
    message(FATAL_ERROR "${command}: SUFFIX ${suffix} needs CMake ${needed} or newer, this is ${CMAKE_VERSION}; "
      "leave it out, or use a newer CMake")
  endif()
endfunction()

function(archguard_select_architectures)
  set(command "archguard_select_architectures")
  list(APPEND CMAKE_MESSAGE_CONTEXT "${command}")
  _archguard_check_paths(${command})
  cmake_parse_arguments(PARSE_ARGV 0 arg "" ""
    "FLEET;PTX;SASS;SUFFIX;SPELLING;BASELINE;ON_NO_DEVICE;ON_DETECT_FAILURE;ON_UNSUPPORTED")
  _archguard_check_arguments(${command} arg ONE PTX SASS SUFFIX SPELLING ON_NO_DEVICE ON_DETECT_FAILURE ON_UNSUPPORTED
    MANY FLEET BASELINE)
  _archguard_check_choice(${command} arg SASS exact minimal)
  _archguard_check_choice(${command} arg SUFFIX none a f)
  _archguard_check_suffix(${command} "${arg_SUFFIX}")
  _archguard_check_choice(${command} arg SPELLING cmake plain)
  if("${arg_SPELLING}" STREQUAL "plain" AND "${arg_PTX}" STREQUAL "none")
    message(FATAL_ERROR "${command}: SPELLING plain and PTX none exclude each other, for a plain 80 asks for SASS and PTX")
  endif()
  _archguard_check_choice(${command} arg ON_NO_DEVICE error baseline)
  _archguard_check_choice(${command} arg ON_DETECT_FAILURE error baseline)
  _archguard_check_choice(${command} arg ON_UNSUPPORTED warn error)

  _archguard_fleet_files(fleet ${command} ${arg_FLEET})
  if(fleet STREQUAL "")
    _archguard_selection(before)
    set(fleet "${before_FLEET}")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${fleet})
  _archguard_find_nvcc(nvcc clang)
  if(nvcc STREQUAL "" AND NOT clang STREQUAL "")
    message(FATAL_ERROR "${command}: the CUDA compiler is ${clang}, which needs a CUDA toolkit, and there is none "
      "(CUDAToolkit_ROOT, \$CUDA_PATH/bin, PATH and /usr/local/cuda have no nvcc); pass -DCUDAToolkit_ROOT=<folder>")
  elseif(nvcc STREQUAL "")
    message(STATUS "ArchGuard: no CUDA compiler, so no architectures to choose (CMAKE_CUDA_COMPILER, CUDACXX, nvcc on PATH "
      "and \$CUDA_PATH/bin name none)")
    return()
  endif()
  set(compilers "${nvcc}")
  if(NOT clang STREQUAL "")
    set(compilers "${clang} and the toolkit of ${nvcc}")
  endif()
  get_property(compiler_is_known DIRECTORY PROPERTY ARCHGUARD_NVCC SET)
  if(NOT compiler_is_known)
    cmake_language(DEFER CALL _archguard_check_compiler)
  endif()
  set_property(DIRECTORY PROPERTY ARCHGUARD_NVCC "${nvcc}")
  set_property(DIRECTORY PROPERTY ARCHGUARD_CLANG "${clang}")

  _archguard_given_arguments(given arg VALUES PTX SASS SUFFIX BASELINE)
  _archguard_select_options(options ${command} "${nvcc}" "${clang}" "${fleet}" ${given})
  _archguard_on_unsupported(unsupported ${command} "${arg_ON_UNSUPPORTED}" "${fleet}")
  _archguard_value_of(before CMAKE_CUDA_ARCHITECTURES)
  _archguard_user_choice(how chosen "${nvcc}" "${clang}")
  if(how STREQUAL "")
    set(policies "")
    if(DEFINED arg_ON_NO_DEVICE)
      list(APPEND policies --on-no-device ${arg_ON_NO_DEVICE})
    endif()
    if(DEFINED arg_ON_DETECT_FAILURE)
      list(APPEND policies --on-detect-failure ${arg_ON_DETECT_FAILURE})
    endif()
    _archguard_select(selection ${command} "${options}" "${fleet}" "${compilers}" ${unsupported} "${arg_SPELLING}" ${policies})
    _archguard_watch_early_targets("${before}" "${selection_LIST}")
    set(CMAKE_CUDA_ARCHITECTURES "${selection_LIST}" PARENT_SCOPE)
    _archguard_remember_set("${selection_LIST}")
    set(by archguard)
  else()
    _archguard_judge(selection ${command} "${options}" "${nvcc}" "${clang}" ${unsupported} "${how}" "${chosen}")
    set(by user)
  endif()
  _archguard_keep_selection(FLEET ${fleet} DEVICES "${selection_DEVICES}" JSON "${selection_JSON}" BY ${by})
endfunction()
