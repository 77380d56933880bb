#[=======================================================================[.rst:
archguard_verify_install
------------------------

Checks what ``cmake --install`` installed, and fails the install step if a device is not covered::

  archguard_verify_install([FLEET <file>...] [ANY_OF <glob>...])

Every installed binary with device code is judged, including libraries of others that the project installs; other files are passed
over. An installed link is followed unless it leads to a file that is installed as well; a broken link named like a binary gets a
note. Without ``FLEET`` the devices are those of the last ``archguard_select_architectures`` in scope, except those it left out. Images
that files hold as data get a warning if none fits (``ARCHGUARD_EMBEDDED=error|warn|off``). ``ARCHGUARD_VERIFY=warn`` reports and lets
the install step succeed, ``off`` checks nothing.

Of the files that match one glob of ``ANY_OF``, a device needs only one, as with ``archguard_verify``. A component that is installed
alone and holds device code must hold files for each glob.

The result of the last install step is in ``archguard/install-report.html`` in the build folder of the calling folder, and as JUnit in
``archguard/install-report.xml``; with several configurations ``install-report-<config>``, and for a second call ``install-report-2``.

Call it after the last ``install()`` and ``add_subdirectory()`` of the project: the install step runs in that order, and does not see
what comes later. A component that is installed alone is checked, too (CMake 3.21 and newer).
#]=======================================================================]
include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/detail/arguments.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/check.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/verify_target.cmake")

# Deferred to the end of the configure step.
function(_archguard_check_parallel_install)
  get_property(parallel GLOBAL PROPERTY INSTALL_PARALLEL)
  if(parallel)
    message(SEND_ERROR "archguard_verify_install: with the property INSTALL_PARALLEL each folder is installed by a process of its own, \
and the check would see the files of one folder alone; leave the property off, or check by hand: archguard verify <prefix> --fleet <file>")
  endif()
endfunction()

function(archguard_verify_install)
  set(command "archguard_verify_install")
  list(APPEND CMAKE_MESSAGE_CONTEXT "${command}")
  _archguard_check_paths(${command})
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FLEET;ANY_OF")
  _archguard_check_arguments(${command} arg MANY FLEET ANY_OF)
  _archguard_policy_value(severity ${command} error ARCHGUARD_VERIFY error warn off)
  if(severity STREQUAL "off")
    message(VERBOSE "ArchGuard: nothing that is installed will be verified, as ARCHGUARD_VERIFY is off")
    return()
  endif()
  _archguard_given_arguments(given arg VALUES FLEET ANY_OF)
  _archguard_new_check(number ${command} ${severity} EMBEDDED_DEFAULT warn ${given})
  _archguard_check(check ${number})
  if(check_FLEETS STREQUAL "")
    _archguard_selection(selected)
    if(selected_JSON STREQUAL "")
      message(FATAL_ERROR "${command}: no devices are known to verify for; give FLEET <file>, or call "
        "archguard_select_architectures with one")
    endif()
    message(STATUS "ArchGuard: what is installed will not be verified: no devices are known")
    return()
  endif()
  cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL _archguard_check_parallel_install)
  _archguard_program_target(builder)
  if(NOT builder STREQUAL "" AND NOT TARGET archguard_verify_install)
    add_custom_target(archguard_verify_install ALL)  # the install step builds nothing: archguard must be there by then
    add_dependencies(archguard_verify_install ${builder})
  endif()

  set(base "${CMAKE_CURRENT_BINARY_DIR}/archguard/install-${number}")
  _archguard_write_files_check("${base}.json" "what was installed" ${number})
  set(config "")
  get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(multi_config)
    set(config "-$<CONFIG>")
  endif()
  file(GENERATE OUTPUT "${base}${config}.program" CONTENT "${check_ARCHGUARD}\n${CMAKE_SOURCE_DIR}\n")

  set(components "")
  if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.21)
    set(components ALL_COMPONENTS)
  endif()
  _archguard_cmake_string(script "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/detail/run_verify_install.cmake")
  _archguard_cmake_string(base "${base}")
  _archguard_check_name(name "install-report")
  _archguard_cmake_string(report "${CMAKE_CURRENT_BINARY_DIR}/archguard/${name}")
  # No generator expressions: whether they count in here hangs on a policy of the project's (CMP0087).
  install(CODE "include(${script})\n_archguard_verify_installed(${base} ${report} ${multi_config})" ${components})
endfunction()
