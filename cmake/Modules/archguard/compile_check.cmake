#[=======================================================================[.rst:
archguard_compile_check
-----------------------

Stops the compiler if none of the architectures it compiles for can run on a device::

  archguard_compile_check(TARGETS <target>... [FLEET <file>...])

Each CUDA source of the targets is compiled with a generated header in front. The header asserts, over ``__CUDA_ARCH_LIST__``,
that this very compilation, raw ``-gencode`` flags included, has an architecture not above each device's capability. That needs nvcc 11.5 or
newer: an older one passes, as do C++98 and C++03; with clang a STATUS line says that nothing is checked. Without ``FLEET`` the
devices are those of the last ``archguard_select_architectures`` in scope, except those it left out. Devices that the fleet file
excludes, or that the environment hides, do not count.

It fails early, but passing proves nothing: nvcc shows the architectures of the PTX stage only, not which images it keeps.
``archguard_verify`` is the proof.
#]=======================================================================]
include_guard(GLOBAL)

include("${CMAKE_CURRENT_LIST_DIR}/detail/arguments.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/check.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/nvcc.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/programs.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/detail/verify_target.cmake")

function(archguard_compile_check)
  set(command "archguard_compile_check")
  list(APPEND CMAKE_MESSAGE_CONTEXT "${command}")
  _archguard_check_paths(${command})
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "TARGETS;FLEET")
  _archguard_check_arguments(${command} arg MANY TARGETS FLEET)
  if(NOT DEFINED arg_TARGETS)
    message(FATAL_ERROR "${command}: TARGETS is missing; name the targets whose CUDA sources to check")
  endif()
  foreach(target IN LISTS arg_TARGETS)
    _archguard_check_target(${command} "${target}")
  endforeach()
  _archguard_policy_value(severity ${command} error ARCHGUARD_VERIFY error warn off)
  if(severity STREQUAL "off")
    return()
  endif()
  _archguard_find_nvcc(nvcc clang)
  if(NOT clang STREQUAL "")
    message(STATUS "ArchGuard: ${command} checks nothing: clang does not tell a source what it compiles for; "
      "archguard_verify checks the result")
    return()
  endif()
  set(fleet "")
  if(DEFINED arg_FLEET)
    set(fleet "${arg_FLEET}")
  endif()
  _archguard_check_devices(devices ${command} "${fleet}")
  if(devices_FLEETS STREQUAL "")
    message(FATAL_ERROR "${command}: no devices are known to check for; give FLEET <file>, or call "
      "archguard_select_architectures with one")
  endif()

  get_property(number DIRECTORY PROPERTY ARCHGUARD_COMPILE_CHECKS)
  math(EXPR number "0${number} + 1")
  set_property(DIRECTORY PROPERTY ARCHGUARD_COMPILE_CHECKS ${number})
  set(header "${CMAKE_CURRENT_BINARY_DIR}/archguard/compile_check_${number}.h")
  _archguard_write_compile_check(${command} "${header}" "${devices_FLEETS}" "${devices_EXCLUDED}")
  foreach(target IN LISTS arg_TARGETS)
    get_target_property(aliased "${target}" ALIASED_TARGET)
    if(aliased)
      set(target "${aliased}")
    endif()
    target_compile_options("${target}" PRIVATE "$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:SHELL:-include \"${header}\">")
  endforeach()
endfunction()

# What tells one device of a fleet from another, as archguard does for exclusions: a machine's GPUs have another origin
# in the selection than in the file that was written of them.
function(_archguard_device_key out device)
  set(key "")
  foreach(field IN ITEMS name compute_capability driver_cuda uuid)
    string(JSON value ERROR_VARIABLE error GET "${device}" ${field})
    string(APPEND key "${value}|")
  endforeach()
  string(SHA256 key "${key}")  # no semicolon of a name may split a list
  set(${out} "${key}" PARENT_SCOPE)
endfunction()

# The header for the devices of the fleet files, less those that the selection left out. It is rewritten only where it changes,
# and then what includes it is compiled again.
function(_archguard_write_compile_check command header fleets excluded)
  set(options "")
  foreach(file IN LISTS fleets)
    _archguard_short_path(short "${CMAKE_SOURCE_DIR}" "${file}")
    list(APPEND options --fleet "${short}")
  endforeach()
  set(left_out "")
  if(NOT excluded STREQUAL "")
    file(READ "${excluded}" selection)
    string(JSON count LENGTH "${selection}" excluded)
    while(count GREATER 0)
      math(EXPR count "${count} - 1")
      string(JSON device GET "${selection}" excluded ${count} device)
      _archguard_device_key(key "${device}")
      list(APPEND left_out "${key}")
    endwhile()
  endif()
  _archguard_run_probe(run ${command} ${options} --format json)
  if(NOT run_STATUS STREQUAL "0")
    message(FATAL_ERROR "${command}: the devices cannot be read\n${run_OUTPUT}${run_ERROR}")
  endif()

  set(asserts "")
  set(seen "")
  string(JSON count LENGTH "${run_OUTPUT}" devices)
  math(EXPR last "${count} - 1")
  foreach(i RANGE ${last})
    string(JSON device GET "${run_OUTPUT}" devices ${i})
    foreach(field IN ITEMS name compute_capability origin)
      string(JSON ${field} ERROR_VARIABLE error GET "${device}" ${field})
    endforeach()
    string(JSON excluded ERROR_VARIABLE error GET "${device}" excluded)
    string(JSON visible ERROR_VARIABLE error GET "${device}" visible)
    if(NOT excluded STREQUAL "" OR NOT visible)  # null is empty
      continue()
    endif()
    _archguard_device_key(key "${device}")
    if(key IN_LIST left_out OR NOT compute_capability MATCHES "^[0-9]+\\.[0-9]$" OR compute_capability IN_LIST seen)
      continue()  # one device of a kind is enough
    endif()
    list(APPEND seen "${compute_capability}")
    string(REPLACE "." "" number "${compute_capability}")
    set(device "${name} (${compute_capability}, ${origin})")
    if(name STREQUAL "")
      set(device "${compute_capability} (${origin})")
    endif()
    string(REGEX REPLACE "[\"\\\\\r\n]" "'" device "${device}")  # it goes into a literal
    string(APPEND asserts "static_assert(archguard_compile_check::any_not_above(${number}0, __CUDA_ARCH_LIST__),\n"
      "  \"error 209 on ${device}: every architecture of this compilation is above it; add ${number} to CUDA_ARCHITECTURES\");\n")
  endforeach()
  file(WRITE "${header}.new" "// Written by archguard_compile_check: the architectures of this compilation against the devices.
// C++98 and 03 have no static_assert.
#if defined(__CUDACC__) && defined(__CUDA_ARCH_LIST__) && !defined(ARCHGUARD_COMPILE_CHECK) && \\
    (__cplusplus >= 201103L || defined(_MSC_VER))
#define ARCHGUARD_COMPILE_CHECK
namespace archguard_compile_check {
constexpr bool any_not_above(int) { return false; }
template <class... More>
constexpr bool any_not_above(int device, int arch, More... more) {
  return arch <= device || any_not_above(device, more...);
}
}  // namespace archguard_compile_check
${asserts}#endif
")
  _archguard_update_file("${header}.new" "${header}")
endfunction()
