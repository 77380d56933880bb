# Checks what was installed so far: included by the install script, which keeps what it installed in
# CMAKE_INSTALL_MANIFEST_FILES, without $DESTDIR. A function, since the script's variables are the project's.

# <base>.json is what is asked; <base>.program names the archguard to ask, of each configuration where `multi_config`; and
# <base>.txt gets the files, <report>.html and <report>.xml what was found of them.
function(_archguard_verify_installed base report multi_config)
  set(config "")
  if(multi_config)
    set(config "-${CMAKE_INSTALL_CONFIG_NAME}")
  endif()
  # No list is made of it: a name may hold a semicolon or a bracket, and archguard finds out.
  string(REPLACE ";" "\n" files "${CMAKE_INSTALL_MANIFEST_FILES}")
  file(WRITE "${base}.txt" "${files}")
  set(destdir "$ENV{DESTDIR}")
  if(NOT destdir STREQUAL "")
    get_filename_component(destdir "${destdir}" ABSOLUTE)  # it may be relative, to the folder of the install step
  endif()
  file(STRINGS "${base}${config}.program" lines ENCODING UTF-8)
  list(GET lines 0 program)
  list(GET lines 1 folder)
  message(STATUS "ArchGuard: verifying what was installed")
  execute_process(COMMAND "${program}" check-files "${base}.json" --files "${base}.txt" --installed
      --destdir "${destdir}" --component "${CMAKE_INSTALL_COMPONENT}"
      --report "html=${report}${config}.html" --report "junit=${report}${config}.xml"
    WORKING_DIRECTORY "${folder}" RESULT_VARIABLE status)
  if(NOT status MATCHES "^[0-9]+$")
    message("archguard did not run: ${program}: ${status}")
  endif()
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "archguard_verify_install: what was installed does not pass its check; the lines above tell why")
  endif()
endfunction()
