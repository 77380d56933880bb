message("SKIPPED: a part")
message("the rest passed")
