# Writing down names of files and targets, so that none of them is ever taken for CMake code or a generator expression.
include_guard(GLOBAL)

# A string with its quotes. `<` is escaped too: the text may stand where generator expressions are read.
function(_archguard_json_string out text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n" text "${text}")
  string(REPLACE "\r" "\\r" text "${text}")
  string(REPLACE "\t" "\\t" text "${text}")
  string(REPLACE "<" "\\u003c" text "${text}")
  set(${out} "\"${text}\"" PARENT_SCOPE)
endfunction()

# An array of strings.
function(_archguard_json_strings out)
  set(all "")
  foreach(text IN LISTS ARGN)
    _archguard_json_string(quoted "${text}")
    list(APPEND all "${quoted}")
  endforeach()
  list(JOIN all ", " all)
  set(${out} "[${all}]" PARENT_SCOPE)
endfunction()

# Adds a member to the text of an object that is being written: `"key": value,` lines, the last comma taken off by
# _archguard_json_object.
function(_archguard_json_member variable key value)
  set(${variable} "${${variable}}  \"${key}\": ${value},\n" PARENT_SCOPE)
endfunction()

function(_archguard_json_object out members)
  string(REGEX REPLACE ",\n$" "\n" members "${members}")
  set(${out} "{\n${members}}" PARENT_SCOPE)
endfunction()

# A text as an argument of CMake code that is generated: of install(CODE).
function(_archguard_cmake_string out text)
  string(REGEX REPLACE "([\\\\\"$])" "\\\\\\1" text "${text}")
  set(${out} "\"${text}\"" PARENT_SCOPE)
endfunction()

# Writes a file only where its text changes, so that what depends on it stays up to date.
function(_archguard_write_file file text)
  set(old "")
  if(EXISTS "${file}")
    file(READ "${file}" old)
  endif()
  if(NOT EXISTS "${file}" OR NOT old STREQUAL text)
    file(WRITE "${file}" "${text}")
  endif()
endfunction()
