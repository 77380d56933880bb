# The build rules that check one target.
include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/verify_any_of.cmake")

# Stops unless the target is something that a compiler or linker makes here.
function(_archguard_check_target command target)
  if(NOT TARGET "${target}")
    message(FATAL_ERROR "${command}: there is no target '${target}' (yet); "
      "call ${command} behind the add_executable or add_library that creates it")
  endif()
  get_target_property(type "${target}" TYPE)
  get_target_property(imported "${target}" IMPORTED)
  if(imported)
    message(FATAL_ERROR "${command}: target '${target}' is imported, so this build does not make it; "
      "check its file by hand: archguard verify <file> --fleet <file>")
  elseif(type STREQUAL "INTERFACE_LIBRARY")
    message(FATAL_ERROR "${command}: target '${target}' is an INTERFACE library, which has no file; "
      "name the targets that link it")
  elseif(NOT type MATCHES "^(EXECUTABLE|(SHARED|STATIC|MODULE|OBJECT)_LIBRARY)$")
    message(FATAL_ERROR "${command}: target '${target}' is of type ${type}, which has no device code; "
      "name executables and libraries")
  endif()
endfunction()

# All that the arguments, the switches and the last selection say, as CMake code that both the rules below and
# run_verify.cmake read. Evaluated where archguard_verify was called, since ALL uses it later.
function(_archguard_verify_settings out)
  set(options "")  # of archguard verify, for the question about devices
  set(inputs "")   # files that a check depends on
  set(device_severity "${severity}")
  set(has_devices FALSE)

  _archguard_switch(switched ARCHGUARD_FLEET)
  foreach(name IN ITEMS FLEET DEVICES JSON BY)
    _archguard_value_of(selected_${name} ARCHGUARD_SELECTED_${name})
  endforeach()
  if(DEFINED arg_FLEET AND (switched STREQUAL "" OR selected_JSON STREQUAL ""))
    _archguard_fleet_files(fleet ${command} ${arg_FLEET})
    set(excluded "")
  else()
    set(fleet "${selected_FLEET}")
    set(excluded "${selected_JSON}")
    if(fleet STREQUAL "" AND excluded STREQUAL "")
      _archguard_fleet_files(fleet ${command})
    elseif(fleet STREQUAL "")
      set(fleet "${selected_DEVICES}")  # none, where the list is a baseline
      if("${selected_BY}" STREQUAL "user")
        set(device_severity "warn")
      endif()
    endif()
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${fleet})
  foreach(file IN LISTS fleet)
    _archguard_short_path(short "${CMAKE_SOURCE_DIR}" "${file}")
    list(APPEND options --fleet "${short}")
    list(APPEND inputs "${file}")
    set(has_devices TRUE)
  endforeach()
  if(has_devices AND NOT excluded STREQUAL "")
    list(APPEND options --excluded "${excluded}")
    list(APPEND inputs "${excluded}")
  endif()
  set(needed_options "${options}")
  if(NOT has_devices)
    message(VERBOSE "ArchGuard: no devices are known, so only what CUDA_ARCHITECTURES asks for is verified")
  endif()

  foreach(keyword IN ITEMS SCOPE REQUIRE HOLLOW)
    if(DEFINED arg_${keyword})
      string(TOLOWER "--${keyword}" option)
      list(APPEND options ${option} "${arg_${keyword}}")
    endif()
  endforeach()
  _archguard_policy(driver ${command} DRIVER ARCHGUARD_DRIVER error warn)
  _archguard_policy(partly ${command} PARTLY ARCHGUARD_PARTLY error warn off)
  foreach(policy IN ITEMS driver partly)
    if(NOT ${policy} STREQUAL "")
      list(APPEND options --${policy} "${${policy}}")
      list(APPEND needed_options --${policy} "${${policy}}")
    endif()
  endforeach()
  if(arg_REQUIRE_PTX)
    list(APPEND options --require-ptx)
  endif()
  _archguard_policy(embedded ${command} EMBEDDED ARCHGUARD_EMBEDDED error warn off)
  if(embedded STREQUAL "")
    set(embedded "error")  # what a target holds as data this build made
    if(NOT command STREQUAL "archguard_verify")
      set(embedded "warn")  # what is installed may be that of others
    endif()
  endif()
  list(APPEND options --embedded "${embedded}")

  # Waivers, hollow kernels and scope are no matter of libraries that choose among their images.
  set(needed "error")
  if(DEFINED arg_NEEDED)
    set(needed "${arg_NEEDED}")
  endif()
  if(WIN32 OR APPLE OR NOT has_devices)
    set(needed "off")
  elseif(needed STREQUAL "error")
    set(needed "${device_severity}")
  endif()
  if(DEFINED arg_REQUIRE)
    list(APPEND needed_options --require "${arg_REQUIRE}")
  endif()
  _archguard_value_of(sysroot CMAKE_SYSROOT)
  if(NOT sysroot STREQUAL "")
    list(APPEND needed_options --sysroot "${sysroot}")
  endif()

  if(DEFINED arg_WAIVERS)
    get_filename_component(waivers "${arg_WAIVERS}" ABSOLUTE)
    if(NOT EXISTS "${waivers}")
      message(FATAL_ERROR "${command}: WAIVERS file '${arg_WAIVERS}' does not exist (looked for ${waivers})")
    endif()
    _archguard_short_path(short "${CMAKE_SOURCE_DIR}" "${waivers}")
    list(APPEND options --waivers "${short}")
    list(APPEND inputs "${waivers}")
  endif()

  _archguard_find_archguard(archguard ${command})
  _archguard_find_nvcc(nvcc clang)
  set(top "${CMAKE_SOURCE_DIR}")
  foreach(option IN ITEMS arg_POST_BUILD arg_TEST)
    _archguard_value_of(${option} ${option})  # not every command has these
  endforeach()
  set(code "")
  _archguard_value_of(any_of arg_ANY_OF)
  foreach(name IN ITEMS top archguard nvcc clang options needed_options inputs has_devices severity device_severity
      needed any_of arg_POST_BUILD arg_TEST)
    string(APPEND code "set(${name} [=[${${name}}]=])\n")
  endforeach()
  set(${out} "${code}" PARENT_SCOPE)
