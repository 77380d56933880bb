# Build tools compare dates, so a library that was replaced by an older one would keep the old success; and make cannot name
# every fleet file. One step for the whole tree runs in every build, and compares what was checked with what is there: size,
# times and inode of libraries, fleets, waivers.
include_guard(GLOBAL)

# <out> is a file that the rule of the check <base> depends on: that step touches it where something changed. The step is the
# target archguard_changes; <program> is the archguard that runs it.
function(_archguard_watch_changes out base program)
  get_property(watched GLOBAL PROPERTY ARCHGUARD_WATCHED)
  if("${watched}" STREQUAL "")
    set_property(GLOBAL PROPERTY ARCHGUARD_WATCHER "${program}")
  endif()
  set_property(GLOBAL APPEND PROPERTY ARCHGUARD_WATCHED "${base}")
  set(${out} "${base}.changed" PARENT_SCOPE)
endfunction()

# At the end of the configure step, when all checks are known.
function(_archguard_watch_all)
  get_property(watched GLOBAL PROPERTY ARCHGUARD_WATCHED)
  if("${watched}" STREQUAL "")
    return()
  endif()
  get_property(program GLOBAL PROPERTY ARCHGUARD_WATCHER)
  set(list "${CMAKE_BINARY_DIR}/CMakeFiles/archguard/checks")
  get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(multi_config)
    string(APPEND list "-$<CONFIG>")
  endif()
  list(TRANSFORM watched APPEND ".changed" OUTPUT_VARIABLE touched)
  list(JOIN watched "\n" lines)
  file(GENERATE OUTPUT "${list}" CONTENT "${lines}\n")
  add_custom_target(archguard_changes
    COMMAND "${program}" check-changes "${list}"
    BYPRODUCTS ${touched}
    WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}"  # relative paths of a check count from there
    COMMENT "ArchGuard: comparing with what was checked"
    VERBATIM)
  _archguard_program_target(builder)
  if(NOT builder STREQUAL "")
    add_dependencies(archguard_changes ${builder})
  endif()
endfunction()
