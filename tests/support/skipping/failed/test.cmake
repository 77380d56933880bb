message("SKIPPED: a part")
message(FATAL_ERROR "expected
SKIPPED: of another program")
