# What a target is compiled from.
include_guard(GLOBAL)

# The sources of a target that are in CUDA, by the property LANGUAGE, else by name. Generator expressions are passed over.
function(_archguard_cuda_sources out target)
  set(found "")
  get_target_property(sources "${target}" SOURCES)
  foreach(source IN LISTS sources)
    if(source MATCHES "^\\$<")
      continue()
    endif()
    get_source_file_property(language "${source}" TARGET_DIRECTORY "${target}" LANGUAGE)
    if(language STREQUAL "CUDA" OR (NOT language AND source MATCHES "\\.cu$"))
      get_source_file_property(header "${source}" TARGET_DIRECTORY "${target}" HEADER_FILE_ONLY)
      if(NOT header)
        list(APPEND found "${source}")
      endif()
    endif()
  endforeach()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

function(_archguard_compiles_cuda out target)
  _archguard_cuda_sources(sources "${target}")
  set(${out} FALSE PARENT_SCOPE)
  if(NOT sources STREQUAL "")
    set(${out} TRUE PARENT_SCOPE)
  endif()
endfunction()

# Stops where a target has sources in CUDA, architectures were chosen for them, and CUDA was never enabled: CMake passes over
# sources of a language that it does not know. Called at the end of a folder or behind the target, since a project may
# enable CUDA late.
function(_archguard_check_cuda_is_enabled command target)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  get_property(selections GLOBAL PROPERTY ARCHGUARD_SELECTIONS)
  if("CUDA" IN_LIST languages OR NOT selections)
    return()
  endif()
  _archguard_compiles_cuda(cuda "${target}")
  if(cuda)
    message(SEND_ERROR "${command}: you chose architectures, and CUDA was never enabled: CMake passes over the CUDA sources of "
      "target '${target}'; write enable_language(CUDA) behind archguard_select_architectures(), before the target")
  endif()
endfunction()
