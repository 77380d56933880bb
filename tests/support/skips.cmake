# How a test says that it was skipped as a whole. A test that fails has failed, whatever else it printed: ctest takes
# SKIP_REGULAR_EXPRESSION alone for that, so that nothing uses it on what may stand anywhere in the output. A part that was
# skipped is a line "SKIPPED: why" of a test that passes; `check` lists those, too.

# Exits with 77.
function(archguard_may_skip)
  set_tests_properties(${ARGN} PROPERTIES SKIP_RETURN_CODE 77)
endfunction()

# A script of CMake, which cannot exit with 77, ends with a line "SKIPPED: why": an error stands behind it.
function(archguard_script_may_skip)
  set_tests_properties(${ARGN} PROPERTIES SKIP_REGULAR_EXPRESSION "(^|\n)SKIPPED: [^\n]*\n*$")
endfunction()
