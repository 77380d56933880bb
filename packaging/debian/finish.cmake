# What Debian's rules ask of a package beside what is installed: run by CPack on the staged files, before it packs them.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()
set(usr "${CPACK_TEMPORARY_DIRECTORY}/usr")
set(documents "${usr}/share/doc/archguard")
if(EXISTS "${usr}/share/doc/ArchGuard")
  file(RENAME "${usr}/share/doc/ArchGuard" "${documents}")
endif()
file(REMOVE "${documents}/LICENSE")  # Debian has the text once, and `copyright` names it
configure_file("${CPACK_ARCHGUARD_SOURCE_DIR}/packaging/debian/changelog" "${documents}/changelog" COPYONLY)

file(RENAME "${usr}/share/zsh/site-functions" "${usr}/share/zsh/vendor-completions")

file(GLOB manuals "${usr}/share/man/man*/*.[1-9]")
find_program(GZIP gzip REQUIRED)
execute_process(COMMAND "${GZIP}" -9n "${documents}/changelog" ${manuals} COMMAND_ERROR_IS_FATAL ANY)
