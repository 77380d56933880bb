#[=======================================================================[.rst:
archguard_detect
----------------

Looks for the GPUs of this machine, for projects that decide for themselves::

  archguard_detect([TIMEOUT <seconds>])

Sets in the caller's scope

``ARCHGUARD_DETECT_STATUS``
  ``ok``: devices were found; ``none``: there is none, or the switch ``ARCHGUARD_DETECT=OFF`` forbids looking;
  ``failed``: a driver is installed but fails, crashes or does not answer
``ARCHGUARD_DEVICES_FILE``
  a fleet file with the devices, for ``FLEET``; empty unless the status is ``ok``
``ARCHGUARD_ARCHITECTURES_DETECTED``
  their architectures, such as ``80;90``; GPUs hidden by the environment do not count

It changes nothing else. A STATUS line says why there is no device. An answer with devices is kept in the build tree and
reused until something it depends on changes: the boot, the driver, its libraries, the device nodes, the environment;
``--log-level=VERBOSE`` says so.
#]=======================================================================]
include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/detail/arguments.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/programs.cmake")

# The compute capabilities of the visible devices in the probe's JSON, without their dot.
function(_archguard_visible_architectures out report)
  set(list "")
  string(JSON count ERROR_VARIABLE error LENGTH "${report}" devices)
  if(error STREQUAL "NOTFOUND" AND count GREATER 0)
    math(EXPR last "${count} - 1")
    foreach(i RANGE ${last})
      string(JSON visible GET "${report}" devices ${i} visible)
      string(JSON capability GET "${report}" devices ${i} compute_capability)
      if(visible AND capability MATCHES "^[0-9]+\\.[0-9]$")
        string(REPLACE "." "" arch "${capability}")
        list(APPEND list "${arch}")
      endif()
    endforeach()
    list(REMOVE_DUPLICATES list)
    list(SORT list COMPARE NATURAL)
  endif()
  set(${out} "${list}" PARENT_SCOPE)
endfunction()

function(archguard_detect)
  set(command "archguard_detect")
  list(APPEND CMAKE_MESSAGE_CONTEXT "${command}")
  _archguard_check_paths(${command})
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "TIMEOUT")
  _archguard_check_arguments(${command} arg ONE TIMEOUT)
  set(timeout "")
  if(DEFINED arg_TIMEOUT)
    if(NOT arg_TIMEOUT MATCHES "^[1-9][0-9]*$")
      message(FATAL_ERROR "${command}: TIMEOUT '${arg_TIMEOUT}' is not a number of seconds")
    endif()
    set(timeout --timeout ${arg_TIMEOUT})
  endif()

  set(status none)
  set(devices "")
  set(list "")
  _archguard_may_detect(may_detect ${command})
  if(may_detect)
    set(file "${CMAKE_CURRENT_BINARY_DIR}/archguard/detected.csv")
    file(MAKE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/archguard")
    _archguard_cache_option(cache)
    _archguard_run_probe(run ${command} --format json --write-devices "${file}.new" ${timeout} ${cache})
    _archguard_report_cache("${run_OUTPUT}")
    if(run_STATUS STREQUAL "0")
      set(status ok)
      set(devices "${file}")
      _archguard_update_file("${file}.new" "${file}")
      _archguard_visible_architectures(list "${run_OUTPUT}")
    elseif(NOT run_STATUS STREQUAL "3")
      set(status failed)
    endif()
    if(NOT status STREQUAL "ok")
      file(REMOVE "${file}.new" "${file}")
      string(JSON cause ERROR_VARIABLE error GET "${run_OUTPUT}" diagnostics 0 cause)
      if(NOT error STREQUAL "NOTFOUND")
        set(cause "arch_probe: ${run_STATUS} ${run_ERROR}")
      endif()
      message(STATUS "ArchGuard: no usable GPU (${status}): ${cause}")
    endif()
  else()
    message(STATUS "ArchGuard: not looking for GPUs, as ARCHGUARD_DETECT is off")
  endif()
  set(ARCHGUARD_DETECT_STATUS "${status}" PARENT_SCOPE)
  set(ARCHGUARD_DEVICES_FILE "${devices}" PARENT_SCOPE)
  set(ARCHGUARD_ARCHITECTURES_DETECTED "${list}" PARENT_SCOPE)
endfunction()
