# The build rules that check one target.
include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/check.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/json.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/nvcc.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/sources.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/verify_any_of.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/watch_changes.cmake")

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

# Adds the checks of the targets, by the check of that number. `origin` is NAMED or FOUND (by ALL); of these more may come, and
# _archguard_complete_tree judges them together.
function(_archguard_verify_targets targets origin number)
  if(NOT targets)
    return()
  endif()
  _archguard_check(check ${number} FLEETS ANY_OF)
  set(together FALSE)  # their files are judged by _archguard_verify_any_of, and only the other questions are asked here
  if(NOT check_FLEETS STREQUAL "" AND NOT check_ANY_OF STREQUAL "")
    set(together TRUE)
  endif()
  _archguard_write_parameters(parameters ${origin} ${together} ${number})
  foreach(target IN LISTS targets)
    _archguard_check_cuda_is_enabled(archguard_verify "${target}")
    _archguard_verify_target("${target}" "${parameters}" ${origin} ${number})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY ARCHGUARD_CHECK_${number}_TARGETS ${targets})
  if(together AND origin STREQUAL "NAMED")
    _archguard_verify_any_of("${targets}" ${number})
  endif()
endfunction()

# A name that no other check has: a target may be verified against several fleets.
function(_archguard_check_name out wanted)
  set(name "${wanted}")
  set(number 1)
  while(TARGET "archguard_verify_${name}")
    math(EXPR number "${number} + 1")
    set(name "${wanted}-${number}")
  endwhile()
  set(${out} "${name}" PARENT_SCOPE)
endfunction()

# Where the files of a check stand, of each configuration, without their extensions.
function(_archguard_check_files out name)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/archguard/verify")
  get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(multi_config)
    string(APPEND folder "/$<CONFIG>")
  endif()
  set(${out} "${folder}/${name}" PARENT_SCOPE)
endfunction()