endfunction()

# Adds the checks of the targets. `origin` is NAMED or FOUND (by ALL).
function(_archguard_verify_targets targets origin settings)
  foreach(target IN LISTS targets)
    _archguard_verify_target("${target}" ${origin} "${settings}")
  endforeach()
  cmake_language(EVAL CODE "${settings}")
  if(targets AND has_devices AND NOT any_of STREQUAL "")
    _archguard_verify_any_of("${targets}" "${settings}")
  endif()
endfunction()

# A target may be verified more than once, against several fleets.
function(_archguard_name_check out name)
  get_property(number GLOBAL PROPERTY "ARCHGUARD_CHECKS_OF_${name}")
  math(EXPR number "0${number} + 1")
  set_property(GLOBAL PROPERTY "ARCHGUARD_CHECKS_OF_${name}" ${number})
  if(number GREATER 1)
    string(APPEND name "-${number}")
  endif()
  set(${out} "${name}" PARENT_SCOPE)
endfunction()

# Where the parameters of a check stand: one folder a configuration.
function(_archguard_check_folder out)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/archguard/verify")
  get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(multi_config)
    string(APPEND folder "/$<CONFIG>")
  endif()
  set(${out} "${folder}" PARENT_SCOPE)
endfunction()

# Adds the stamp rule of one target, and what POST_BUILD and TEST ask for.
function(_archguard_verify_target target origin settings)
  cmake_language(EVAL CODE "${settings}")
  get_target_property(type "${target}" TYPE)

  _archguard_name_check(check "${target}")

  _archguard_check_folder(folder)
  set(parameters "${folder}/${check}.cmake")
  set(stamp "${folder}/${check}.stamp")
  _archguard_write_parameters("${parameters}" "${target}" "${type}" "${origin}" "${settings}")

  set(script "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/run_verify.cmake")
  set(run "${CMAKE_COMMAND}" "-DPARAMETERS=${parameters}")
  set(files "$<TARGET_OBJECTS:${target}>")
  if(NOT type STREQUAL "OBJECT_LIBRARY")
    list(APPEND files "$<TARGET_FILE:${target}>")
  endif()
  set(depfile "")  # the libraries that the target needs, which only the check finds
  if(NOT needed STREQUAL "off" AND type MATCHES "^(EXECUTABLE|(SHARED|MODULE)_LIBRARY)$"
      AND CMAKE_GENERATOR MATCHES "Ninja|Makefiles")
    set(depfile DEPFILE "${stamp}.d")
  endif()
  _archguard_add_check("${check}" "ArchGuard: verifying ${target}" "${stamp}" TARGETS "${target}"
    COMMAND ${run} DEPENDS ${files} SCRIPT "${script}" ${depfile})
  if(arg_POST_BUILD)
    _archguard_verify_post_build("${target}" "${type}" ${run} -DQUIET=ON -P "${script}")
  endif()
