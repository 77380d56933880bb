# ALL: every target of a folder and of those below that the default build makes.
include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/default_build.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/verify_target.cmake")

# Of the targets, those that a compiler or linker makes.
function(_archguard_built_targets out)
  set(built "")
  foreach(target IN LISTS ARGN)
    get_property(type TARGET "${target}" PROPERTY TYPE)
    if(type MATCHES "^(EXECUTABLE|(SHARED|STATIC|MODULE|OBJECT)_LIBRARY)$")
      list(APPEND built "${target}")
    endif()
  endforeach()
  set(${out} "${built}" PARENT_SCOPE)
endfunction()

# Of the targets, those that the default build makes, at least where an expression holds.
function(_archguard_made_targets out)
  set(all "")
  foreach(target IN LISTS ARGN)
    get_property(made TARGET "${target}" PROPERTY ARCHGUARD_MADE)
    if(NOT "${made}" STREQUAL "")
      list(APPEND all "${target}")
    endif()
  endforeach()
  set(${out} "${all}" PARENT_SCOPE)
endfunction()

# Those in `all` of the folder.
function(_archguard_targets_below out folder)
  _archguard_targets_in(all left_out "${folder}")
  _archguard_built_targets(built ${all})
  set(${out} "${built}" PARENT_SCOPE)
endfunction()

# Is the folder, or one above it, left out of the default build of the one above that?
function(_archguard_folder_is_excluded out folder)
  set(${out} FALSE PARENT_SCOPE)
  while(NOT folder STREQUAL "")
    get_property(excluded DIRECTORY "${folder}" PROPERTY EXCLUDE_FROM_ALL)
    _archguard_truth(is_on "${excluded}")
    if(is_on)
      set(${out} TRUE PARENT_SCOPE)
      return()
    endif()
    get_property(folder DIRECTORY "${folder}" PROPERTY PARENT_DIRECTORY)
  endwhile()
endfunction()

# Is something still to come in this folder that was deferred, and may make targets? `but` matches the IDs that do not count. Who
# waits for others that wait as well gives up after 20 rounds.
function(_archguard_must_wait out round but)
  cmake_language(DEFER GET_CALL_IDS ids)
  list(FILTER ids EXCLUDE REGEX "${but}")
  set(${out} FALSE PARENT_SCOPE)
  if(ids AND round LESS 20)
    set(${out} TRUE PARENT_SCOPE)
  endif()
endfunction()

function(_archguard_defer_tree number round)
  cmake_language(EVAL CODE "cmake_language(DEFER ID archguard-tree-${number} CALL _archguard_verify_tree ${number} ${round})")
endfunction()

# Deferred to the end of the folder that called archguard_verify. What is known there is checked there, so that a build of this
# folder alone checks it, too.
function(_archguard_verify_tree number round)
  _archguard_must_wait(wait ${round} "^archguard")
  if(wait)
    math(EXPR round "${round} + 1")
    _archguard_defer_tree(${number} ${round})
    return()
  endif()
  _archguard_targets_below(targets "${CMAKE_CURRENT_SOURCE_DIR}")
  _archguard_folder_is_excluded(excluded "${CMAKE_CURRENT_SOURCE_DIR}")
  _archguard_verify_found_targets("${targets}" ${excluded} ${number})
  set_property(GLOBAL APPEND PROPERTY ARCHGUARD_TREES ${number})
  set_property(GLOBAL PROPERTY ARCHGUARD_CHECK_${number}_FOLDER "${CMAKE_CURRENT_SOURCE_DIR}")
endfunction()

# The targets of groups of which the default build makes only some, or not in every configuration. The rule of such a group is left
# out of the default build: each target that is made has a rule of its own.
function(_archguard_split_groups out number)
  set(split "")
  get_property(groups GLOBAL PROPERTY ARCHGUARD_CHECK_${number}_GROUPS)
  foreach(rule IN LISTS groups)
    get_property(targets TARGET "${rule}" PROPERTY ARCHGUARD_CHECKED)
    foreach(target IN LISTS targets)
      get_property(made TARGET "${target}" PROPERTY ARCHGUARD_MADE)
      if(NOT "${made}" STREQUAL "TRUE")
        set_property(TARGET "${rule}" PROPERTY ARCHGUARD_SPLIT TRUE)
        list(APPEND split ${targets})
        break()
      endif()
    endforeach()
  endforeach()
  set(${out} "${split}" PARENT_SCOPE)
endfunction()

# At the end of the configure step: the targets of the folder that only now are known to be made, for those who link them or
# depend on them; those of a group that others of it are not made with; and all together, where ANY_OF asks for that.
function(_archguard_complete_tree number may_be_more)
  _archguard_check(check ${number} FLEETS ANY_OF)
  get_property(folder GLOBAL PROPERTY ARCHGUARD_CHECK_${number}_FOLDER)
  get_property(checked GLOBAL PROPERTY ARCHGUARD_CHECK_${number}_TARGETS)
  set(more "")
  if(may_be_more)
    _archguard_targets_in(all left_out "${folder}")
    list(APPEND all ${left_out})
    list(REMOVE_ITEM all ${checked})
    _archguard_built_targets(more ${all})
    _archguard_split_groups(split ${number})
    list(APPEND more ${split})
    _archguard_made_targets(more ${more})
    _archguard_made_targets(checked ${checked})
  endif()
  # What is known of the toolkit, as that folder sees it.
  foreach(name IN ITEMS CMAKE_CUDA_COMPILER CMAKE_CUDA_COMPILER_ID CMAKE_CUDA_COMPILER_TOOLKIT_ROOT CUDAToolkit_ROOT
      CUDAToolkit_LIBRARY_DIR CMAKE_CUDA_HOST_IMPLICIT_LINK_DIRECTORIES CMAKE_CUDA_ARCHITECTURES_ALL
      CMAKE_CUDA_ARCHITECTURES_ALL_MAJOR CMAKE_CUDA_ARCHITECTURES_NATIVE)
    get_directory_property(value DIRECTORY "${folder}" DEFINITION ${name})
    if(NOT "${value}" STREQUAL "")
      set(${name} "${value}")
    endif()
  endforeach()
  _archguard_verify_found_targets("${more}" TRUE ${number})
  list(APPEND checked ${more})
  list(REMOVE_DUPLICATES checked)
  if(checked AND NOT check_FLEETS STREQUAL "" AND NOT check_ANY_OF STREQUAL "")
    _archguard_verify_any_of("${checked}" ${number})
  endif()
endfunction()
