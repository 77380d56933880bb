# The switches for packagers as cache entries, for ccmake and cmake-gui to show. An empty one is one that is not set.
include_guard(GLOBAL)

# Those that are set get their help now. The others come at the end of the configure step, so that a project can still set them.
#
#   _archguard_offer_switch(<name> <type> <help> [<value>...])
function(_archguard_offer_switch name type help)
  get_property(is_end GLOBAL PROPERTY ARCHGUARD_OFFERS_ALL)
  if(is_end OR DEFINED CACHE{${name}})
    set(${name} "" CACHE ${type} "ArchGuard: ${help}")
    if(NOT ARGN STREQUAL "")
      set_property(CACHE ${name} PROPERTY STRINGS "" ${ARGN})
    endif()
  endif()
endfunction()

function(_archguard_offer_switches)
  _archguard_offer_switch(ARCHGUARD_DETECT STRING "may the GPUs of this machine be looked for? (empty: ON)" ON OFF)
  _archguard_offer_switch(ARCHGUARD_FLEET STRING "fleet files to build and verify for, from the top of the source tree")
  _archguard_offer_switch(ARCHGUARD_BASELINE STRING "the architectures to build for where no device is known")
  _archguard_offer_switch(ARCHGUARD_ON_UNSUPPORTED STRING "what a device means that this toolkit cannot support" error warn)
  _archguard_offer_switch(ARCHGUARD_VERIFY STRING "what a failed check does (off: no check)" error warn off)
  _archguard_offer_switch(ARCHGUARD_DRIVER STRING "what a driver means that is too old for a program's CUDA runtime" error warn)
  _archguard_offer_switch(ARCHGUARD_PARTLY STRING "what a library means that was not made for a device" error warn off)
  _archguard_offer_switch(ARCHGUARD_EMBEDDED STRING "what it means that no image held as data runs on a device" error warn off)
  _archguard_offer_switch(ARCHGUARD_EXECUTABLE FILEPATH "the archguard to run")
  _archguard_offer_switch(ARCHGUARD_VERDICTS STRING "a folder that keeps verdicts on libraries for all build trees of a user")
endfunction()

function(_archguard_offer_all_switches)
  set_property(GLOBAL PROPERTY ARCHGUARD_OFFERS_ALL TRUE)
  _archguard_offer_switches()
endfunction()

_archguard_offer_switches()
cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL _archguard_offer_all_switches)
