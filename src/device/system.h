#pragma once

#include <optional>
#include <string>
#include <vector>

namespace archguard {

// What the probe asks of the operating system; system_posix.cc or system_windows.cc is behind it.

bool is_windows();

// Called once, before anything else: the arguments, as UTF-8. From here on standard output carries bytes as
// they are.
std::vector<std::string> start_program(int argc, char** argv);

// "segmentation fault"
std::string signal_text(int signal);
std::string errno_text(int code);

// The files are those of a Linux machine, of which Windows has none.

std::optional<std::string> environment(const char* name);
std::string host_name();  // empty where unknown
// "NAME=VALUE" of each variable whose name begins so, sorted.
std::vector<std::string> environment_with(const std::vector<std::string>& prefixes);
std::string user_identity();  // user, group and groups, as a text to compare
bool path_exists(const std::string& path);
bool opens_for_reading(const std::string& path);
// The first 64 KiB of a file; empty where it cannot be read.
std::string read_small_file(const std::string& path);
// The names in a folder, sorted, without those that begin with a dot; empty where it cannot be read.
std::vector<std::string> list_folder(const std::string& path);
// The last part of what a symbolic link points to; empty where it is none.
std::string link_name(const std::string& path);
// A text that changes when the file does: which file it is, its size and time; of a device node its number,
// owner and mode. "-" where there is none.
std::string file_stamp(const std::string& path);
void remove_file(const std::string& path);  // if it is there

}  // namespace archguard
