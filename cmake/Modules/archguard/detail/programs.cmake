# Finding and running arch_probe and archguard.
include_guard(GLOBAL)

# Longer than any probe takes by itself: arch_probe gives up on a driver after its own, shorter deadline.
set_property(GLOBAL PROPERTY ARCHGUARD_PROBE_SECONDS 120)

# The path of arch_probe, which runs while CMake configures.
function(_archguard_find_probe out command)
  if(NOT TARGET ArchGuard::arch_probe)
    message(FATAL_ERROR "${command}: there is no target ArchGuard::arch_probe; "
      "bring ArchGuard by find_package(ArchGuard REQUIRED), add_subdirectory or FetchContent")
  endif()
  get_target_property(path ArchGuard::arch_probe IMPORTED_LOCATION)
  set(${out} "${path}" PARENT_SCOPE)
endfunction()

# Stops unless that program says that it is archguard: any other might end well, and nothing would be verified.
function(_archguard_check_is_archguard command path)
  get_property(checked GLOBAL PROPERTY ARCHGUARD_SEEN_PROGRAM)
  if(checked STREQUAL path)
    return()
  endif()
  execute_process(COMMAND "${path}" --version TIMEOUT 60 RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_QUIET)
  if(NOT status STREQUAL "0" OR NOT output MATCHES "^archguard [0-9]")
    message(FATAL_ERROR "${command}: ARCHGUARD_EXECUTABLE is '${path}', which is not archguard: it does not answer --version as archguard does")
  endif()
  set_property(GLOBAL PROPERTY ARCHGUARD_SEEN_PROGRAM "${path}")
endfunction()

# What to put into a build rule to run archguard: a path from the switch ARCHGUARD_EXECUTABLE, else the target.
function(_archguard_find_archguard out command)
  _archguard_switch_value(path ARCHGUARD_EXECUTABLE)
  if(NOT path STREQUAL "")
    if(NOT EXISTS "${path}")
      message(FATAL_ERROR "${command}: ARCHGUARD_EXECUTABLE is '${path}', which does not exist")
    endif()
    _archguard_check_is_archguard(${command} "${path}")
    set(${out} "${path}" PARENT_SCOPE)
  elseif(TARGET ArchGuard::archguard)
    set(${out} "$<TARGET_FILE:ArchGuard::archguard>" PARENT_SCOPE)
  else()
    get_property(reason GLOBAL PROPERTY ARCHGUARD_NO_ARCHGUARD)
    message(FATAL_ERROR "${command}: there is no program archguard${reason}")
  endif()
endfunction()

# The target that builds archguard in this tree, empty where none does.
function(_archguard_program_target out)
  get_property(target GLOBAL PROPERTY ARCHGUARD_BUILT_BY)
  set(${out} "${target}" PARENT_SCOPE)
endfunction()

# A file below the top of the source tree as seen from there, any other by its full path. The programs run in that
# folder, so that their messages name files the short way.
function(_archguard_short_path out top file)
  string(FIND "${file}" "${top}/" at)
  if(at EQUAL 0)
    file(RELATIVE_PATH file "${top}" "${file}")
  endif()
  set(${out} "${file}" PARENT_SCOPE)
endfunction()

# Runs arch_probe with a deadline. <prefix>_STATUS is its exit status or the words that say why it has none.
function(_archguard_run_probe prefix command)
  _archguard_find_probe(probe "${command}")
  get_property(seconds GLOBAL PROPERTY ARCHGUARD_PROBE_SECONDS)
  execute_process(COMMAND "${probe}" ${ARGN} TIMEOUT ${seconds} WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}"
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE error
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_STRIP_TRAILING_WHITESPACE)
  list(JOIN ARGN " " line)
  message(DEBUG "${command}: ${probe} ${line}: ${status}")
  set(${prefix}_STATUS "${status}" PARENT_SCOPE)
  set(${prefix}_OUTPUT "${output}" PARENT_SCOPE)
  set(${prefix}_ERROR "${error}" PARENT_SCOPE)
endfunction()

# The option by which arch_probe keeps the drivers' answer, for all calls of this build tree. `cmake --fresh` removes it.
function(_archguard_cache_option out)
  file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/CMakeFiles/archguard")
  set(${out} --cache "${CMAKE_BINARY_DIR}/CMakeFiles/archguard/machine.cache" PARENT_SCOPE)
endfunction()

# Says whether the drivers were asked, from the JSON of arch_probe.
function(_archguard_report_cache report)
  string(JSON used ERROR_VARIABLE error GET "${report}" cache used)
  if(NOT error STREQUAL "NOTFOUND")
    return()
  endif()
  if(used)
    message(VERBOSE "ArchGuard: the GPUs of this machine are those of an earlier configure, since nothing changed that the "
      "drivers' answer depends on (cmake --fresh asks them again)")
  else()
    string(JSON reason GET "${report}" cache reason)
    message(VERBOSE "ArchGuard: the drivers were asked for the GPUs of this machine; of an earlier answer: ${reason}")
  endif()
endfunction()

# Moves a fresh file over the old one only where they differ, so that what depends on it stays up to date.
function(_archguard_update_file fresh file)
  file(SHA256 "${fresh}" wanted)
  set(found "")
  if(EXISTS "${file}")
    file(SHA256 "${file}" found)
  endif()
  if(found STREQUAL wanted)
    file(REMOVE "${fresh}")
  else()
    file(RENAME "${fresh}" "${file}")
  endif()
endfunction()

# Warns of each text under `warnings` in the report of a selection that matches the expression.
function(_archguard_report_warnings command report expression)
  string(JSON count ERROR_VARIABLE error LENGTH "${report}" warnings)
  if(NOT error STREQUAL "NOTFOUND" OR count EQUAL 0)
    return()
  endif()
  math(EXPR last "${count} - 1")
  foreach(i RANGE ${last})
    string(JSON warning GET "${report}" warnings ${i})
    if(warning MATCHES "${expression}")
      message(WARNING "${command}: ${warning}")
    endif()
  endforeach()
endfunction()
