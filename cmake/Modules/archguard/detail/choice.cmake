# Did the user choose the architectures? A choice is never changed, so this must not be guessed.
#
# CMake writes a default of its own into the cache (value of the compiler, help text "CUDA architectures") when CUDA is
# enabled while the variable is empty, and keeps it there on every later configure. CUDAARCHS is written the same way,
# -D and presets with another help text, set() and toolchain files not at all. So a look at the first call in a tree
# decides, and is remembered:
#
#   ARCHGUARD_CHOICE  archguard | user
#   ARCHGUARD_SEEN    the value before anything was set, maybe empty
#
# The compiler is `nvcc`, or `clang` with the toolkit of `nvcc`, in the calling command's scope.
#
# Afterwards the choice stays ArchGuard's while the value is that one again, or one that ArchGuard set in this run.
include_guard(GLOBAL)

# The architectures that raw flags ask for (-gencode, -arch, clang's --cuda-gpu-arch), in CMake's spelling.
function(_archguard_flag_architectures out)
  set(list "")
  _archguard_value_of(flags CMAKE_CUDA_FLAGS)
  string(PREPEND flags " ")
  if(NOT CMAKE_CUDA_COMPILER)
    _archguard_value_of(more ENV{CUDAFLAGS})
    string(APPEND flags " ${more}")
  endif()
  if(NOT clang STREQUAL "")
    string(REGEX MATCHALL " --(cuda-gpu|offload)-arch=sm_[0-9]+[af]?" options "${flags}")
    foreach(option IN LISTS options)
      string(REGEX REPLACE ".*=sm_" "" arch "${option}")
      if(flags MATCHES " --no-cuda-include-ptx=(all|sm_${arch})( |$)")
        string(APPEND arch "-real")
      endif()
      list(APPEND list "${arch}")
    endforeach()
    set(${out} "${list}" PARENT_SCOPE)
    return()
  endif()
  # `,code=` ends a -gencode, whose arch= is what it compiles through; -code= does the same for -arch=.
  set(images "[, -]code[= ]+[^ '\"]+")
  set(arch "-(arch|gpu-architecture)[= ]+(sm|compute)_[0-9]+[af]?")
  if(NOT flags MATCHES " -(-gpu-)?code[= ]")
    string(APPEND images "|${arch}")
  endif()
  string(REGEX MATCHALL "${images}" options "${flags}")
  foreach(option IN LISTS options)
    string(REGEX MATCHALL "(sm|compute)_[0-9]+[af]?" images "${option}")
    foreach(image IN LISTS images)
      string(REGEX REPLACE "^sm_(.*)$" "\\1-real" entry "${image}")
      string(REGEX REPLACE "^compute_(.*)$" "\\1-virtual" entry "${entry}")
      if(option MATCHES "^-(arch|gpu-arch).*sm_")  # -arch=sm_80 makes PTX as well
        string(REPLACE "-real" "" entry "${entry}")
      endif()
      list(APPEND list "${entry}")
    endforeach()
  endforeach()
  set(${out} "${list}" PARENT_SCOPE)
endfunction()

# CMake's default: what this nvcc compiles for when nothing is asked ("75"). With clang CMake asks for these in turn, and
# the first that works is the default.
function(_archguard_default_architectures out)
  set(list "")
  if(clang STREQUAL "")
    _archguard_nvcc_makes(made "${nvcc}")
  else()
    execute_process(COMMAND "${nvcc}" --list-gpu-arch TIMEOUT 60 OUTPUT_VARIABLE made ERROR_QUIET)
    string(REGEX MATCH "compute_(52|30|20)" made "${made}")
    string(REPLACE "compute_" "" made "${made}")
  endif()
  foreach(entry IN LISTS made)
    string(REGEX REPLACE "-.*" "" arch "${entry}")
    list(APPEND list "${arch}")
  endforeach()
  list(REMOVE_DUPLICATES list)
  set(${out} "${list}" PARENT_SCOPE)
endfunction()

# Where the value of the variable comes from, if it is the user's.
function(_archguard_how_it_came out)
  get_property(help CACHE CMAKE_CUDA_ARCHITECTURES PROPERTY HELPSTRING)
  set(how "the cache")
  if(NOT DEFINED CACHE{CMAKE_CUDA_ARCHITECTURES} OR
      NOT "${CMAKE_CUDA_ARCHITECTURES}" STREQUAL "$CACHE{CMAKE_CUDA_ARCHITECTURES}")
    set(how "set() or a toolchain file")
  elseif(NOT help STREQUAL "CUDA architectures")
    set(how "-D, a preset or the cache")
  endif()
  set(${out} "${how}" PARENT_SCOPE)
