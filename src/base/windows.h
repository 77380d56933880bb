#pragma once

#include <string>
#include <vector>

#include "base/child_process.h"

namespace archguard {

// What the files *_windows.cc share. Texts are UTF-8 everywhere else in the program, UTF-16 in Windows'
// calls.

std::wstring widen(const std::string& text);
std::string narrow(const std::wstring& text);

std::string windows_error_text(unsigned long code);  // in Windows' words, without a full stop

// The file that a module was loaded from; of nullptr, this program.
std::wstring windows_module_path(void* module);

// A word of a command line, quoted so that the program which is started reads it as it is.
std::wstring quoted_argument(const std::string& argument);

// Starts a program as ChildProcess::start() does, so that it also has the pipe `extra`, whose handle's number
// its arguments tell, and ends when this process does. 0, or the error's number.
int start_bound(ChildProcess& child, const std::vector<std::string>& argv, const ChildPipe& out,
                const ChildPipe& err, const ChildPipe& extra);

}  // namespace archguard
