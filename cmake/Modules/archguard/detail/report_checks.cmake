# The target archguard_report: one report of all checks that the default build makes.
include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/programs.cmake")

# What the rule of a check reads, for the report: `kind` is target or files.
function(_archguard_report_check rule kind parameters built)
  set_property(TARGET "${rule}" PROPERTY ARCHGUARD_REPORTED "${kind}\nparameters ${parameters}\nbuilt ${built}\n")
endfunction()

# At the end of the configure step, when it is known which rules the default build leaves out.
function(_archguard_add_report)
  get_property(rules GLOBAL PROPERTY ARCHGUARD_RULES)
  get_property(program GLOBAL PROPERTY ARCHGUARD_WATCHER)
  if("${rules}" STREQUAL "" OR TARGET archguard_report)
    return()
  endif()
  set(config "")
  get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(multi_config)
    set(config "-$<CONFIG>")
  endif()
  set(lines "")
  foreach(rule IN LISTS rules)
    get_property(reported TARGET "${rule}" PROPERTY ARCHGUARD_REPORTED)
    string(APPEND lines "${reported}skip $<BOOL:$<TARGET_GENEX_EVAL:${rule},$<TARGET_PROPERTY:${rule},EXCLUDE_FROM_ALL>>>\n")
  endforeach()
  set(list "${CMAKE_BINARY_DIR}/CMakeFiles/archguard/report${config}")
  file(GENERATE OUTPUT "${list}" CONTENT "${lines}")
  set(report "${CMAKE_BINARY_DIR}/archguard/report${config}")
  add_custom_target(archguard_report
    COMMAND "${program}" check-report "${list}" --report "html=${report}.html" --report "junit=${report}.xml"
    WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}"
    COMMENT "ArchGuard: reporting what is built"
    VERBATIM)
  _archguard_program_target(builder)
  if(NOT builder STREQUAL "")
    add_dependencies(archguard_report ${builder})
  endif()
endfunction()
