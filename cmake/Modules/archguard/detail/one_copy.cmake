# A build has one ArchGuard: commands and targets are global, so of two copies the first serves all.
include_guard(GLOBAL)

# <out> is TRUE where the copy in `folder` is the one in use, from now on or already. Another of the same version is passed
# over in silence.
function(_archguard_is_copy_in_use out version folder)
  get_property(is_claimed GLOBAL PROPERTY ARCHGUARD_IN_USE SET)
  if(NOT is_claimed)
    set_property(GLOBAL PROPERTY ARCHGUARD_IN_USE "${folder}")
    set_property(GLOBAL PROPERTY ARCHGUARD_VERSION_IN_USE "${version}")
  endif()
  get_property(claimed GLOBAL PROPERTY ARCHGUARD_IN_USE)
  get_property(claimed_version GLOBAL PROPERTY ARCHGUARD_VERSION_IN_USE)
  if(claimed STREQUAL folder)
    set(${out} TRUE PARENT_SCOPE)
    return()
  endif()
  if(NOT claimed_version STREQUAL version)
    message(WARNING "ArchGuard ${version} in ${folder} is not used: this build has ${claimed_version} in ${claimed} already, "
      "and one is used for all; use the same version everywhere, or add the newer one first")
  else()
    message(VERBOSE "ArchGuard: the copy in ${folder} is not used, since the same version in ${claimed} came first")
  endif()
  set(${out} FALSE PARENT_SCOPE)
endfunction()
