# Targets that were made before the list was chosen: they copied what CMAKE_CUDA_ARCHITECTURES held then, mostly CMake's
# own default, and a build for it may pass every check through PTX.
include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/sources.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/verify_tree.cmake")

# Keeps what the target would build for now, empty where it has no list.
function(_archguard_list_of out target)
  get_property(list TARGET "${target}" PROPERTY CUDA_ARCHITECTURES)
  set(${out} "${list}" PARENT_SCOPE)
endfunction()

# Looks at the targets of this folder and below, when `chosen` takes the place of `before`. The list of an earlier call is
# no accident: targets between two calls belong to the first.
function(_archguard_watch_early_targets before chosen)
  get_property(ours GLOBAL PROPERTY ARCHGUARD_SET_IN_THIS_RUN)
  string(REPLACE ";" "," token "${before}")
  if(before STREQUAL chosen OR token IN_LIST ours)
    return()
  endif()
  set(early "")
  _archguard_targets_below(targets "${CMAKE_CURRENT_SOURCE_DIR}")
  foreach(target IN LISTS targets)
    _archguard_list_of(list "${target}")
    if(list STREQUAL before)
      list(APPEND early "${target}")
    endif()
  endforeach()
  if(NOT early STREQUAL "")
    cmake_language(EVAL CODE
      "cmake_language(DEFER CALL _archguard_warn_of_early_targets [==[${before}]==] [==[${chosen}]==] [==[${early}]==])")
  endif()
endfunction()

# Deferred to the end of the folder, when the project has given its targets their sources, and lists of their own.
function(_archguard_warn_of_early_targets before chosen early)
  set(command "archguard_select_architectures")
  list(APPEND CMAKE_MESSAGE_CONTEXT "${command}")
  set(left "")
  foreach(target IN LISTS early)
    _archguard_list_of(list "${target}")
    _archguard_compiles_cuda(cuda "${target}")
    if(cuda AND list STREQUAL before)
      list(APPEND left "${target}")
    endif()
  endforeach()
  if(left STREQUAL "")
    return()
  endif()
  list(JOIN left ", " names)
  list(JOIN left " " words)
  set(kept "for ${before}")
  if(before STREQUAL "")
    set(kept "without a list of architectures")
  endif()
  message(WARNING "${command}: built ${kept}, since they were made before the call: ${names}\n"
    "fix: call ${command} before the first target, or set_target_properties(${words} PROPERTIES CUDA_ARCHITECTURES \"${chosen}\")")
endfunction()
