#pragma once

#include <string>

namespace archguard {

// A line on standard error that says what is being done and for how long, where that is a terminal and the
// work has taken a second: "archguard: 3 of 10 files, libx.so, 12 s". It is written over itself, and gone
// before anything else is printed. Nothing is there where no thread is to be had.

// Is there such a terminal? Else making the text is for nothing.
bool shows_progress();

// What is being done from now on, as text of one line; may hold names of files.
void set_progress(const std::string& what);

// Takes the line away; the next set_progress() brings it back.
void clear_progress();

}  // namespace archguard
