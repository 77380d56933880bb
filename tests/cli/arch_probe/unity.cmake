# Compiles tools/arch_probe/unity.cc without any build system, runs it, and sees that it knows the project's version
# and that it holds every source file of the folders it is made of.
file(MAKE_DIRECTORY "${BINARY}")
execute_process(
  COMMAND "${COMPILER}" -std=c++17 -fno-exceptions -fno-rtti -Wall -Wextra -Werror "-I${SOURCE}/src" "${SOURCE}/tools/arch_probe/unity.cc"
          -o "${BINARY}/arch_probe" -ldl -pthread
  RESULT_VARIABLE status ERROR_VARIABLE error)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "unity.cc does not compile: ${error}")
endif()

execute_process(COMMAND "${BINARY}/arch_probe" --version OUTPUT_VARIABLE output RESULT_VARIABLE status)
if(NOT status EQUAL 0 OR NOT output STREQUAL "arch_probe ${VERSION}\n")
  message(FATAL_ERROR "--version: ${status}: ${output}expected ${VERSION}")
endif()
execute_process(COMMAND "${BINARY}/arch_probe" select --toolkit 13.0 --device 9.0
  OUTPUT_VARIABLE output ERROR_QUIET RESULT_VARIABLE status)
if(NOT status EQUAL 0 OR NOT output STREQUAL "90-real;90-virtual\n")
  message(FATAL_ERROR "select: ${status}: ${output}")
endif()

file(READ "${SOURCE}/tools/arch_probe/unity.cc" unity)
foreach(folder IN ITEMS src/base src/compat src/device src/select tools/arch_probe)
  file(GLOB sources RELATIVE "${SOURCE}/${folder}" "${SOURCE}/${folder}/*.cc")
  foreach(source IN LISTS sources)
    get_filename_component(name "${folder}" NAME)
    if(folder STREQUAL "tools/arch_probe")
      set(include "${source}")
    else()
      set(include "${name}/${source}")
    endif()
    string(FIND "${unity}" "#include \"${include}\"\n" at)
    if(at EQUAL -1 AND NOT source STREQUAL "unity.cc")
      message(FATAL_ERROR "unity.cc lacks ${folder}/${source}")
    endif()
  endforeach()
endforeach()
