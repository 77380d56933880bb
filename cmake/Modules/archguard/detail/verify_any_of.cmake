# ANY_OF: the files of several targets, judged together.
include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/check.cmake")

# Adds the rule that asks which devices the targets' files cover, some of them as alternatives.
function(_archguard_verify_any_of targets number)
  _archguard_check_name(name "any_of")
  _archguard_check_base(base "${name}")
  set(parameters "${CMAKE_CURRENT_BINARY_DIR}/archguard/verify/${name}.json")
  _archguard_write_files_check("${parameters}" "what ANY_OF judges together" ${number})
  set(files "")
  foreach(target IN LISTS targets)
    get_target_property(type "${target}" TYPE)
    if(type STREQUAL "OBJECT_LIBRARY")
      list(APPEND files "$<TARGET_OBJECTS:${target}>")
    else()
      list(APPEND files "$<TARGET_FILE:${target}>")
    endif()
  endforeach()
  file(GENERATE OUTPUT "${base}.built" CONTENT "$<JOIN:${files},\n>\n")
  _archguard_add_check("${name}" "${base}" "alternatives" ${number} TARGETS ${targets} DEPENDS "${parameters}" ${files}
    COMMAND check-files "${parameters}" --files "${base}.built" --report "${base}.report.json")
  _archguard_check(check ${number} ARCHGUARD TEST)
  if(check_TEST)
    _archguard_add_test("${name}" "${check_ARCHGUARD}" check-files "${parameters}" --files "${base}.built")
  endif()
endfunction()
