#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "commands.h"

namespace archguard {

// Which file each path leads to, as a text that differs where the file does; empty where none is there.
using FileStates = std::map<std::string, std::string>;

FileStates file_states(const std::vector<std::string>& paths);

// What a check of a target came to, kept beside its stamp. It holds as long as the question and all files are
// the same.
struct CheckState {
  std::string question;
  FileStates files;                    // that the answer depends on, looked at before they were read
  std::vector<std::string> libraries;  // that the target needs, which only the check found; likewise
  // Where these were looked for as well: another file there is another answer, also where none was.
  std::vector<std::string> places;
  bool failed = false;
  bool complains = false;  // it failed, or warns
  std::string out;         // what is to be said on standard output
  std::string messages;    // and on standard error
};

// The state that `path` keeps, if it answers `question` of the very files that are there now.
std::optional<CheckState> read_state(const std::string& path, const std::string& question);

// Now, in ns since 1970, as files are stamped.
std::int64_t file_time_now();

// Nothing is kept where a file is missing or is another one by now, where a library was changed since the
// check `began`, or where writing fails: then the next check is made anew.
void write_state(const std::string& path, const CheckState& state, std::int64_t began);

// The files that a question itself rests on: fleets, waivers, what was left out, and this program.
void add_inputs(const VerifyOptions& options, std::vector<std::string>& files);

// Looks for what changed since checks were kept, at each file once, however many of them rest on it.
class ChangedFiles {
 public:
  // Is a file that the answer kept in `state` depends on another one now? Without a readable state: no, as
  // then no check was made.
  bool has_changed(const std::string& state);

 private:
  std::unordered_map<std::string, std::string> now_;  // FileStates
};

}  // namespace archguard