# Adds the rule of a check, the target that asks for it, and its test. Whether it is a part of the default build, _archguard_finish tells.
#
#   _archguard_add_check(<name> <base of its files> <what> <number> TARGETS <target>... COMMAND <argument of archguard>...
#                        DEPENDS <file>... [DEPFILE])
function(_archguard_add_check name base what number)
  cmake_parse_arguments(PARSE_ARGV 4 rule "DEPFILE" "" "TARGETS;COMMAND;DEPENDS")
  _archguard_check(check ${number} ARCHGUARD TEST)
  _archguard_built_by(builder)
  set(depfile "")
  if(rule_DEPFILE AND CMAKE_GENERATOR MATCHES "Ninja|Makefiles")
    set(depfile DEPFILE "${base}.stamp.d")
    if(CMAKE_GENERATOR STREQUAL "Ninja Multi-Config" AND CMAKE_VERSION VERSION_LESS 3.25.2)
      _archguard_value_of(crossed CMAKE_CROSS_CONFIGS)
      if(crossed AND NOT CMAKE_VERSION VERSION_LESS 3.25.0)
        set(depfile "")  # these two releases crash at it; archguard_changes compares the libraries all the same
      endif()
    endif()
  endif()
  _archguard_watch_changes(changed "${base}" "${check_ARCHGUARD}")
  add_custom_command(OUTPUT "${base}.stamp" ${depfile}
    COMMAND "${check_ARCHGUARD}" ${rule_COMMAND} --stamp "${base}.stamp" --state "${base}.state"
      --report "${base}.report.json"
    DEPENDS ${rule_TARGETS} ${rule_DEPENDS} "${check_ARCHGUARD}" ${builder} "${base}.built" ${changed}
    WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}"  # so that messages name files the short way
    COMMENT "ArchGuard: verifying ${what}"
    VERBATIM COMMAND_EXPAND_LISTS)

  add_custom_target("archguard_verify_${name}" ALL DEPENDS "${base}.stamp")
  set_property(TARGET "archguard_verify_${name}" PROPERTY ARCHGUARD_CHECKED ${rule_TARGETS})
  set_property(GLOBAL APPEND PROPERTY ARCHGUARD_RULES "archguard_verify_${name}")
  if(NOT TARGET archguard_verify)
    add_custom_target(archguard_verify)
  endif()
  add_dependencies(archguard_verify "archguard_verify_${name}")
  add_dependencies("archguard_verify_${name}" archguard_changes)
  if(check_TEST)
    add_test(NAME "archguard.verify.${name}" COMMAND "${check_ARCHGUARD}" ${rule_COMMAND}
      WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
    set_tests_properties("archguard.verify.${name}" PROPERTIES LABELS archguard)
  endif()
endfunction()

# Adds the checks of one target: its stamp, and its link step where it is NAMED.
function(_archguard_verify_target target parameters origin number)
  get_target_property(type "${target}" TYPE)
  _archguard_check(check ${number} ARCHGUARD NEEDED POST_BUILD)
  _archguard_check_name(name "${target}")
  _archguard_check_files(base "${name}")
  set(depfile "")
  if(type MATCHES "^(EXECUTABLE|(SHARED|MODULE)_LIBRARY)$" AND NOT check_NEEDED STREQUAL "off")
    set(depfile DEPFILE)  # the libraries that the target needs, which only the check finds
  endif()
  _archguard_write_built("${base}.built" "${target}" "${type}" "archguard_verify_${name}")
  set(files "$<TARGET_OBJECTS:${target}>")
  if(NOT type STREQUAL "OBJECT_LIBRARY")
    list(APPEND files "$<TARGET_FILE:${target}>")
  endif()
  set(run check-target "${parameters}" --built "${base}.built")
  _archguard_add_check("${name}" "${base}" "${target}" ${number} TARGETS "${target}" DEPENDS "${parameters}" ${files}
    COMMAND ${run} ${depfile})
  if(origin STREQUAL "NAMED")
    _archguard_check_when_linked("${target}" "${type}" "${check_POST_BUILD}"
      "${check_ARCHGUARD}" ${run} --post-build --state "${base}.state" --report "${base}.report.json")
  endif()
endfunction()

# Writes what a check asks of each of its targets; <out> is the file. `origin` and `together` as above.
function(_archguard_write_parameters out origin together number)
  _archguard_check(check ${number})
  set(members "")
  _archguard_json_member(members schema "\"archguard.check/2\"")
  _archguard_json_string(value "${CMAKE_SOURCE_DIR}")
  _archguard_json_member(members folder "${value}")
  set(named false)
  if(origin STREQUAL "NAMED")
    set(named true)
  endif()
  _archguard_json_member(members named ${named})
  set(devices false)
  if(NOT check_FLEETS STREQUAL "")
    set(devices true)
  endif()
  _archguard_json_member(members devices ${devices})
  if(together)
    _archguard_json_member(members together true)
  endif()
  _archguard_json_member(members severity "\"${check_SEVERITY}\"")
  _archguard_json_member(members device_severity "\"${check_DEVICE_SEVERITY}\"")
  _archguard_json_member(members needed "\"${check_NEEDED}\"")
  _archguard_json_object(verify "${check_VERIFY}")
  _archguard_json_member(members verify "${verify}")
  if(NOT check_NEEDED STREQUAL "off")
    set(of_libraries "${check_VERIFY_NEEDED}")
    _archguard_library_folders(folders)
    _archguard_json_strings(value ${folders})
    _archguard_json_member(of_libraries rpath_link "${value}")
    _archguard_json_object(verify "${of_libraries}")
    _archguard_json_member(members verify_needed "${verify}")
  endif()
  _archguard_json_object(text "${members}")
  set(file "${CMAKE_BINARY_DIR}/CMakeFiles/archguard/check-${number}.json")
  _archguard_write_file("${file}" "${text}\n")
  set(${out} "${file}" PARENT_SCOPE)
endfunction()

# What `native`, `all` and `all-major` stand for, a line each.
function(_archguard_words_of out)
  set(lines "")
  _archguard_find_nvcc(nvcc clang)
  foreach(word IN ITEMS native all all-major)
    _archguard_spell_out(entries unknown "${nvcc}" "${clang}" ${word})
    if(NOT entries STREQUAL "")
      string(APPEND lines "word ${word} ${entries}\n")
    endif()
  endforeach()
  set(${out} "${lines}" PARENT_SCOPE)
endfunction()

# What is known of the target itself, a line each: `target`, `linked`, `cuda-source`, `word`; and what only generating
# tells: `file`, `object`, `architectures`, `one-kind`, `rpath-link`, and `excluded`: is the check, the target `rule`, no part of the
# default build?
function(_archguard_write_built file target type rule)
  set(known "target ${target}\n")
  if(type MATCHES "^(EXECUTABLE|(SHARED|MODULE)_LIBRARY)$")
    string(APPEND known "linked ON\n")
  endif()
  _archguard_cuda_sources(sources "${target}")
  foreach(source IN LISTS sources)
    get_filename_component(name "${source}" NAME)
    string(APPEND known "cuda-source ${name}\n")
  endforeach()
  get_target_property(list "${target}" CUDA_ARCHITECTURES)
  if(list MATCHES "native|all")
    _archguard_words_of(words)
    string(APPEND known "${words}")
  endif()
  if(type STREQUAL "OBJECT_LIBRARY")
    set(text "file $<JOIN:$<TARGET_OBJECTS:${target}>,\nfile >\n")
  else()
    set(text "file $<TARGET_FILE:${target}>\n")
  endif()
  # A target that compiles to PTX or to a bare cubin makes one kind of image, whatever the list says.
  string(APPEND text "object $<JOIN:$<TARGET_OBJECTS:${target}>,\nobject >\n"
    "architectures $<TARGET_PROPERTY:${target},CUDA_ARCHITECTURES>\n"
    "one-kind $<TARGET_PROPERTY:${target},CUDA_PTX_COMPILATION>\n"
    "one-kind $<TARGET_PROPERTY:${target},CUDA_CUBIN_COMPILATION>\n"
    "one-kind $<TARGET_PROPERTY:${target},CUDA_OPTIX_COMPILATION>\n"
    "excluded $<TARGET_GENEX_EVAL:${rule},$<TARGET_PROPERTY:${rule},EXCLUDE_FROM_ALL>>\n"
    "rpath-link $<JOIN:$<TARGET_GENEX_EVAL:${rule},$<TARGET_PROPERTY:${rule},ARCHGUARD_LINK_FOLDERS>>,\nrpath-link >\n")
  file(GENERATE OUTPUT "${file}" CONTENT "${known}${text}")
endfunction()

# The check as a part of the target's link step. It fails the step only where POST_BUILD asked for that: make removes what
# a failed step made, and ninja links it anew each time.
function(_archguard_check_when_linked target type fails)
  get_target_property(folder "${target}" SOURCE_DIR)
  if(type STREQUAL "OBJECT_LIBRARY" OR NOT folder STREQUAL CMAKE_CURRENT_SOURCE_DIR)
    if(fails)
      message(STATUS "ArchGuard: target '${target}' is checked by its stamp alone: CMake has POST_BUILD for executables and "
        "libraries of the calling folder only")
    endif()
    return()
  endif()
  set(strict "")
  if(fails)
    set(strict --strict)
  endif()
  add_custom_command(TARGET "${target}" POST_BUILD COMMAND ${ARGN} ${strict} WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}" VERBATIM)
  _archguard_built_by(builder)
  if(NOT builder STREQUAL "")
    add_dependencies("${target}" ${builder})
  endif()
endfunction()