endfunction()

# Looks at the variable as nothing has touched it yet. <out_how> says how the user chose, empty where nobody did;
# <out_list> is what was chosen.
function(_archguard_first_look out_how out_list)
  _archguard_value_of(value CMAKE_CUDA_ARCHITECTURES)
  _archguard_value_of(cudaarchs ENV{CUDAARCHS})
  set(how "")
  if(NOT cudaarchs STREQUAL "")
    set(how "the environment variable CUDAARCHS")
    if(value STREQUAL "")
      set(value "${cudaarchs}")
    endif()
  elseif(NOT value STREQUAL "")
    _archguard_how_it_came(how)
    if(how STREQUAL "the cache")
      _archguard_default_architectures(default)
      if(value STREQUAL default)
        set(how "")
      endif()
    endif()
  endif()
  if(how STREQUAL "")
    _archguard_flag_architectures(flags)
    if(NOT flags STREQUAL "")
      set(how "-gencode or -arch in CMAKE_CUDA_FLAGS")
      if(NOT clang STREQUAL "")
        set(how "--cuda-gpu-arch in CMAKE_CUDA_FLAGS")
      endif()
      if(value STREQUAL "")  # CMake is about to add its default to the flags
        _archguard_default_architectures(value)
      endif()
      list(APPEND flags ${value})
      set(value "${flags}")
    endif()
  endif()
  set(${out_how} "${how}" PARENT_SCOPE)
  set(${out_list} "${value}" PARENT_SCOPE)
endfunction()

# <out_how> is empty where ArchGuard may choose; otherwise it says how the user did, and <out_list> what.
function(_archguard_user_choice out_how out_list)
  _archguard_value_of(value CMAKE_CUDA_ARCHITECTURES)
  set(before "${value}")
  _archguard_value_of(choice CACHE{ARCHGUARD_CHOICE})
  get_property(help CACHE CMAKE_CUDA_ARCHITECTURES PROPERTY HELPSTRING)
  get_property(ours GLOBAL PROPERTY ARCHGUARD_SET_IN_THIS_RUN)
  string(REPLACE ";" "," token "${value}")

  if(choice STREQUAL "archguard")
    set(seen "$CACHE{ARCHGUARD_SEEN}")
    if(value STREQUAL "" OR token IN_LIST ours)
      set(how "")
    elseif(value STREQUAL seen AND help STREQUAL "CUDA architectures")
      set(how "")
    elseif(seen STREQUAL "")
      # CUDA may have been enabled outside the scope that was set: then this is CMake's default of that moment.
      _archguard_first_look(how value)
      if(how STREQUAL "")
        set(ARCHGUARD_SEEN "${value}" CACHE INTERNAL "CMAKE_CUDA_ARCHITECTURES before ArchGuard set it")
      endif()
    else()
      _archguard_how_it_came(how)
    endif()
  else()
    _archguard_first_look(how value)
    if(how STREQUAL "" AND NOT value STREQUAL "" AND choice STREQUAL "user")
      set(how "an earlier configure")  # CUDAARCHS is read once, and looks like a default ever after
    endif()
    set(choice "user")
    if(how STREQUAL "")
      set(choice "archguard")
    elseif(how MATCHES "CMAKE_CUDA_FLAGS")  # these are read anew each time, so nothing needs remembering
      set(choice "")
    endif()
    set(ARCHGUARD_CHOICE "${choice}" CACHE INTERNAL "Who chose CMAKE_CUDA_ARCHITECTURES: archguard or user")
    set(ARCHGUARD_SEEN "${before}" CACHE INTERNAL "CMAKE_CUDA_ARCHITECTURES before ArchGuard set it")
  endif()
  set(${out_how} "${how}" PARENT_SCOPE)
  set(${out_list} "${value}" PARENT_SCOPE)
endfunction()

# Remembers what was set, for the next call in this run.
function(_archguard_remember_set list)
  string(REPLACE ";" "," token "${list}")
  set_property(GLOBAL APPEND PROPERTY ARCHGUARD_SET_IN_THIS_RUN "${token}")
endfunction()