endfunction()

# The rule that makes a stamp by a script, the target that asks for it, and its test. In the default build, where all
# of the targets are.
function(_archguard_add_check check comment stamp)
  cmake_parse_arguments(PARSE_ARGV 3 rule "" "SCRIPT;DEPFILE" "TARGETS;COMMAND;DEPENDS")
  set(program "${archguard}")
  if(TARGET archguard AND TARGET ArchGuard::archguard)
    list(APPEND program archguard)  # built in this tree
  endif()
  set(depfile "")
  if(rule_DEPFILE)
    set(depfile DEPFILE "${rule_DEPFILE}")
  endif()
  add_custom_command(OUTPUT "${stamp}" ${depfile}
    COMMAND ${rule_COMMAND} "-DSTAMP=${stamp}" -P "${rule_SCRIPT}"
    DEPENDS ${rule_TARGETS} ${rule_DEPENDS} ${inputs} ${program} "${parameters}" "${rule_SCRIPT}"
    COMMENT "${comment}"
    VERBATIM COMMAND_EXPAND_LISTS)

  set(all ALL)
  foreach(target IN LISTS rule_TARGETS)
    get_target_property(excluded "${target}" EXCLUDE_FROM_ALL)
    if(excluded)
      set(all "")
    endif()
  endforeach()
  add_custom_target("archguard_verify_${check}" ${all} DEPENDS "${stamp}")
  if(NOT TARGET archguard_verify)
    add_custom_target(archguard_verify)
  endif()
  add_dependencies(archguard_verify "archguard_verify_${check}")
  if(arg_TEST)
    add_test(NAME "archguard.verify.${check}" COMMAND ${rule_COMMAND} -P "${rule_SCRIPT}")
    set_tests_properties("archguard.verify.${check}" PROPERTIES LABELS archguard)
  endif()
endfunction()

# What run_verify.cmake needs to know, one file a target and configuration. Its text changes with the settings and the
# target's properties, and the stamp depends on it.
function(_archguard_write_parameters file target type origin settings)
  set(code "${settings}")
  string(APPEND code "set(target [=[${target}]=])\nset(origin [=[${origin}]=])\n")
  if(type MATCHES "^(EXECUTABLE|(SHARED|MODULE)_LIBRARY)$")
    _archguard_library_folders(folders)
    foreach(folder IN LISTS folders)
      string(APPEND code "list(APPEND needed_options --rpath-link [=[${folder}]=])\n")
    endforeach()
  else()
    string(APPEND code "set(needed off)\n")
  endif()
  if(type STREQUAL "OBJECT_LIBRARY")
    string(APPEND code "set(linked FALSE)\nset(files [=[$<TARGET_OBJECTS:${target}>]=])\n")
  else()
    string(APPEND code "set(linked TRUE)\nset(files [=[$<TARGET_FILE:${target}>]=])\n")
  endif()
  string(APPEND code "set(objects [=[$<TARGET_OBJECTS:${target}>]=])\n")

  # A target that compiles to PTX or to a bare cubin makes one kind of image, whatever the list says.
  set(single "$<TARGET_PROPERTY:${target},CUDA_PTX_COMPILATION>,$<TARGET_PROPERTY:${target},CUDA_CUBIN_COMPILATION>")
  string(APPEND single ",$<TARGET_PROPERTY:${target},CUDA_OPTIX_COMPILATION>")
  string(APPEND code "set(expected [=[$<TARGET_PROPERTY:${target},CUDA_ARCHITECTURES>]=])\n"
    "set(one_kind [=[${single}]=])\n")
  _archguard_known_words()
  foreach(word IN ITEMS native all all-major)
    string(APPEND code "set(cmake_${word} [=[${cmake_${word}}]=])\n")
  endforeach()
  file(GENERATE OUTPUT "${file}" CONTENT "${code}")
endfunction()

function(_archguard_verify_post_build target type)
  get_target_property(folder "${target}" SOURCE_DIR)
  if(type STREQUAL "OBJECT_LIBRARY" OR NOT folder STREQUAL CMAKE_CURRENT_SOURCE_DIR)
    message(STATUS "ArchGuard: target '${target}' is checked by its stamp alone: CMake has POST_BUILD for executables and "
      "libraries of the calling folder only")
    return()
  endif()
  add_custom_command(TARGET "${target}" POST_BUILD COMMAND ${ARGN} VERBATIM)
endfunction()
