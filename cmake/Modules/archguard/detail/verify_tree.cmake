# ALL: every target of a folder and of those below that the default build makes.
include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/verify_target.cmake")

function(_archguard_targets_below out folder)
  set(found "")
  get_property(own GLOBAL PROPERTY ARCHGUARD_SOURCE_DIR)  # ArchGuard itself, where it is part of the tree
  get_property(targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type "${target}" TYPE)
    get_target_property(excluded "${target}" EXCLUDE_FROM_ALL)
    if(type MATCHES "^(EXECUTABLE|(SHARED|STATIC|MODULE|OBJECT)_LIBRARY)$" AND NOT excluded)
      list(APPEND found "${target}")
    endif()
  endforeach()
  get_property(below DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
  foreach(subfolder IN LISTS below)
    get_property(excluded DIRECTORY "${subfolder}" PROPERTY EXCLUDE_FROM_ALL)
    if(NOT excluded AND NOT subfolder STREQUAL own)
      _archguard_targets_below(more "${subfolder}")
      list(APPEND found ${more})
    endif()
  endforeach()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# Deferred to the end of the folder that called archguard_verify.
function(_archguard_verify_tree number)
  _archguard_targets_below(targets "${CMAKE_CURRENT_SOURCE_DIR}")
  _archguard_verify_targets("${targets}" FOUND ${number})
endfunction()
