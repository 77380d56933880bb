#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "device/record.h"

namespace archguard {

// All that the probe needs from the operating system. platform_posix.cc or
// platform_windows.cc is the only file behind it.

bool is_windows();

// ---- the program itself ----

// Called once, before anything else: the arguments, as UTF-8. From here on standard output carries bytes as
// they are.
std::vector<std::string> start_program(int argc, char** argv);

// ---- shared libraries ----

// Where the loader finds the drivers' libraries: names to try in turn.
std::vector<std::string> cuda_library_names();
std::vector<std::string> nvml_library_names();

class DynamicLibrary {
 public:
  enum class State { loaded, missing, broken };

  // Opens the first of `names` that exists. `broken` (and no further name is tried): a file is there, and the
  // loader refuses it. The library is never closed: drivers do not survive that.
  static DynamicLibrary open(const std::vector<std::string>& names);

  State state() const { return state_; }
  const std::string& error() const { return error_; }  // the loader's own words, unless loaded
  void* symbol(const char* name) const;                // nullptr where the library has none
  // The file, as the loader found it: that folder is what a user has to change. Empty unless loaded.
  std::string path() const;

 private:
  State state_ = State::missing;
  void* handle_ = nullptr;
  std::string error_;
};

// ---- isolated children ----

// The child's end of the pipe to the parent.
class RecordSink {
 public:
  explicit RecordSink(std::intptr_t descriptor) : descriptor_(descriptor) {}
  void put(const Record& record) const;

 private:
  std::intptr_t descriptor_;  // on Windows a handle
};

// What a child runs. The name tells it to a child that is this program started anew.
struct IsolatedBody {
  const char* name;
  void (*run)(const RecordSink&);
};

struct ChildOutcome {
  enum class End {
    finished,     // the body returned
    crashed,      // `detail` is the signal, on Windows the exception
    exited,       // something in the body ended the process; `detail` is the exit code
    late,         // killed at the deadline
    not_started,  // `detail` is errno, on Windows its error code
  };
  End end = End::not_started;
  int detail = 0;
  std::vector<Record> records;  // whole ones, in order; those of a crashed or late child too
  std::string noise;            // the first 16 KiB of what the child printed on stdout and stderr
};

// Runs each body (at most four) in a child process of its own, all at once, and collects what they put into
// their sinks. Returns at the deadline at the latest (plus 0.1 s): a child is then killed, and one that the
// kernel cannot kill is abandoned. A crash leaves no core file.
std::vector<ChildOutcome> run_isolated(std::initializer_list<IsolatedBody> bodies,
                                       std::chrono::milliseconds timeout);

// Where no process can fork (Windows), a child is this program started anew with arguments of its own: true
// where these are such arguments and the body was run. To be called before the arguments are looked at, with
// every body that run_isolated is given anywhere.
bool became_isolated_child(const std::vector<std::string>& arguments,
                           std::initializer_list<IsolatedBody> bodies);

// "segmentation fault"
std::string signal_text(int signal);
std::string errno_text(int code);

// ---- files and environment; the files are those of a Linux machine, of which Windows has none ----

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
