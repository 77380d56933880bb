# ANY_OF: the files of several targets, judged together.
include_guard(GLOBAL)

# Adds the stamp rule that asks which devices the targets' files cover, some of them as alternatives.
function(_archguard_verify_any_of targets settings)
  cmake_language(EVAL CODE "${settings}")
  _archguard_name_check(check "any_of")

  set(files "")
  foreach(target IN LISTS targets)
    get_target_property(type "${target}" TYPE)
    if(type STREQUAL "OBJECT_LIBRARY")
      list(APPEND files "$<TARGET_OBJECTS:${target}>")
    else()
      list(APPEND files "$<TARGET_FILE:${target}>")
    endif()
  endforeach()
  _archguard_check_folder(folder)
  set(parameters "${folder}/${check}.cmake")
  set(stamp "${folder}/${check}.stamp")
  file(GENERATE OUTPUT "${parameters}"
    CONTENT "${settings}set(files [=[${files}]=])\nset(list [=[${folder}/${check}.txt]=])\n")
  _archguard_add_check("${check}" "ArchGuard: verifying alternatives" "${stamp}" TARGETS ${targets}
    COMMAND "${CMAKE_COMMAND}" "-DPARAMETERS=${parameters}" DEPENDS ${files}
    SCRIPT "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/run_verify_any_of.cmake")
endfunction()
